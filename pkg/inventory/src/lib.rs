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
mod problem;
mod providers;
mod questions;
#[cfg(test)]
mod tests;

pub use cluster::{
    ClusterIdentity, ManagementCluster, Revisions, config_map_kind, definition_kind, lease_permissions,
    secret_kind, served,
};
pub use contract::{ContractCheck, ContractError, storage_version};
pub use problem::{Problem, Problems};
pub use providers::{
    FIELD_MANAGER, InventoryError, PREFIX, ProviderInventory, entry_kind, inventory_objects,
};
