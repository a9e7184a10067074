//! A walk through a value along its schema.

use serde_json::Value;

use super::path::WalkPath;
use crate::schema::Schema;

/// Calls `visit` with each value that has a schema and with its path, parents before children.
pub(super) fn visit_values(
    schema: Schema<'_>,
    value: &Value,
    path: &mut WalkPath,
    visit: &mut dyn FnMut(Schema<'_>, &Value, &mut WalkPath),
) {
    visit(schema, value, path);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(field) = schema.field(name) {
                    let known = schema.node().properties.contains_key(name.as_str());
                    path.with_field(name, known, |path| visit_values(field, value, path, visit));
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (index, item) in items.iter().enumerate() {
                path.with_index(index, |path| visit_values(schema, item, path, visit));
            }
        }
        _ => {}
    }
}
