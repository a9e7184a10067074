//! One management cluster: its identity, the Cluster API contract that it stores, the providers that it runs, and the objects
//! that capstan keeps on it.
//!
//! ```text
//! apply::Server ─► ManagementCluster ─┬─► identity, contract
//!                                     ├─► ProviderInventory: `Provider` objects, as every tool of Cluster API knows them
//!                                     └─► objects of capstan: written onto the revision that this run knows
//! ```
//!
//! May touch the cluster through `apply`. Deliberately absent: HTTP, Kubernetes clients, files, the environment, printing.

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
