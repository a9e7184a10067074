//! The entries of lists in a kustomization: selectors, patches, labels, images and the like.

use std::collections::BTreeMap;

use super::decode::{Fields, FromFields};

/// Which objects are meant; what is empty holds for all. Texts are regular expressions where `patches` use it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) annotations: String,
    pub(crate) labels: String,
}

/// An entry of `patches` or `patchesJson6902`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) target: Option<Selector>,
    pub(crate) options: PatchOptions,
}

/// What a patch may change beside the content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PatchOptions {
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
}

/// An entry of `labels`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub(crate) pairs: BTreeMap<String, String>,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    pub(crate) fields: Vec<FieldSpecEntry>,
}

/// A field of a kind, as `configurations`, `labels` and plugins write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSpecEntry {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) create: bool,
}

/// An entry of `images`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) tag_suffix: String,
    pub(crate) new_tag: String,
    pub(crate) digest: String,
}

/// An entry of `replicas`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) count: i64,
}

/// An entry of `vars`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) object: VarObject,
    pub(crate) field: VarField,
}

/// The object a variable takes its value from.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarObject {
    pub(crate) api_version: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

/// The field a variable takes its value from; empty for `metadata.name`.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarField {
    pub(crate) path: String,
}

/// The order objects are printed in.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortOptions {
    pub(crate) order: String,
    pub(crate) legacy: Option<LegacyOrder>,
}

/// Kinds that come first and last in the legacy order.
#[derive(Clone, Debug, Default)]
pub(crate) struct LegacyOrder {
    pub(crate) first: Vec<String>,
    pub(crate) last: Vec<String>,
}

impl FromFields for Selector {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            group: fields.take("group"),
            version: fields.take("version"),
            kind: fields.take("kind"),
            name: fields.take("name"),
            namespace: fields.take("namespace"),
            annotations: fields.take("annotationSelector"),
            labels: fields.take("labelSelector"),
        }
    }
}

impl FromFields for Patch {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            path: fields.take("path"),
            text: fields.take("patch"),
            target: fields.take("target"),
            options: fields.take("options"),
        }
    }
}

impl FromFields for PatchOptions {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            allow_name_change: fields.take("allowNameChange"),
            allow_kind_change: fields.take("allowKindChange"),
        }
    }
}

impl FromFields for Label {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            pairs: fields.take("pairs"),
            include_selectors: fields.take("includeSelectors"),
            include_templates: fields.take("includeTemplates"),
            fields: fields.take("fields"),
        }
    }
}

impl FromFields for FieldSpecEntry {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            group: fields.take("group"),
            version: fields.take("version"),
            kind: fields.take("kind"),
            path: fields.take("path"),
            create: fields.take("create"),
        }
    }
}

impl FromFields for Image {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            name: fields.take("name"),
            new_name: fields.take("newName"),
            tag_suffix: fields.take("tagSuffix"),
            new_tag: fields.take("newTag"),
            digest: fields.take("digest"),
        }
    }
}

impl FromFields for Replica {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { name: fields.take("name"), count: fields.take("count") }
    }
}

impl FromFields for Var {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { name: fields.take("name"), object: fields.take("objref"), field: fields.take("fieldref") }
    }
}

impl FromFields for VarObject {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            api_version: fields.take("apiVersion"),
            group: fields.take("group"),
            version: fields.take("version"),
            kind: fields.take("kind"),
            name: fields.take("name"),
            namespace: fields.take("namespace"),
        }
    }
}

impl FromFields for VarField {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { path: fields.take("fieldPath") }
    }
}

impl FromFields for SortOptions {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { order: fields.take("order"), legacy: fields.take("legacySortOptions") }
    }
}

impl FromFields for LegacyOrder {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { first: fields.take("orderFirst"), last: fields.take("orderLast") }
    }
}
