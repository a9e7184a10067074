//! Deletes the objects on the source that were verified on the target, children before their owners.

use std::collections::BTreeSet;

use api::labels::FIELD_MANAGER;
use api::output::MovePhase;
use apply::{ApiError, ObjectKey, ObjectRevision, PatchTarget};
use inventory::ManagementCluster;
use manifest::Value;
use serde_json::json;
use workload::{DELETE_FOR_MOVE, NodeId, ObjectFacts};

use crate::{
    DifferencePolicy, MoveError, MoveSide,
    concurrency::run_concurrently,
    create::{CopyOutcome, CopyWriter, conflict_error},
    error::{api_error, check_failures},
    run::{Deleted, MoveContext, PhasedMove, Verified},
    stale::StaleCopies,
    verify::Verification,
};

/// Maximum number of attempts to delete an object that keeps changing.
const MAX_ATTEMPTS: usize = 5;
/// Number of objects that are deleted between two confirmations of the leases of both clusters.
const BATCH_SIZE: usize = 100;

impl<'a> PhasedMove<'a, Verified> {
    /// Deletes the objects that leave the source, with the groups in reverse order. Every object of the graph was
    /// verified.
    pub(super) async fn delete_moved(mut self) -> Result<PhasedMove<'a, Deleted>, MoveError> {
        self.work.check_stale_copies().await?;
        self.work.enter_phase(MovePhase::Deleting, |_| {}).await?;
        let work = &self.work;
        let of = work.leaving_nodes().count();
        let (mut done, mut verification) = (0, work.verification);
        let mut left: BTreeSet<NodeId> = work.leaving_nodes().collect();
        let writer = CopyWriter::new(work, &self.existing).await.map_err(api_error(MoveSide::Target))?;
        for group in work.plan.groups.iter().rev() {
            let leaving: Vec<NodeId> =
                group.iter().copied().filter(|node| work.plan.leaves_source(*node)).collect();
            for batch in leaving.chunks(BATCH_SIZE) {
                // Confirms the lease of the target too, because the target may have been lost since the verification.
                let confirmed = work.source.server.confirm_leases("delete objects").await;
                confirmed.map_err(api_error(MoveSide::Source))?;
                verification = self.verify_again(verification, &left).await?;
                done += self.delete_batch(&writer, batch).await?;
                for node in batch {
                    left.remove(node);
                }
                work.report_progress(MovePhase::Deleting, done, of);
            }
        }
        Ok(self.into_phase())
    }

    /// Verifies the copies of the objects that are left, if the last verification is too old.
    async fn verify_again(
        &self,
        last: Option<Verification>,
        left: &BTreeSet<NodeId>,
    ) -> Result<Option<Verification>, MoveError> {
        if last.is_some_and(Verification::is_valid) {
            return Ok(last);
        }
        let verification = Verification::begin();
        let differences = self.work.copy_problems(&self.copies, left.iter().copied()).await?;
        if differences.is_empty() {
            Ok(Some(verification.end()))
        } else {
            Err(MoveError::TargetDiffers { differences })
        }
    }

    async fn delete_batch(&self, writer: &CopyWriter<'_>, batch: &[NodeId]) -> Result<usize, MoveError> {
        let at_most = self.work.source.server.max_in_flight();
        let (removed, failures) = run_concurrently(at_most, batch.iter().copied(), |node| async move {
            let key = self.work.key(node);
            self.delete_one(writer, node).await.map_err(|error| (key.clone(), error))
        })
        .await;
        check_failures("delete", failures)?;
        Ok(removed.len())
    }

    /// Deletes an object in the revision that was copied. A newer revision is copied first.
    async fn delete_one(&self, writer: &CopyWriter<'_>, node: NodeId) -> Result<(), ApiError> {
        let facts = self.work.plan.facts(node);
        let copied = self.copies.get(&facts.uid);
        let mut version =
            copied.map_or_else(|| facts.resource_version.clone(), |copied| copied.source_version.clone());
        for _ in 0..MAX_ATTEMPTS {
            match strip_and_delete(&self.work.source, facts, &version).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) if !error.is_conflict() => return Err(error),
                Err(_) => match self.copy_changed(writer, node).await? {
                    Some(newer) => version = newer,
                    None => return Ok(()),
                },
            }
        }
        Err(conflict_error("delete", &facts.key, "it keeps changing on the source"))
    }

    /// Copies the changed object again and returns its version. None if the object no longer exists or has been replaced.
    async fn copy_changed(&self, writer: &CopyWriter<'_>, node: NodeId) -> Result<Option<String>, ApiError> {
        let Some(object) = writer.read(node).await.map_err(|(_, error)| error)? else { return Ok(None) };
        match writer.write(node, &object, &self.copies).await.map_err(|(_, error)| error)? {
            CopyOutcome::Copy { difference: Some((key, path)), .. }
                if self.work.request.on_difference == DifferencePolicy::Stop =>
            {
                Err(conflict_error(
                    "delete",
                    &key,
                    &format!("it changed on the source, and `{path}` differs on the target"),
                ))
            }
            CopyOutcome::Copy { copied, .. } => Ok(Some(copied.source_version)),
            // The next discovery finds the object again.
            CopyOutcome::SourceChanged => Ok(None),
        }
    }
}

impl MoveContext<'_> {
    /// Checks before the first deletion of a resumed move that the source still has every copied object.
    /// # Errors
    /// `StaleCopies` with the copies on the target.
    async fn check_stale_copies(&self) -> Result<(), MoveError> {
        if !self.is_resumed || self.may_have_deleted() {
            return Ok(());
        }
        let moving = self.plan.selection.moving();
        let keys: Vec<ObjectKey> = moving.map(|node| self.plan.key_on_target(node, self.request)).collect();
        let stale =
            StaleCopies::find(&self.target, &self.journal_lease.journal, &keys.iter().collect()).await?;
        let objects = stale.into_keys();
        if objects.is_empty() { Ok(()) } else { Err(MoveError::StaleCopies { objects }) }
    }
}

/// Returns the patch that shows webhooks the reason for the deletion, and removes the finalizers. The patch fails on
/// another revision and on another object of the same name.
fn deletion_patch(uid: &str, version: &str) -> Value {
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
async fn strip_and_delete(
    source: &ManagementCluster,
    facts: &ObjectFacts,
    version: &str,
) -> Result<(), ApiError> {
    let (server, kind) = (&source.server, &facts.object_type.kind);
    let ObjectKey { namespace, name, .. } = &facts.key;
    let patch = deletion_patch(&facts.uid, version);
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
        assert_eq!(deletion_patch("u", "7"), expected);
    }
}
