//! Reads the content of a patch entry or of the file it names.

use manifest::{Object, Value, YamlLimits, type_name, yaml};

use crate::kustomization::entries::Patch;
use crate::scope::Scope;

use super::error::PatchError;
use super::operations::{self, Operations};

/// The content of a patch, by form.
#[derive(Debug)]
pub(super) enum PatchBody {
    /// A file without content.
    Empty,
    /// Mappings to merge, at least one.
    Mappings(Vec<Object>),
    /// Operations of a JSON patch.
    Operations(Operations),
}

impl PatchBody {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Mappings(mappings) => mappings.is_empty(),
            Self::Operations(operations) => operations.is_empty(),
        }
    }
}

/// True if a text is an inline patch, possibly empty, and no path.
pub(super) fn is_inline(text: &str) -> bool {
    yaml::read_value(text, &YamlLimits::default()).is_ok_and(|value| match value {
        Value::Object(_) | Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    })
}

/// Loads the patch of an entry. Reports invalid patches.
pub(super) fn load(scope: &mut Scope<'_, '_>, place: &str, patch: &Patch) -> Option<PatchBody> {
    match (patch.text.trim(), patch.path.as_str()) {
        ("", "") => {
            scope.report(place, PatchError::NoBody);
            None
        }
        ("", path) => {
            let (file, bytes) = scope.load(&format!("{place}.path"), path)?;
            read(scope, place, &bytes, Some(file))
        }
        (text, "") => read(scope, &format!("{place}.patch"), text.as_bytes(), None),
        _ => {
            scope.report(place, PatchError::TwoBodies);
            None
        }
    }
}

/// Parses a text by the form of its first document. Ignores all documents after a list of operations.
fn read(
    scope: &mut Scope<'_, '_>,
    place: &str,
    bytes: &[u8],
    file: Option<crate::TreePath>,
) -> Option<PatchBody> {
    let text = yaml::decode(bytes).unwrap_or_default();
    match yaml::read_value(&text, &YamlLimits::default()) {
        Ok(Value::Array(operations)) => read_operations(scope, place, operations),
        Ok(scalar @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => {
            scope.report(place, PatchError::Form { found: type_name(&scalar) });
            None
        }
        // `parse_objects` reports unreadable text, as it knows the documents of a file.
        Ok(Value::Object(_) | Value::Null) | Err(_) => {
            let file = file.unwrap_or_else(|| scope.root.file.clone());
            let read = scope.parse_objects(place, &file, bytes)?;
            let mappings: Vec<Object> = read.into_iter().map(|read| read.object).collect();
            Some(if mappings.is_empty() { PatchBody::Empty } else { PatchBody::Mappings(mappings) })
        }
    }
}

fn read_operations(scope: &mut Scope<'_, '_>, place: &str, mut operations: Vec<Value>) -> Option<PatchBody> {
    for (path, suggestion) in operations::trim_paths(&mut operations) {
        scope.warn(place, PatchError::CutPath { path, suggestion });
    }
    scope.all_ok(place, Operations::read(operations)).map(PatchBody::Operations)
}
