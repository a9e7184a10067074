//! Installs, upgrades, inspects and deletes the providers of a management cluster.
//!
//! ```text
//! Sources (configuration, repositories, variables) ─► resolve ─► RenderedProvider (version, contract, objects)
//!                                                                      │
//! ManagementCluster ─► ProviderInventory ──────────────────────────────┤
//!        │                                                             ▼
//!        │                                     plan_init, plan_upgrade, plan_delete ─► LifecyclePlan
//!        │                                                             │  preflight: every problem before a write
//!        └── apply::Server ◄── execute: cert-manager, provider by provider, inventory last ◄───┘
//!                                     │
//!                                     └─► Journal (upgrade): resume, abort, rollback
//! ```
//!
//! ```
//! use management::status;
//! # use support::{cluster_api, fixture::Fixture, small_providers::{NEW_VERSION, core}};
//! # use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
//! # use inventory::ManagementCluster;
//! # async fn connect(sandbox: &support::fixture::Fixture) -> ManagementCluster {
//! #     let connection = ConnectionOptions::of_client(sandbox.client(), "example/1.0");
//! #     ManagementCluster::new(Server::connect(connection, ServerOptions::default()).await.unwrap(), EventSink::none())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let sandbox = Fixture::start().await;
//! # cluster_api::install(&sandbox).await;
//! # sandbox.create([cluster_api::provider(&core(), NEW_VERSION)]).await;
//! let cluster = connect(&sandbox).await;
//! let status = status(&cluster).await.unwrap();
//! assert_eq!(status.providers.len(), 1);
//! assert!(status.unfinished_upgrade.is_none() && status.unfinished_move.is_none());
//! # });
//! ```
//!
//! - The inventory, labels and namespaces are compatible with every Cluster API tool. An [`apply::ApplySet`] per
//!   provider makes pruning and deletion exact. Without an apply set, labels identify the installed objects.
//! - No write happens before all providers were fetched, rendered and checked.
//! - The same command resumes an interrupted run.
//!
//! The crate accesses the cluster through `apply` and releases through `provider`. It contains no HTTP,
//! Kubernetes clients, files, environment variables or printing.

mod applied;
mod cert_manager;
mod delete;
mod error;
mod execute;
mod hints;
mod init;
mod labels;
mod plan;
mod preflight;
mod provider_set;
mod readiness;
mod render;
mod sources;
mod status;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod unfinished_runs;
mod upgrade;

pub use cert_manager::{
    CertManagerError, CertManagerManifest, CertManagerManifestError, cert_manager_manifest,
};
pub use delete::{DeleteError, DeleteRequest, ProviderSelectionError, delete_providers, plan_delete};
pub use error::{LifecycleError, UnfinishedRun};
pub use init::{InitRequest, init, plan_init};
pub use plan::{
    DiffDetail, LifecyclePlan, LifecycleVerb, ObjectDifference, PlanDifference, PlanOrigin, PlannedComponent,
    ProviderPlan, RandomBytesError, UnfinishedPolicy, new_salt, plan_differences, plan_origin, report_steps,
    save_component,
};
pub use readiness::{NotReady, WaitOptions};
pub use render::{RenderError, RenderedPart, render_installation};
pub use sources::{ProvidersRequest, RenderedProvider, ResolveError, Sources};
pub use status::{ClusterStatus, InstalledHealth, ProviderStatus, StatusError, status};
pub use upgrade::{
    AvailableUpgrades, NextVersion, ResumePlan, RollbackPlan, UpgradeError, UpgradeItem, UpgradeItemError,
    UpgradeRequest, UpgradeTarget, abort_upgrade, find_upgrades, plan_resume, plan_rollback, plan_upgrade,
    resume_upgrade, rollback_upgrade, start_rollback, upgrade,
};
