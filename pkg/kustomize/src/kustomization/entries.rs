//! The list entries of a kustomization: selectors, patches, labels, images and others.

use std::collections::BTreeMap;

use super::decode::mappings;

impl Copy for PatchOptions {}

mappings! {
    /// A selector of objects; an empty part matches everything. In `patches`, the texts are regular expressions.
    Selector {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
        annotations: String = "annotationSelector",
        labels: String = "labelSelector",
    }
    /// An entry of `patches` or `patchesJson6902`.
    Patch {
        path: String = "path",
        text: String = "patch",
        target: Option<Selector> = "target",
        options: PatchOptions = "options",
    }
    /// The changes that a patch may make outside of the content.
    PatchOptions {
        allow_name_change: bool = "allowNameChange",
        allow_kind_change: bool = "allowKindChange",
    }
    /// An entry of `labels`.
    Label {
        pairs: BTreeMap<String, String> = "pairs",
        include_selectors: bool = "includeSelectors",
        include_templates: bool = "includeTemplates",
        fields: Vec<FieldSpecEntry> = "fields",
    }
    /// A field of a kind, as written in `configurations`, `labels` and plugins.
    FieldSpecEntry {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        path: String = "path",
        create: bool = "create",
    }
    /// An entry of `images`.
    Image {
        name: String = "name",
        new_name: String = "newName",
        tag_suffix: String = "tagSuffix",
        new_tag: String = "newTag",
        digest: String = "digest",
    }
    /// An entry of `replicas`.
    Replica {
        name: String = "name",
        count: i64 = "count",
    }
    /// An entry of `vars`.
    Var {
        name: String = "name",
        object: VarObject = "objref",
        field: VarField = "fieldref",
    }
    /// The object that supplies the value of a variable.
    VarObject {
        api_version: String = "apiVersion",
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
    }
    /// The field that supplies the value of a variable; empty for `metadata.name`.
    VarField {
        path: String = "fieldPath",
    }
    /// The output order of objects.
    SortOptions {
        order: String = "order",
        legacy: Option<LegacyOrder> = "legacySortOptions",
    }
    /// The first and the last kinds of the legacy order.
    LegacyOrder {
        first: Vec<String> = "orderFirst",
        last: Vec<String> = "orderLast",
    }
}
