use schemars::JsonSchema;
use serde::Serialize;

use super::CertManagerReport;
use crate::{Contract, ProviderId};

/// Result of `upgrade plan`: the available versions of installed providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePlan {
    /// Planned action on cert-manager.
    pub cert_manager: CertManagerReport,
    /// Possible upgrades by contract.
    pub contracts: Vec<ContractUpgrade>,
    /// Unfinished upgrade. It must be completed before another upgrade can start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedUpgrade>,
}

/// Upgrade of every provider to one contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractUpgrade {
    /// Contract that every provider would implement.
    pub contract: Contract,
    /// True if `upgrade apply --contract` accepts the contract.
    pub supported: bool,
    /// Installed providers, sorted by type, name and namespace.
    pub providers: Vec<ProviderUpgrade>,
}

/// An installed provider and its next version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderUpgrade {
    /// Provider label, such as `infrastructure-aws`.
    pub provider: String,
    /// Provider type and name.
    pub id: ProviderId,
    /// Namespace of the provider.
    pub namespace: String,
    /// Version that is installed.
    pub current: String,
    /// Next version; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Reason for the missing next version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Folder or URL of the kustomization that the configuration applies over the components; absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomization: Option<String>,
}

/// An unfinished upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedUpgrade {
    /// Start time, RFC 3339.
    pub begun: String,
    /// True if the upgrade is being rolled back.
    pub rolling_back: bool,
    /// Providers of the upgrade.
    pub providers: Vec<UnfinishedProvider>,
}

impl UnfinishedUpgrade {
    /// Returns the subject of a sentence: the upgrade, or its rollback.
    pub fn subject(&self) -> &'static str {
        if self.rolling_back { "the rollback of the upgrade" } else { "the upgrade" }
    }
}

/// A provider of an unfinished upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedProvider {
    /// Provider label, such as `infrastructure-aws`.
    pub provider: String,
    /// Version before the upgrade.
    pub from: String,
    /// Version after the upgrade.
    pub to: String,
    /// True if the new version is already installed.
    pub done: bool,
}

/// Result of `upgrade abort`: the aborted upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeAborted {
    /// True if the upgrade was aborted; false if the command only shows the upgrade.
    pub carried_out: bool,
    /// The unfinished upgrade. Its changes stay on the cluster.
    pub upgrade: UnfinishedUpgrade,
}
