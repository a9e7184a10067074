//! Readable differences between an object before and after a change.

mod comparison;
mod secret;
mod summary;
#[cfg(test)]
mod tests;

use api::output::{ChangedPart, ObjectChange};
use manifest::{Map, Object, Value, yaml};
use similar::{Algorithm, TextDiff};

pub use comparison::{ListComparison, ObjectDifference, compare_objects};

/// The number of equal lines around a change, in a diff and in a summary.
const CONTEXT: usize = 3;
const BRIEF_CONTEXT: usize = 1;

/// The maximum of lines for an object, in a diff and in a summary.
const MAX_LINES: usize = 2_000;
const MAX_BRIEF_LINES: usize = 40;

/// The maximum of characters in a line of a summary.
const MAX_BRIEF_WIDTH: usize = 100;

/// Metadata that servers write on their own.
const SERVER_FIELDS: [&str; 6] =
    ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"];

/// An object before and after.
#[derive(Clone, Debug)]
pub struct ObjectPair {
    /// The object on the server. None if the object does not exist.
    pub before: Option<Object>,
    /// The object after the change. None if the change deletes the object.
    pub after: Option<Object>,
}

/// Shows a change as a unified diff of YAML, without the fields that servers write on their own.
///
/// Shape: hunks (`@@ -1,4 +1,5 @@` and their lines) without file headers; empty if nothing changes. All lines of a new
/// object start with `+`. After 2,000 lines, a last line gives the number of omitted lines.
/// The values of Secrets, and their copy in the annotation of kubectl, are never shown: `(8 bytes)` against `(12
/// bytes)`, or `(8 bytes, changed)`.
pub fn diff(change: &ObjectPair) -> String {
    let (mut before, mut after) =
        (comparable_value(change.before.as_ref()), comparable_value(change.after.as_ref()));
    secret::mask(&mut before, &mut after);
    diff_texts(&to_yaml(before), &to_yaml(after))
}

/// Shows the differences of two texts as a unified diff, in the shape of [`diff`].
pub fn diff_texts(before: &str, after: &str) -> String {
    let lines = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(before, after);
    truncate_lines(lines.unified_diff().context_radius(CONTEXT).to_string(), MAX_LINES)
}

/// True if two objects differ at most in fields that servers write on their own.
pub(crate) fn is_same(before: &Object, after: &Object) -> bool {
    comparable_value(Some(before)) == comparable_value(Some(after))
}

/// A change for readers who do not want YAML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffSummary {
    /// Changes in the terms of the kind.
    pub changes: Vec<ObjectChange>,
    /// A short unified diff of everything else; empty for an object that is created or deleted.
    pub remaining_diff: String,
}

/// Summarises a change. Images, arguments, environment, permissions, versions and fields of definitions, labels and
/// annotations are single changes. All else is a diff.
///
/// Shape: the diff has one line of context, at most 40 lines and 100 characters a line, and no `caBundle`. Values of
/// Secrets are never shown, as in [`diff`].
pub fn summarise(change: &ObjectPair) -> DiffSummary {
    let (mut before, mut after) =
        (comparable_value(change.before.as_ref()), comparable_value(change.after.as_ref()));
    secret::mask(&mut before, &mut after);
    let is_whole = before.is_none() || after.is_none();
    let nothing = || Value::Object(Map::new());
    let (mut before, mut after) = (before.unwrap_or_else(nothing), after.unwrap_or_else(nothing));
    let mut changes = summary::extract_changes(&mut before, &mut after);
    if is_whole {
        changes.retain(|change| !matches!(change.part, ChangedPart::Label | ChangedPart::Annotation));
        return DiffSummary { changes, remaining_diff: String::new() };
    }
    remove_ca_bundles(&mut before);
    remove_ca_bundles(&mut after);
    let (before, after) = (to_yaml(Some(before)), to_yaml(Some(after)));
    let lines = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(&before, &after);
    let rest = lines.unified_diff().context_radius(BRIEF_CONTEXT).to_string();
    let rest = rest.lines().filter(|line| !line.starts_with("@@")).map(truncate_line).collect();
    DiffSummary { changes, remaining_diff: truncate_lines(rest, MAX_BRIEF_LINES) }
}

/// Removes CA bundles, which controllers write.
fn remove_ca_bundles(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("caBundle");
            fields.values_mut().for_each(remove_ca_bundles);
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_ca_bundles),
        _ => {}
    }
}

fn truncate_line(line: &str) -> String {
    match line.char_indices().nth(MAX_BRIEF_WIDTH) {
        Some((end, _)) => format!("{}…\n", &line[..end]),
        None => format!("{line}\n"),
    }
}

/// Returns the object with sizes in place of the values of a Secret.
pub fn masked(object: &Object) -> Object {
    let mut tree = Some(object.clone().into_value());
    secret::mask(&mut tree, &mut None);
    Object::try_from(tree.unwrap_or_default()).expect("invariant: a masked object stays an object")
}

/// Returns the object without status and without the metadata that servers write.
fn comparable_value(object: Option<&Object>) -> Option<Value> {
    let mut object = object?.clone();
    let fields = object.as_map_mut();
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in SERVER_FIELDS {
            metadata.remove(field);
        }
    }
    Some(object.into_value())
}

fn to_yaml(tree: Option<Value>) -> String {
    tree.map(|tree| yaml::write(&tree)).unwrap_or_default()
}

fn truncate_lines(mut text: String, max_lines: usize) -> String {
    let Some((end, _)) = text.match_indices('\n').nth(max_lines - 1) else { return text };
    let remaining = text[end + 1..].lines().count();
    if remaining > 0 {
        text.truncate(end + 1);
        text.extend(["... ", &remaining.to_string(), " more lines\n"]);
    }
    text
}
