//! Defaults, preparation and validation of built-in kinds.
//!
//! ```text
//! decode_errors, unknown_fields ─► set_defaults ─► prepare_for_create/update ─► assign_addresses ─► validate ─► warnings
//! ```
//!
//! CustomResourceDefinitions pass through unchanged, because separate rules apply.

mod addresses;
mod decode;
mod defaults;
mod field_path;
mod formats;
mod normalization;
mod strategy;
mod type_rules;
mod validation;
mod warnings;

use serde_json::Value;

pub(crate) use self::{
    addresses::assign_addresses,
    field_path::FieldPath,
    formats::{NameRule, allows_create_on_update, allows_unconditional_update, name_rule},
    strategy::prepare_for_update,
    validation::{client_config, review_versions},
    warnings::{deprecation, warnings},
};
use crate::{kinds::ResourceType, status::FieldError};

/// Sets defaults as the real server does on decoding and normalizes the object: removes unknown fields and zero values,
/// writes quantities in canonical form.
pub(crate) fn set_defaults(resource: &ResourceType, object: &mut Value) {
    if is_definition(resource) {
        return;
    }
    normalization::remove_unset(object, resource.schema.schema());
    normalization::fill_defaults(object, resource.schema.schema());
}

fn is_definition(resource: &ResourceType) -> bool {
    &*resource.group == "apiextensions.k8s.io"
}

/// Sets the fields that the server controls at a creation: cleared status, generation, phases. The uid and the creation
/// time must already be set.
pub(crate) fn prepare_for_create(resource: &ResourceType, object: &mut Value) {
    strategy::prepare_for_create(resource, object);
    let status = resource.schema.schema().field("status").zip(object.get_mut("status"));
    if let Some((schema, status)) = status.filter(|_| !is_definition(resource)) {
        normalization::remove_unset(status, schema);
        normalization::fill_defaults(status, schema);
    }
}

/// Returns all validation errors of an object except errors of its metadata. `old` is the stored object at an update,
/// for immutable fields. Of the subresources, only the status of some kinds is validated.
pub(crate) fn validate(
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    match (subresource, old) {
        ("", old) => validation::validate(resource, object, old),
        ("status", Some(old)) if &*resource.group == "apps" => {
            validation::workload_status(&resource.plural, &object["status"], &old["status"])
        }
        _ => Vec::new(),
    }
}

/// Returns the decoding error of an object: `None` if the object can be decoded. The real server reports the error with
/// 400 and the prefix `… in version "v1" cannot be handled as a …: `.
pub(crate) fn decode_errors(resource: &ResourceType, object: &Value) -> Option<String> {
    decode::type_error(resource.schema.schema(), object)
}

/// Returns the fields that the kind of an object lacks, as paths such as `spec.containers[0].foo`, in document order.
pub(crate) fn unknown_fields(resource: &ResourceType, object: &Value) -> Vec<String> {
    decode::unknown_fields(resource.schema.schema(), object)
}

#[cfg(test)]
mod tests;
