use schemars::JsonSchema;
use serde::Serialize;

/// Result of `--provenance=json`: what set the fields of objects that are built or rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvenanceReport {
    /// In the order of the objects.
    pub objects: Vec<ObjectProvenance>,
}

/// Where one object and its fields come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectProvenance {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// What made the object, and set every field that is not listed; absent for an object of capstan itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<FieldSetter>,
    /// The fields with a value of their own that something else set last, by their place.
    pub fields: Vec<FieldProvenance>,
}

/// A field and what set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldProvenance {
    /// JSON pointer to the field in the object, such as `/spec/replicas`.
    pub path: String,
    /// What set it.
    pub set_by: FieldSetter,
}

/// What sets fields. At least one of file and field is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldSetter {
    /// File or address; absent for what stands in no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Place in the file, such as `patches[0]` or `${REGION}`, or what it is; absent for a file that holds the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The file the field takes the content from, such as that of the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
