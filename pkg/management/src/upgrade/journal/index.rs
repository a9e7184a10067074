//! The content of a journal: request, versions and progress.

use api::{
    ProviderId,
    output::{CertManagerPlan, UnfinishedProvider, UnfinishedUpgrade},
    plan::UpgradeOptions,
};
use apply::ApiError;
use inventory::ProviderInventory;
use provider::Overlays;
use serde::{Deserialize, Serialize};

use crate::{UnfinishedPolicy, UpgradeRequest, UpgradeTarget, WaitOptions, upgrade::choose::UpgradeChoice};

/// The format that this binary writes and reads.
const FORMAT: u32 = 1;

/// An error of the upgrade journal or of a rollback.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    #[error("{} started at {} is unfinished", _0.subject(), _0.begun)]
    Unfinished(UnfinishedUpgrade),
    /// Kustomizations of providers at the start of the upgrade are missing now.
    #[error("cannot resume the upgrade started at {begun} without {}", kustomizations(lost))]
    MissingKustomizations {
        begun: String,
        /// Providers, each with the folder or URL of its kustomization.
        lost: Vec<(ProviderId, String)>,
    },
    #[error("cannot {verb} the upgrade: no upgrade found")]
    NoJournal {
        /// The verb: `resume`, `abort` or `roll back`.
        verb: &'static str,
    },
    /// The object on the cluster is marked as a journal but cannot be used.
    #[error("cannot use the journal of the last upgrade: {problem}")]
    InvalidJournal { problem: String },
    /// The journal cannot be written, so nothing was changed.
    #[error("cannot write the journal to the cluster; nothing was changed")]
    WriteJournal {
        #[source]
        source: Box<ApiError>,
    },
    /// A rollback would lose objects, or the installed providers differ from the journal.
    #[error("cannot roll back{}", only(reasons))]
    CannotRollBack {
        /// One reason per definition or provider.
        reasons: Vec<String>,
    },
}

fn kustomizations(lost: &[(ProviderId, String)]) -> String {
    let one =
        |(provider, place): &(ProviderId, String)| format!("the kustomization `{place}` of `{provider}`");
    lost.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the only reason. Several reasons are shown one by one next to the message.
fn only(reasons: &[String]) -> String {
    if let [only] = reasons { format!(": {only}") } else { format!(", for {} reasons", reasons.len()) }
}

/// The JSON content of the first Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JournalIndex {
    /// The format, equal to [`FORMAT`].
    pub(crate) format: u32,
    /// The start time in RFC 3339 and UTC.
    pub(crate) begun: String,
    pub(crate) phase: UpgradePhase,
    pub(crate) target: UpgradeTarget,
    pub(crate) keep_replicas: bool,
    pub(crate) keep_placement: bool,
    pub(crate) skip_cert_manager: bool,
    /// The providers in execution order.
    pub(crate) providers: Vec<JournalEntry>,
    pub(crate) cert_manager: CertManagerStep,
}

/// The progress of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum UpgradePhase {
    Upgrading,
    Finished,
    RollingBack,
}

/// The progress of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JournalEntry {
    pub(crate) provider: ProviderId,
    pub(crate) namespace: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The folder or URL of the kustomization over the new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kustomization: Option<String>,
    /// True if the inventory and all objects have the new version.
    pub(crate) done: bool,
    /// The Secrets with the previous manifests, in part order.
    pub(crate) secrets: Vec<String>,
    /// The digest of all parts.
    pub(crate) digest: String,
}

/// The upgrade of cert-manager, shown to the user because a rollback does not revert cert-manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CertManagerStep {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
}

pub(super) fn invalid_journal(problem: impl Into<String>) -> UpgradeError {
    UpgradeError::InvalidJournal { problem: problem.into() }
}

impl From<&CertManagerPlan> for CertManagerStep {
    fn from(plan: &CertManagerPlan) -> Self {
        if plan.is_empty() {
            return Self::default();
        }
        Self { from: plan.from.clone(), to: plan.to.clone() }
    }
}

