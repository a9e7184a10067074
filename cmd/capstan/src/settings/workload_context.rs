use std::path::{Path, PathBuf};

use manifest::yaml::{self, Limits};
use serde_json::{Map, Value, json};

use super::{
    kubeconfig::own_file,
    kubeconfig_merge::{empty, entries_mut, read, write},
};
use crate::{Environment, Failure, failure::Kind};

/// A context of a workload cluster's kubeconfig, with the cluster and the user it names.
pub(crate) struct WorkloadContext {
    context: Entry,
    cluster: Entry,
    user: Entry,
}

/// An entry of one of the lists of a kubeconfig.
struct Entry {
    name: String,
    content: Value,
}

/// Why a text is no kubeconfig to take a context from. Nothing of the text is in here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkloadContextError {
    /// Bytes that are no text.
    #[error("it is not valid UTF-8")]
    NotText,
    /// Text that is no YAML.
    #[error("it is not YAML, see line {line}")]
    NotYaml {
        /// The line, from 1.
        line: usize,
    },
    /// A part that belongs there.
    #[error("it has no {0}")]
    Lacks(&'static str),
}

impl WorkloadContext {
    /// Takes the current context of a kubeconfig, or its only one. With another name, cluster and user are called so too:
    /// those of another cluster may have the names they came with.
    /// # Errors
    /// Says what is missing; the text is a secret and stays out of it.
    pub(crate) fn parse(content: &[u8], name: Option<&str>) -> Result<Self, WorkloadContextError> {
        use WorkloadContextError::{Lacks, NotText, NotYaml};
        let text = std::str::from_utf8(content).map_err(|_| NotText)?;
        let document = yaml::read_value(text, &Limits::default());
        let document = document.map_err(|error| NotYaml { line: error.line })?;
        let current = match (document["current-context"].as_str(), document["contexts"].as_array()) {
            (Some(current), _) if !current.is_empty() => current,
            (_, Some(contexts)) if contexts.len() == 1 => contexts[0]["name"].as_str().unwrap_or_default(),
            _ => return Err(Lacks("current context")),
        };
        let context = content_of(&document, "contexts", current).ok_or(Lacks("context of that name"))?;
        let part = |list: &str, key: &str| {
            let name = context[key].as_str()?.to_owned();
            let content = content_of(&document, list, &name)?.clone();
            Some(Entry { name, content })
        };
        let mut taken = Self {
            cluster: part("clusters", "cluster").ok_or(Lacks("cluster for its context"))?,
            user: part("users", "user").ok_or(Lacks("user for its context"))?,
            context: Entry { name: current.to_owned(), content: context.clone() },
        };
        if let Some(name) = name {
            taken.rename(name);
        }
        Ok(taken)
    }

    /// The name of the context.
    pub(crate) fn name(&self) -> &str {
        &self.context.name
    }

    fn rename(&mut self, name: &str) {
        for entry in [&mut self.context, &mut self.cluster, &mut self.user] {
            name.clone_into(&mut entry.name);
        }
        self.context.content["cluster"] = json!(name);
        self.context.content["user"] = json!(name);
    }

    /// The first name that a kubeconfig already has for something of another cluster.
    fn taken(&self, document: &Map<String, Value>) -> Option<&str> {
        let leads_elsewhere = |cluster: &str| {
            content_in(document, "clusters", cluster)
                .is_some_and(|found| !is_same(found, &self.cluster.content))
        };
        if leads_elsewhere(&self.cluster.name) {
            return Some(&self.cluster.name);
        }
        let contexts = document.get("contexts").and_then(Value::as_array).into_iter().flatten();
        for entry in contexts {
            let named = |key: &str| entry["context"][key].as_str().unwrap_or_default();
            let ours = if entry["name"] == *self.context.name {
                &self.context.name
            } else if named("user") == self.user.name {
                &self.user.name
            } else {
                continue;
            };
            if leads_elsewhere(named("cluster")) {
                return Some(ours);
            }
        }
        None
    }
}

