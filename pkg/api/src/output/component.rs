use schemars::JsonSchema;
use serde::Serialize;

use crate::ObjectKey;

use super::{StepReport, WaitingFor};

/// Result of `component apply` and `component delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentRunReport {
    /// Command that made the plan.
    pub command: String,
    /// True if the plan was executed.
    pub carried_out: bool,
    /// True if anything changes.
    pub changes: bool,
    /// Components, in the order of execution.
    pub components: Vec<ComponentSteps>,
}

/// Plan of one Component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentSteps {
    /// Namespace of the Component.
    pub namespace: String,
    /// Name of the Component.
    pub name: String,
    /// Revision of its source.
    pub revision: String,
    /// Digest of its source.
    pub digest: String,
    /// Action on each object.
    pub steps: Vec<StepReport>,
}

/// Result of `controller install` and `controller uninstall`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControllerRunReport {
    /// Command that made the plan.
    pub command: String,
    /// True if the plan was executed.
    pub carried_out: bool,
    /// True if anything changes.
    pub changes: bool,
    /// Action on each object.
    pub steps: Vec<StepReport>,
}

/// Result of `component list`, `component status` and `component wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentList {
    /// Components, sorted by namespace and name.
    pub components: Vec<ListedComponent>,
}

/// State of one Component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedComponent {
    /// Namespace of the Component.
    pub namespace: String,
    /// Name of the Component.
    pub name: String,
    /// True if all objects of the newest generation are ready.
    pub ready: bool,
    /// State: Ready, Pending, Processing, DeletionPending, Deleting, Error, or empty before the first run. Unknown if the
    /// Component cannot be read.
    pub state: String,
    /// Reason for the state in one word.
    pub reason: String,
    /// Message about the state.
    pub message: String,
    /// Revision of the source of the last run.
    pub revision: String,
    /// Time of the last successful run, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<String>,
    /// Number of applied objects.
    pub objects: usize,
    /// Objects that are not ready, as recorded by the last run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_ready: Vec<WaitingFor>,
    /// Objects, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inventory: Vec<ComponentObject>,
}

/// Applied object of a Component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentObject {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Progress of the object, such as Ready or Creating.
    pub phase: String,
    /// Health of the object in a word of kstatus.
    pub status: String,
}
