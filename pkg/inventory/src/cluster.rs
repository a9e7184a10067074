use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use api::output::{ProgressEvent, ProgressStep};
use apply::{
    ApiError, ApiKind, Apply, EventSink, Lease, LeaseName, ObjectKey, Onto, Permission, Revision, Server,
};
use manifest::Object;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::providers::FIELD_MANAGER;

/// The most tries to write an object that capstan keeps for itself while another tool writes it too.
const ATTEMPTS: usize = 4;

/// The namespace of the control plane. It exists on every cluster and cannot be deleted, also before the first provider is
/// installed.
const SYSTEM_NAMESPACE: &str = "kube-system";

/// A management cluster that is reached. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ManagementCluster {
    /// Its API server.
    pub server: Server,
    /// The place for events of a run.
    pub events: EventSink<ProgressEvent>,
    /// The revisions of objects that capstan keeps for itself.
    pub revisions: Revisions,
    /// Asked once in a run.
    identity: Arc<OnceCell<ClusterIdentity>>,
}

/// The revisions of the objects that capstan keeps for itself, as this run has read or written them last: apply sets and
/// entries of the inventory. A write that was on its way when another run took over changes none of theirs.
#[derive(Clone, Debug, Default)]
pub struct Revisions(Arc<Mutex<BTreeMap<ObjectKey, Revision>>>);

impl Revisions {
    /// Notes the revision of an object.
    pub fn note(&self, object: &Object) {
        self.known().insert(ObjectKey::of(object), Revision::of(object));
    }

    /// The revision of an object that exists, as far as this run knows.
    pub fn of(&self, key: &ObjectKey) -> Option<Revision> {
        self.known().get(key).cloned()
    }

    /// Forgets an object.
    pub fn forget(&self, key: &ObjectKey) {
        self.known().remove(key);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, Revision>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cluster, whatever it is called in a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterIdentity {
    /// The uid of its namespace `kube-system`.
    pub uid: String,
    /// Its address, for messages.
    pub address: String,
}

impl ManagementCluster {
    /// Takes a server and a place for events.
    pub fn new(server: Server, events: EventSink<ProgressEvent>) -> Self {
        Self { server, events, revisions: Revisions::default(), identity: Arc::default() }
    }

    /// The Lease object of a management cluster.
    pub fn lease_name() -> LeaseName {
        LeaseName { namespace: SYSTEM_NAMESPACE.to_owned(), name: "capstan".to_owned() }
    }

    /// The identity of the cluster, asked for once.
    /// # Errors
    /// Also where there is no namespace `kube-system`: then it cannot be told from another.
    pub async fn identity(&self) -> Result<ClusterIdentity, ApiError> {
        self.identity.get_or_try_init(|| self.read_identity()).await.cloned()
    }

    async fn read_identity(&self) -> Result<ClusterIdentity, ApiError> {
        let kind = served("", "v1", "Namespace", "namespaces", false);
        let address = self.server.address().to_owned();
        match self.server.get(&kind, "", SYSTEM_NAMESPACE).await? {
            Some(namespace) => Ok(ClusterIdentity { uid: Revision::of(&namespace).uid, address }),
            None => Err(ApiError::Answer {
                action: format!("tell the cluster by its namespace `{SYSTEM_NAMESPACE}`"),
                server: address,
                code: 404,
                problem: "it is not there".to_owned(),
            }),
        }
    }

    /// The same cluster, for a run that holds a lease: see [`Server::under`].
    #[must_use]
    pub fn under(&self, lease: &Lease) -> Self {
        Self { server: self.server.under(lease), ..self.clone() }
    }

    /// Writes an object that capstan keeps for itself, onto the revision this run knows; else it must be new. A revision that is
    /// no longer there is read again: another tool may have written or deleted the object, but no other run may.
    pub async fn keep(&self, kind: &ApiKind, object: &Object) -> Result<(), ApiError> {
        let key = ObjectKey::of(object);
        for attempt in 1.. {
            let onto = self.revisions.of(&key).map_or(Onto::Absent, Onto::Revision);
            let how = Apply { onto, ..Apply::default() };
            match self.server.apply(kind, object, FIELD_MANAGER, how).await {
                Err(error) if error.is_conflict() && attempt < ATTEMPTS => {
                    self.look_again(kind, &key).await?;
                }
                written => {
                    self.revisions.note(&written?);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Deletes an object that capstan keeps for itself, in the revision this run knows or finds.
    pub async fn drop_kept(&self, kind: &ApiKind, key: &ObjectKey) -> Result<(), ApiError> {
        for attempt in 1.. {
            let only = self.revisions.of(key);
            match self.server.delete(kind, &key.namespace, &key.name, only.as_ref()).await {
                Err(error) if error.is_conflict() && attempt < ATTEMPTS => {
                    self.look_again(kind, key).await?;
                }
                deleted => {
                    deleted?;
                    break;
                }
            }
        }
        self.revisions.forget(key);
        Ok(())
    }

    async fn look_again(&self, kind: &ApiKind, key: &ObjectKey) -> Result<(), ApiError> {
        match self.server.get(kind, &key.namespace, &key.name).await? {
            Some(found) => self.revisions.note(&found),
            None => self.revisions.forget(key),
        }
        Ok(())
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Tells of a step of the run.
    pub fn step(&self, step: ProgressStep) {
        self.events.send(&ProgressEvent::step(step));
    }

    /// Warns the user.
    pub fn warn(&self, text: String) {
        self.events.send(&ProgressEvent::Warning { text });
    }
}

/// The permissions that holding the lease of a cluster takes.
pub fn lease_permissions() -> impl Iterator<Item = Permission> {
    let LeaseName { namespace, .. } = ManagementCluster::lease_name();
    ["create", "get", "update", "delete"].into_iter().map(move |verb| Permission {
        verb: verb.to_owned(),
        group: "coordination.k8s.io".to_owned(),
        resource: "leases".to_owned(),
        namespace: namespace.clone(),
    })
}

/// CustomResourceDefinitions, which every server has: no question to discovery is needed.
pub fn definition_kind() -> ApiKind {
    served("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false)
}

/// ConfigMaps.
pub fn config_map_kind() -> ApiKind {
    served("", "v1", "ConfigMap", "configmaps", true)
}

/// Secrets.
pub fn secret_kind() -> ApiKind {
    served("", "v1", "Secret", "secrets", true)
}

/// A kind that is known to be served like this.
pub fn served(group: &str, version: &str, kind: &str, plural: &str, namespaced: bool) -> ApiKind {
    ApiKind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced,
        verbs: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
