//! The life of a management cluster: what is installed on it, and how providers come, change and go.
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
//! Deliberately absent: HTTP, Kubernetes clients, files, the environment, printing.

mod applied;
mod carry_out;
mod cert_manager;
mod cluster;
mod contract;
mod delete;
mod error;
mod event;
#[cfg(test)]
mod faults;
mod init;
mod inventory;
mod plan;
mod preflight;
mod provider_questions;
mod provider_set;
mod readiness;
mod render;
#[cfg(test)]
mod requests_tests;
mod sources;
mod status;
#[cfg(test)]
mod testing;
mod upgrade;

pub use cert_manager::{
    CertManagerError, CertManagerManifest, CertManagerManifestError, CertManagerPlan, cert_manager_manifest,
};
pub use cluster::ManagementCluster;
pub use contract::{ContractCheck, ContractError};
pub use delete::{DeleteError, DeleteRequest, NotChosen, delete_providers, plan_delete};
pub use error::LifecycleError;
pub use event::Event;
pub use init::{InitRequest, init, plan_init};
pub use inventory::{InventoryError, ProviderInventory};
pub use plan::{
    Difference, Diffs, LifecyclePlan, ObjectDifference, ProviderPlan, Verb, differences, object_name,
    waiting_for,
};
pub use preflight::{Problem, Problems};
pub use readiness::{NotReady, WaitFor};
pub use render::{RenderError, RenderedPart, render_installation};
pub use sources::{ProvidersRequest, RenderedProvider, ResolveError, Sources};
pub use status::{ClusterStatus, InstalledHealth, ProviderStatus, StatusError, status};
pub use upgrade::{
    InvalidUpgradeItem, JournalState, NextVersion, UpgradeError, UpgradeItem, UpgradeOutlook, UpgradeRequest,
    UpgradeTarget, abort_upgrade, plan_upgrade, resume_upgrade, rollback_upgrade, upgrade, upgrade_outlook,
};
