//! The providers of a management cluster: how they come, change and go, and how they are.
//!
//! ```text
//! Sources (configuration, repositories, variables) ─► resolve ─► RenderedProvider (version, contract, objects)
//!                                                                      │
//! ManagementCluster ─► ProviderInventory ──────────────────────────────┤
//!        │                                                             ▼
//!        │                                     plan_init, plan_upgrade, plan_delete ─► LifecyclePlan
//!        │                                                             │  preflight: every problem before a write
//!        └── apply::Server ◄── carry out: cert-manager, provider by provider, inventory last ◄┘
//!                                     │
//!                                     └─► Journal (upgrade): resume, abort, rollback
//! ```
//!
//! - The inventory, labels and namespaces are those every tool of Cluster API knows; an [`apply::ApplySet`] per provider
//!   beside it makes pruning and deletion exact. Without one, the labels say what was installed.
//! - Nothing is written before everything was fetched, rendered and checked, for all providers.
//! - What was interrupted is gone on with by the same command.
//!
//! May touch the cluster through `apply`, and releases through `provider`. Deliberately absent: HTTP, Kubernetes clients, files, the environment, printing.

mod applied;
mod carry_out;
mod cert_manager;
mod delete;
mod error;
mod hints;
mod init;
mod plan;
mod preflight;
mod provider_set;
mod readiness;
mod render;
mod sources;
mod status;
#[cfg(test)]
mod tests;
mod unfinished;
mod upgrade;

pub use cert_manager::{
    CertManagerError, CertManagerManifest, CertManagerManifestError, cert_manager_manifest,
};
pub use delete::{DeleteError, DeleteRequest, NotChosen, delete_providers, plan_delete};
pub use error::{LifecycleError, UnfinishedRun};
pub use init::{InitRequest, init, plan_init};
pub use plan::{
    Difference, Diffs, LifecyclePlan, NoRandomBytes, ObjectDifference, OnUnfinished, PlanOrigin,
    ProviderPlan, Verb, differences, plan_origin,
};
pub use readiness::{NotReady, WaitFor};
pub use render::{RenderError, RenderedPart, render_installation};
pub use sources::{ProvidersRequest, RenderedProvider, ResolveError, Sources};
pub use status::{ClusterStatus, InstalledHealth, ObjectDrift, ProviderStatus, StatusError, status};
pub use unfinished::{Unfinished, refuse_unfinished};
pub use upgrade::{
    InvalidUpgradeItem, JournalState, NextVersion, ResumePlan, RollbackPlan, UpgradeError, UpgradeItem,
    UpgradeOutlook, UpgradeRequest, UpgradeTarget, abort_upgrade, begin_rollback, plan_resume, plan_rollback,
    plan_upgrade, resume_upgrade, rollback_upgrade, upgrade, upgrade_outlook,
};
