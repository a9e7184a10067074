//! The built-in kinds: schemas, defaults and validation.

mod rules;
mod table;

pub(crate) use rules::{
    FieldPath, NameRule, allows_create_on_update, allows_unconditional_update, assign_addresses,
    client_config, decode_errors, deprecation, name_rule, prepare_for_create, prepare_for_update,
    review_versions, set_defaults, unknown_fields, validate, warnings,
};
pub(crate) use table::{
    KUBERNETES_RELEASE, META, add_object_meta, empty_object, find_definition, kind_of, resources,
    storage_group_version,
};
