use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ObjectKey;

use super::{StepAction, StepReport};

/// Result of `catalog plan`: the changes between two versions of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogPlan {
    /// True if anything changes.
    pub changes: bool,
    /// Objects that change, sorted by group, kind, namespace and name.
    pub objects: Vec<CatalogObjectChange>,
    /// Files that change and have no objects, sorted by path.
    pub files: Vec<CatalogFileChange>,
    /// Number of objects that stay as they are.
    pub unchanged: usize,
}

/// Change of one object of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogObjectChange {
    /// Action: create, update or delete.
    pub action: StepAction,
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Paths of the changed fields in the syntax of jq; empty unless the object is updated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Unified diff of the object; values of Secrets are masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Change of one file of a catalog that has no objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogFileChange {
    /// Action: create, update or delete.
    pub action: StepAction,
    /// Path in the folder of manifests.
    pub path: String,
}

/// Result of `catalog explain`: the classes that set a parameter of a target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParameterExplanation {
    /// Target with the parameter.
    pub target: String,
    /// Path of the parameter, such as `a:b`.
    pub parameter: String,
    /// Values that classes set, in the order in which they are merged.
    pub sources: Vec<ParameterSource>,
    /// Value after merging; null if the parameter does not exist.
    pub value: Option<Value>,
}

/// Value of a parameter, or of a mapping around it, in one class.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParameterSource {
    /// Class; the name of the target for the target itself.
    pub class: String,
    /// Path of the file.
    pub file: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Path of the value: the parameter, or a mapping around it.
    pub path: String,
    /// Effect on earlier values.
    pub change: ParameterChange,
    /// Value as written, with references.
    pub value: Value,
}

/// Effect of a value on the values of earlier classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ParameterChange {
    /// The value is the first one.
    Sets,
    /// The value is merged with earlier values, or replaces a scalar.
    Merges,
    /// The value replaces all earlier ones (`~key`, or null).
    Replaces,
    /// The value is a reference, whose value is merged with earlier values.
    Refers,
}

/// Result of `catalog apply` and `catalog delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogRunReport {
    /// Command that made the plan.
    pub command: String,
    /// True if the plan was executed.
    pub carried_out: bool,
    /// True if anything changes.
    pub changes: bool,
    /// Name of the applied catalog.
    pub name: String,
    /// Action on each object.
    pub steps: Vec<StepReport>,
    /// Objects that are left out because they have references to secrets.
    pub left_out: Vec<UnresolvedObject>,
}

/// Result of `catalog list --applied`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedCatalogs {
    /// Applied catalogs, sorted by name.
    pub catalogs: Vec<AppliedCatalog>,
}

/// Catalog on a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedCatalog {
    /// Name of the catalog for `catalog delete`.
    pub name: String,
    /// Number of applied objects. Missing if the record on the cluster cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<usize>,
}

/// Object with references to secrets that nothing resolves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnresolvedObject {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Path of its file in the folder of manifests.
    pub file: String,
    /// References, such as `?{vaultkv:path/to/secret/key:0123abcd}`.
    pub references: Vec<String>,
}

/// Result of `catalog lint -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogLint {
    /// Findings in the order of the checks.
    pub findings: Vec<CatalogFinding>,
}

/// One finding in a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogFinding {
    /// Kind of the finding: `invalid-component`, `invalid-package`, `removed-reference`, `secret`, `unknown-reference`,
    /// `unused-component`, `unused-package` or `unused-parameter`.
    pub code: String,
    /// File with the finding.
    pub file: String,
    /// Line in the file, from 1; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Description of the problem. It never contains the value of a secret.
    pub message: String,
    /// Next step after the finding.
    pub advice: String,
}
