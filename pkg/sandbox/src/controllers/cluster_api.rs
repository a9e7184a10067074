//! Cluster API, played: Clusters come up, machines get nodes, and everything goes again in order.
//!
//! ```text
//!  change ─► concerns ─► objects to look at ─► decide ─► Plan ─► carried out
//!                                                │
//!                             World: get, list, contracts, time
//! ```
//!
//! One controller stands for those of the core, of kubeadm (bootstrap and control plane) and of any infrastructure
//! provider. Each kind has a module whose `plan` is a function from what is stored to the writes that bring it one step
//! nearer: nothing in there waits or writes, and a plan for what is settled is empty.
//!
//! Both contracts are spoken: an object of `v1beta1` has its fields written in the older form (see [`contract`]).
//!
//! Deliberately absent: workload clusters, and with them nodes, health and what is applied to them; patches and
//! variables of ClusterClasses; ClusterResourceSets; remediation; runtime extensions; machines of control planes other
//! than kubeadm's.

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
    /// Contracts by group and kind: definitions are large, and asked for at every look.
    contracts: Contracts,
}

impl Controller for ClusterApi {
    /// As the real ones appear among field managers: their binary is called so.
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

/// An object as it is stored, in the version it is stored in.
fn whole(stored: &Stored, object: &ObjectRef) -> Value {
    let mut value: Value = serde_json::from_slice(&stored.body).unwrap_or_default();
    let api_version = format!("{}/{}", object.group, stored.version);
    object::set(&mut value, &["apiVersion"], Value::from(api_version.trim_start_matches('/')));
    object::set(&mut value, &["kind"], Value::from(object.kind.as_str()));
    value
}

/// What a look at an object decides; nothing for kinds that are not played.
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
    /// Of another provider.
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

/// The Cluster an object belongs to, or the object itself when it is one.
fn cluster_of(world: &World<'_>, object: &Value) -> Option<Value> {
    if kind(object) == "Cluster" && group(object) == CORE {
        return Some(object.clone());
    }
    let named =
        cluster_name(object).map(|cluster| ObjectRef::new(CORE, "Cluster", namespace(object), cluster));
    world.get(&named.or_else(|| owner_of_kind(object, "Cluster"))?)
}
