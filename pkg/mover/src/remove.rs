//! Deletes the objects on the source that were verified on the target, children before their owners.

use std::time::Duration;

use api::output::MovePhase;
use apply::{ApiError, ObjectKey, ObjectRevision, PatchTarget};
use inventory::{FIELD_MANAGER, ManagementCluster};
use manifest::Value;
use serde_json::json;
use workload::{DELETE_FOR_MOVE, Facts, NodeId};

use crate::{
    MoveError, MoveSide, OnDifference,
    create::{Writer, Written, refused},
    error::{at, no_failures},
    run::{Moving, Removed, Verified},
    side_by_side::side_by_side,
};

/// Maximum number of attempts to delete an object that keeps changing.
const CHANGES: usize = 5;
/// Number of objects that are deleted between two confirmations of the leases of both clusters.
const BATCH: usize = 100;

impl<'a> Moving<'a, Verified> {
    /// Deletes the objects that leave the source, with the groups in reverse order. Every object of the graph was
    /// verified.
    pub(super) async fn remove(mut self) -> Result<Moving<'a, Removed>, MoveError> {
        self.work.enter(MovePhase::Deleting, |_| {}).await?;
        let work = &self.work;
        let of = work.leaving().count();
        let mut done = 0;
        let writer = Writer::new(work, &self.existing).await.map_err(at(MoveSide::Target))?;
        for group in work.plan.groups.iter().rev() {
            let leaving: Vec<NodeId> = group.iter().copied().filter(|node| work.plan.leaves(*node)).collect();
            for batch in leaving.chunks(BATCH) {
                // Confirms the lease of the target too, because the target may have been lost since the verification.
                let confirmed = work.source.server.confirm_leases("delete objects", Duration::ZERO).await;
                confirmed.map_err(at(MoveSide::Source))?;
                done += self.remove_batch(&writer, batch).await?;
                work.tell(MovePhase::Deleting, done, of);
            }
        }
        Ok(self.on())
    }

    async fn remove_batch(&self, writer: &Writer<'_>, batch: &[NodeId]) -> Result<usize, MoveError> {
        let at_most = self.work.source.server.max_in_flight();
        let (removed, failures) = side_by_side(at_most, batch.iter().copied(), |node| async move {
            let key = self.work.key(node);
            self.remove_one(writer, node).await.map_err(|error| (key.clone(), error))
        })
        .await;
        no_failures("deleted", failures)?;
        Ok(removed.len())
    }

    /// Deletes an object in the revision that was copied. A newer revision is copied first.
    async fn remove_one(&self, writer: &Writer<'_>, node: NodeId) -> Result<(), ApiError> {
        let facts = self.work.plan.facts(node);
        let copied = self.copies.get(&facts.uid);
        let mut version =
            copied.map_or_else(|| facts.resource_version.clone(), |copied| copied.version.clone());
        for _ in 0..CHANGES {
            match strip_and_delete(&self.work.source, facts, &version).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) if !error.is_conflict() => return Err(error),
                Err(_) => match self.copy_again(writer, node).await? {
                    Some(newer) => version = newer,
                    None => return Ok(()),
                },
            }
        }
        Err(refused("delete", &facts.key, "it changes all the time"))
    }

    /// Copies the changed object again and returns its version. None if the object is gone or has been replaced.
    async fn copy_again(&self, writer: &Writer<'_>, node: NodeId) -> Result<Option<String>, ApiError> {
        let Some(object) = writer.read(node).await.map_err(|(_, error)| error)? else { return Ok(None) };
        match writer.write(node, &object, &self.copies).await.map_err(|(_, error)| error)? {
            Written::Copy { difference: Some((key, path)), .. }
                if self.work.request.on_difference == OnDifference::Stop =>
            {
                Err(refused(
                    "delete",
                    &key,
                    &format!("it was changed, and the target keeps another `{path}`"),
                ))
            }
            Written::Copy { copied, .. } => Ok(Some(copied.version)),
            // The next discovery finds the object again.
            Written::Changed => Ok(None),
        }
    }
}

/// Returns the patch that shows webhooks the reason for the deletion, and removes the finalizers. The patch fails on
/// another revision and on another object of the same name.
fn parting(uid: &str, version: &str) -> Value {
    json!({"metadata": {
        "uid": uid,
        "resourceVersion": version,
        "annotations": {DELETE_FOR_MOVE: ""},
        "finalizers": null,
    }})
}

/// Marks one revision of an object for the move, removes its finalizers, and deletes the object.
/// # Errors
/// Fails with a conflict if the object has changed since, also between the two requests.
async fn strip_and_delete(source: &ManagementCluster, facts: &Facts, version: &str) -> Result<(), ApiError> {
    let (server, kind) = (&source.server, &facts.of.kind);
    let ObjectKey { namespace, name, .. } = &facts.key;
    let patch = parting(&facts.uid, version);
    let stripped = server.patch(kind, namespace, name, &patch, FIELD_MANAGER, PatchTarget::Object).await?;
    server.delete(kind, namespace, name, Some(&ObjectRevision::of(&stripped))).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_patch_marks_one_revision_and_removes_finalizers() {
        let expected = json!({
            "metadata": {"uid": "u", "annotations": {DELETE_FOR_MOVE: ""}, "finalizers": null, "resourceVersion": "7"}
        });
        assert_eq!(parting("u", "7"), expected);
    }
}
