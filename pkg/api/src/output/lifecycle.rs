use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ObjectChange;
use crate::ProviderId;

/// Result of `plan …`, and of `init`, `upgrade apply`, `upgrade resume`, `upgrade rollback` and `delete`: what is done, object
/// by object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleReport {
    /// The command, such as `init` or `upgrade apply`.
    pub command: String,
    /// True if it was carried out; false if it is only planned.
    pub carried_out: bool,
    /// Whether anything changes.
    pub changes: bool,
    /// What becomes of cert-manager.
    pub cert_manager: CertManagerReport,
    /// In the order they are worked on.
    pub providers: Vec<ProviderReport>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What was not ready, or not gone, when the time to wait was over.
    pub not_ready: Vec<WaitingFor>,
}

/// What becomes of cert-manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertManagerReport {
    /// The plan.
    #[serde(flatten)]
    pub plan: CertManagerPlan,
    /// Its objects, in the order they are worked on, where they were looked at: plans and dry runs look at them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
}

/// The plan for cert-manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertManagerPlan {
    /// What is done.
    pub action: CertManagerAction,
    /// The version that is there, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version that comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why, where it is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What is done with cert-manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CertManagerAction {
    /// It is not looked at.
    #[default]
    None,
    /// Somebody else takes care of it.
    External,
    /// It is there as it is to be.
    Keep,
    /// It comes.
    Install,
    /// It is replaced.
    Upgrade,
}

impl CertManagerPlan {
    /// Somebody else takes care of it.
    pub fn external() -> Self {
        Self { action: CertManagerAction::External, ..Self::default() }
    }

    /// It stays; the version is empty if somebody else's does not say it.
    pub fn keep(version: &str) -> Self {
        let known = (!version.is_empty()).then(|| version.to_owned());
        Self { action: CertManagerAction::Keep, from: known.clone(), to: known, why: None }
    }

    /// It comes; says why if it is there in part.
    pub fn install(version: &str, why: Option<String>) -> Self {
        Self { action: CertManagerAction::Install, from: None, to: Some(version.to_owned()), why }
    }

    /// It is replaced.
    pub fn upgrade(from: &str, to: &str) -> Self {
        let (from, to) = (Some(from.to_owned()), Some(to.to_owned()));
        Self { action: CertManagerAction::Upgrade, from, to, why: None }
    }

    /// True if nothing would change.
    pub fn is_empty(&self) -> bool {
        !matches!(self.action, CertManagerAction::Install | CertManagerAction::Upgrade)
    }
}

impl fmt::Display for CertManagerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.as_deref().unwrap_or("nothing"), self.to.as_deref().unwrap_or("nothing"));
        match (self.action, &self.why) {
            (CertManagerAction::None, _) => f.write_str("not looked at"),
            (CertManagerAction::External, _) => f.write_str("taken care of by somebody else"),
            (CertManagerAction::Keep, _) if self.from.is_none() => f.write_str("stays"),
            (CertManagerAction::Keep, _) => write!(f, "stays at {from}"),
            (CertManagerAction::Install, None) => write!(f, "install {to}"),
            (CertManagerAction::Install, Some(why)) => write!(f, "install {to} ({why})"),
            (CertManagerAction::Upgrade, _) => write!(f, "upgrade from {from} to {to}"),
        }
    }
}

/// What is done with one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderReport {
    /// Its label, such as `infrastructure-aws`.
    pub provider: String,
    /// Type and name.
    pub id: ProviderId,
    /// Its namespace.
    pub namespace: String,
    /// The version that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version that comes; absent when it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Folder or url of the kustomization over the components that come, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomization: Option<String>,
    /// In the order they are worked on.
    pub steps: Vec<StepReport>,
}

/// What is done with one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// What is done.
    pub action: StepAction,
    /// Which object.
    pub object: ObjectName,
    /// Why, where it is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The change as a unified diff of YAML, where it was asked for; values of Secrets are never in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The changes in the terms of the kind, where a diff was asked for: images, arguments, permissions, versions and fields of
    /// definitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChange>,
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StepAction {
    /// It is not there and comes.
    Create,
    /// It is there and changes.
    Update,
    /// It is there and is taken from its former manager.
    Adopt,
    /// It is deleted and comes anew, as it cannot be changed in place.
    Recreate,
    /// It stays as it is.
    Keep,
    /// It has done its work and is gone.
    Completed,
    /// It goes when it has done its work.
    Purge,
    /// It goes.
    Delete,
    /// It stays and is forgotten.
    Orphan,
}

impl StepAction {
    /// Returns true if the object does not stay as it is.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Completed)
    }

    /// Returns true if the object is written.
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Adopt | Self::Recreate)
    }

    /// Returns true if the object is no longer of its set.
    pub fn removes(self) -> bool {
        matches!(self, Self::Delete | Self::Orphan)
    }

    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Adopt => "adopt",
            Self::Recreate => "recreate",
            Self::Keep => "keep",
            Self::Completed => "completed",
            Self::Purge => "purge",
            Self::Delete => "delete",
            Self::Orphan => "orphan",
        }
    }
}

/// Names an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; absent for objects of the whole cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        if namespace.is_empty() { write!(f, "{kind} {name}") } else { write!(f, "{kind} {namespace}/{name}") }
    }
}

/// Something that is not ready, and what it waits for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// Which object.
    pub object: ObjectName,
    /// Its health in a word: `InProgress`, `Failed`, `Terminating`, `NotFound`, `Unknown`.
    pub health: String,
    /// Why, in the words of its condition.
    pub message: String,
    /// Since how many seconds.
    pub for_seconds: u64,
    /// What it waits for itself, such as the Pods of a Deployment.
    pub below: Vec<WaitingFor>,
}
