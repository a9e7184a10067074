//! Simulated workload controllers. Pods appear, become ready at once and are replaced as in a real cluster, but run
//! nothing.
//!
//! ```text
//! Deployment ─► ReplicaSet ─┐
//! DaemonSet, StatefulSet ───┼─► Pod ─► kubelet: bound to the single Node, Running and ready (of a Job: Succeeded)
//! Job ──────────────────────┘    └──► Endpoints, EndpointSlice of the Services that select the Pod
//! Namespace ─► ServiceAccount `default`, ConfigMap `kube-root-ca.crt`
//! ClusterRole with an aggregation rule ─► its rules
//! PersistentVolumeClaim in deletion ─► removed once no Pod uses the claim
//! ```
//!
//! The annotation `sandbox.capstan.dev/never-ready: "true"` keeps Pods from becoming ready, like an image that cannot
//! be pulled. The annotation applies to a Pod (or its Pod template), to the controller of the Pod, and to a Deployment.
//!
//! Source: kube-controller-manager 1.36, run beside these controllers with a hand-made kubelet. Deliberately absent:
//! CronJobs, volumes, ReplicationControllers, autoscaling, disruption budgets, delays (`minReadySeconds`, deadlines,
//! probes), proportional scaling during a rollout, and failing Pods.

mod children;
mod daemon_and_stateful_sets;
mod deployment;
mod endpoints;
mod job;
mod kubelet;
mod replica_set;
#[cfg(test)]
mod tests;
mod volume_claims;

use std::sync::Arc;

use self::kubelet::Kubelet;
use super::{Controller, ObjectRef, Reconciliation, Requeue, aggregation::RoleAggregation};
use crate::{
    client::Client,
    meta,
    selector::LabelSelector,
    server::bootstrap::namespace_content,
    status::Status,
    store::{Change, StoredObject},
};

pub(crate) fn controllers() -> Vec<Arc<dyn Controller>> {
    vec![Arc::new(ControllerManager), Arc::new(Kubelet), Arc::new(RoleAggregation::default())]
}

/// The controllers with the field manager `kube-controller-manager`, selected by the kind of the object.
#[derive(Debug)]
struct ControllerManager;

impl Controller for ControllerManager {
    fn name(&self) -> &'static str {
        "kube-controller-manager"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        match (&*key.resource.group, &*key.resource.plural) {
            ("", "namespaces" | "services" | "persistentvolumeclaims")
            | ("apps", "deployments" | "statefulsets" | "daemonsets") => {
                client.object_ref(key).into_iter().collect()
            }
            ("", "serviceaccounts" | "configmaps") if is_default_object(&key.name) => {
                vec![ObjectRef::new("", "Namespace", "", &key.namespace)]
            }
            ("", "pods") => {
                let mut others = selecting_services(client, change);
                others.extend(volume_claims::terminating_claims(client, &key.namespace));
                add_controllers(client, change, others)
            }
            ("apps", "replicasets") | ("batch", "jobs") => {
                add_controllers(client, change, client.object_ref(key).into_iter().collect())
            }
            ("discovery.k8s.io", "endpointslices") => add_controllers(client, change, Vec::new()),
            ("", "endpoints") => vec![ObjectRef::new("", "Service", &key.namespace, &key.name)],
            _ => Vec::new(),
        }
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            if object.kind == "PersistentVolumeClaim" {
                return match client.get(object) {
                    Some(claim) => volume_claims::reconcile(client, claim).await,
                    None => Ok(Requeue::AwaitChange),
                };
            }
            let live = client.get(object).filter(|live| !meta::is_deleting(live));
            let Some(live) = live else {
                if object.kind == "Service" {
                    endpoints::delete_endpoints(client, object).await?;
                }
                return Ok(Requeue::AwaitChange);
            };
            match &*object.kind {
                "Namespace" => reconcile(client, &object.name).await,
                "Service" => endpoints::reconcile(client, &live).await,
                "Deployment" => deployment::reconcile(client, live).await,
                "ReplicaSet" => replica_set::reconcile(client, live).await,
                "DaemonSet" => daemon_and_stateful_sets::reconcile_daemon_set(client, live).await,
                "StatefulSet" => daemon_and_stateful_sets::reconcile_stateful_set(client, live).await,
                "Job" => job::reconcile(client, live).await,
                _ => Ok(Requeue::AwaitChange),
            }
        })
    }
}

fn add_controllers(client: &Client, change: &Change, mut concerned: Vec<ObjectRef>) -> Vec<ObjectRef> {
    for stored in change.before.iter().chain([&change.after]) {
        let owner = controller(client, stored);
        concerned.extend(owner.filter(|owner| !concerned.contains(owner)));
    }
    concerned
}

fn controller(client: &Client, stored: &StoredObject) -> Option<ObjectRef> {
    let object = client.read(stored)?;
    children::controller(&object)
}

/// The Services that select a Pod or selected the Pod before its change.
fn selecting_services(client: &Client, change: &Change) -> Vec<ObjectRef> {
    let services = client.list("", "Service", Some(&change.after.key.namespace));
    let selects = |service: &&serde_json::Value| {
        let selector = LabelSelector::of_map(&service["spec"]["selector"]);
        let states = change.before.iter().chain([&change.after]);
        !selector.is_empty() && states.into_iter().any(|stored| selector.matches(&stored.labels))
    };
    services.iter().filter(selects).map(ObjectRef::of).collect()
}

/// True if an object of this name may be such an object.
fn is_default_object(name: &str) -> bool {
    name == "default" || name == "kube-root-ca.crt"
}

async fn reconcile(client: &Client, namespace: &str) -> Result<Requeue, Status> {
    for object in namespace_content(namespace) {
        if client.get(&ObjectRef::of(&object)).is_none() {
            client.create(object).await?;
        }
    }
    Ok(Requeue::AwaitChange)
}
