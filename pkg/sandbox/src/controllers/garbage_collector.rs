//! Garbage collection: deletes objects without owners, with the propagation policy of the owner.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/garbagecollector`, run. Differs: the real collector keeps a
//! graph of the whole cluster; this one keeps an index of owners by uid.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use serde_json::Value;

use super::{Controller, ObjectRef, Reconciliation, Requeue};
use crate::{
    client::Client,
    meta,
    request::options::PropagationPolicy,
    status::Status,
    store::{Change, Key, StoredObject},
};

/// The pause before objects with an owner of an unserved kind are checked again. Source: kube-controller-manager 1.36,
/// which refreshes discovery every 30 seconds.
const UNKNOWN_OWNER_RETRY: Duration = Duration::from_secs(30);

/// Deletes dependents without owners, and completes deletions that wait for dependents.
#[derive(Debug, Default)]
pub(crate) struct GarbageCollector {
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    /// Dependents by the uid of their owner.
    dependents: HashMap<String, BTreeSet<Key>>,
    /// The uids of deleted owners with remaining dependents. Their dependents are garbage even if the kind of the owner
    /// is no longer served, for example after its definition and all its objects were deleted.
    deleted_owners: HashSet<String>,
}

/// The metadata fields that garbage collection needs.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    uid: String,
    deletion_timestamp: Option<String>,
    finalizers: Vec<String>,
    owner_references: Vec<OwnerReference>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OwnerReference {
    api_version: String,
    kind: String,
    name: String,
    uid: String,
    block_owner_deletion: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    metadata: Metadata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    Solid,
    /// The owner does not exist, or another object has its name.
    Absent,
    /// The owner is being deleted in the foreground and waits for its dependents.
    Waiting,
    /// The kind of the owner is not served, so its existence is unknown.
    Unknown,
}

impl Controller for GarbageCollector {
    fn name(&self) -> &'static str {
        "garbage-collector"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        let new = metadata(&change.after);
        let old = change.before.as_deref().map(metadata).unwrap_or_default();
        let mut concerned = Vec::new();
        if old.owner_references != new.owner_references || change.deleted {
            self.lock().update(key, &old, &new, change.deleted);
            // An owner may wait for the deletion of this dependent.
            let left =
                old.owner_references.iter().filter(|o| change.deleted || !new.owner_references.contains(o));
            concerned.extend(left.map(|owner| owner.object(&key.namespace, client)));
        }
        if change.deleted || new.deletion_timestamp.is_some() {
            concerned.extend(self.dependents(&new.uid, client));
        }
        if !change.deleted && (!new.owner_references.is_empty() || waits_for_dependents(&new)) {
            concerned.extend(client.object_ref(key));
        }
        concerned
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            let Some(live) = client.get(object) else { return Ok(Requeue::AwaitChange) };
            let metadata = Metadata::deserialize(&live["metadata"]).unwrap_or_default();
            if metadata.deletion_timestamp.is_some() {
                self.finish_deletion(client, live, &metadata).await?;
            } else if !metadata.owner_references.is_empty() {
                return self.collect(client, object, live, &metadata).await;
            }
            Ok(Requeue::AwaitChange)
        })
    }
}

impl GarbageCollector {
    /// Deletes an object if all its owners are absent or waiting; otherwise removes the references to such owners.
    async fn collect(
        &self,
        client: &Client,
        object: &ObjectRef,
        mut live: Value,
        metadata: &Metadata,
    ) -> Result<Requeue, Status> {
        let owners = metadata.owner_references.iter();
        let states: Vec<_> = owners.map(|owner| self.state(owner, &object.namespace, client)).collect();
        if states.contains(&OwnerState::Unknown) {
            return Ok(Requeue::After(UNKNOWN_OWNER_RETRY));
        }
        let solid = states.contains(&OwnerState::Solid);
        if !solid {
            let waiting = states.contains(&OwnerState::Waiting);
            let has_dependents = self.lock().dependents.contains_key(&metadata.uid);
            let propagation = match metadata
                .finalizers
                .iter()
                .map(String::as_str)
                .find(|f| [meta::ORPHAN, meta::FOREGROUND].contains(f))
            {
                Some(meta::ORPHAN) => PropagationPolicy::Orphan,
                Some(_) => PropagationPolicy::Foreground,
                None if waiting && has_dependents => PropagationPolicy::Foreground,
                None => PropagationPolicy::Background,
            };
            client.delete_if(object, &metadata.uid, propagation).await?;
            return Ok(Requeue::AwaitChange);
        }
        let keep: Vec<bool> = states.iter().map(|state| *state == OwnerState::Solid).collect();
        if !keep.iter().all(|keep| *keep) {
            retain_owners(&mut live, &keep);
            client.update(live).await?;
        }
        Ok(Requeue::AwaitChange)
    }

    /// Removes the finalizers of orphaning and foreground deletion once their condition is met.
    async fn finish_deletion(&self, client: &Client, live: Value, metadata: &Metadata) -> Result<(), Status> {
        let dependents = self.dependents(&metadata.uid, client);
        if metadata.finalizers.iter().any(|finalizer| finalizer == meta::ORPHAN) {
            for dependent in &dependents {
                self.orphan(client, dependent, &metadata.uid).await?;
            }
            return remove_finalizer(client, live, meta::ORPHAN).await;
        }
        if metadata.finalizers.iter().any(|finalizer| finalizer == meta::FOREGROUND) {
            let blocked =
                dependents.iter().any(|dependent| blocks_owner_deletion(client, dependent, &metadata.uid));
            if !blocked {
                return remove_finalizer(client, live, meta::FOREGROUND).await;
            }
        }
        Ok(())
    }

