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
mod claims;
mod deployment;
mod endpoints;
mod hash;
mod job;
mod kubelet;
mod namespace;
mod replica_set;
mod sets;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::kubelet::Kubelet;
use super::{Controller, Look, Next, ObjectRef, aggregation::RoleAggregation};
use crate::{
    client::Client,
    meta,
    selector::LabelSelector,
    store::{Change, Stored},
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

    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        match (&*key.resource.group, &*key.resource.plural) {
            ("", "namespaces" | "services" | "persistentvolumeclaims")
            | ("apps", "deployments" | "statefulsets" | "daemonsets") => {
                client.object_ref(key).into_iter().collect()
            }
            ("", "serviceaccounts" | "configmaps") if namespace::gives(&key.name) => {
                vec![ObjectRef::new("", "Namespace", "", &key.namespace)]
            }
            ("", "pods") => {
                let mut others = selecting_services(client, change);
                others.extend(claims::waiting(client, &key.namespace));
                with_owners(client, change, others)
            }
            ("apps", "replicasets") | ("batch", "jobs") => {
                with_owners(client, change, client.object_ref(key).into_iter().collect())
            }
            ("discovery.k8s.io", "endpointslices") => with_owners(client, change, Vec::new()),
            ("", "endpoints") => vec![ObjectRef::new("", "Service", &key.namespace, &key.name)],
            _ => Vec::new(),
        }
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Look<'a> {
        Box::pin(async move {
            if object.kind == "PersistentVolumeClaim" {
                return match client.get(object) {
                    Some(claim) => claims::reconcile(client, claim).await,
                    None => Ok(Next::Wait),
                };
            }
            let live = client.get(object).filter(|live| !meta::is_deleting(live));
            let Some(live) = live else {
                if object.kind == "Service" {
                    endpoints::forget(client, object).await?;
                }
                return Ok(Next::Wait);
            };
            match &*object.kind {
                "Namespace" => namespace::reconcile(client, &object.name).await,
                "Service" => endpoints::reconcile(client, &live).await,
                "Deployment" => deployment::reconcile(client, live).await,
                "ReplicaSet" => replica_set::reconcile(client, live).await,
                "DaemonSet" => sets::reconcile_daemon_set(client, live).await,
                "StatefulSet" => sets::reconcile_stateful_set(client, live).await,
                "Job" => job::reconcile(client, live).await,
                _ => Ok(Next::Wait),
            }
        })
    }
}

/// Adds the current and the previous controller of an object.
fn with_owners(client: &Client, change: &Change, mut concerned: Vec<ObjectRef>) -> Vec<ObjectRef> {
    for stored in change.before.iter().chain([&change.after]) {
        let owner = controller(client, stored);
        concerned.extend(owner.filter(|owner| !concerned.contains(owner)));
    }
    concerned
}

/// The controller of a stored object.
fn controller(client: &Client, stored: &Stored) -> Option<ObjectRef> {
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
