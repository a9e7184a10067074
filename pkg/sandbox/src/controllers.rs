//! What controllers do in a real cluster, played: each can be switched off.

mod aggregation;
mod api_services;
mod cert_manager;
mod cluster_api;
mod conditions;
mod garbage;
mod namespaces;
pub(crate) mod runner;
mod workloads;

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{client::Client, meta, status::Status, store::Change};

/// One controller: it says what a change concerns, and brings one object nearer to what it should be.
///
/// The runner calls `reconcile` for one object at a time, again after an error (with a growing pause), and again when
/// the object changed meanwhile. A reconcile that finds nothing to do writes nothing: otherwise nothing ever settles.
pub(crate) trait Controller: Send + Sync + 'static {
    /// For the log, the switch and as field manager, such as `garbage-collector`.
    fn name(&self) -> &'static str;

    /// Which objects to look at after this change. Called for every change of the store, so it must be quick.
    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef>;

    /// Looks at one object, which may be gone.
    fn reconcile<'a>(
        &'a self,
        client: &'a Client,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<Next, Status>>;
}

/// An object by group, kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectRef {
    /// The API group; empty for core.
    pub(crate) group: String,
    /// The kind.
    pub(crate) kind: String,
    /// Empty for objects of the cluster.
    pub(crate) namespace: String,
    /// The name.
    pub(crate) name: String,
}

impl ObjectRef {
    /// An object by its parts.
    pub(crate) fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// An object by what it says of itself.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        Self::new(group_of(text("apiVersion")), text("kind"), meta::namespace(object), meta::name(object))
    }
}

/// The group of an `apiVersion`; empty for core.
pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// When to look again without a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Not before something changes.
    Wait,
    /// After this time.
    After(Duration),
}

/// Which controllers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Owner garbage collection and namespace deletion: a cluster is no cluster without them.
    pub garbage: bool,
    /// Deployments, ReplicaSets, DaemonSets, StatefulSets, Jobs, their pods on one node, endpoints, what namespaces are
    /// given, and aggregated roles.
    pub workloads: bool,
    /// APIServices become available.
    pub api_services: bool,
    /// cert-manager: Issuers, Certificates, CA injection.
    pub cert_manager: bool,
    /// Cluster API: core, kubeadm bootstrap and control plane, infrastructure.
    pub cluster_api: bool,
}

impl Switches {
    /// The controllers that are switched on.
    pub(crate) fn controllers(&self) -> Vec<Arc<dyn Controller>> {
        let mut chosen: Vec<Arc<dyn Controller>> = Vec::new();
        if self.garbage {
            chosen.push(Arc::new(garbage::GarbageCollector::default()));
            chosen.push(Arc::new(namespaces::Namespaces));
        }
        if self.workloads {
            chosen.extend(workloads::controllers());
        }
        if self.api_services {
            chosen.extend(api_services::controllers());
        }
        if self.cert_manager {
            chosen.extend(cert_manager::controllers());
        }
        if self.cluster_api {
            chosen.push(Arc::new(cluster_api::ClusterApi::default()));
        }
        chosen
    }

    /// No controllers at all.
    pub fn none() -> Self {
        Self {
            garbage: false,
            workloads: false,
            api_services: false,
            cert_manager: false,
            cluster_api: false,
        }
    }
}

impl Default for Switches {
    fn default() -> Self {
        Self { garbage: true, workloads: true, api_services: true, cert_manager: true, cluster_api: true }
    }
}