    async fn orphan(&self, client: &Client, dependent: &ObjectRef, owner: &str) -> Result<(), Status> {
        let Some(mut live) = client.get(dependent) else { return Ok(()) };
        let metadata = Metadata::deserialize(&live["metadata"]).unwrap_or_default();
        let keep: Vec<bool> =
            metadata.owner_references.iter().map(|reference| reference.uid != owner).collect();
        if keep.iter().all(|keep| *keep) {
            return Ok(());
        }
        retain_owners(&mut live, &keep);
        client.update(live).await.map(drop)
    }

    /// The dependents of an owner whose kinds are served.
    fn dependents(&self, owner: &str, client: &Client) -> Vec<ObjectRef> {
        let keys = self.lock().dependents.get(owner).cloned().unwrap_or_default();
        keys.iter().filter_map(|key| client.object_ref(key)).collect()
    }

    fn state(&self, owner: &OwnerReference, namespace: &str, client: &Client) -> OwnerState {
        if self.lock().deleted_owners.contains(&owner.uid) {
            OwnerState::Absent
        } else {
            owner.state(namespace, client)
        }
    }

    /// Locks the index. A panic elsewhere leaves the index consistent: every critical section completes its change.
    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    /// Updates the index after a change of owners or a deletion.
    fn update(&mut self, key: &Key, old: &Metadata, new: &Metadata, deleted: bool) {
        for owner in &old.owner_references {
            if let Some(dependents) = self.dependents.get_mut(&owner.uid) {
                dependents.remove(key);
                if dependents.is_empty() {
                    self.dependents.remove(&owner.uid);
                    self.deleted_owners.remove(&owner.uid);
                }
            }
        }
        for owner in new.owner_references.iter().filter(|_| !deleted) {
            self.dependents.entry(owner.uid.clone()).or_default().insert(key.clone());
        }
        if deleted && self.dependents.contains_key(&new.uid) {
            self.deleted_owners.insert(new.uid.clone());
        }
    }
}

impl OwnerReference {
    /// The owner that the reference names: cluster-scoped or in the namespace of the dependent.
    fn object(&self, namespace: &str, client: &Client) -> ObjectRef {
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        let namespaced = client.is_namespaced(group, &self.kind).unwrap_or(true);
        ObjectRef {
            group: group.to_owned(),
            kind: self.kind.clone(),
            namespace: if namespaced { namespace.to_owned() } else { String::new() },
            name: self.name.clone(),
        }
    }

    fn state(&self, namespace: &str, client: &Client) -> OwnerState {
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        match client.is_namespaced(group, &self.kind) {
            // A cluster-scoped object cannot have a namespaced owner; the real collector ignores such references.
            Some(true) if namespace.is_empty() => OwnerState::Unknown,
            None => OwnerState::Unknown,
            Some(_) => match client.get(&self.object(namespace, client)) {
                Some(owner) if owner["metadata"]["uid"] == self.uid.as_str() => {
                    let metadata = Metadata::deserialize(&owner["metadata"]).unwrap_or_default();
                    let foreground =
                        metadata.finalizers.iter().any(|finalizer| finalizer == meta::FOREGROUND);
                    if metadata.deletion_timestamp.is_some() && foreground {
                        OwnerState::Waiting
                    } else {
                        OwnerState::Solid
                    }
                }
                _ => OwnerState::Absent,
            },
        }
    }
}

/// True if a dependent exists and blocks the deletion of its owner.
fn blocks_owner_deletion(client: &Client, dependent: &ObjectRef, owner: &str) -> bool {
    client.get(dependent).is_some_and(|live| {
        let metadata = Metadata::deserialize(&live["metadata"]).unwrap_or_default();
        metadata
            .owner_references
            .iter()
            .any(|reference| reference.uid == owner && reference.block_owner_deletion == Some(true))
    })
}

fn waits_for_dependents(metadata: &Metadata) -> bool {
    metadata.deletion_timestamp.is_some()
        && metadata
            .finalizers
            .iter()
            .any(|finalizer| [meta::ORPHAN, meta::FOREGROUND].contains(&finalizer.as_str()))
}

fn retain_owners(live: &mut Value, keep: &[bool]) {
    let mut keep = keep.iter();
    if let Some(owners) = live["metadata"]["ownerReferences"].as_array_mut() {
        owners.retain(|_| keep.next().copied().unwrap_or(true));
    }
}

async fn remove_finalizer(client: &Client, mut live: Value, finalizer: &str) -> Result<(), Status> {
    if let Some(finalizers) = live["metadata"]["finalizers"].as_array_mut() {
        finalizers.retain(|found| found != finalizer);
    }
    client.update(live).await.map(drop)
}

fn metadata(stored: &StoredObject) -> Metadata {
    serde_json::from_slice::<Body>(&stored.body).unwrap_or_default().metadata
}

#[cfg(test)]
mod tests;
