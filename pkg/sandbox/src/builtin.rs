//! The built-in kinds: schemas, defaults and validation.

mod rules;
mod table;

pub(crate) use rules::{
    NameRule, allows_create_on_update, allows_unconditional_update, assign_addresses, client_config_errors,
    decode_errors, deprecation, name_rule, prepare_for_create, prepare_for_update, review_version_errors,
    set_defaults, unknown_fields, validate, warnings,
};
pub(crate) use table::{
    ApplyListType, DefinitionId, DefinitionKind, ElementType, Field, FieldDefault, KUBERNETES_RELEASE,
    ListMerge, TypeDefinition, ValueType, find_definition, kind_of, resources, storage_group_version,
    type_definitions,
};
