//! Conflicting patches of one list: two entries that set a field of an object to different values.
//!
//! The check runs only on request, as it stores every field that is set.

use std::collections::HashMap;

use manifest::{Map, Value};

use crate::ConflictDetection;
use crate::accumulator::{Accumulator, ResourcePosition};
use crate::schema::{Schema, TypeId};
use crate::scope::Scope;

use super::error::PatchError;
use super::operations::Operations;

/// The fields set so far by the entries of one list.
#[derive(Debug, Default)]
pub(crate) struct WrittenFields {
    /// The value and the entry, by object and field; `None` if the check is off.
    fields: Option<HashMap<(ResourcePosition, String), (Value, String)>>,
}

impl WrittenFields {
    /// Starts the check of one list.
    pub(crate) fn new(scope: &Scope<'_, '_>) -> Self {
        let is_asked = scope.session.options.conflicts == ConflictDetection::Reported;
        Self { fields: is_asked.then(HashMap::new) }
    }

    /// Records the fields set by a strategic merge. Warns about conflicts with earlier entries.
    pub(super) fn record_mapping(
        &mut self,
        scope: &mut Scope<'_, '_>,
        place: &str,
        objects: &Accumulator,
        position: ResourcePosition,
        patch: &Map<String, Value>,
        schema: &Schema,
    ) {
        if self.fields.is_none() {
            return;
        }
        let Some(object) = objects.get(position).map(|resource| &resource.object) else { return };
        let of = schema.kind(object.api_version(), object.kind());
        let mut leaves = Vec::new();
        leaves_of_mapping(patch, "", of, schema, &mut leaves);
        for (path, value) in leaves {
            self.record(scope, place, objects, position, path, value);
        }
    }

    /// Records the fields set by operations. Warns about conflicts with earlier entries.
    pub(super) fn record_operations(
        &mut self,
        scope: &mut Scope<'_, '_>,
        place: &str,
        objects: &Accumulator,
        position: ResourcePosition,
        operations: &Operations,
    ) {
        // A value added to a list gets a new index each time, so it never conflicts.
        let is_field =
            |path: &str| path.rsplit('/').next().is_some_and(|end| end.parse::<i64>().is_err() && end != "-");
        for (path, value) in operations.writes().filter(|(path, _)| is_field(path)) {
            let path = manifest::pointer::name(&path.trim_start_matches('/').replace('/', "."));
            self.record(scope, place, objects, position, path, value);
        }
    }

    fn record(
        &mut self,
        scope: &mut Scope<'_, '_>,
        place: &str,
        objects: &Accumulator,
        position: ResourcePosition,
        path: String,
        value: &Value,
    ) {
        let Some(fields) = &mut self.fields else { return };
        let now = (value.clone(), place.to_owned());
        let key = (position, path);
        let differs = |(before, first): &&(Value, String)| before != value && first != place;
        if let Some((_, first)) = fields.get(&key).filter(differs)
            && let Some(resource) = objects.get(position)
        {
            let (id, path) = (Box::new(resource.id().clone()), key.1.clone());
            scope.warn(place, PatchError::Conflict { id, path, first: first.clone() });
        }
        fields.insert(key, now);
    }
}

/// Collects the fields that a mapping sets, each with its path. Elements of merged lists are identified by their keys.
fn leaves_of_mapping<'p>(
    patch: &'p Map<String, Value>,
    path: &str,
    of: Option<TypeId>,
    schema: &Schema,
    leaves: &mut Vec<(String, &'p Value)>,
) {
    for (name, value) in patch.iter().filter(|(name, _)| !name.starts_with('$')) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let field = of.and_then(|of| schema.field(of, name));
        let of = field.and_then(|field| field.type_id);
        match (value, field.and_then(|field| field.keys.as_deref())) {
            (Value::Object(fields), _) => leaves_of_mapping(fields, &path, of, schema, leaves),
            (Value::Array(_), Some([])) => {}
            (Value::Array(items), Some(keys)) => {
                for fields in items.iter().filter_map(Value::as_object) {
                    let ids = keys.iter().filter_map(|key| Some(format!("{key}={}", fields.get(&**key)?)));
                    let path = format!("{path}[{}]", ids.collect::<Vec<_>>().join(","));
                    leaves_of_mapping(fields, &path, of, schema, leaves);
                }
            }
            _ => leaves.push((path, value)),
        }
    }
}
