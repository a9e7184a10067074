//! The takeover of fields from other field managers.

mod field_set;
#[cfg(test)]
mod tests;

use manifest::{Map, Object, Value};

use crate::field_ownership::is_of_whole_object;

/// The fields that a tool may keep.
const LABELS: [&str; 2] = ["f:labels", "f:annotations"];

/// A tool whose fields are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormerTool {
    /// The prefix of the names of its field managers, such as `kubectl`.
    pub prefix: &'static str,
    /// True if its labels and annotations stay, because users set them with this tool.
    pub keeps_labels: bool,
}

impl FormerTool {
    /// A tool that loses all of its fields.
    pub const fn new(prefix: &'static str) -> Self {
        Self { prefix, keeps_labels: false }
    }
}

/// Returns metadata.managedFields in which one manager owns, by apply, the fields of other managers. With these entries
/// on the server, a server-side apply removes the fields that its manifest does not name.
///
/// Shape: Update entries of `manager`, and all entries of `tools`, are merged into its Apply entry. Entries of subresources
/// stay, and so do the labels and annotations that a tool keeps. None if nothing changes. The result is written with the
/// resourceVersion of `live`, so that concurrent entries are not lost.
///
/// A server keeps one Apply entry for each manager, and its fields are paths in one version of the kind. One call
/// therefore takes over the entries of one version: the version of the Apply entry. Without an Apply entry, this is
/// first a version other than that of `live`. The apply brings the entry to its own version, and the next call takes
/// the rest.
/// Source: component-operator-runtime v0.3 (ssa-override), Kubernetes 1.36 client-go (csaupgrade), kube-apiserver 1.36
/// (measured: of two Apply entries of a manager the last one stays). differs: component-operator-runtime drops entries
/// of other versions. Their fields then have no owner and stay for ever.
pub fn take_over_fields(live: &Object, manager: &str, tools: &[FormerTool]) -> Option<Value> {
    let entries = live.get(&["metadata", "managedFields"])?.as_array()?;
    let role = |entry: &Value| role(entry, manager, tools);
    let ours = entries.iter().find(|entry| role(entry) == Role::Ours);
    let mut taken = entries.iter().filter(|entry| role(entry) == Role::TakenOver);
    let version = match ours {
        Some(ours) => text(ours, "apiVersion"),
        None => version_to_take(taken.clone(), live.api_version())?,
    };
    let is_taken = |entry: &Value| role(entry) == Role::TakenOver && text(entry, "apiVersion") == version;
    let first = taken.find(|entry| is_taken(entry))?;
    let mut merged = ours.unwrap_or(first).as_object()?.clone();
    let mut united = Map::new();
    let given = ours.into_iter().chain(entries.iter().filter(|entry| is_taken(entry)));
    given
        .filter_map(|entry| split_fields(entry, tools))
        .for_each(|(taken, _)| field_set::merge(&mut united, &taken));
    merged.insert("manager".to_owned(), manager.into());
    merged.insert("operation".to_owned(), "Apply".into());
    merged.insert("fieldsV1".to_owned(), Value::Object(united));
    let stays = |entry: &Value| match role(entry) {
        Role::Ours => None,
        Role::TakenOver if is_taken(entry) => entry_of_labels(entry, tools),
        Role::TakenOver | Role::Other => Some(entry.clone()),
    };
    Some([Value::Object(merged)].into_iter().chain(entries.iter().filter_map(stays)).collect())
}

/// The role of an entry in a takeover.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The Apply entry that receives the fields.
    Ours,
    /// An entry that loses its fields.
    TakenOver,
    /// An entry that stays.
    Other,
}

fn role(entry: &Value, manager: &str, tools: &[FormerTool]) -> Role {
    let name = text(entry, "manager");
    if !is_of_whole_object(entry) || fields(entry).is_none() {
        Role::Other
    } else if name == manager {
        if text(entry, "operation") == "Apply" { Role::Ours } else { Role::TakenOver }
    } else if loses_fields(entry, tools) {
        Role::TakenOver
    } else {
        Role::Other
    }
}

/// True if an entry belongs to one of these tools and has fields that the tool does not keep.
pub(crate) fn loses_fields(entry: &Value, tools: &[FormerTool]) -> bool {
    tool_of(entry, tools).is_some() && split_fields(entry, tools).is_none_or(|(taken, _)| !taken.is_empty())
}

fn tool_of<'t>(entry: &Value, tools: &'t [FormerTool]) -> Option<&'t FormerTool> {
    tools.iter().find(|tool| text(entry, "manager").starts_with(tool.prefix))
}

/// Splits the fields of an entry into those that are taken over and those that its tool keeps.
fn split_fields(entry: &Value, tools: &[FormerTool]) -> Option<(Map<String, Value>, Map<String, Value>)> {
    let (mut taken, mut kept) = (fields(entry)?.clone(), Map::new());
    if tool_of(entry, tools).is_some_and(|tool| tool.keeps_labels)
        && let Some(metadata) = taken.get_mut("f:metadata").and_then(Value::as_object_mut)
    {
        let labels: Map<_, _> = LABELS.iter().filter_map(|field| metadata.remove_entry(*field)).collect();
        if metadata.is_empty() {
            taken.remove("f:metadata");
        }
        if !labels.is_empty() {
            kept.insert("f:metadata".to_owned(), Value::Object(labels));
        }
    }
    Some((taken, kept))
}

/// Returns the rest of an entry whose fields were taken. None if its tool keeps nothing.
fn entry_of_labels(entry: &Value, tools: &[FormerTool]) -> Option<Value> {
    let (_, kept) = split_fields(entry, tools)?;
    let mut rest = entry.clone();
    if kept.is_empty() {
        return None;
    }
    rest["fieldsV1"] = Value::Object(kept);
    Some(rest)
}

/// Returns the version whose entries are taken first. Entries in the written version can be merged afterwards.
fn version_to_take<'a>(
    mut taken: impl Iterator<Item = &'a Value> + Clone,
    written: &'a str,
) -> Option<&'a str> {
    let versions = taken.clone().map(|entry| text(entry, "apiVersion"));
    versions.into_iter().find(|version| *version != written).or_else(|| taken.next().map(|_| written))
}

fn fields(entry: &Value) -> Option<&Map<String, Value>> {
    entry.get("fieldsV1")?.as_object()
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}
