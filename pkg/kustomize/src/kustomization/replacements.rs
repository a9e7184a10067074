//! Replacements: a value from one field into others.

use super::decode::{Fields, FromFields};
use super::entries::Selector;

/// An entry of `replacements`: one written out, or a file with one or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplacementEntry {
    pub(crate) path: String,
    pub(crate) replacement: Replacement,
}

/// One replacement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replacement {
    pub(crate) source: Option<Source>,
    pub(crate) source_value: Option<String>,
    pub(crate) targets: Vec<Target>,
}

/// The field a value is taken from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) object: Selector,
    pub(crate) field_path: String,
    pub(crate) options: FieldOptions,
}

/// The fields a value is put into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    pub(crate) select: Option<Selector>,
    pub(crate) reject: Vec<Selector>,
    pub(crate) field_paths: Vec<String>,
    pub(crate) options: FieldOptions,
}

/// Which part of a field is meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldOptions {
    pub(crate) delimiter: String,
    pub(crate) index: i64,
    pub(crate) create: bool,
}

impl Replacement {
    fn take(fields: &mut Fields<'_>) -> Self {
        Self {
            source: fields.take("source"),
            source_value: fields.take("sourceValue"),
            targets: fields.take("targets"),
        }
    }
}

impl FromFields for Replacement {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self::take(fields)
    }
}

impl FromFields for ReplacementEntry {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { path: fields.take("path"), replacement: Replacement::take(fields) }
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

impl FromFields for Target {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            select: fields.take("select"),
            reject: fields.take("reject"),
            field_paths: fields.take("fieldPaths"),
            options: fields.take("options"),
        }
    }
}

impl FromFields for FieldOptions {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        // Known, and without effect in the peer as well.
        let _: String = fields.take("encoding");
        Self {
            delimiter: fields.take("delimiter"),
            index: fields.take("index"),
            create: fields.take("create"),
        }
    }
}
