//! What the server fills in, decides and refuses for built-in kinds.
//!
//! ```text
//! decode_errors, unknown_fields ─► set_defaults ─► prepare_for_create/update ─► assign_addresses ─► validate ─► warnings
//! ```
//!
//! Definitions of custom resources pass through: they have their own rules.

mod addresses;
mod decode;
mod defaults;
mod faults;
mod formats;
mod names;
mod presence;
mod quantity;
mod shape;
mod status;
mod strategy;
mod validation;
mod warnings;

use serde_json::Value;

pub(crate) use self::{
    addresses::assign_addresses,
    formats::NameRule,
    names::{allows_create_on_update, allows_unconditional_update, name_rule},
    strategy::prepare_for_update,
    validation::{client_config_faults, review_version_faults},
    warnings::{deprecation, warnings},
};
use crate::{kinds::ResourceType, status::FieldError};

/// Fills in what a client may leave out, as the real server does when it decodes an object, and writes everything in
/// the one form it has: unknown fields and zeros gone, quantities canonical.
pub(crate) fn set_defaults(resource: &ResourceType, object: &mut Value) {
    if is_definition(resource) {
        return;
    }
    shape::reduce(object, resource.schema.schema());
    shape::complete(object, resource.schema.schema());
}

fn is_definition(resource: &ResourceType) -> bool {
    &*resource.group == "apiextensions.k8s.io"
}

/// What the server itself decides when an object is made: status cleared, generation, phases. Its uid and creation
/// time must be set.
pub(crate) fn prepare_for_create(resource: &ResourceType, object: &mut Value) {
    strategy::prepare_for_create(resource, object);
    let status = resource.schema.schema().field("status").zip(object.get_mut("status"));
    if let Some((schema, status)) = status.filter(|_| !is_definition(resource)) {
        shape::reduce(status, schema);
        shape::complete(status, schema);
    }
}

/// Everything that is wrong with an object, but its metadata; `old` at an update, for immutable fields. Of the parts
/// that a subresource may change, only the status of some kinds has rules here.
pub(crate) fn validate(
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    match (subresource, old) {
        ("", old) => validation::validate(resource, object, old),
        (other, Some(old)) => status::validate(resource, other, object, old),
        (_, None) => Vec::new(),
    }
}

/// What keeps an object from being decoded, as the real server tells it with 400: `… in version "v1" cannot be handled as
/// a …: ` goes before it. `None` when nothing does.
pub(crate) fn decode_errors(resource: &ResourceType, object: &Value) -> Option<String> {
    decode::error(resource.schema.schema(), object)
}

/// The fields of an object that its kind has not, as paths such as `spec.containers[0].foo`, in the order they stand.
pub(crate) fn unknown_fields(resource: &ResourceType, object: &Value) -> Vec<String> {
    decode::unknown_fields(resource.schema.schema(), object)
}

#[cfg(test)]
mod tests;
