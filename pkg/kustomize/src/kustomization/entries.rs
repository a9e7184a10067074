//! The entries of lists in a kustomization: selectors, patches, labels, images and the like.

use std::collections::BTreeMap;

use super::decode::mappings;

impl Copy for PatchOptions {}

mappings! {
    /// Which objects are meant; what is empty holds for all. Texts are regular expressions where `patches` use it.
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
    /// What a patch may change beside the content.
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
    /// A field of a kind, as `configurations`, `labels` and plugins write it.
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
    /// The object a variable takes its value from.
    VarObject {
        api_version: String = "apiVersion",
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
    }
    /// The field a variable takes its value from; empty for `metadata.name`.
    VarField {
        path: String = "fieldPath",
    }
    /// The order objects are printed in.
    SortOptions {
        order: String = "order",
        legacy: Option<LegacyOrder> = "legacySortOptions",
    }
    /// Kinds that come first and last in the legacy order.
    LegacyOrder {
        first: Vec<String> = "orderFirst",
        last: Vec<String> = "orderLast",
    }
}
