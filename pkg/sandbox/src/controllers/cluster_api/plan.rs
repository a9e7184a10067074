//! Plans of writes and their execution.

use std::time::Duration;

use serde_json::{Value, json};

use super::object::{is_deleting, uid};
use crate::{
    client::{Client, Propagation},
    controllers::{Next, ObjectRef},
    status::Status,
};

/// The ordered writes of one reconciliation and the time of the next one.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) writes: Vec<Write>,
    pub(super) after: Option<Duration>,
}

#[derive(Debug)]
pub(super) enum Write {
    Create(Value),
    /// The original and the desired object. Metadata and spec are written before the status.
    Change {
        before: Value,
        after: Value,
    },
    /// The deletion of the object with this uid.
    Delete {
        object: ObjectRef,
        uid: String,
    },
}

impl Plan {
    pub(super) fn create(&mut self, object: Value) {
        self.writes.push(Write::Create(object));
    }

    /// Adds a change; ignores equal objects.
    pub(super) fn change(&mut self, before: &Value, after: Value) {
        if *before != after {
            self.writes.push(Write::Change { before: before.clone(), after });
        }
    }

    /// Adds a deletion; ignores objects that are already being deleted.
    pub(super) fn delete(&mut self, object: &Value) {
        if !is_deleting(object) {
            self.writes.push(Write::Delete { object: ObjectRef::of(object), uid: uid(object).to_owned() });
        }
    }

    /// Adds a deletion for each object.
    pub(super) fn delete_all<'a>(&mut self, objects: impl IntoIterator<Item = &'a Value>) {
        for object in objects {
            self.delete(object);
        }
    }

    fn next(&self) -> Next {
        self.after.map_or(Next::Wait, Next::After)
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
pub(super) async fn carry_out(client: &Client, plan: Plan) -> Result<Next, Status> {
    let next = plan.next();
    for write in plan.writes {
        match write {
            Write::Create(object) => drop(client.create(object).await?),
            Write::Delete { object, uid } => {
                client.delete_if(&object, &uid, Propagation::Background).await?;
            }
            Write::Change { before, after } => change(client, &before, after).await?,
        }
    }
    Ok(next)
}

async fn change(client: &Client, before: &Value, mut after: Value) -> Result<(), Status> {
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
