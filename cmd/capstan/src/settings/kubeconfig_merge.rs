use std::{
    fs, io,
    path::{Path, PathBuf},
};

use manifest::yaml::{self, YamlLimits};
use serde_json::{Map, Value, json};

use super::{file_lock::FileLock, kubeconfig::user_kubeconfig};
use crate::{Environment, Failure, failure::Kind, ui::write_private_file};

/// The kubeconfig lists with named entries.
const LISTS: [&str; 3] = ["clusters", "users", "contexts"];

/// Merges the entries of a sandbox kubeconfig into the kubeconfig of the user and makes its context the current one.
/// Entries of the same names are replaced. All other data stays, but comments are lost. Returns the file.
pub(crate) fn merge_kubeconfig(
    sandbox_kubeconfig: &Path,
    environment: &Environment,
) -> Result<PathBuf, Failure> {
    let user_kubeconfig = user_kubeconfig(environment).ok_or_else(|| {
        Failure::new(Kind::Environment, "cannot choose a kubeconfig to change")
            .cause("neither `KUBECONFIG` nor `HOME` is set")
    })?;
    if user_kubeconfig == sandbox_kubeconfig {
        return Ok(user_kubeconfig);
    }
    update(&user_kubeconfig, |merged| {
        let Some(added) = read(sandbox_kubeconfig)? else { return Ok(KubeconfigChange::Unchanged) };
        for list in LISTS {
            let entries = added.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
            let kept = entries_mut(merged, list, &user_kubeconfig)?;
            kept.retain(|entry| !entries.iter().any(|new| new["name"] == entry["name"]));
            kept.extend(entries);
        }
        if let Some(current) = added.get("current-context") {
            merged.insert("current-context".to_owned(), current.clone());
        }
        Ok(KubeconfigChange::Changed)
    })?;
    Ok(user_kubeconfig)
}

/// Removes the merged entries if the user entry is still the added one.
/// The address may be of another start and the context may have a namespace. Such entries are removed too.
/// Returns the file if entries were removed.
pub(crate) fn unmerge_kubeconfig(
    sandbox_kubeconfig: &Path,
    environment: &Environment,
) -> Result<Option<PathBuf>, Failure> {
    let Some(user_kubeconfig) = user_kubeconfig(environment).filter(|theirs| theirs != sandbox_kubeconfig)
    else {
        return Ok(None);
    };
    let (Some(added), true) = (read(sandbox_kubeconfig)?, user_kubeconfig.exists()) else { return Ok(None) };
    let change = update(&user_kubeconfig, |merged| {
        let users = added.get("users").and_then(Value::as_array).cloned().unwrap_or_default();
        if !entries_mut(merged, "users", &user_kubeconfig)?.iter().any(|user| users.contains(user)) {
            return Ok(KubeconfigChange::Unchanged);
        }
        for list in LISTS {
            let entries = added.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
            let kept = entries_mut(merged, list, &user_kubeconfig)?;
            kept.retain(|entry| !entries.iter().any(|ours| ours["name"] == entry["name"]));
        }
        if merged.get("current-context") == added.get("current-context") {
            merged.insert("current-context".to_owned(), json!(""));
        }
        Ok(KubeconfigChange::Changed)
    })?;
    Ok((change == KubeconfigChange::Changed).then_some(user_kubeconfig))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KubeconfigChange {
    Changed,
    Unchanged,
}

/// Edits a kubeconfig under the lock that kubectl uses, so that concurrent edits of a file do not overwrite each
/// other.
/// A missing file starts empty.
pub(super) fn update(
    path: &Path,
    edit: impl FnOnce(&mut Map<String, Value>) -> Result<KubeconfigChange, Failure>,
) -> Result<KubeconfigChange, Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, &error))?;
    }
    let _lock = FileLock::acquire(path)?;
    let mut document = read(path)?.unwrap_or_else(empty);
    let change = edit(&mut document)?;
    if change == KubeconfigChange::Changed {
        let text = yaml::write(&Value::Object(document));
        write_private_file(path, text.as_bytes())?;
    }
    Ok(change)
}

fn empty() -> Map<String, Value> {
    let document = json!({"apiVersion": "v1", "kind": "Config", "preferences": {}});
    document.as_object().cloned().unwrap_or_default()
}