/// Adds a context to a kubeconfig, in place of one of the same name when that is of the same cluster. The file may be
/// missing, and is that of the user when none is named. What a user added to the context stays, as a namespace; the
/// current context stays, or becomes this one where there is none. Returns the file.
/// # Errors
/// When a name is taken by something of another cluster, or the file cannot be read or written; it is as it was then.
pub(crate) fn merge_workload(
    workload: &WorkloadContext,
    file: &Path,
    environment: &Environment,
) -> Result<PathBuf, Failure> {
    let path = if file.as_os_str().is_empty() {
        own_file(environment).ok_or_else(|| {
            Failure::new(Kind::Environment, "there is no kubeconfig to add to")
                .cause("neither `KUBECONFIG` nor `HOME` is set")
                .hint("name a file: `--merge=FILE`")
        })?
    } else {
        environment.resolve(file)
    };
    let mut document = read(&path)?.unwrap_or_else(empty);
    if let Some(name) = workload.taken(&document) {
        return Err(Failure::new(
            Kind::Conflict,
            format!("cannot add context `{}` to `{}`", workload.name(), path.display()),
        )
        .cause(format!("`{name}` is the name of something of another cluster there"))
        .hint("give it another name with `--context-name NAME`"));
    }
    for (list, key, entry) in [
        ("clusters", "cluster", &workload.cluster),
        ("users", "user", &workload.user),
        ("contexts", "context", &workload.context),
    ] {
        let entries = entries_mut(&mut document, list, &path)?;
        put(entries, key, entry);
    }
    let has_current =
        document.get("current-context").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    if !has_current {
        document.insert("current-context".to_owned(), json!(workload.name()));
    }
    write(&path, document)?;
    Ok(path)
}

/// Puts an entry in place of those of its name. Of a context, fields of which ours says nothing stay.
fn put(entries: &mut Vec<Value>, key: &str, entry: &Entry) {
    let old = entries.iter().find(|old| old["name"] == *entry.name).map(|old| old[key].clone());
    let content = match (old, &entry.content) {
        (Some(Value::Object(mut kept)), Value::Object(ours)) if key == "context" => {
            kept.extend(ours.clone());
            Value::Object(kept)
        }
        _ => entry.content.clone(),
    };
    let at = entries.iter().position(|old| old["name"] == *entry.name).unwrap_or(entries.len());
    entries.retain(|old| old["name"] != *entry.name);
    entries.insert(at, json!({key: content, "name": entry.name}));
}

/// A cluster is the same at another address with the same authority, and with another authority at the same address.
fn is_same(found: &Value, ours: &Value) -> bool {
    ["server", "certificate-authority-data"].iter().any(|key| {
        let text = |of: &Value| of[*key].as_str().unwrap_or_default().trim_end_matches('/').to_owned();
        !text(ours).is_empty() && text(found) == text(ours)
    })
}

fn content_of<'a>(document: &'a Value, list: &str, name: &str) -> Option<&'a Value> {
    content_in(document.as_object()?, list, name)
}

