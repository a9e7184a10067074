//! A management cluster: its identity, its Cluster API contract, its installed providers, and the objects that capstan
//! stores on the cluster.
//!
//! ```text
//! apply::Server ─► ManagementCluster ─┬─► identity, contract
//!                                      ├─► ProviderInventory: `Provider` objects, which all tools of Cluster API use
//!                                      └─► objects of capstan: written onto the revision that this run knows
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
mod tests;

pub use cluster::{
    ClusterIdentity, KnownRevisions, ManagementCluster, config_map_kind, crd_kind, known_kind,
    lease_permissions, secret_kind,
};
pub use contract::{ContractCheck, ContractError, storage_version};
pub use preflight_problem::{PreflightProblem, PreflightProblems};
pub use providers::{
    CAPSTAN_DOMAIN, FIELD_MANAGER, InventoryError, ProviderInventory, entry_kind, inventory_objects,
};