/// Reads a kubeconfig as data. `None` if the file is missing or empty.
pub(super) fn read(path: &Path) -> Result<Option<Map<String, Value>>, Failure> {
    let cannot_read =
        || Failure::new(Kind::Environment, format!("cannot read the kubeconfig `{}`", path.display()));
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_read().because(&error)),
    };
    let text = String::from_utf8(text).map_err(|error| cannot_read().because_foreign(&error))?;
    let document = yaml::read_value(&text, &YamlLimits::default());
    match document.map_err(|error| cannot_read().because_foreign(&error))? {
        Value::Object(document) => Ok(Some(document)),
        Value::Null => Ok(None),
        _ => Err(cannot_read().cause("the file is not a mapping")),
    }
}

/// Returns the list of this name. Creates the list if it is missing.
pub(super) fn entries_mut<'a>(
    document: &'a mut Map<String, Value>,
    list: &str,
    path: &Path,
) -> Result<&'a mut Vec<Value>, Failure> {
    let value = document.entry(list).or_insert_with(|| json!([]));
    if value.is_null() {
        *value = json!([]);
    }
    value.as_array_mut().ok_or_else(|| {
        Failure::new(Kind::Environment, format!("cannot change the kubeconfig `{}`", path.display()))
            .cause(format!("the field `{list}` is not a list"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = r#"{"apiVersion":"v1","kind":"Config","current-context":"lab",
    "clusters":[{"name":"lab","cluster":{"server":"https://127.0.0.1:1"}}],
    "users":[{"name":"lab","user":{"token":"t"}}],
    "contexts":[{"name":"lab","context":{"cluster":"lab","user":"lab"}}]}"#;
    const THEIRS: &str = "apiVersion: v1
clusters:
- cluster:
    server: https://prod
  name: prod
- cluster:
    server: https://old
  name: lab
contexts: null
current-context: prod
extensions:
- kept
kind: Config
";

    fn world(theirs: &str) -> (tempfile::TempDir, PathBuf, Environment) {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join("ours");
        fs::write(&ours, OURS).unwrap();
        fs::write(folder.path().join("theirs"), theirs).unwrap();
        let environment = Environment::new([("KUBECONFIG", folder.path().join("theirs"))], "/");
        (folder, ours, environment)
    }

    #[test]
    fn entries_of_the_same_name_are_replaced() {
        let (_folder, ours, environment) = world(THEIRS);
        let path = merge_kubeconfig(&ours, &environment).unwrap();
        let merged = Value::Object(read(&path).unwrap().unwrap());
        assert_eq!(merged["current-context"], "lab");
        assert_eq!(merged["extensions"], json!(["kept"]));
        let servers: Vec<_> =
            merged["clusters"].as_array().unwrap().iter().map(|c| &c["cluster"]["server"]).collect();
        assert_eq!(servers, ["https://prod", "https://127.0.0.1:1"]);
    }

    #[test]
    fn removal_also_removes_edited_entries() {
        let (_folder, ours, environment) = world(THEIRS);
        let path = merge_kubeconfig(&ours, &environment).unwrap();
        let edited = fs::read_to_string(&path).unwrap().replace("127.0.0.1:1", "127.0.0.1:2");
        fs::write(&path, edited.replace("user: lab", "user: lab\n    namespace: team")).unwrap();
        assert_eq!(unmerge_kubeconfig(&ours, &environment).unwrap(), Some(path.clone()));
        let left = Value::Object(read(&path).unwrap().unwrap());
        assert_eq!(left["clusters"], json!([{"name": "prod", "cluster": {"server": "https://prod"}}]));
        assert_eq!((&left["users"], &left["contexts"]), (&json!([]), &json!([])));
        assert_eq!(left["current-context"], "");
    }

    #[test]
    fn removal_keeps_entries_for_another_cluster() {
        let (_folder, ours, environment) = world(THEIRS);
        assert_eq!(unmerge_kubeconfig(&ours, &environment).unwrap(), None);
        assert_eq!(fs::read_to_string(user_kubeconfig(&environment).unwrap()).unwrap(), THEIRS);
    }

    #[test]
    fn an_invalid_kubeconfig_stays_unchanged() {
        let (_folder, ours, environment) = world("clusters: text\n");
        assert!(merge_kubeconfig(&ours, &environment).is_err());
        assert_eq!(fs::read_to_string(user_kubeconfig(&environment).unwrap()).unwrap(), "clusters: text\n");
    }
}
