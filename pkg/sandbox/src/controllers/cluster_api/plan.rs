//! Plans of writes and their execution, and the read access to the server: each plan is a function of stored state.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    contract::Contract,
    object::{
        CORE, cluster_name, ensure_owner, is_deleting, name, namespace, owner_reference, remove_finalizer,
        text, uid, unset,
    },
};
use crate::{
    client::Client,
    controllers::{ObjectRef, Requeue},
    request::options::PropagationPolicy,
    status::Status,
};

/// The ordered writes of one reconciliation and the time of the next one.
#[derive(Debug, Default)]
pub(super) struct WritePlan {
    pub(super) writes: Vec<PlannedWrite>,
    pub(super) requeue_after: Option<Duration>,
}

#[derive(Debug)]
pub(super) enum PlannedWrite {
    Create(Value),
    /// The original and the desired object. Metadata and spec are written before the status.
    Update {
        before: Value,
        after: Value,
    },
    /// The deletion of the object with this uid.
    Delete {
        object: ObjectRef,
        uid: String,
    },
}

impl WritePlan {
    /// Plans a deletion: deletes the children of the object, then removes its finalizer.
    pub(super) fn deletion<'a>(
        live: &Value,
        finalizer: &str,
        children: impl IntoIterator<Item = &'a Value>,
    ) -> Self {
        let mut plan = Self::default();
        let mut children = children.into_iter().peekable();
        if children.peek().is_none() {
            let mut released = live.clone();
            remove_finalizer(&mut released, finalizer);
            plan.update(live, released);
        }
        plan.delete_all(children);
        plan
    }

    /// Makes `owner` an owner of an object, so that the object moves and is deleted with its owner.
    pub(super) fn adopt(&mut self, object: &Value, owner: &Value) {
        let mut owned = object.clone();
        ensure_owner(&mut owned, owner_reference(owner, false));
        self.update(object, owned);
    }

    pub(super) fn create(&mut self, object: Value) {
        self.writes.push(PlannedWrite::Create(object));
    }

    /// Adds a change; ignores equal objects.
    pub(super) fn update(&mut self, before: &Value, after: Value) {
        if *before != after {
            self.writes.push(PlannedWrite::Update { before: before.clone(), after });
        }
    }

    /// Adds a deletion; ignores objects that are already being deleted.
    pub(super) fn delete(&mut self, object: &Value) {
        if !is_deleting(object) {
            self.writes
                .push(PlannedWrite::Delete { object: ObjectRef::of(object), uid: uid(object).to_owned() });
        }
    }

    /// Adds a deletion for each object.
    pub(super) fn delete_all<'a>(&mut self, objects: impl IntoIterator<Item = &'a Value>) {
        for object in objects {
            self.delete(object);
        }
    }

    fn requeue(&self) -> Requeue {
        self.requeue_after.map_or(Requeue::AwaitChange, Requeue::After)
    }
}

/// Splits a change into the object to `update`, if changed, and a flag that is true if the status must be written.
pub(super) fn split(before: &Value, after: &Value) -> (Option<Value>, bool) {
    let mut main = after.clone();
    main["status"] = before["status"].clone();
    let status = before["status"] != after["status"] && !(is_deleting(after) && has_no_finalizers(after));
    ((main != *before).then_some(main), status)
}

fn has_no_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty)
}

/// Executes a plan. Stops at the first failed write.
pub(super) async fn execute(client: &Client, plan: WritePlan) -> Result<Requeue, Status> {
    let next = plan.requeue();
    for write in plan.writes {
        match write {
            PlannedWrite::Create(object) => drop(client.create(object).await?),
            PlannedWrite::Delete { object, uid } => {
                client.delete_if(&object, &uid, PropagationPolicy::Background).await?;
            }
            PlannedWrite::Update { before, after } => update(client, &before, after).await?,
        }
    }
    Ok(next)
}

async fn update(client: &Client, before: &Value, mut after: Value) -> Result<(), Status> {
    let (main, status) = split(before, &after);
    if let Some(mut main) = main {
        if main["status"].is_null() {
            unset(&mut main, &["status"]);
        }
        let written = client.update(main).await?;
        after["metadata"]["resourceVersion"] = json!(written["metadata"]["resourceVersion"]);
    }
    if status {
        client.update_status(after).await?;
    }
    Ok(())
}

/// Cached contracts by group and kind, because definitions are large and every reconciliation needs contracts.
pub(super) type Contracts = Mutex<HashMap<(String, String), Contract>>;

/// The current state of the server, with cached contracts.
pub(super) struct ObjectReader<'a> {
    pub(super) client: &'a Client,
    pub(super) contracts: &'a Contracts,
}

impl ObjectReader<'_> {
    /// Returns an object in the preferred version of its kind.
    pub(super) fn get(&self, object: &ObjectRef) -> Option<Value> {
        self.client.get(object)
    }

    /// Returns all objects of a kind in one namespace or all. Empty if the kind is not served.
    pub(super) fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Vec<Value> {
        self.client.list(group, kind, namespace)
    }

    /// The preferred `apiVersion` of a kind: `None` if the kind is not served.
    pub(super) fn api_version(&self, group: &str, kind: &str) -> Option<String> {
        self.client.api_version(group, kind)
    }

    pub(super) fn contract(&self, group: &str, kind: &str) -> Contract {
        let mut contracts = self.contracts.lock().unwrap_or_else(PoisonError::into_inner);
        *contracts.entry((group.to_owned(), kind.to_owned())).or_insert_with(|| {
            let definition = self.client.resource_name(&ObjectRef::new(group, kind, "", ""));
            let definition =
                ObjectRef::new("apiextensions.k8s.io", "CustomResourceDefinition", "", &definition);
            let definition = self.get(&definition);
            definition.map_or(Contract::V1Beta2, |definition| Contract::of_definition(&definition))
        })
    }

    pub(super) fn now(&self) -> String {
        self.client.now()
    }
}

/// Returns all objects of a core kind that belong to a Cluster, in the namespace of the Cluster, sorted by name.
pub(super) fn objects_of_cluster(reader: &ObjectReader<'_>, kind: &str, cluster: &Value) -> Vec<Value> {
    let mut all = reader.list(CORE, kind, Some(namespace(cluster)));
    let name = name(cluster);
    all.retain(|object| cluster_name(object) == Some(name));
    all.sort_by(|one, other| text(one, "/metadata/name").cmp(text(other, "/metadata/name")));
    all
}

/// The `apiVersion` of new objects of a core kind.
pub(super) fn core_api_version(reader: &ObjectReader<'_>, kind: &str, cluster: &Value) -> String {
    let version = reader.api_version(CORE, kind);
    version.unwrap_or_else(|| text(cluster, "/apiVersion").to_owned())
}
