use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ObjectChange;
use crate::{ObjectKey, ProviderId, labels::LabelsByOwner};

/// Result of `plan …`, `init`, `upgrade apply`, `upgrade resume`, `upgrade rollback` and `delete`: the action
/// on each object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleReport {
    /// The command, such as `init` or `upgrade apply`.
    pub command: String,
    /// True if the command was executed; false if it was only planned.
    pub carried_out: bool,
    /// True if the command changes anything.
    pub changes: bool,
    /// Actions on cert-manager.
    pub cert_manager: CertManagerReport,
    /// Providers in execution order.
    pub providers: Vec<ProviderReport>,
    /// Labels that users chose for the objects, by provider label and for `cert-manager`; absent if there are none.
    #[serde(skip_serializing_if = "LabelsByOwner::is_empty")]
    pub labels: LabelsByOwner,
    /// Warnings of the command.
    pub warnings: Vec<String>,
    /// Objects that were not ready, or not deleted, when the timeout expired.
    pub not_ready: Vec<WaitingFor>,
}

/// Actions on cert-manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertManagerReport {
    /// Plan for cert-manager.
    #[serde(flatten)]
    pub plan: CertManagerPlan,
    /// Objects in execution order. Only plans and dry runs list them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
}

/// Plan for cert-manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertManagerPlan {
    /// Action on cert-manager.
    pub action: CertManagerAction,
    /// Installed version, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Planned version, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Reason for the action, if it needs an explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Action on cert-manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CertManagerAction {
    /// cert-manager is ignored.
    #[default]
    None,
    /// cert-manager is managed outside capstan.
    External,
    /// The installed version stays.
    Keep,
    /// cert-manager is installed.
    Install,
    /// cert-manager is upgraded.
    Upgrade,
}

impl CertManagerPlan {
    /// Returns the plan for a cert-manager that is managed outside capstan.
    pub fn external() -> Self {
        Self { action: CertManagerAction::External, ..Self::default() }
    }

    /// Returns the plan that keeps the installed version; `version` is empty if unknown.
    pub fn keep(version: &str) -> Self {
        let known = (!version.is_empty()).then(|| version.to_owned());
        Self { action: CertManagerAction::Keep, from: known.clone(), to: known, why: None }
    }

    /// Returns the plan of an installation; `why` is set if cert-manager is partly installed.
    pub fn install(version: &str, why: Option<String>) -> Self {
        Self { action: CertManagerAction::Install, from: None, to: Some(version.to_owned()), why }
    }

    /// Returns the plan of an upgrade.
    pub fn upgrade(from: &str, to: &str) -> Self {
        let (from, to) = (Some(from.to_owned()), Some(to.to_owned()));
        Self { action: CertManagerAction::Upgrade, from, to, why: None }
    }

    /// True if the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        !matches!(self.action, CertManagerAction::Install | CertManagerAction::Upgrade)
    }
}

impl fmt::Display for CertManagerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.as_deref().unwrap_or("nothing"), self.to.as_deref().unwrap_or("nothing"));
        match (self.action, &self.why) {
            (CertManagerAction::None, _) => f.write_str("not checked"),
            (CertManagerAction::External, _) => f.write_str("managed externally"),
            (CertManagerAction::Keep, _) if self.from.is_none() => f.write_str("stays"),
            (CertManagerAction::Keep, _) => write!(f, "stays at {from}"),
            (CertManagerAction::Install, None) => write!(f, "install {to}"),
            (CertManagerAction::Install, Some(why)) => write!(f, "install {to} ({why})"),
            (CertManagerAction::Upgrade, _) => write!(f, "upgrade from {from} to {to}"),
        }
    }
}

/// Actions on one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderReport {
    /// Provider label, such as `infrastructure-aws`.
    pub provider: String,
    /// Provider type and name.
    pub id: ProviderId,
    /// Namespace of the provider.
    pub namespace: String,
    /// Installed version; absent if the provider is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Planned version; absent if the provider is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Folder or URL of the kustomization that is applied over the new components; absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomization: Option<String>,
    /// Objects in execution order.
    pub steps: Vec<StepReport>,
}

/// Action on one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Kind of action.
    pub action: StepAction,
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Reason for the action, if it needs an explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Change as a unified diff of YAML, if requested; never contains values of Secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Changes in terms of the kind, if a diff was requested: images, arguments, permissions, and versions
    /// and fields of CustomResourceDefinitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChange>,
}

/// Kind of action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StepAction {
    /// The object does not exist and is created.
    Create,
    /// The object exists and is changed.
    Update,
    /// The object exists and is taken over from its former manager.
    Adopt,
    /// The object is deleted and created again, because it cannot be changed in place.
    Recreate,
    /// The object is not changed.
    Keep,
    /// The object has completed its work and was deleted.
    Completed,
    /// The object is deleted after it completes its work.
    Purge,
    /// The object is deleted.
    Delete,
    /// The object stays on the cluster but is no longer managed.
    Orphan,
}

impl StepAction {
    /// True for all actions except [`Self::Keep`] and [`Self::Completed`].
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Completed)
    }

    /// True if the action writes the object.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Adopt | Self::Recreate)
    }

    /// True if the action removes the object from its set.
    pub fn is_removal(self) -> bool {
        matches!(self, Self::Delete | Self::Orphan)
    }

    /// Returns the word for people.
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

/// An object that is not ready, and the objects that it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Health as one word: `InProgress`, `Failed`, `Terminating`, `NotFound`, `Unknown`.
    pub health: String,
    /// Message of the condition that explains the health.
    pub message: String,
    /// Seconds since the last observed change of the health.
    pub for_seconds: u64,
    /// Objects that this object waits for, such as the Pods of a Deployment.
    pub below: Vec<WaitingFor>,
}
