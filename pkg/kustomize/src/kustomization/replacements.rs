//! Replacements: copies of a value from one field into others.

use super::decode::{Fields, FromFields, mappings};
use super::entries::Selector;

/// An entry of `replacements`: an inline replacement, or a file with one or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplacementEntry {
    pub(crate) path: String,
    pub(crate) replacement: Replacement,
}

/// The field that supplies a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) object: Selector,
    pub(crate) field_path: String,
    pub(crate) options: FieldOptions,
}

impl FromFields for ReplacementEntry {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { path: fields.take("path"), replacement: Replacement::from_fields(fields) }
    }
}

impl FromFields for Source {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            object: Selector {
                group: fields.take("group"),
                version: fields.take("version"),
                kind: fields.take("kind"),
                name: fields.take("name"),
                namespace: fields.take("namespace"),
                ..Selector::default()
            },
            field_path: fields.take("fieldPath"),
            options: fields.take("options"),
        }
    }
}

mappings! {
    /// One replacement.
    Replacement {
        source: Option<Source> = "source",
        source_value: Option<String> = "sourceValue",
        targets: Vec<Target> = "targets",
    }
    /// The fields that receive a value.
    Target {
        select: Option<Selector> = "select",
        reject: Vec<Selector> = "reject",
        field_paths: Vec<String> = "fieldPaths",
        options: FieldOptions = "options",
    }
    /// The part of a field to read or write.
    FieldOptions {
        delimiter: String = "delimiter",
        index: i64 = "index",
        create: bool = "create",
        ; ignored "encoding": String
    }
}