/// The content of the first entry of this name, which is the one that counts.
fn content_in<'a>(document: &'a Map<String, Value>, list: &str, name: &str) -> Option<&'a Value> {
    let entries = document.get(list)?.as_array()?;
    let entry = entries.iter().find(|entry| entry["name"] == name)?;
    entry.get(list.trim_end_matches('s')).filter(|content| content.is_object())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn kubeconfig(name: &str, server: &str, token: &str) -> String {
        json!({
            "current-context": format!("{name}-admin@{name}"),
            "clusters": [{"name": name, "cluster": {"server": server}}],
            "users": [{"name": format!("{name}-admin"), "user": {"token": token}}],
            "contexts": [{
                "name": format!("{name}-admin@{name}"), "context": {"cluster": name, "user": format!("{name}-admin")},
            }],
        })
        .to_string()
    }

    /// Merges into `FOLDER/config`; gives what is there then, or what was said.
    fn merge(folder: &Path, content: &str, name: Option<&str>) -> Result<Value, Failure> {
        let file = folder.join("config");
        let workload = WorkloadContext::parse(content.as_bytes(), name)?;
        let environment = Environment::new([("KUBECONFIG", &file)], "/");
        assert_eq!(merge_workload(&workload, Path::new(""), &environment)?, file);
        Ok(Value::Object(read(&file)?.unwrap_or_default()))
    }

    fn names(document: &Value, list: &str) -> Vec<String> {
        let entries = document[list].as_array().unwrap();
        entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn what_is_there_stays_and_the_current_context_too() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = "current-context: hub\nextensions: [kept]\ncontexts:\n- {name: hub, context: {cluster: hub, user: me}}\n";
        fs::write(folder.path().join("config"), theirs).unwrap();
        let merged = merge(folder.path(), &kubeconfig("demo", "https://demo", "t"), None).unwrap();
        assert_eq!((&merged["current-context"], &merged["extensions"]), (&json!("hub"), &json!(["kept"])));
        assert_eq!(names(&merged, "contexts"), ["hub", "demo-admin@demo"]);
        assert_eq!(names(&merged, "users"), ["demo-admin"]);
    }

    #[test]
    fn a_new_file_is_for_its_owner_and_begins_with_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let merged = merge(folder.path(), &kubeconfig("demo", "https://demo", "t"), None).unwrap();
        assert_eq!(merged["current-context"], "demo-admin@demo");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(folder.path().join("config")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn the_same_cluster_gets_new_credentials_and_keeps_what_the_user_added() {
        let folder = tempfile::tempdir().unwrap();
        merge(folder.path(), &kubeconfig("demo", "https://demo", "old"), None).unwrap();
        let file = folder.path().join("config");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("user: demo-admin", "user: demo-admin\n    namespace: team")).unwrap();
        let merged = merge(folder.path(), &kubeconfig("demo", "https://demo/", "new"), None).unwrap();
        assert_eq!(names(&merged, "contexts"), ["demo-admin@demo"]);
        assert_eq!(merged["contexts"][0]["context"]["namespace"], "team");
        assert_eq!(merged["users"][0]["user"]["token"], "new");
        assert_eq!(names(&merged, "users"), ["demo-admin"]);
    }

    #[test]
    fn another_cluster_of_the_same_name_needs_another_context_name() {
        let folder = tempfile::tempdir().unwrap();
        merge(folder.path(), &kubeconfig("demo", "https://one", "one"), None).unwrap();
        let before = fs::read_to_string(folder.path().join("config")).unwrap();
        let other = kubeconfig("demo", "https://two", "secret-two");
        let refused = merge(folder.path(), &other, None).unwrap_err();
        assert_eq!(refused.causes(), ["`demo` is the name of something of another cluster there"]);
        assert_eq!(fs::read_to_string(folder.path().join("config")).unwrap(), before);
        assert!(merge(folder.path(), &other, Some("demo-admin@demo")).is_err());
        let merged = merge(folder.path(), &other, Some("two")).unwrap();
        assert_eq!(names(&merged, "clusters"), ["demo", "two"]);
        assert_eq!(
            merged["contexts"][1],
            json!({"name": "two", "context": {"cluster": "two", "user": "two"}})
        );
        assert!(merge(folder.path(), &other, Some("two")).is_ok());
    }

    #[test]
    fn a_user_of_another_cluster_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = "clusters:\n- {name: hub, cluster: {server: https://hub}}\ncontexts:\n- name: hub\n  context: {cluster: hub, user: demo-admin}\n";
        fs::write(folder.path().join("config"), theirs).unwrap();
        let refused = merge(folder.path(), &kubeconfig("demo", "https://demo", "t"), None).unwrap_err();
        assert_eq!(refused.causes(), ["`demo-admin` is the name of something of another cluster there"]);
    }

    #[test]
    fn what_is_no_kubeconfig_is_told_without_its_text() {
        let said = |content: &[u8]| WorkloadContext::parse(content, None).err().unwrap().to_string();
        assert_eq!(said(b"\xff"), "it is not valid UTF-8");
        assert_eq!(said(b"a: b\nsecret: [token\n"), "it is not YAML, see line 2");
        assert_eq!(said(b""), "it has no current context");
        assert_eq!(said(b"current-context: a\n"), "it has no context of that name");
        assert_eq!(
            said(b"contexts: [{name: a, context: {cluster: c, user: u}}]\n"),
            "it has no cluster for its context"
        );
    }
}
