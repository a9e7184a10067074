//! Plans of writes and their execution.

use std::time::Duration;

use serde_json::{Value, json};

use super::object::{is_deleting, uid};
use crate::{
    client::{Client, Propagation},
    controllers::{ObjectRef, Requeue},
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
                client.delete_if(&object, &uid, Propagation::Background).await?;
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
            super::object::unset(&mut main, &["status"]);
        }
        let written = client.update(main).await?;
        after["metadata"]["resourceVersion"] = json!(written["metadata"]["resourceVersion"]);
    }
    if status {
        client.update_status(after).await?;
    }
    Ok(())
}
