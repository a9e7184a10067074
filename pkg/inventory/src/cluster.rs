use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use api::labels::FIELD_MANAGER;
use api::output::{ProgressEvent, ProgressStep};
use apply::{
    ApiError, ApiKind, ApplyPrecondition, ApplyRequest, EventSink, Lease, LeaseName, ObjectKey,
    ObjectRevision, Permission, Server, key_of,
};
use manifest::Object;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

/// The maximum number of attempts to write an object of capstan that another tool writes concurrently.
const MAX_ATTEMPTS: usize = 4;

/// The namespace of the control plane. It exists on every cluster, even before the first provider is installed, and
/// cannot be deleted.
const SYSTEM_NAMESPACE: &str = "kube-system";

/// A connected management cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ManagementCluster {
    /// Connection to the API server.
    pub server: Server,
    /// Receiver of progress events.
    pub events: EventSink<ProgressEvent>,
    /// Known revisions of the objects that capstan stores on the cluster.
    pub revisions: KnownRevisions,
    /// Read once per run.
    identity: Arc<OnceCell<ClusterIdentity>>,
}

/// The last known revisions of the objects that capstan stores on a cluster: apply sets and inventory entries.
/// If another run has taken over, a late write of this run fails instead of overwriting newer objects.
#[derive(Clone, Debug, Default)]
pub struct KnownRevisions(Arc<Mutex<BTreeMap<ObjectKey, ObjectRevision>>>);

impl KnownRevisions {
    /// Records the revision of an object.
    pub fn record(&self, object: &Object) {
        self.lock().insert(key_of(object), ObjectRevision::of(object));
    }

    /// Returns the last known revision of an object. None if the object does not exist or was not read.
    pub fn get(&self, key: &ObjectKey) -> Option<ObjectRevision> {
        self.lock().get(key).cloned()
    }

    /// Removes the revision of an object.
    pub fn remove(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, ObjectRevision>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The identity of a cluster, independent of its name in a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterIdentity {
    /// The uid of the namespace `kube-system`.
    pub uid: String,
    /// The address of the API server, for messages.
    pub address: String,
}

impl ManagementCluster {
    /// Creates a management cluster from its server and a receiver of events.
    pub fn new(server: Server, events: EventSink<ProgressEvent>) -> Self {
        Self { server, events, revisions: KnownRevisions::default(), identity: Arc::default() }
    }

    /// Returns the name of the Lease object on a management cluster.
    pub fn lease_name() -> LeaseName {
        LeaseName { namespace: SYSTEM_NAMESPACE.to_owned(), name: "capstan".to_owned() }
    }

    /// Returns the identity of the cluster. Reads the cluster only once per run.
    /// # Errors
    /// Fails if the cluster cannot be read, or if the namespace `kube-system` does not exist.
    pub async fn identity(&self) -> Result<ClusterIdentity, ApiError> {
        self.identity.get_or_try_init(|| self.read_identity()).await.cloned()
    }

    async fn read_identity(&self) -> Result<ClusterIdentity, ApiError> {
        let kind = known_kind("", "v1", "Namespace", "namespaces", false);
        let address = self.server.address().to_owned();
        match self.server.get(&kind, "", SYSTEM_NAMESPACE).await? {
            Some(namespace) => Ok(ClusterIdentity { uid: ObjectRevision::of(&namespace).uid, address }),
            None => Err(ApiError::InvalidAnswer {
                action: format!("identify the cluster by its namespace `{SYSTEM_NAMESPACE}`"),
                server: address,
                code: 404,
                problem: "the namespace does not exist".to_owned(),
            }),
        }
    }

    /// Returns the same cluster for a run that holds a lease, see [`Server::with_lease`].
    #[must_use]
    pub fn with_lease(&self, lease: &Lease) -> Self {
        Self { server: self.server.with_lease(lease), ..self.clone() }
    }

    /// Writes an object of capstan onto the revision that this run knows. If no revision is known, the object must be
    /// new.
    /// After a conflict, the revision is read again: other tools may write or delete the object, but other runs may
    /// not.
    pub async fn store_object(&self, kind: &ApiKind, object: &Object) -> Result<(), ApiError> {
        let key = key_of(object);
        for attempt in 1.. {
            let onto =
                self.revisions.get(&key).map_or(ApplyPrecondition::Absent, ApplyPrecondition::Revision);
            let how = ApplyRequest { precondition: onto, ..ApplyRequest::default() };
            match self.server.apply(kind, object, FIELD_MANAGER, how).await {
                Err(error) if error.is_conflict() && attempt < MAX_ATTEMPTS => {
                    self.refresh_revision(kind, &key).await?;
                }
                written => {
                    self.revisions.record(&written?);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Deletes an object of capstan in the revision that this run knows, or reads after a conflict.
    pub async fn delete_stored_object(&self, kind: &ApiKind, key: &ObjectKey) -> Result<(), ApiError> {
        for attempt in 1.. {
            let only = self.revisions.get(key);
            match self.server.delete(kind, &key.namespace, &key.name, only.as_ref()).await {
                Err(error) if error.is_conflict() && attempt < MAX_ATTEMPTS => {
                    self.refresh_revision(kind, key).await?;
                }
                deleted => {
                    deleted?;
                    break;
                }
            }
        }
        self.revisions.remove(key);
        Ok(())
    }

    async fn refresh_revision(&self, kind: &ApiKind, key: &ObjectKey) -> Result<(), ApiError> {
        match self.server.get(kind, &key.namespace, &key.name).await? {
            Some(found) => self.revisions.record(&found),
            None => self.revisions.remove(key),
        }
        Ok(())
    }

    /// Returns the API server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Emits the start of a step.
    pub fn send_step(&self, step: ProgressStep) {
        self.events.send(&ProgressEvent::step(step));
    }

    /// Emits a warning.
    pub fn warn(&self, text: String) {
        self.events.send(&ProgressEvent::Warning { text });
    }
}

/// Returns the permissions that a run needs to hold the lease of a cluster.
pub fn lease_permissions() -> impl Iterator<Item = Permission> {
    let LeaseName { namespace, .. } = ManagementCluster::lease_name();
    ["create", "get", "update", "delete"].into_iter().map(move |verb| Permission {
        verb: verb.to_owned(),
        group: "coordination.k8s.io".to_owned(),
        resource: "leases".to_owned(),
        namespace: namespace.clone(),
    })
}

/// Returns the kind CustomResourceDefinition. Every server has this kind, so discovery is unnecessary.
pub fn crd_kind() -> ApiKind {
    known_kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false)
}

/// Returns the kind ConfigMap.
pub fn config_map_kind() -> ApiKind {
    known_kind("", "v1", "ConfigMap", "configmaps", true)
}

/// Returns the kind Secret.
pub fn secret_kind() -> ApiKind {
    known_kind("", "v1", "Secret", "secrets", true)
}

/// Returns a kind with known fields, without discovery.
pub fn known_kind(group: &str, version: &str, kind: &str, plural: &str, namespaced: bool) -> ApiKind {
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
