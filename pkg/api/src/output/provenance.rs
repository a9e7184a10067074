use schemars::JsonSchema;
use serde::Serialize;

/// Result of `--provenance=json`: the origin of the fields of built or rendered objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvenanceReport {
    /// Objects in the order of the output.
    pub objects: Vec<ObjectProvenance>,
}

/// Origin of one object and its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectProvenance {
    /// API group and version.
    pub api_version: String,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object; absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the object.
    pub name: String,
    /// Origin of the object and of every unlisted field; absent if capstan itself made the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<FieldSetter>,
    /// Scalar and empty fields with another origin, sorted by path.
    pub fields: Vec<FieldProvenance>,
}

/// A field and its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldProvenance {
    /// JSON pointer to the field in the object, such as `/spec/replicas`.
    pub path: String,
    /// Origin of the value.
    pub set_by: FieldSetter,
}

/// Origin of a field. At least one of `file` and `field` is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldSetter {
    /// File or address; absent if the origin is not in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Location in the file, such as `patches[0]` or `${REGION}`, or a description of the origin.
    /// Absent if the file itself holds the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// File that contains the value, such as the file of a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Result of `component explain`: the setters of fields of one object.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldExplanation {
    /// API group and version.
    pub api_version: String,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object; absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the object.
    pub name: String,
    /// The field, or the scalar and empty fields in it.
    pub fields: Vec<ExplainedField>,
}

/// A field with its value and its setters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedField {
    /// JSON pointer to the field in the object, such as `/spec/replicas`.
    pub path: String,
    /// Value of the field. The values of Secrets are sizes, such as `(8 bytes)`.
    pub value: serde_json::Value,
    /// Setters of the field, oldest first. The last one set the value.
    pub set_by: Vec<FieldSetter>,
}
