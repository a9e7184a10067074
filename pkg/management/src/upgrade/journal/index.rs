//! What a journal says: what was asked for, versions, and how far it is.

use api::{ProviderId, output::CertManagerPlan};
use apply::ApiError;
use inventory::ProviderInventory;
use provider::Layers;
use serde::{Deserialize, Serialize};

use crate::{OnUnfinished, UpgradeRequest, UpgradeTarget, WaitFor, upgrade::choose::Choice};

/// The layout this binary writes and reads.
const FORMAT: u32 = 1;

/// What a journal on the cluster says of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalState {
    /// When it was begun, in RFC 3339 and UTC.
    pub begun: String,
    /// Whether all providers are done.
    pub finished: bool,
    /// Whether it is being gone back from.
    pub rolling_back: bool,
    /// Providers with the version before, the version after, and whether they are done.
    pub providers: Vec<(ProviderId, String, String, bool)>,
}

/// What only an upgrade runs into: the journal of the last one, and the way back.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// An upgrade that was begun stands in the way.
    #[error("an upgrade begun at {} is not finished", _0.begun)]
    Unfinished(JournalState),
    /// What was laid over providers when it was begun is missing now.
    #[error("the upgrade begun at {begun} cannot go on without {}", kustomizations(lost))]
    WithoutKustomizations {
        /// When it was begun.
        begun: String,
        /// Providers, each with the folder or url of its kustomization.
        lost: Vec<(ProviderId, String)>,
    },
    /// There is no upgrade to go on with, or to go back from.
    #[error("there is no upgrade to {verb}")]
    NoJournal {
        /// `resume`, `abort` or `roll back`.
        verb: &'static str,
    },
    /// What is on the cluster says of itself that it is a journal, and cannot be used.
    #[error("the journal of the last upgrade cannot be used: {problem}")]
    Journal {
        /// What is wrong with it.
        problem: String,
    },
    /// The journal cannot be written, so nothing else was.
    #[error("cannot keep a journal on the cluster; nothing was changed")]
    NoJournalKept {
        /// Why.
        #[source]
        source: Box<ApiError>,
    },
    /// Going back would lose objects, or what is installed is not what the journal is about.
    #[error("cannot go back{}", only(reasons))]
    NoWayBack {
        /// Each definition and each provider that stands in the way.
        reasons: Vec<String>,
    },
}

fn kustomizations(lost: &[(ProviderId, String)]) -> String {
    let one =
        |(provider, place): &(ProviderId, String)| format!("the kustomization `{place}` of `{provider}`");
    lost.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The one reason; several are told one by one beside the message.
fn only(reasons: &[String]) -> String {
    if let [only] = reasons { format!(": {only}") } else { format!(", for {} reasons", reasons.len()) }
}

/// What the first Secret holds, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Index {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// When it was begun, in RFC 3339 and UTC.
    pub(crate) begun: String,
    pub(crate) phase: Phase,
    pub(crate) target: UpgradeTarget,
    pub(crate) keep_replicas: bool,
    pub(crate) keep_placement: bool,
    pub(crate) skip_cert_manager: bool,
    /// In the order they are worked on.
    pub(crate) providers: Vec<Entry>,
    pub(crate) cert_manager: CertManagerStep,
}

/// Where an upgrade stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Phase {
    Upgrading,
    Finished,
    RollingBack,
}

/// One provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(crate) provider: ProviderId,
    pub(crate) namespace: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The folder or url of the kustomization over the new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kustomization: Option<String>,
    /// Whether all its objects are those of the new version, and the inventory says so.
    pub(crate) done: bool,
    /// The Secrets that hold its manifests of before, in their order.
    pub(crate) secrets: Vec<String>,
    /// Of what they hold together.
    pub(crate) digest: String,
}

/// What becomes of cert-manager; for the user, as it is not gone back with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CertManagerStep {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
}

pub(super) fn unusable(problem: impl Into<String>) -> UpgradeError {
    UpgradeError::Journal { problem: problem.into() }
}

