//! What a change would do to an object, for a reader.

mod secret;
#[cfg(test)]
mod tests;

use manifest::{Object, Value, yaml};
use similar::{Algorithm, TextDiff};

/// Equal lines that are shown around a change.
const CONTEXT: usize = 3;

/// No object shows more lines.
const MAX_LINES: usize = 2_000;

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
    cut(lines.unified_diff().context_radius(CONTEXT).to_string())
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

fn cut(mut text: String) -> String {
    let Some((end, _)) = text.match_indices('\n').nth(MAX_LINES - 1) else { return text };
    let left = text[end + 1..].lines().count();
    if left > 0 {
        text.truncate(end + 1);
        text.extend(["... ", &left.to_string(), " more lines\n"]);
    }
    text
}
