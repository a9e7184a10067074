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
mod concerns;
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
mod topology;
mod world;

#[cfg(test)]
mod tests;

use std::sync::PoisonError;

use serde_json::Value;

use self::{
    infrastructure::Role,
    object::{
        BOOTSTRAP, CONTROL_PLANE, CORE, INFRASTRUCTURE, cluster_name, group, kind, namespace, owner_of_kind,
    },
    plan::Plan,
    world::{Contracts, World},
};
use super::{Controller, Look, ObjectRef};
use crate::{
    client::Client,
    store::{Change, Stored},
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

    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let group: &str = &change.after.key.resource.group;
        if group == "apiextensions.k8s.io" {
            self.contracts.lock().unwrap_or_else(PoisonError::into_inner).clear();
            return Vec::new();
        }
        if !group.ends_with(CORE) {
            return Vec::new();
        }
        let Some(object) = client.object_ref(&change.after.key) else { return Vec::new() };
        let before = change.before.as_deref().map(|stored| whole(stored, &object));
        let after = whole(&change.after, &object);
        let world = World { client, contracts: &self.contracts };
        concerns::of(&world, &object, before.as_ref(), &after, change.deleted)
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Look<'a> {
        Box::pin(async move {
            let plan = decide(&World { client, contracts: &self.contracts }, object);
            plan::carry_out(client, plan).await
        })
    }
}

/// Parses a stored object and sets the version and the kind of storage.
fn whole(stored: &Stored, object: &ObjectRef) -> Value {
    let mut value: Value = serde_json::from_slice(&stored.body).unwrap_or_default();
    let api_version = format!("{}/{}", object.group, stored.version);
    object::set(&mut value, &["apiVersion"], Value::from(api_version.trim_start_matches('/')));
    object::set(&mut value, &["kind"], Value::from(object.kind.as_str()));
    value
}

/// Plans the writes for an object; the plan is empty for kinds without simulation.
fn decide(world: &World<'_>, object: &ObjectRef) -> Plan {
    let Some(live) = world.get(object) else { return Plan::default() };
    if (&*object.group, &*object.kind) == (CORE, "ClusterClass") {
        return match paused::reason(&Value::Null, Some(&live)) {
            Some(reason) => paused::plan(world, &live, reason),
            None => cluster_class::plan(world, &live),
        };
    }
    let Some(part) = Part::of(object) else { return Plan::default() };
    let Some(cluster) = cluster_of(world, &live) else { return Plan::default() };
    if let Some(reason) = paused::reason(&cluster, Some(&live)) {
        return paused::plan(world, &live, reason);
    }
    match part {
        Part::Cluster => cluster::plan(world, &live),
        Part::Machine => machine::plan(world, &live, &cluster),
        Part::MachineSet => machine_set::plan(world, &live, &cluster),
        Part::MachineDeployment => deployment::plan(world, &live, &cluster),
        Part::MachinePool => machine_pool::plan(world, &live, &cluster),
        Part::HealthCheck => health_check::plan(world, &live, &cluster),
        Part::KubeadmControlPlane => control_plane::plan(world, &live, &cluster),
        Part::ControlPlane => control_plane::plan_generic(world, &live, &cluster),
        Part::Bootstrap => bootstrap::plan(world, &live, &cluster),
        Part::Infrastructure(role) => infrastructure::plan(world, &live, &cluster, role),
    }
}

/// The kinds that belong to a Cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
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
    Infrastructure(Role),
}

impl Part {
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
            INFRASTRUCTURE => Role::of(kind).map(Self::Infrastructure),
            _ => None,
        }
    }
}

/// The Cluster of an object, or the object itself if it is a Cluster.
fn cluster_of(world: &World<'_>, object: &Value) -> Option<Value> {
    if kind(object) == "Cluster" && group(object) == CORE {
        return Some(object.clone());
    }
    let named =
        cluster_name(object).map(|cluster| ObjectRef::new(CORE, "Cluster", namespace(object), cluster));
    world.get(&named.or_else(|| owner_of_kind(object, "Cluster"))?)
}
