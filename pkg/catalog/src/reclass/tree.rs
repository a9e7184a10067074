//! Parameters: as written in classes, merged but unresolved, and resolved.

use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::Number;

use super::problem::ParameterProblem;
use super::template::Template;

/// A position in a file of the hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The number of the file in its inventory.
    pub(super) file: u32,
    /// The line in the file, from 1.
    pub(super) line: u32,
}

/// A value with its position. Trees are immutable, and shared between targets.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) origin: Origin,
    pub(super) content: Content,
    /// True if the value has no references, and one value for each field.
    pub(super) is_resolved: bool,
    /// True if a part could not be resolved.
    pub(super) has_failures: bool,
    /// The number of nested lists and mappings.
    pub(super) depth: u32,
}

#[derive(Debug)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    /// A text with references.
    Template(Template),
    List(Vec<Arc<Tree>>),
    Map(Fields),
    /// A value that cannot be resolved. A later value may replace it.
    Failed(Arc<ParameterProblem>),
}

/// The fields of a mapping, in the order of their first appearance.
pub(super) type Fields = IndexMap<Box<str>, Field>;

/// A field of a mapping.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// The values to merge, earliest first. A resolved field has one.
    pub(super) values: Vec<Arc<Tree>>,
    pub(super) options: FieldOptions,
}

/// The prefixes of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldOptions {
    /// `=key`: later classes must not change the value.
    pub(super) is_constant: bool,
    /// `~key`: the value replaces earlier values instead of being merged.
    pub(super) replaces: bool,
}

/// The attempt to change a constant field.
pub(super) struct ConstantField {
    /// The position of the constant value.
    pub(super) constant: Origin,
}

impl Tree {
    pub(super) fn new(origin: Origin, content: Content) -> Arc<Self> {
        let mut tree = Self { origin, content, is_resolved: true, has_failures: false, depth: 0 };
        match &tree.content {
            Content::Template(_) => tree.is_resolved = false,
            Content::Failed(_) => tree.has_failures = true,
            Content::List(items) => {
                tree.is_resolved = items.iter().all(|item| item.is_resolved);
                tree.has_failures = items.iter().any(|item| item.has_failures);
                tree.depth = 1 + items.iter().map(|item| item.depth).max().unwrap_or_default();
            }
            Content::Map(fields) => {
                let values = || fields.values().flat_map(|field| &field.values);
                let is_single = fields.values().all(|field| field.values.len() == 1);
                tree.is_resolved = is_single && values().all(|value| value.is_resolved);
                tree.has_failures = values().any(|value| value.has_failures);
                tree.depth = 1 + values().map(|value| value.depth).max().unwrap_or_default();
            }
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => {}
        }
        Arc::new(tree)
    }

    /// Returns the name of the type, in the words of reclass-rs.
    pub(super) fn type_name(&self) -> &'static str {
        match self.content {
            Content::Null => "Value::Null",
            Content::Bool(_) => "Value::Bool",
            Content::Number(_) => "Value::Number",
            Content::Text(_) => "Value::Literal",
            Content::Template(_) => "Value::String",
            Content::List(_) => "Value::Sequence",
            Content::Map(_) => "Value::Mapping",
            Content::Failed(_) => "Value::ResolveError",
        }
    }
}

impl Field {
    pub(super) fn of(value: Arc<Tree>, options: FieldOptions) -> Self {
        Self { values: vec![value], options }
    }
}

/// Splits a key into its name and its prefixes.
pub(super) fn split_key(key: &str) -> (&str, FieldOptions) {
    let name = key.trim_start_matches(['~', '=']);
    let prefixes = &key[..key.len() - name.len()];
    (name, FieldOptions { is_constant: prefixes.contains('='), replaces: prefixes.contains('~') })
}

/// Adds the values of a field to those that are already set, without merging them.
///
/// # Errors
/// The field is already set, and constant.
pub(super) fn add_field(fields: &mut Fields, key: &str, field: &Field) -> Result<(), ConstantField> {
    match fields.entry(key.into()) {
        Entry::Vacant(free) => {
            free.insert(field.clone());
        }
        Entry::Occupied(taken) if taken.get().options.is_constant => {
            let constant = taken.get().values.last().map(|value| value.origin).unwrap_or_default();
            return Err(ConstantField { constant });
        }
        Entry::Occupied(taken) => {
            let taken = taken.into_mut();
            if field.options.replaces {
                taken.values.clear();
            }
            taken.values.extend(field.values.iter().cloned());
            taken.options.is_constant |= field.options.is_constant;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_keys_are_options() {
        let options = |is_constant, replaces| FieldOptions { is_constant, replaces };
        for (key, name, expected) in [
            ("a", "a", options(false, false)),
            ("~a", "a", options(false, true)),
            ("=a", "a", options(true, false)),
            ("~=a", "a", options(true, true)),
            ("=~a", "a", options(true, true)),
            ("~", "", options(false, true)),
            ("a~=", "a~=", options(false, false)),
        ] {
            assert_eq!(split_key(key), (name, expected), "{key}");
        }
    }
}