impl JournalIndex {
    /// Returns the index of a new upgrade. The start time and the providers are set when the index is written.
    pub(crate) fn new(request: &UpgradeRequest, cert_manager: &CertManagerPlan) -> Self {
        Self {
            format: FORMAT,
            begun: String::new(),
            phase: UpgradePhase::Upgrading,
            target: request.target.clone(),
            keep_replicas: request.options.keep_replicas,
            keep_placement: request.options.keep_placement,
            skip_cert_manager: request.options.skip_cert_manager,
            providers: Vec::new(),
            cert_manager: cert_manager.into(),
        }
    }

    /// Returns the upgrade for messages and output.
    pub(crate) fn report(&self) -> UnfinishedUpgrade {
        let provider = |entry: &JournalEntry| UnfinishedProvider {
            provider: entry.provider.label(),
            from: entry.from.clone(),
            to: entry.to.clone(),
            done: entry.done,
        };
        UnfinishedUpgrade {
            begun: self.begun.clone(),
            rolling_back: self.phase == UpgradePhase::RollingBack,
            providers: self.providers.iter().map(provider).collect(),
        }
    }

    pub(super) fn parse(text: &[u8]) -> Result<Self, UpgradeError> {
        /// The fields that every format begins with.
        #[derive(Deserialize)]
        struct FormatHeader {
            format: u32,
        }
        let broken = |error: serde_json::Error| invalid_journal(format!("it is invalid: {error}"));
        let head: FormatHeader = serde_json::from_slice(text).map_err(broken)?;
        if head.format != FORMAT {
            return Err(invalid_journal(format!(
                "it has format {}; this version supports format {FORMAT}",
                head.format
            )));
        }
        serde_json::from_slice(text).map_err(broken)
    }

    /// Returns the remaining work for a request with the same target, and warnings for the user.
    pub(crate) fn choice(
        &self,
        inventory: &ProviderInventory,
        request: &UpgradeRequest,
        overlays: &Overlays,
    ) -> Result<UpgradeChoice, UpgradeError> {
        self.check_target(request)?;
        self.check_kustomizations(overlays)?;
        let item = |entry: &JournalEntry| {
            let installed = inventory.entries_of(&entry.provider).next().cloned();
            installed.map(|installed| (installed, entry.to.clone()))
        };
        Ok(UpgradeChoice {
            items: self.providers.iter().filter_map(item).collect(),
            warnings: vec![format!("resuming the upgrade started at {}", self.begun)],
        })
    }

    /// Checks that a request has the target of this upgrade.
    pub(crate) fn check_target(&self, request: &UpgradeRequest) -> Result<(), UpgradeError> {
        if self.phase == UpgradePhase::Upgrading && self.target.is_same_as(&request.target) {
            Ok(())
        } else {
            Err(UpgradeError::Unfinished(self.report()))
        }
    }

    /// Checks that no kustomization of a provider would be dropped. A different location is a decision of the user.
    fn check_kustomizations(&self, overlays: &Overlays) -> Result<(), UpgradeError> {
        let missing = |entry: &JournalEntry| {
            let place =
                entry.kustomization.clone().filter(|_| overlays.location(&entry.provider).is_none())?;
            Some((entry.provider.clone(), place))
        };
        match self.providers.iter().filter_map(missing).collect::<Vec<_>>() {
            lost if lost.is_empty() => Ok(()),
            lost => Err(UpgradeError::MissingKustomizations { begun: self.begun.clone(), lost }),
        }
    }

    /// Returns the request at the start of the upgrade. Options that were allowed then are allowed again.
    pub(crate) fn request(&self, wait: WaitOptions) -> UpgradeRequest {
        UpgradeRequest {
            target: self.target.clone(),
            options: UpgradeOptions {
                allow_downgrade: true,
                allow_skip: true,
                keep_replicas: self.keep_replicas,
                keep_placement: self.keep_placement,
                skip_cert_manager: self.skip_cert_manager,
            },
            wait,
            server_dry_run: false,
            unfinished: UnfinishedPolicy::Refuse,
        }
    }
}
