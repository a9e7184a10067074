//! Aborts a move that has deleted nothing: removes its copies from the target, then resumes the source.
//!
//! In this order, no Cluster is ever reconciled from both clusters. Each step follows from the objects that exist, so
//! the same call resumes an interrupted abort.
//! An abort deletes the target objects that the move created, and resumes source objects that carry the mark of the run.

mod copies;
mod namespaces;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, time::Duration};

use api::labels::FIELD_MANAGER;
use api::output::{MoveAborted, MovePhase};
use apply::{ApiError, ObjectKey, PatchTarget};
use futures::{TryFutureExt as _, try_join};
use inventory::ManagementCluster;
use manifest::Value;
use workload::{Discovery, MOVE_MARK, Scope, discover};

use self::copies::CopiesToDelete;
use crate::{
    JournalStore, MoveError, MoveJournal, MoveRoute, MoveSide,
    concurrency::run_concurrently,
    error::{api_error, check_failures},
    journal::{JournalLease, find_move_journal},
    pause::PausableKind,
    request::with_retries,
};

/// Aborts a move that has deleted nothing: deletes its copies from the target and resumes the source. Children are
/// deleted first and without their finalizers.
/// Objects that existed on the target before the move stay. After an interruption, the same call resumes the abort. The
/// journal alone defines the scope of the abort.
/// # Errors
/// `AlreadyDeleting` if the move has deleted objects. `NoMove` if there is no unfinished move. `Journal` if another run holds
/// the move, or if the move is between other clusters.
pub async fn abort_move(
    route: MoveRoute<'_>,
    timeout: Duration,
    store: &JournalStore,
) -> Result<MoveAborted, MoveError> {
    let (source, target) = (with_retries(route.source, timeout), with_retries(route.target, timeout));
    let (here, there) = try_join!(
        source.identity().map_err(api_error(MoveSide::Source)),
        target.identity().map_err(api_error(MoveSide::Target)),
    )?;
    let found =
        Box::pin(find_move_journal(Some(&source), Some(&target))).await?.filter(MoveJournal::is_unfinished);
    let found = found.ok_or(MoveError::NoMove { verb: "abort" })?;
    found.check_clusters(&here, &there)?;
    if !found.can_be_undone() {
        return Err(MoveError::AlreadyDeleting);
    }
    let wanted = MoveJournal { phase: MovePhase::Aborting, ..found };
    let mut journal_lease = Box::pin(JournalLease::acquire(&source, &target, wanted, store)).await?;
    // The previous holder may have continued the move in the meantime.
    if !journal_lease.journal.can_be_undone() {
        return Err(MoveError::AlreadyDeleting);
    }
    journal_lease.update(|journal| journal.phase = MovePhase::Aborting).await?;
    let undo = AbortContext { source, target, journal: &journal_lease.journal };
    let aborted = Box::pin(undo.execute()).await?;
    journal_lease.update(|journal| journal.phase = MovePhase::Aborted).await?;
    Ok(aborted)
}

struct AbortContext<'a> {
    source: ManagementCluster,
    target: ManagementCluster,
    journal: &'a MoveJournal,
}

impl AbortContext<'_> {
    async fn execute(&self) -> Result<MoveAborted, MoveError> {
        let scope = Scope { namespaces: self.journal.namespaces.clone() };
        let discovered = Box::pin(discover(&self.source, &scope)).await;
        let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
        let mut aborted = MoveAborted::default();
        if self.has_created() {
            let copies = CopiesToDelete::read(self, &discovered).await?;
            (aborted.removed, aborted.foreign) = copies.delete(self).await?;
            aborted.overwritten = copies.overwritten;
            aborted.only_on_target = copies.only_on_target;
            aborted.namespaces_left = self.delete_namespaces().await.map_err(api_error(MoveSide::Target))?;
        }
        aborted.resumed = resume_source(&self.source, self.journal, &discovered).await?;
        Ok(aborted)
    }

    /// True if the move may have created objects. Only from then on the journal lists the objects that existed on the
    /// target.
    fn has_created(&self) -> bool {
        self.journal.objects > 0
    }
}

/// Removes pause and mark from the source objects that the run paused, and returns their keys. Objects that the user
/// paused carry no mark.
pub(super) async fn resume_source(
    source: &ManagementCluster,
    journal: &MoveJournal,
    discovered: &Discovery,
) -> Result<Vec<ObjectKey>, MoveError> {
    let nodes = discovered.graph.iter().map(|(_, node)| &node.facts);
    let marked = nodes.filter(|facts| facts.paused_by.as_ref() == Some(&journal.run));
    let mut resting: BTreeSet<ObjectKey> = marked.map(|facts| facts.key.clone()).collect();
    // The object may have left the scope since the pause.
    let noted = journal.paused.iter().filter(|paused| !paused.was_paused);
    resting.extend(noted.map(|paused| paused.object.clone()));
    let resting = resting.iter().filter_map(|key| Some((key, PausableKind::of(key)?)));
    let at_most = source.server.max_in_flight();
    let (resumed, failures) = run_concurrently(at_most, resting, |(key, how)| async move {
        let resumed = resume_if_marked(source, &journal.run, key, how).await;
        Ok(resumed.map_err(|error| (key.clone(), error))?.then(|| key.clone()))
    })
    .await;
    check_failures("resume", failures)?;
    Ok(resumed.into_iter().flatten().collect())
}

/// Resumes an object only if it still carries the mark of the run. Whoever removed the mark may have paused the object
/// again.
async fn resume_if_marked(
    source: &ManagementCluster,
    run: &str,
    key: &ObjectKey,
    how: PausableKind,
) -> Result<bool, ApiError> {
    let server = &source.server;
    let kind = server.kind(&key.group_kind()).await?;
    let Some(found) = server.get(&kind, &key.namespace, &key.name).await? else { return Ok(false) };
    if found.annotation(MOVE_MARK) != Some(run) {
        return Ok(false);
    }
    let mut patch = how.resume_patch();
    patch["metadata"]["uid"] = found.get(&["metadata", "uid"]).cloned().unwrap_or(Value::Null);
    match server.patch(&kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object).await {
        Err(error) if error.is_not_found() => Ok(false),
        patched => patched.map(|_| true),
    }
}
