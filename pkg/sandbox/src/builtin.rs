//! The built-in kinds: schemas, defaults and validation.

mod rules;
mod table;

pub(crate) use rules::{
    NameRule, allows_create_on_update, allows_unconditional_update, assign_addresses, client_config_faults,
    decode_errors, deprecation, name_rule, prepare_for_create, prepare_for_update, review_version_faults,
    set_defaults, unknown_fields, validate, warnings,
};
pub(crate) use table::{
    Default, Field, Form, Inner, Keys, Merge, RELEASE, Shape, ShapeId, ValueType, kind_of, resources,
    shape_of, shapes, stored_as,
};
