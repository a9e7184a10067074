use schemars::JsonSchema;
use serde::Serialize;

use super::{ObjectName, WaitingFor};
use crate::ProviderId;

/// Result of `status`: what is installed, and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// By type, then by name.
    pub providers: Vec<ProviderHealth>,
}

/// One installed provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderHealth {
    /// Its label, such as `infrastructure-aws`.
    pub provider: String,
    /// Type and name.
    pub id: ProviderId,
    /// Its version.
    pub version: String,
    /// Its namespace.
    pub namespace: String,
    /// Whether all its objects are ready.
    pub ready: bool,
    /// Those that are not.
    pub not_ready: Vec<WaitingFor>,
    /// Whether it is recorded what was applied for it; else drift cannot be told.
    pub recorded: bool,
    /// Objects that are not as they were applied, or gone.
    pub drift: Vec<ObjectName>,
}
