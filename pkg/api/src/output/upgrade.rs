use schemars::JsonSchema;
use serde::Serialize;

use super::CertManagerReport;
use crate::{Contract, ProviderId};

/// Result of `upgrade plan`: the versions there are to go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePlan {
    /// What would become of cert-manager.
    pub cert_manager: CertManagerReport,
    /// By contract.
    pub contracts: Vec<ContractUpgrade>,
    /// An upgrade that was begun and is not finished; nothing else can be upgraded before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedUpgrade>,
}

/// What going to one contract would mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractUpgrade {
    /// The contract.
    pub contract: Contract,
    /// Whether `upgrade apply --contract` takes it.
    pub supported: bool,
    /// Every installed provider, by type, name and namespace.
    pub providers: Vec<ProviderUpgrade>,
}

/// An installed provider and where it could go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderUpgrade {
    /// Its label, such as `infrastructure-aws`.
    pub provider: String,
    /// Type and name.
    pub id: ProviderId,
    /// Its namespace.
    pub namespace: String,
    /// The version that is there.
    pub current: String,
    /// The next version; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Folder or url of the kustomization that the configuration lays over its components, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomization: Option<String>,
}

/// An upgrade that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedUpgrade {
    /// When, in RFC 3339.
    pub begun: String,
    /// Whether it is being gone back from.
    pub rolling_back: bool,
    /// Its providers.
    pub providers: Vec<UnfinishedProvider>,
}

/// A provider of an upgrade that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedProvider {
    /// Its label, such as `infrastructure-aws`.
    pub provider: String,
    /// The version before.
    pub from: String,
    /// The version after.
    pub to: String,
    /// Whether it is there already.
    pub done: bool,
}

/// Result of `upgrade abort`: the upgrade that is forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeAborted {
    /// True if it was forgotten; false if it is only shown.
    pub carried_out: bool,
    /// The unfinished upgrade. Its changes stay.
    pub upgrade: UnfinishedUpgrade,
}
