mod report;
mod saved;

use api::{ProviderId, output::CertManagerPlan};
use apply::PlannedSet;
use serde::Serialize;

pub use report::Diffs;
pub use saved::{Difference, NoRandomBytes, ObjectDifference, PlanOrigin, differences, plan_origin};

/// Which verb a plan is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// `init`
    Init,
    /// `upgrade apply`
    Upgrade,
    /// `delete`
    Delete,
}

/// The reaction to an interrupted run that a change would make impossible to complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnfinished {
    /// The change is refused.
    #[default]
    Refuse,
    /// The change is made, with a warning of what may be lost.
    Abandon,
}

/// What a verb is going to do to a management cluster. Holds the objects too; what is printed or saved of it are types
/// of `api`, without values of Secrets.
#[derive(Clone, Debug)]
pub struct LifecyclePlan {
    /// Of which verb.
    pub verb: Verb,
    /// What becomes of cert-manager.
    pub cert_manager: CertManagerPlan,
    /// The objects of cert-manager, where they change and every object is looked at.
    pub cert_manager_objects: Option<PlannedSet>,
    /// In the order they are worked on.
    pub providers: Vec<ProviderPlan>,
    /// Problems that `--validate=false` let pass, for a warning.
    pub ignored: Vec<inventory::Problem>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// True if a first installation is unfinished.
    pub unfinished_init: bool,
}

/// What happens to one provider.
#[derive(Clone, Debug)]
pub struct ProviderPlan {
    /// Which one.
    pub id: ProviderId,
    /// The namespace.
    pub namespace: String,
    /// The version that is there.
    pub from: Option<String>,
    /// The version that comes; none when it goes.
    pub to: Option<String>,
    /// The folder or url of the kustomization over the components that come.
    pub kustomization: Option<String>,
    /// Its objects.
    pub objects: PlannedSet,
}

impl LifecyclePlan {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.cert_manager.is_empty() && self.providers.iter().all(ProviderPlan::is_empty)
    }
}
