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
//! variables of ClusterClasses; remediation; runtime extensions; machines of control planes other than kubeadm's.

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
mod resource_set;
mod rollout;
mod secrets;
mod selector;
mod template;
mod topology;
mod world;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use futures::future::BoxFuture;
use serde_json::Value;

use self::{
    contract::Contract,
    infrastructure::Role,
    object::{
        ADDONS, BOOTSTRAP, CLUSTER_NAME, CONTROL_PLANE, CORE, INFRASTRUCTURE, group, kind, label, namespace,
        owner_of_kind, text,
    },
    plan::Plan,
    world::World,
};
use super::{Controller, Next, ObjectRef};
use crate::{
    client::Client,
    status::Status,
    store::{Change, Stored},
};

/// The controllers of Cluster API and of its providers.
#[derive(Debug, Default)]
pub(crate) struct ClusterApi {
    /// Contracts by group and kind: definitions are large, and asked for at every look.
    contracts: Mutex<HashMap<(String, String), Contract>>,
}

/// The server as it is now, with the contracts remembered.
struct Now<'a> {
    client: &'a Client,
    contracts: &'a Mutex<HashMap<(String, String), Contract>>,
}

impl World for Now<'_> {
    fn get(&self, object: &ObjectRef) -> Option<Value> {
        self.client.get(object)
    }

    fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Vec<Value> {
        self.client.list(group, kind, namespace)
    }

    fn api_version(&self, group: &str, kind: &str) -> Option<String> {
        self.client.api_version(group, kind)
    }

    fn contract(&self, group: &str, kind: &str) -> Contract {
        let mut contracts = self.contracts.lock().unwrap_or_else(PoisonError::into_inner);
        *contracts.entry((group.to_owned(), kind.to_owned())).or_insert_with(|| {
            let definition = self.client.resource_name(&ObjectRef::new(group, kind, "", ""));
            let definition =
                ObjectRef::new("apiextensions.k8s.io", "CustomResourceDefinition", "", &definition);
            let definition = self.client.get(&definition);
            definition.map_or(Contract::V1Beta2, |definition| Contract::of_definition(&definition))
        })
    }

    fn now(&self) -> String {
        self.client.now()
    }
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
        if !group.is_empty() && !group.ends_with(CORE) {
            return Vec::new();
        }
        let Some(object) = client.object_ref(&change.after.key) else { return Vec::new() };
        if group.is_empty() && !["Secret", "ConfigMap"].contains(&object.kind.as_str()) {
            return Vec::new();
        }
        let before = change.before.as_deref().map(|stored| whole(stored, &object));
        let after = whole(&change.after, &object);
        let world = Now { client, contracts: &self.contracts };
        concerns::of(&world, &object, before.as_ref(), &after, change.deleted)
    }

    fn reconcile<'a>(
        &'a self,
        client: &'a Client,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<Next, Status>> {
        Box::pin(async move {
            let plan = decide(&Now { client, contracts: &self.contracts }, object);
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
fn decide(world: &dyn World, object: &ObjectRef) -> Plan {
    let Some(live) = world.get(object) else { return Plan::default() };
    let of_class = |plan: fn(&dyn World, &Value) -> Plan| match paused::reason(&Value::Null, Some(&live)) {
        Some(reason) => paused::plan(world, &live, reason),
        None => plan(world, &live),
    };
    match (object.group.as_str(), object.kind.as_str()) {
        (CORE, "ClusterClass") => return of_class(cluster_class::plan),
        (ADDONS, "ClusterResourceSet") => return of_class(resource_set::plan),
        _ => {}
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

/// The name of the Cluster an object belongs to.
fn cluster_name(object: &Value) -> Option<&str> {
    let spec = || Some(text(object, "/spec/clusterName")).filter(|name| !name.is_empty());
    label(object, CLUSTER_NAME).or_else(spec)
}

/// The Cluster an object belongs to, or the object itself when it is one.
fn cluster_of(world: &dyn World, object: &Value) -> Option<Value> {
    if kind(object) == "Cluster" && group(object) == CORE {
        return Some(object.clone());
    }
    let named =
        cluster_name(object).map(|cluster| ObjectRef::new(CORE, "Cluster", namespace(object), cluster));
    world.get(&named.or_else(|| owner_of_kind(object, "Cluster"))?)
}
