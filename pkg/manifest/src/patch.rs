//! Patches of objects: strategic merge, merge (RFC 7386) and JSON (RFC 6902).
//!
//! A patch either applies completely or leaves the object unchanged.

mod strategic;

use serde_json::Value;

use crate::{NotAMapping, Object, builtin, type_name};

pub use strategic::StrategicError;

/// A change of an object, in one of the three patch forms of Kubernetes.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// A mapping merged by the rules of the built-in kinds: for example, lists of containers by name.
    Strategic(Value),
    /// A mapping merged field by field; `null` removes a field, lists are replaced.
    Merge(Value),
    /// A list of JSON patch operations.
    Json(Value),
}

/// A patch that cannot be applied.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The patch is neither a mapping nor a list.
    #[error("a patch must be a mapping of fields or a list of operations, not {found}")]
    Form { found: &'static str },
    /// The list is no JSON patch.
    #[error("the list is not a valid JSON patch")]
    Operations(#[source] serde_json::Error),
    /// An operation that fails, for example on a missing path.
    #[error("cannot apply operation {number} (`{path}`)")]
    Operation {
        /// The position of the operation, from 1.
        number: usize,
        path: String,
        #[source]
        source: json_patch::PatchErrorKind,
    },
    /// An invalid directive or list for strategic merge.
    #[error(transparent)]
    Strategic(#[from] StrategicError),
    /// The result is no object.
    #[error("the result of the patch is not an object")]
    NoObject(#[source] NotAMapping),
}

/// The result of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchOutcome {
    /// The object remains.
    Updated,
    /// The patch deletes the object: `$patch: delete`.
    Deleted,
}

impl Patch {
    /// Recognizes a patch by its form: a list is a JSON patch, a mapping is a strategic merge patch.
    /// # Errors
    /// `Scalar` for any other value.
    pub fn from_value(value: Value) -> Result<Self, PatchError> {
        match value {
            Value::Object(_) => Ok(Self::Strategic(value)),
            Value::Array(_) => Ok(Self::Json(value)),
            other => Err(PatchError::Form { found: type_name(&other) }),
        }
    }

    /// Applies the patch. A kind that is not built in has no merge keys, so a strategic merge is a plain merge there.
    /// # Errors
    /// The reason; the object then stays unchanged.
    pub fn apply(&self, object: &mut Object) -> Result<PatchOutcome, PatchError> {
        let mut value = object.clone().into_value();
        match self {
            Self::Json(operations) => apply_operations(&mut value, operations)?,
            Self::Strategic(patch) if strategic::deletes_object(patch) => return Ok(PatchOutcome::Deleted),
            Self::Strategic(patch) if builtin::is_built_in(object.group()) => {
                let of = |version| builtin::kind(object.group(), version, object.kind());
                // A removed version is merged like `v1`, its successor.
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
        Ok(PatchOutcome::Updated)
    }
}

/// Merges as defined by RFC 7386.
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