impl From<&CertManagerPlan> for CertManagerStep {
    fn from(plan: &CertManagerPlan) -> Self {
        if plan.is_empty() {
            return Self::default();
        }
        Self { from: plan.from.clone(), to: plan.to.clone() }
    }
}

impl Index {
    /// What an upgrade is to do; when it begins, and the providers with their manifests, come as it is written.
    pub(crate) fn begin(request: &UpgradeRequest, cert_manager: &CertManagerPlan) -> Self {
        Self {
            format: FORMAT,
            begun: String::new(),
            phase: Phase::Upgrading,
            target: request.target.clone(),
            keep_replicas: request.keep_replicas,
            keep_placement: request.keep_placement,
            skip_cert_manager: request.skip_cert_manager,
            providers: Vec::new(),
            cert_manager: cert_manager.into(),
        }
    }

    pub(crate) fn state(&self) -> JournalState {
        let row = |entry: &Entry| (entry.provider.clone(), entry.from.clone(), entry.to.clone(), entry.done);
        JournalState {
            begun: self.begun.clone(),
            finished: self.phase == Phase::Finished,
            rolling_back: self.phase == Phase::RollingBack,
            providers: self.providers.iter().map(row).collect(),
        }
    }

    pub(super) fn read(text: &[u8]) -> Result<Self, UpgradeError> {
        /// What every layout begins with.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let broken = |error: serde_json::Error| unusable(format!("it cannot be read: {error}"));
        let head: Head = serde_json::from_slice(text).map_err(broken)?;
        if head.format != FORMAT {
            return Err(unusable(format!("it has format {}, and this binary knows {FORMAT}", head.format)));
        }
        serde_json::from_slice(text).map_err(broken)
    }

    /// What is left to do for a request towards the same target, and what the user should know.
    pub(crate) fn choice(
        &self,
        inventory: &ProviderInventory,
        request: &UpgradeRequest,
        layers: &Layers,
    ) -> Result<Choice, UpgradeError> {
        self.check_target(request)?;
        self.check_kustomizations(layers)?;
        let item = |entry: &Entry| {
            let installed = inventory.of(&entry.provider).next().cloned();
            installed.map(|installed| (installed, entry.to.clone()))
        };
        Ok(Choice {
            items: self.providers.iter().filter_map(item).collect(),
            warnings: vec![format!("this goes on with the upgrade begun at {}", self.begun)],
        })
    }

    /// Checks that a request is for this very upgrade.
    pub(crate) fn check_target(&self, request: &UpgradeRequest) -> Result<(), UpgradeError> {
        if self.phase == Phase::Upgrading && self.target.is_same_as(&request.target) {
            Ok(())
        } else {
            Err(UpgradeError::Unfinished(self.state()))
        }
    }

    /// Checks that nothing of what was laid over the providers would go again. Another place is somebody's decision.
    fn check_kustomizations(&self, layers: &Layers) -> Result<(), UpgradeError> {
        let lost = |entry: &Entry| {
            let place = entry.kustomization.clone().filter(|_| layers.place(&entry.provider).is_none())?;
            Some((entry.provider.clone(), place))
        };
        match self.providers.iter().filter_map(lost).collect::<Vec<_>>() {
            lost if lost.is_empty() => Ok(()),
            lost => Err(UpgradeError::WithoutKustomizations { begun: self.begun.clone(), lost }),
        }
    }

    /// The request it was begun with. What was allowed then need not be asked again.
    pub(crate) fn request(&self, wait: WaitFor) -> UpgradeRequest {
        UpgradeRequest {
            target: self.target.clone(),
            allow_downgrade: true,
            allow_skip: true,
            keep_replicas: self.keep_replicas,
            keep_placement: self.keep_placement,
            skip_cert_manager: self.skip_cert_manager,
            wait,
            thorough: false,
            unfinished: OnUnfinished::Refuse,
        }
    }
}
