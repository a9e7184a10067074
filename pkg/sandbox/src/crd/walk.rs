//! A walk through a value along its schema.

use serde_json::Value;

use super::path::Path;
use crate::schema::Schema;

/// Calls `visit` with each value that has a schema and with its path, parents before children.
pub(super) fn each(
    schema: Schema<'_>,
    value: &Value,
    path: &mut Path,
    visit: &mut dyn FnMut(Schema<'_>, &Value, &mut Path),
) {
    visit(schema, value, path);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(field) = schema.field(name) {
                    let known = schema.node().properties.contains_key(name.as_str());
                    path.inside(name, known, |path| each(field, value, path, visit));
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (index, item) in items.iter().enumerate() {
                path.at(index, |path| each(schema, item, path, visit));
            }
        }
        _ => {}
    }
}
