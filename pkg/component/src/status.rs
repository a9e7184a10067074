//! The status of a Component, as clusters store it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::spec::plain_enum;

/// The observed state of a Component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ComponentStatus {
    /// The generation of the last run; -1 before the first run.
    pub observed_generation: i64,
    /// The generation of the last successful run.
    #[serde(skip_serializing_if = "is_zero")]
    pub applied_generation: i64,
    /// The time of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    pub last_observed_at: Option<String>,
    /// The time of the last successful run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    pub last_applied_at: Option<String>,
    /// The digest of the Component and its references that is being applied.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub processing_digest: String,
    /// The start of the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    pub processing_since: Option<String>,
    /// The digest of the last run that reached the objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_processing_digest: String,
    /// The number of different digests so far.
    #[serde(skip_serializing_if = "is_zero")]
    pub revision: i64,
    /// The conditions; the engine sets Ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The state in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// The applied objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "inventory_schema")]
    pub inventory: Vec<InventoryItem>,
    /// The source of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_ref: Option<SourceStatus>,
    /// The digest of the artifact of the last run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_attempted_digest: String,
    /// The revision of the artifact of the last run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_attempted_revision: String,
    /// The digest of the artifact of the last successful run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_applied_digest: String,
    /// The revision of the artifact of the last successful run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_applied_revision: String,
}

/// An item of an inventory, as the cluster stores it. It is kept as text with sorted fields, because a JSON tree takes ten
/// times the memory. Clones share the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Value", into = "Value")]
pub struct InventoryItem(Arc<str>);

impl InventoryItem {
    /// The item as JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl From<Value> for InventoryItem {
    fn from(item: Value) -> Self {
        Self(item.to_string().into())
    }
}

impl From<InventoryItem> for Value {
    fn from(item: InventoryItem) -> Self {
        serde_json::from_str(&item.0).expect("invariant: the text was made from JSON")
    }
}

/// The state of a Component in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = plain_enum)]
pub enum State {
    /// All objects are ready.
    Ready,
    /// The Component waits for a dependency, a source, a Secret, or the end of a suspension.
    Pending,
    /// Objects are being applied.
    Processing,
    /// The deletion waits for other Components.
    DeletionPending,
    /// Objects are being deleted.
    Deleting,
    /// The last run failed, or objects were not ready in time.
    Error,
}

/// A condition of a Component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The type of the condition.
    #[serde(rename = "type")]
    pub kind: String,
    /// True, False or Unknown.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// The time of the last change of `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    pub last_transition_time: Option<String>,
    /// The reason in one word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The message for users.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The source of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceStatus {
    /// The artifact of the source.
    pub artifact: ArtifactReference,
    /// The digest of the reference; another digest restarts the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// The artifact of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ArtifactReference {
    /// The URL of the archive.
    pub url: String,
    /// The digest of the archive, as the source reports it.
    pub digest: String,
    /// The revision of the archive.
    pub revision: String,
}

/// A time in RFC 3339; only for schemas.
#[derive(JsonSchema)]
#[schemars(inline, extend("format" = "date-time"))]
#[expect(dead_code, reason = "it only describes a string")]
struct Time(String);

impl ComponentStatus {
    /// The number of the deployment with a digest, from 1. It grows with each other digest.
    pub fn revision_with(&self, digest: &str) -> i64 {
        if self.last_processing_digest == digest { self.revision.max(1) } else { self.revision + 1 }
    }
}

impl Default for ComponentStatus {
    fn default() -> Self {
        Self {
            observed_generation: -1,
            applied_generation: 0,
            last_observed_at: None,
            last_applied_at: None,
            processing_digest: String::new(),
            processing_since: None,
            last_processing_digest: String::new(),
            revision: 0,
            conditions: Vec::new(),
            state: None,
            inventory: Vec::new(),
            source_ref: None,
            last_attempted_digest: String::new(),
            last_attempted_revision: String::new(),
            last_applied_digest: String::new(),
            last_applied_revision: String::new(),
        }
    }
}

/// Returns the schema of items, whose fields the engine defines.
fn inventory_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to what it may skip")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}
