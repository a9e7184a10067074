//! The classes that set a parameter, in the order in which they are merged.

use api::output::{ParameterChange, ParameterExplanation, ParameterSource};
use manifest::{Map, Value};

use super::error::RenderError;
use super::inventory::{Inventory, MissingClasses};
use super::problem::Location;
use super::template::Template;
use super::tree::{Content, Field, Tree};
use super::walk::Walk;

/// The maximum number of values that are shown of one class.
const MAX_SHOWN_VALUES: usize = 100_000;

impl Inventory {
    /// Lists the classes that set a parameter of a target. The path has the form `a:b`, as in references.
    ///
    /// # Errors
    /// The target does not exist, or it has problems; all are reported.
    pub fn explain(&self, target: &str, parameter: &str) -> Result<ParameterExplanation, RenderError> {
        let file = self.target_file(target)?;
        let node = self.render(target)?;
        let walk = Walk::of(self, file, MissingClasses::Rejected)
            .map_err(|problems| RenderError::Problems { target: target.to_owned(), problems })?;
        let keys: Vec<&str> = parameter.split(':').collect();
        let value = keys.iter().try_fold(&node.parameters, |value, key| value.get(key)).cloned();
        let mut sources = Vec::new();
        for number in walk.files {
            let Ok(class) = self.file(number).class(number) else { continue };
            if let Some(field) = class.parameters.get(keys[0]) {
                self.add_sources(field, &keys, 1, &mut sources);
            }
        }
        Ok(ParameterExplanation {
            target: target.to_owned(),
            parameter: parameter.to_owned(),
            sources,
            value,
        })
    }

    /// Adds the values of a field. `depth` is the number of keys on the path to it.
    fn add_sources(&self, field: &Field, keys: &[&str], depth: usize, sources: &mut Vec<ParameterSource>) {
        for tree in &field.values {
            let inner = match (&tree.content, keys.get(depth)) {
                (Content::Map(fields), Some(key)) if !field.options.replaces => match fields.get(*key) {
                    Some(inner) => Some(inner),
                    None => continue,
                },
                _ => None,
            };
            if let Some(inner) = inner {
                self.add_sources(inner, keys, depth + 1, sources);
                continue;
            }
            let change = match &tree.content {
                _ if sources.is_empty() => ParameterChange::Sets,
                _ if field.options.replaces => ParameterChange::Replaces,
                Content::Null => ParameterChange::Replaces,
                Content::Template(_) => ParameterChange::Refers,
                _ => ParameterChange::Merges,
            };
            let Location { class, file, line } = self.location(tree.origin);
            sources.push(ParameterSource {
                class,
                file: file.display().to_string(),
                line,
                path: keys[..depth].join(":"),
                change,
                value: written_value(tree, &mut { MAX_SHOWN_VALUES }),
            });
        }
    }
}

/// Returns a value as it is written in its class. `budget` limits the number of values, which aliases may multiply.
fn written_value(tree: &Tree, budget: &mut usize) -> Value {
    let Some(rest) = budget.checked_sub(1) else { return Value::from("…") };
    *budget = rest;
    match &tree.content {
        Content::Null | Content::Failed(_) => Value::Null,
        Content::Bool(flag) => Value::Bool(*flag),
        Content::Number(number) => Value::Number(number.clone()),
        Content::Text(text) | Content::Template(Template { text, .. }) => Value::String(text.to_string()),
        Content::List(items) => items.iter().map(|item| written_value(item, budget)).collect(),
        Content::Map(fields) => {
            let mut entries = Map::new();
            for (key, field) in fields {
                let prefix = match (field.options.is_constant, field.options.replaces) {
                    (true, _) => "=",
                    (false, true) => "~",
                    (false, false) => "",
                };
                for value in &field.values {
                    entries.insert(format!("{prefix}{key}"), written_value(value, budget));
                }
            }
            Value::Object(entries)
        }
    }
}
