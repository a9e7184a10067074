//! Adds a generated object: appends it, or changes an existing one.

use manifest::{Map, Object, Value};

use crate::accumulator::Accumulator;
use crate::report::StepError;
use crate::resource::Resource;

use super::GeneratorError;

/// The action of a generator, depending on an existing object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behavior {
    Create,
    Merge,
    Replace,
}

impl Behavior {
    /// Parses a behavior; empty means `create`. `None` for an unknown one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "create" => Some(Self::Create),
            "merge" => Some(Self::Merge),
            "replace" => Some(Self::Replace),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Merge => "merge",
            Self::Replace => "replace",
        }
    }
}

/// Appends an object, or merges it into the object that has or had its id. A merge keeps the name, namespace and former
/// ids.
/// # Errors
/// No object to merge into, an unexpected existing object, several candidates.
pub(super) fn add(behavior: Behavior, new: Resource, objects: &mut Accumulator) -> Result<(), StepError> {
    let found: Vec<_> = objects.find_by_any_id(new.id()).collect();
    let id = Box::new(new.id().clone());
    match (found.as_slice(), behavior) {
        ([], Behavior::Create) => Ok(objects.append(new).map(drop)?),
        // The object may be among those that failed to load.
        ([], _) if objects.is_partial => Ok(()),
        ([], _) => Err(GeneratorError::NoExistingObject { id, behavior: behavior.name() }.into()),
        ([position], Behavior::Create) => {
            let first = objects.get(*position).map(|old| old.origin.to_string()).unwrap_or_default();
            Err(GeneratorError::Exists { id, first }.into())
        }
        ([position], _) => {
            objects.edit(*position, |old| merge_into(behavior, new, old));
            Ok(())
        }
        (several, _) => {
            let names = several.iter().filter_map(|position| objects.get(*position));
            let candidates = names.map(|old| format!("`{}`", old.id())).collect();
            Err(GeneratorError::Ambiguous { id, candidates }.into())
        }
    }
}

fn merge_into(behavior: Behavior, new: Resource, old: &mut Resource) {
    let mut object = new.object;
    add_missing_entries(&["metadata", "labels"], &old.object, &mut object);
    add_missing_entries(&["metadata", "annotations"], &old.object, &mut object);
    object.set_name(old.object.name());
    let namespace = old.object.namespace();
    if namespace.is_empty() {
        if let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
            metadata.remove("namespace");
        }
    } else {
        object.set_namespace(namespace);
    }
    match behavior {
        Behavior::Merge => {
            add_missing_entries(&["data"], &old.object, &mut object);
            add_missing_entries(&["binaryData"], &old.object, &mut object);
        }
        Behavior::Create | Behavior::Replace => old.origin = new.origin,
    }
    old.object.replace_fields(object.into_fields());
    // Both sides must want a hash: either may have disabled it.
    old.needs_hash &= new.needs_hash;
}

/// Copies the entries of a mapping that the new object lacks; drops a mapping that stays empty.
fn add_missing_entries(path: &[&str], old: &Object, new: &mut Object) {
    let mut merged: Map<String, Value> = Map::new();
    for object in [old, &*new] {
        let entries = object.get(path).and_then(Value::as_object).into_iter().flatten();
        merged.extend(entries.map(|(key, value)| (key.clone(), as_text(value))));
    }
    let Some((name, way)) = path.split_last() else { return };
    let parent =
        if way.is_empty() { Some(new.as_map_mut()) } else { new.get_mut(way).and_then(Value::as_object_mut) };
    let Some(parent) = parent else { return };
    if merged.is_empty() {
        parent.remove(*name);
    } else {
        parent.insert((*name).to_owned(), Value::Object(merged));
    }
}

/// Converts a value to a text: these mappings hold only texts.
fn as_text(value: &Value) -> Value {
    match value {
        Value::String(_) => value.clone(),
        Value::Null => "".into(),
        other => other.to_string().into(),
    }
}
