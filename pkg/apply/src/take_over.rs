//! Taking fields over from other field managers.

mod field_set;
#[cfg(test)]
mod tests;

use manifest::{Map, Object, Value};

/// Makes one manager the owner, by apply, of the fields that others wrote: the metadata.managedFields that a server-side
/// apply must find so that fields it does not name go away.
///
/// Shape: Update entries of `manager`, and all entries of managers whose name begins with one of `prefixes`, are merged
/// into its Apply entry; entries of subresources stay. None when nothing is to be changed. The result is written with the
/// resourceVersion of `live`, so that an entry that came in between is not lost.
///
/// A server keeps one Apply entry for each manager, whose fields are paths in one version of the kind, so the entries of
/// one version are taken over at a time: of the version of the Apply entry; without one, first of a version that `live`
/// is not in. After the apply, which brings the entry to its own version, the next call takes the rest.
/// Source: component-operator-runtime v0.3 (ssa-override), Kubernetes 1.36 client-go (csaupgrade), kube-apiserver 1.36
/// (measured: of two Apply entries of a manager the last one stays). differs: there, entries of another version are
/// thrown away, and their fields then belong to nobody and stay for ever.
pub fn take_over(live: &Object, manager: &str, prefixes: &[String]) -> Option<Value> {
    let entries = live.get(&["metadata", "managedFields"])?.as_array()?;
    let role = |entry: &Value| role(entry, manager, prefixes);
    let ours = entries.iter().find(|entry| role(entry) == Role::Ours);
    let mut taken = entries.iter().filter(|entry| role(entry) == Role::Taken);
    let version = match ours {
        Some(ours) => text(ours, "apiVersion"),
        None => version_to_take(taken.clone(), live.api_version())?,
    };
    let is_taken = |entry: &Value| role(entry) == Role::Taken && text(entry, "apiVersion") == version;
    let first = taken.find(|entry| is_taken(entry))?;
    let mut merged = ours.unwrap_or(first).as_object()?.clone();
    let mut united = Map::new();
    let given = ours.into_iter().chain(entries.iter().filter(|entry| is_taken(entry)));
    given.filter_map(fields).for_each(|fields| field_set::unite(&mut united, fields));
    merged.insert("manager".to_owned(), manager.into());
    merged.insert("operation".to_owned(), "Apply".into());
    merged.insert("fieldsV1".to_owned(), Value::Object(united));
    let stays = |entry: &&Value| role(entry) != Role::Ours && !is_taken(entry);
    Some([Value::Object(merged)].into_iter().chain(entries.iter().filter(stays).cloned()).collect())
}

/// What becomes of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is the Apply entry that takes the fields.
    Ours,
    /// It gives its fields.
    Taken,
    /// It stays.
    Other,
}

fn role(entry: &Value, manager: &str, prefixes: &[String]) -> Role {
    let name = text(entry, "manager");
    if !text(entry, "subresource").is_empty() || fields(entry).is_none() {
        Role::Other
    } else if name == manager {
        if text(entry, "operation") == "Apply" { Role::Ours } else { Role::Taken }
    } else if prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())) {
        Role::Taken
    } else {
        Role::Other
    }
}

/// The version whose entries are taken first: what stays in the version that is written can be merged afterwards.
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
