//! A walk through a value along its schema, with field paths in the format of Go's `field.WalkPath`.

use std::fmt::{self, Write as _};

use serde_json::Value;

use crate::schema::Schema;

#[derive(Debug, Default)]
pub(crate) struct WalkPath(String);

impl WalkPath {
    /// Starts at a path.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The printed path: `spec.a[0]`, or `<nil>` at the root.
    pub(crate) fn text(&self) -> &str {
        if self.0.is_empty() { "<nil>" } else { &self.0 }
    }

    /// The path of a child field, such as `spec.a`.
    pub(crate) fn child(&self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) }
    }

    /// Runs `act` with the path of a field: `.a` for a named field, `[a]` for a field with a free name.
    pub(crate) fn with_field<T>(&mut self, name: &str, named: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        let (before, after) = match (named, self.0.is_empty()) {
            (true, true) => ("", ""),
            (true, false) => (".", ""),
            (false, _) => ("[", "]"),
        };
        self.with_step(format_args!("{before}{name}{after}"), act)
    }

    /// Runs `act` with the path of an item.
    pub(crate) fn with_index<T>(&mut self, index: usize, act: impl FnOnce(&mut Self) -> T) -> T {
        self.with_step(format_args!("[{index}]"), act)
    }

    /// Reuses one string for the whole walk, because most paths are never printed.
    fn with_step<T>(&mut self, step: fmt::Arguments<'_>, act: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.0.len();
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(step);
        let result = act(self);
        self.0.truncate(here);
        result
    }
}

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
