//! Strategic merge, by the rules of the built-in kinds.
//! Source: kubectl patch and kustomize; Kubernetes "Strategic Merge Patch" (sig-api-machinery), with its directives
//! `$patch`, `$deleteFromPrimitiveList` and `$retainKeys`.

use serde_json::{Map, Value};

use crate::builtin::{Definition, Field, ListMerge};
use crate::type_name;

const DIRECTIVE: &str = "$patch";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const RETAIN_KEYS: &str = "$retainKeys";
/// Requests an order of elements; ignored: existing elements keep their position, new elements follow.
const ELEMENT_ORDER: &str = "$setElementOrder/";

/// An invalid strategic merge patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum StrategicError {
    /// An unknown directive.
    #[error(
        "unknown directive `{directive}` in `{path}`; use `$patch: delete`, `replace` or `merge`, `$deleteFromPrimitiveList/…` or `$retainKeys`"
    )]
    Directive { directive: String, path: String },
    /// An element without the merge key of its list.
    #[error("an element of `{path}` has no merge key `{key}`")]
    NoKey { path: String, key: &'static str },
    /// A value of a type that strategic merge cannot use.
    #[error("`{path}` must be {expected}, not {found}")]
    Type { path: String, expected: &'static str, found: &'static str },
}

/// The path of a value in the patch, for errors, with the type of the mapping or of the elements.
#[derive(Clone, Copy)]
struct PatchPosition<'a> {
    parent: Option<&'a PatchPosition<'a>>,
    field: &'a str,
    value_type: Option<&'static Definition>,
}

impl PatchPosition<'_> {
    fn path(&self) -> String {
        match self.parent {
            Some(parent) if parent.parent.is_some() => format!("{}.{}", parent.path(), self.field),
            _ => self.field.to_owned(),
        }
    }
}

/// True if a patch deletes the whole object.
pub(super) fn deletes_object(patch: &Value) -> bool {
    patch.get(DIRECTIVE).and_then(Value::as_str) == Some("delete")
}

/// Merges a patch into an object of a kind; without a type, lists are replaced.
pub(super) fn merge(
    target: &mut Value,
    patch: &Value,
    kind: &str,
    of: Option<&'static Definition>,
) -> Result<(), StrategicError> {
    merge_value(target, patch, PatchPosition { parent: None, field: kind, value_type: of })
}

fn merge_value(target: &mut Value, patch: &Value, at: PatchPosition<'_>) -> Result<(), StrategicError> {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return Ok(());
    };
    match directive(changes, at)? {
        Some("replace") => {
            *target = Value::Object(without_directives(changes));
            return Ok(());
        }
        Some("delete") => {
            *target = Value::Null;
            return Ok(());
        }
        _ => {}
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { unreachable!("invariant: it was made a mapping above") };
    if let Some(kept) = changes.get(RETAIN_KEYS) {
        retain_keys(fields, kept, at)?;
    }
    for (key, change) in changes {
        if let Some(field) = key.strip_prefix(DELETE_FROM) {
            delete_from_list(fields, field, change, at)?;
        } else if !key.starts_with('$') {
            merge_field(fields, key, change, at)?;
        } else if key != DIRECTIVE && key != RETAIN_KEYS && !key.starts_with(ELEMENT_ORDER) {
            return Err(StrategicError::Directive { directive: key.clone(), path: at.path() });
        }
    }
    Ok(())
}

fn merge_field(
    fields: &mut Map<String, Value>,
    key: &str,
    change: &Value,
    parent: PatchPosition<'_>,
) -> Result<(), StrategicError> {
    let field = parent.value_type.and_then(|of| of.field(key));
    let at = PatchPosition { parent: Some(&parent), field: key, value_type: field.and_then(Field::inner) };
    match change {
        Value::Null => {
            fields.remove(key);
        }
        Value::Array(elements) => {
            merge_list(fields, elements, at, field.map_or(ListMerge::Replace, |field| field.merge))?;
        }
        change => {
            let value = fields.entry(key).or_insert(Value::Null);
            merge_value(value, change, at)?;
            if value.is_null() {
                fields.remove(key);
            }
        }
    }
    Ok(())
}

