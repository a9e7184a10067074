//! A management cluster: its identity, its Cluster API contract, its installed providers, and the objects that capstan
//! stores on the cluster.
//!
//! ```text
//! apply::Server ─► ManagementCluster ─┬─► identity, contract
//!                                      ├─► ProviderInventory: `Provider` objects, which all tools of Cluster API use
//!                                      └─► objects of capstan: written onto the revision that this run knows
//! ```
//!
//! ```
//! use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
//! use inventory::ManagementCluster;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let sandbox = support::fixture::Fixture::start().await;
//! let connection = ConnectionOptions::of_client(sandbox.client(), "example/1.0");
//! let server = Server::connect(connection, ServerOptions::default()).await?;
//! let cluster = ManagementCluster::new(server, EventSink::none());
//! assert!(!cluster.identity().await?.uid.is_empty());
//! assert!(cluster.inventory().await?.providers.is_empty());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! Allowed: the cluster through `apply`. Not allowed: direct HTTP, Kubernetes clients, files, the environment and
//! printing.

mod cluster;
mod contract;
mod preflight_problem;
mod providers;
mod template_queries;
#[cfg(test)]
mod testing;

pub use cluster::{
    ClusterIdentity, KnownRevisions, ManagementCluster, config_map_kind, crd_kind, known_kind,
    lease_permissions, secret_kind,
};
pub use contract::{ContractCheck, ContractError, storage_version};
pub use preflight_problem::{PreflightProblem, PreflightProblems};
pub use providers::{InventoryError, ProviderInventory, entry_kind, inventory_objects};
