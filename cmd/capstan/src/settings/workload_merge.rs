use std::path::{Path, PathBuf};

use api::{ErrorExplanation, Explain};
use serde_json::{Map, Value, json};

use super::{
    WorkloadContext,
    kubeconfig::{default_kubeconfigs, user_kubeconfig},
    kubeconfig_merge::{KubeconfigChange, entries_mut, read, update},
    workload_context::KubeconfigEntry,
};
use crate::{Environment, Failure, WithContext as _, failure::Kind};

/// A kubeconfig entry that a merge must not change: another context uses the entry, or it is for another cluster.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the entry `{list}[{name}]` belongs to another context or another cluster")]
pub(crate) struct EntryConflict {
    pub(crate) list: &'static str,
    pub(crate) name: String,
}

impl Explain for EntryConflict {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint("use another name for the new entries: `--context-name NAME`")
    }
}

/// Adds a context to a kubeconfig, or updates the credentials of a context from an earlier merge. Returns the file.
/// An empty `file` selects the kubeconfig of the user. The file may be missing. Fields that a user added to the
/// context stay, such as a namespace. The current context stays too, or becomes this one if there is none.
pub(crate) fn merge_workload(
    workload: &WorkloadContext,
    file: &Path,
    environment: &Environment,
) -> Result<PathBuf, Failure> {
    let path = if file.as_os_str().is_empty() {
        user_kubeconfig(environment).ok_or_else(|| {
            Failure::new(Kind::Environment, "cannot choose a kubeconfig to change")
                .cause("neither `KUBECONFIG` nor `HOME` is set")
                .hint("use a file: `--merge=FILE`")
        })?
    } else {
        environment.resolve(file)
    };
    update(&path, |document| {
        let others = read_other_files(&path, environment)?;
        let entries = KubeconfigSet { document, other_files: &others }
            .entries(workload)
            .with_context(|| format!("cannot add context `{}` to `{}`", workload.name(), path.display()))?;
        for (list, name, content) in entries {
            replace_entry(entries_mut(document, list, &path)?, list, name, &content);
        }
        let has_current =
            document.get("current-context").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
        if !has_current {
            document.insert("current-context".to_owned(), json!(workload.name()));
        }
        Ok(KubeconfigChange::Changed)
    })?;
    Ok(path)
}

/// Reads the other files that kubectl merges with this one. Contexts in one file may use entries of another file.
fn read_other_files(path: &Path, environment: &Environment) -> Result<Vec<Map<String, Value>>, Failure> {
    let places = default_kubeconfigs(environment);
    if !places.iter().any(|place| place == path) {
        return Ok(Vec::new());
    }
    let others = places.iter().filter(|place| *place != path);
    let documents: Result<Vec<_>, Failure> = others.map(|place| read(place)).collect();
    Ok(documents?.into_iter().flatten().collect())
}

/// A kubeconfig and the files that kubectl merges with it.
struct KubeconfigSet<'a> {
    document: &'a Map<String, Value>,
    other_files: &'a [Map<String, Value>],
}

impl<'a> KubeconfigSet<'a> {
    fn entries<'w>(
        &self,
        workload: &'w WorkloadContext,
    ) -> Result<[(&'static str, &'w str, Value); 3], EntryConflict> {
        let named = |list, entry: &'w KubeconfigEntry| {
            let content = self.merge(list, entry, &workload.context.name);
            content
                .map(|content| (list, entry.name.as_str(), Value::Object(content)))
                .ok_or_else(|| EntryConflict { list, name: entry.name.clone() })
        };
        Ok([
            named("clusters", &workload.cluster)?,
            named("users", &workload.user)?,
            named("contexts", &workload.context)?,
        ])
    }

    /// Returns the content of an entry after the merge. `None` if an existing entry forbids the merge.
    fn merge(&self, list: &'static str, ours: &KubeconfigEntry, context: &str) -> Option<Map<String, Value>> {
        let users: Vec<&str> = match list {
            "contexts" => vec![context],
            _ => self.contexts_using(list, &ours.name).collect(),
        };
        let is_ours_alone = !users.is_empty() && users.iter().all(|user| *user == context);
        let own = entries_named(self.document, list, &ours.name).map(|found| (found, is_ours_alone));
        let elsewhere = self.other_files.iter().flat_map(|other| entries_named(other, list, &ours.name));
        let mut existing = own.chain(elsewhere.map(|found| (found, false))).peekable();
        if existing.peek().is_none() {
            let is_free = users.iter().all(|user| *user == context);
            return is_free.then(|| ours.content.clone());
        }
        let mut merged = None;
        for (found, may_change) in existing {
            let after = merge_entry(list, found, &ours.content)?;
            if after != *found && !may_change {
                return None;
            }
            merged.get_or_insert(after);
        }
        merged
    }

    fn contexts_using(&self, list: &'static str, name: &str) -> impl Iterator<Item = &'a str> {
        let documents = std::iter::once(self.document).chain(self.other_files);
        let contexts = documents.flat_map(|document| list_entries(document, "contexts"));
        let using = contexts.filter(move |entry| entry["context"][singular(list)] == name);
        using.map(|entry| entry["name"].as_str().unwrap_or_default())
    }
}

/// Returns an existing entry with the new fields. `None` if the existing entry is for another target.
/// Credentials are replaced as a whole.
fn merge_entry(
    list: &'static str,
    found: &Map<String, Value>,
    ours: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let same: &[&str] = match list {
        "clusters" => &["server", "certificate-authority-data"],
        "contexts" => &["cluster", "user"],
        _ => return Some(ours.clone()),
    };
    let text = |of: &Map<String, Value>, key: &str| {
        of.get(key).and_then(Value::as_str).unwrap_or_default().trim_end_matches('/').to_owned()
    };
    if same.iter().any(|key| text(found, key) != text(ours, key)) {
        return None;
    }
    let mut after = found.clone();
    after.extend(ours.clone().into_iter().filter(|(key, _)| !same.contains(&key.as_str())));
    Some(after)
}

/// Replaces all entries of a name with one entry.
fn replace_entry(entries: &mut Vec<Value>, list: &str, name: &str, content: &Value) {
    let at = entries.iter().position(|old| old["name"] == *name).unwrap_or(entries.len());
    entries.retain(|old| old["name"] != *name);
    entries.insert(at, json!({singular(list): content, "name": name}));
}

fn entries_named<'a>(
    document: &'a Map<String, Value>,
    list: &'static str,
    name: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    let entries = list_entries(document, list).filter(move |entry| entry["name"] == name);
    entries.filter_map(move |entry| entry[singular(list)].as_object())
}

fn list_entries<'a>(document: &'a Map<String, Value>, list: &str) -> impl Iterator<Item = &'a Value> {
    document.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the key of the content in a list entry.
fn singular(list: &str) -> &str {
    list.trim_end_matches('s')
}

#[cfg(test)]
mod tests;