fn merge_list(
    fields: &mut Map<String, Value>,
    changes: &[Value],
    at: PatchPosition<'_>,
    strategy: ListMerge,
) -> Result<(), StrategicError> {
    let is_replaced = changes.iter().any(|change| is_directive(change, "replace"));
    let old = match fields.get_mut(at.field) {
        Some(Value::Array(old)) if strategy != ListMerge::Replace && !is_replaced => std::mem::take(old),
        _ => Vec::new(),
    };
    let merged = match strategy {
        ListMerge::ByKey(key) => merge_by_key(old, changes, key, at)?,
        ListMerge::Set => {
            let mut merged = old;
            merged.extend(
                changes.iter().filter(|change| !merged.contains(change)).cloned().collect::<Vec<_>>(),
            );
            merged
        }
        ListMerge::Replace => {
            changes.iter().filter(|change| !is_directive(change, "replace")).cloned().collect()
        }
    };
    fields.insert(at.field.to_owned(), Value::Array(merged));
    Ok(())
}

fn merge_by_key(
    mut elements: Vec<Value>,
    changes: &[Value],
    key: &'static str,
    at: PatchPosition<'_>,
) -> Result<Vec<Value>, StrategicError> {
    for change in changes {
        let Value::Object(change_fields) = change else {
            return Err(StrategicError::Type {
                path: at.path(),
                expected: "a list of mappings",
                found: "a list with other values",
            });
        };
        if is_directive(change, "replace") && change_fields.len() == 1 {
            continue;
        }
        let Some(wanted) = change_fields.get(key) else {
            return Err(StrategicError::NoKey { path: at.path(), key });
        };
        let found = elements.iter().position(|element| element.get(key) == Some(wanted));
        match (found, directive(change_fields, at)?) {
            (Some(index), Some("delete")) => {
                elements.remove(index);
            }
            (None, Some("delete")) => {}
            (Some(index), _) => merge_value(&mut elements[index], change, at)?,
            (None, _) => {
                let mut new = Value::Null;
                merge_value(&mut new, change, at)?;
                elements.push(new);
            }
        }
    }
    Ok(elements)
}

fn is_directive(value: &Value, word: &str) -> bool {
    value.get(DIRECTIVE).and_then(Value::as_str) == Some(word)
}

fn directive<'p>(
    changes: &'p Map<String, Value>,
    at: PatchPosition<'_>,
) -> Result<Option<&'p str>, StrategicError> {
    match changes.get(DIRECTIVE) {
        None => Ok(None),
        Some(Value::String(word)) if matches!(&**word, "delete" | "replace" | "merge") => Ok(Some(word)),
        Some(other) => {
            Err(StrategicError::Directive { directive: format!("{DIRECTIVE}: {other}"), path: at.path() })
        }
    }
}

fn without_directives(changes: &Map<String, Value>) -> Map<String, Value> {
    changes
        .iter()
        .filter(|(key, _)| !key.starts_with('$'))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn retain_keys(
    fields: &mut Map<String, Value>,
    kept: &Value,
    at: PatchPosition<'_>,
) -> Result<(), StrategicError> {
    let names = list_of(kept, RETAIN_KEYS, at)?;
    fields.retain(|key, _| names.iter().any(|name| name.as_str() == Some(key)));
    Ok(())
}

fn delete_from_list(
    fields: &mut Map<String, Value>,
    field: &str,
    deleted: &Value,
    at: PatchPosition<'_>,
) -> Result<(), StrategicError> {
    let deletions = list_of(deleted, &format!("{DELETE_FROM}{field}"), at)?;
    if let Some(Value::Array(elements)) = fields.get_mut(field) {
        elements.retain(|element| !deletions.contains(element));
    }
    Ok(())
}

fn list_of<'v>(
    value: &'v Value,
    field: &str,
    at: PatchPosition<'_>,
) -> Result<&'v Vec<Value>, StrategicError> {
    value.as_array().ok_or_else(|| StrategicError::Type {
        path: format!("{}.{field}", at.path()),
        expected: "a list",
        found: type_name(value),
    })
}
