//! Simulated Cluster API: Clusters are provisioned, Machines get Nodes, and deletions run in order.
//!
//! ```text
//!  change ─► concerns ─► objects to reconcile ─► decide ─► Plan ─► writes
//!                                                   │
//!                                World: get, list, contracts, time
//! ```
//!
//! One controller simulates the core controllers, the kubeadm providers (bootstrap and control plane) and every
//! infrastructure provider. Each kind has a module with a function `plan`, which maps stored state to the writes of the
//! next step. A plan function neither waits nor writes, and the plan for a settled object is empty.
//!
//! Both contracts are supported: the fields of `v1beta1` objects have the older form (see [`contract`]).
//!
//! Deliberately absent: workload clusters with their Nodes, health and applied objects; patches and variables of
//! ClusterClasses; ClusterResourceSets; remediation; runtime extensions; Machines of control planes other than kubeadm.

mod bootstrap;
mod cluster;
mod cluster_class;
mod conditions;
mod contract;
mod control_plane;
mod counts;
mod deployment;
mod health_check;
mod infrastructure;
mod machine;
mod machine_pool;
mod machine_set;
mod object;
mod paused;
mod plan;
mod rollout;
mod secrets;
mod template;
#[cfg(test)]
mod tests;
mod topology;
mod watch_mapping;

use std::sync::PoisonError;

use serde_json::Value;

use self::{
    infrastructure::InfrastructureRole,
    object::{
        BOOTSTRAP, CONTROL_PLANE, CORE, INFRASTRUCTURE, cluster_name, group, kind, namespace, owner_of_kind,
    },
    plan::{Contracts, ObjectReader, WritePlan},
};
use super::{Controller, ObjectRef, Reconciliation};
use crate::{
    client::Client,
    store::{Change, StoredObject},
};

/// The controllers of Cluster API and of its providers.
#[derive(Debug, Default)]
pub(crate) struct ClusterApi {
    /// Cached contracts by group and kind, because definitions are large and every reconciliation needs contracts.
    contracts: Contracts,
}

impl Controller for ClusterApi {
    /// Returns the binary name of the real controllers, which is also their field manager.
    fn name(&self) -> &'static str {
        "manager"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let group: &str = &change.after.key.resource.group;
        if group == "apiextensions.k8s.io" {
            self.contracts.lock().unwrap_or_else(PoisonError::into_inner).clear();
            return Vec::new();
        }
        if !group.ends_with(CORE) {
            return Vec::new();
        }
        let Some(object) = client.object_ref(&change.after.key) else { return Vec::new() };
        let before = change.before.as_deref().map(|stored| read_stored(stored, &object));
        let after = read_stored(&change.after, &object);
        let reader = ObjectReader { client, contracts: &self.contracts };
        watch_mapping::affected_objects(&reader, &object, before.as_ref(), &after, change.deleted)
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            let plan = plan_object(&ObjectReader { client, contracts: &self.contracts }, object);
            plan::execute(client, plan).await
        })
    }
}

/// Parses a stored object and sets the version and the kind of storage.
fn read_stored(stored: &StoredObject, object: &ObjectRef) -> Value {
    let mut value: Value = serde_json::from_slice(&stored.body).unwrap_or_default();
    let api_version = format!("{}/{}", object.group, stored.version);
    object::set(&mut value, &["apiVersion"], Value::from(api_version.trim_start_matches('/')));
    object::set(&mut value, &["kind"], Value::from(object.kind.as_str()));
    value
}

/// Plans the writes for an object; the plan is empty for kinds without simulation.
fn plan_object(reader: &ObjectReader<'_>, object: &ObjectRef) -> WritePlan {
    let Some(live) = reader.get(object) else { return WritePlan::default() };
    if (&*object.group, &*object.kind) == (CORE, "ClusterClass") {
        return match paused::reason(&Value::Null, Some(&live)) {
            Some(reason) => paused::plan(reader, &live, reason),
            None => cluster_class::plan(reader, &live),
        };
    }
    let Some(part) = ClusterApiKind::of(object) else { return WritePlan::default() };
    let Some(cluster) = cluster_of(reader, &live) else { return WritePlan::default() };
    if let Some(reason) = paused::reason(&cluster, Some(&live)) {
        return paused::plan(reader, &live, reason);
    }
    match part {
        ClusterApiKind::Cluster => cluster::plan(reader, &live),
        ClusterApiKind::Machine => machine::plan(reader, &live, &cluster),
        ClusterApiKind::MachineSet => machine_set::plan(reader, &live, &cluster),
        ClusterApiKind::MachineDeployment => deployment::plan(reader, &live, &cluster),
        ClusterApiKind::MachinePool => machine_pool::plan(reader, &live, &cluster),
        ClusterApiKind::HealthCheck => health_check::plan(reader, &live, &cluster),
        ClusterApiKind::KubeadmControlPlane => control_plane::plan(reader, &live, &cluster),
        ClusterApiKind::ControlPlane => control_plane::plan_generic(reader, &live, &cluster),
        ClusterApiKind::Bootstrap => bootstrap::plan(reader, &live, &cluster),
        ClusterApiKind::Infrastructure(role) => infrastructure::plan(reader, &live, &cluster, role),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClusterApiKind {
    Cluster,
    Machine,
    MachineSet,
    MachineDeployment,
    MachinePool,
    HealthCheck,
    KubeadmControlPlane,
    /// A control plane of a provider other than kubeadm.
    ControlPlane,
    Bootstrap,
    Infrastructure(InfrastructureRole),
}

impl ClusterApiKind {
    fn of(object: &ObjectRef) -> Option<Self> {
        let kind = object.kind.as_str();
        match object.group.as_str() {
            CORE => match kind {
                "Cluster" => Some(Self::Cluster),
                "Machine" => Some(Self::Machine),
                "MachineSet" => Some(Self::MachineSet),
                "MachineDeployment" => Some(Self::MachineDeployment),
                "MachinePool" => Some(Self::MachinePool),
                "MachineHealthCheck" => Some(Self::HealthCheck),
                _ => None,
            },
            CONTROL_PLANE if kind == "KubeadmControlPlane" => Some(Self::KubeadmControlPlane),
            CONTROL_PLANE if kind.ends_with("ControlPlane") => Some(Self::ControlPlane),
            BOOTSTRAP if kind.ends_with("Config") => Some(Self::Bootstrap),
            INFRASTRUCTURE => InfrastructureRole::of(kind).map(Self::Infrastructure),
            _ => None,
        }
    }
}

/// The Cluster of an object, or the object itself if it is a Cluster.
fn cluster_of(reader: &ObjectReader<'_>, object: &Value) -> Option<Value> {
    if kind(object) == "Cluster" && group(object) == CORE {
        return Some(object.clone());
    }
    let named =
        cluster_name(object).map(|cluster| ObjectRef::new(CORE, "Cluster", namespace(object), cluster));
    reader.get(&named.or_else(|| owner_of_kind(object, "Cluster"))?)
}
