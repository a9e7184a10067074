//! Patches of objects: strategic merge, merge (RFC 7386) and JSON (RFC 6902).
//!
//! A patch either applies whole or leaves the object as it was.

mod strategic;

use serde_json::Value;

use crate::{NotAMapping, Object, builtin, type_name};

pub use strategic::StrategicError;

/// A change to an object, in one of the three forms users of Kubernetes know.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// A mapping that is merged the way the built-in kinds define it: lists of containers by name, and so on.
    Strategic(Value),
    /// A mapping that is merged field by field; `null` takes a field away, lists are replaced.
    Merge(Value),
    /// A list of operations.
    Json(Value),
}

/// A patch that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// A form that is none: neither a mapping nor a list.
    #[error("a patch is a mapping of fields or a list of operations, this is {found}")]
    Form {
        /// What it is.
        found: &'static str,
    },
    /// The list is none of operations.
    #[error("the list is no JSON patch")]
    Operations(#[source] serde_json::Error),
    /// An operation cannot be carried out, such as one on a path that is not there.
    #[error("operation {number} (`{path}`) cannot be carried out")]
    Operation {
        /// Its place in the list, from 1.
        number: usize,
        /// The path it is about.
        path: String,
        /// Why.
        #[source]
        source: json_patch::PatchErrorKind,
    },
    /// A directive or a list that strategic merge cannot read.
    #[error(transparent)]
    Strategic(#[from] StrategicError),
    /// What is left is no object.
    #[error("the patch leaves no object")]
    NoObject(#[source] NotAMapping),
}

/// What a patch made of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patched {
    /// The object is still there.
    Stays,
    /// The patch deletes it: `$patch: delete`.
    Deleted,
}

impl Patch {
    /// Takes a patch by its form: a list is a JSON patch, a mapping is merged as the kind of the object defines it.
    /// # Errors
    /// `Form` for everything else.
    pub fn of_form(value: Value) -> Result<Self, PatchError> {
        match value {
            Value::Object(_) => Ok(Self::Strategic(value)),
            Value::Array(_) => Ok(Self::Json(value)),
            other => Err(PatchError::Form { found: type_name(&other) }),
        }
    }

    /// Applies it to an object. Kinds that are not built in have no merge keys: strategic merge is plain merge there.
    /// # Errors
    /// Says what is wrong; then the object has not changed.
    pub fn apply(&self, object: &mut Object) -> Result<Patched, PatchError> {
        let mut value = object.clone().into_value();
        match self {
            Self::Json(operations) => apply_operations(&mut value, operations)?,
            Self::Strategic(patch) if strategic::deletes(patch) => return Ok(Patched::Deleted),
            Self::Strategic(patch) if builtin::is_built_in(object.group()) => {
                let of = |version| builtin::kind(object.group(), version, object.kind());
                // An old version is merged as the one that replaced it.
                strategic::merge(
                    &mut value,
                    patch,
                    object.kind(),
                    of(object.version()).or_else(|| of("v1")),
                )?;
            }
            Self::Strategic(patch) | Self::Merge(patch) => merge(&mut value, patch),
        }
        object.replace_fields(Object::try_from(value).map_err(PatchError::NoObject)?.into_fields());
        Ok(Patched::Stays)
    }
}

/// Merges by RFC 7386.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = target else { unreachable!("invariant: it was made a mapping above") };
    for (key, change) in changes {
        if change.is_null() {
            fields.remove(key);
        } else {
            merge(fields.entry(key.clone()).or_insert(Value::Null), change);
        }
    }
}

fn apply_operations(target: &mut Value, operations: &Value) -> Result<(), PatchError> {
    let patch: json_patch::Patch =
        serde_json::from_value(operations.clone()).map_err(PatchError::Operations)?;
    json_patch::patch(target, &patch).map_err(|error| PatchError::Operation {
        number: error.operation + 1,
        path: error.path.to_string(),
        source: error.kind,
    })
}

#[cfg(test)]
mod tests;
