//! What a change would do to an object, for a reader.

mod secret;
mod summary;
#[cfg(test)]
mod tests;

use api::output::{ChangedPart, ObjectChange};
use manifest::{Map, Object, Value, yaml};
use similar::{Algorithm, TextDiff};

/// Equal lines that are shown around a change, and around one of a summary.
const CONTEXT: usize = 3;
const BRIEF_CONTEXT: usize = 1;

/// No object shows more lines, and none of a summary.
const MAX_LINES: usize = 2_000;
const MAX_BRIEF_LINES: usize = 40;

/// No line of a summary has more characters.
const MAX_BRIEF_WIDTH: usize = 100;

/// What servers write into metadata by themselves.
const WRITTEN_BY_SERVERS: [&str; 6] =
    ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"];

/// An object before and after.
#[derive(Clone, Debug)]
pub struct Change {
    /// As it is on the server; none when it is not there.
    pub before: Option<Object>,
    /// As it would be; none when it would be gone.
    pub after: Option<Object>,
}

/// Shows a change as a unified diff of YAML, without what servers write into objects by themselves.
///
/// Shape: hunks (`@@ -1,4 +1,5 @@` and their lines) without a heading of files; empty when nothing would change. All of a
/// new object is `+`. After 2,000 lines one line says how many more there are.
/// The values of Secrets, and what the annotation of kubectl holds of them, are never shown: `(8 bytes)` against
/// `(12 bytes)`, or `(8 bytes, changed)`.
pub fn diff(change: &Change) -> String {
    let (mut before, mut after) = (tree(change.before.as_ref()), tree(change.after.as_ref()));
    secret::mask(&mut before, &mut after);
    let (before, after) = (text(before), text(after));
    let lines = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(&before, &after);
    cut(lines.unified_diff().context_radius(CONTEXT).to_string(), MAX_LINES)
}

/// True if two objects differ at most in what servers write into objects by themselves.
pub(crate) fn is_same(before: &Object, after: &Object) -> bool {
    tree(Some(before)) == tree(Some(after))
}

/// A change for readers who need no YAML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Changes in the terms of the kind.
    pub changes: Vec<ObjectChange>,
    /// A short unified diff of everything else; empty for an object that comes or goes as a whole.
    pub rest: String,
}

/// Summarises a change: images, arguments, environment, permissions, versions and fields of definitions, labels and annotations
/// as single changes, all else as a diff.
///
/// Shape: the diff has one line of context, at most 40 lines and 100 characters a line, and no `caBundle`. Values of Secrets
/// are never shown, as in [`diff`].
pub fn summarise(change: &Change) -> Summary {
    let (mut before, mut after) = (tree(change.before.as_ref()), tree(change.after.as_ref()));
    secret::mask(&mut before, &mut after);
    let is_whole = before.is_none() || after.is_none();
    let nothing = || Value::Object(Map::new());
    let (mut before, mut after) = (before.unwrap_or_else(nothing), after.unwrap_or_else(nothing));
    let mut changes = summary::take_changes(&mut before, &mut after);
    if is_whole {
        changes.retain(|change| !matches!(change.part, ChangedPart::Label | ChangedPart::Annotation));
        return Summary { changes, rest: String::new() };
    }
    drop_certificates(&mut before);
    drop_certificates(&mut after);
    let (before, after) = (text(Some(before)), text(Some(after)));
    let lines = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(&before, &after);
    let rest = lines.unified_diff().context_radius(BRIEF_CONTEXT).to_string();
    let rest = rest.lines().filter(|line| !line.starts_with("@@")).map(narrow).collect();
    Summary { changes, rest: cut(rest, MAX_BRIEF_LINES) }
}

/// Authorities that controllers write: nobody reads them.
fn drop_certificates(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("caBundle");
            fields.values_mut().for_each(drop_certificates);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_certificates),
        _ => {}
    }
}

fn narrow(line: &str) -> String {
    match line.char_indices().nth(MAX_BRIEF_WIDTH) {
        Some((end, _)) => format!("{}…\n", &line[..end]),
        None => format!("{line}\n"),
    }
}

/// An object with sizes in place of the values of a Secret.
pub(crate) fn masked(object: &Object) -> Value {
    let mut tree = Some(object.clone().into_value());
    secret::mask(&mut tree, &mut None);
    tree.unwrap_or_default()
}

/// The object without what servers write; a status is not what anybody applies.
fn tree(object: Option<&Object>) -> Option<Value> {
    let mut object = object?.clone();
    let fields = object.as_map_mut();
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in WRITTEN_BY_SERVERS {
            metadata.remove(field);
        }
    }
    Some(object.into_value())
}

fn text(tree: Option<Value>) -> String {
    tree.map(|tree| yaml::write(&tree)).unwrap_or_default()
}

fn cut(mut text: String, max_lines: usize) -> String {
    let Some((end, _)) = text.match_indices('\n').nth(max_lines - 1) else { return text };
    let left = text[end + 1..].lines().count();
    if left > 0 {
        text.truncate(end + 1);
        text.extend(["... ", &left.to_string(), " more lines\n"]);
    }
    text
}
