mod report;
mod saved;

use api::{ProviderId, labels::LabelsByOwner, output::CertManagerPlan};
use apply::PlannedSet;
use inventory::{PreflightProblem, ProviderInventory};
use provider::InstalledProvider;
use serde::Serialize;

pub use report::{DiffDetail, report_steps};
pub use saved::{
    ObjectDifference, PlanDifference, PlanOrigin, PlannedComponent, RandomBytesError, new_salt,
    plan_differences, plan_origin, save_component,
};

/// The command that a plan belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LifecycleVerb {
    /// The command `init`.
    Init,
    /// The command `upgrade apply`.
    Upgrade,
    /// The command `delete`.
    Delete,
}

/// The reaction to an interrupted run that a change would make impossible to complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnfinishedPolicy {
    /// Rejects the change.
    #[default]
    Refuse,
    /// Makes the change and warns about the possible loss.
    Abandon,
}

/// The planned changes of a management cluster.
///
/// The plan contains the objects too. Printed and saved plans are types of `api`, without values of Secrets.
#[derive(Clone, Debug)]
pub struct LifecyclePlan {
    /// The command that the plan belongs to.
    pub verb: LifecycleVerb,
    /// The plan of cert-manager.
    pub cert_manager: CertManagerPlan,
    /// The objects of cert-manager. `None` if they do not change or if the plan does not read every object.
    pub cert_manager_objects: Option<PlannedSet>,
    /// The providers in execution order.
    pub providers: Vec<ProviderPlan>,
    /// The labels that users chose for the objects of the plan.
    pub labels: LabelsByOwner,
    /// Problems that `--validate=false` let pass, for a warning.
    pub ignored: Vec<PreflightProblem>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// True if a first installation is unfinished.
    pub unfinished_init: bool,
}

/// The plan of one provider.
#[derive(Clone, Debug)]
pub struct ProviderPlan {
    /// The identity of the provider.
    pub id: ProviderId,
    /// The namespace of the provider.
    pub namespace: String,
    /// The installed version. `None` if the provider is not installed.
    pub from: Option<String>,
    /// The planned version. `None` if the provider is deleted.
    pub to: Option<String>,
    /// The folder or URL of the kustomization over the planned components.
    pub kustomization: Option<String>,
    /// The planned objects of the provider.
    pub objects: PlannedSet,
}

impl LifecyclePlan {
    /// Returns the plan of a command that changes nothing.
    pub(crate) fn empty(verb: LifecycleVerb, inventory: &ProviderInventory) -> Self {
        Self {
            verb,
            cert_manager: CertManagerPlan::default(),
            cert_manager_objects: None,
            providers: Vec::new(),
            labels: LabelsByOwner::new(),
            ignored: Vec::new(),
            warnings: Vec::new(),
            unfinished_init: inventory.unfinished.is_some(),
        }
    }

    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.cert_manager.is_empty() && self.providers.iter().all(ProviderPlan::is_empty)
    }
}

impl ProviderPlan {
    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.objects.plan.is_empty() && self.from == self.to
    }

    /// Returns the provider as it is before the plan is executed.
    pub(crate) fn installed_before(&self) -> InstalledProvider {
        self.with_version(self.from.as_ref())
    }

    /// Returns the provider as it is after the plan is executed.
    pub(crate) fn installed_after(&self) -> InstalledProvider {
        self.with_version(self.to.as_ref())
    }

    fn with_version(&self, version: Option<&String>) -> InstalledProvider {
        InstalledProvider {
            id: self.id.clone(),
            version: version.cloned().unwrap_or_default(),
            namespace: self.namespace.clone(),
        }
    }
}
