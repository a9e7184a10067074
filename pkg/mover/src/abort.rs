//! Aborts a move that has deleted nothing: removes its copies from the target, then resumes the source.
//!
//! In this order, no Cluster is ever reconciled from both clusters. Each step follows from the objects that exist, so
//! the same call resumes an interrupted abort.
//! An abort deletes target objects that did not exist before the move, and resumes source objects that carry the mark
//! of the run.

mod namespaces;
mod remove;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, time::Duration};

use api::output::MovePhase;
use apply::{ApiError, ObjectKey, PatchTarget};
use futures::{TryFutureExt as _, try_join};
use inventory::{FIELD_MANAGER, ManagementCluster};
use manifest::Value;
use workload::{Discovered, MARK, Scope, discover};

use self::remove::Copies;
use crate::{
    JournalKeeper, MoveError, MoveJournal, MoveSide, Route,
    error::{at, no_failures},
    journal::{HeldJournal, move_state},
    pause::Resting,
    request::patient,
    side_by_side::side_by_side,
};

/// The result of an abort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aborted {
    /// Number of objects deleted from the target.
    pub removed: usize,
    /// Objects that existed on the target before the move and may have been overwritten; an abort keeps them. A Cluster
    /// among them stays paused, because the source reconciles that Cluster.
    pub overwritten: Vec<ObjectKey>,
    /// Clusters and ClusterClasses that were resumed on the source.
    pub resumed: Vec<ObjectKey>,
    /// Namespaces that the move created on the target and that stay, because they hold other objects.
    pub namespaces_left: Vec<String>,
}

/// Aborts a move that has deleted nothing: deletes its copies from the target and resumes the source. Children are
/// deleted first and without their finalizers.
/// Objects that existed on the target before the move stay. After an interruption, the same call resumes the abort. The
/// journal alone defines the scope of the abort.
/// # Errors
/// `TooLate` if the move has deleted objects. `NoMove` if there is no unfinished move. `Journal` if another run holds
/// the move, or if the move is between other clusters.
pub async fn abort_move(
    route: Route<'_>,
    patience: Duration,
    keeper: &JournalKeeper,
) -> Result<Aborted, MoveError> {
    let (source, target) = (patient(route.source, patience), patient(route.target, patience));
    let (here, there) = try_join!(
        source.identity().map_err(at(MoveSide::Source)),
        target.identity().map_err(at(MoveSide::Target)),
    )?;
    let found = Box::pin(move_state(Some(&source), Some(&target))).await?.filter(MoveJournal::is_unfinished);
    let found = found.ok_or(MoveError::NoMove { verb: "abort" })?;
    found.check_ends(&here, &there)?;
    if !found.can_be_undone() {
        return Err(MoveError::TooLate);
    }
    let wanted = MoveJournal { phase: MovePhase::Aborting, ..found };
    let mut held = Box::pin(HeldJournal::take(&source, &target, wanted, keeper)).await?;
    // The previous holder may have continued the move in the meantime.
    if !held.journal.can_be_undone() {
        return Err(MoveError::TooLate);
    }
    held.update(|journal| journal.phase = MovePhase::Aborting).await?;
    let undo = Undo { source, target, journal: &held.journal };
    let aborted = Box::pin(undo.carry_out()).await?;
    held.update(|journal| journal.phase = MovePhase::Aborted).await?;
    Ok(aborted)
}

struct Undo<'a> {
    source: ManagementCluster,
    target: ManagementCluster,
    journal: &'a MoveJournal,
}

impl Undo<'_> {
    async fn carry_out(&self) -> Result<Aborted, MoveError> {
        let scope = Scope { namespaces: self.journal.namespaces.clone() };
        let discovered = Box::pin(discover(&self.source, &scope)).await;
        let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
        let mut aborted = Aborted::default();
        if self.has_created() {
            let copies = Copies::look(self, &discovered).await.map_err(at(MoveSide::Target))?;
            aborted.removed = copies.remove(&self.target).await?;
            aborted.overwritten = copies.overwritten;
            aborted.namespaces_left = self.remove_namespaces().await.map_err(at(MoveSide::Target))?;
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
    discovered: &Discovered,
) -> Result<Vec<ObjectKey>, MoveError> {
    let nodes = discovered.graph.iter().map(|(_, node)| &node.facts);
    let marked = nodes.filter(|facts| facts.paused_by.as_ref() == Some(&journal.run));
    let mut resting: BTreeSet<ObjectKey> = marked.map(|facts| facts.key.clone()).collect();
    // The object may have left the scope since the pause.
    let noted = journal.paused.iter().filter(|paused| !paused.was_paused);
    resting.extend(noted.map(|paused| paused.object.clone()));
    let resting = resting.iter().filter_map(|key| Some((key, Resting::of(key)?)));
    let at_most = source.server.max_in_flight();
    let (resumed, failures) = side_by_side(at_most, resting, |(key, how)| async move {
        let resumed = resume_one(source, &journal.run, key, how).await;
        Ok(resumed.map_err(|error| (key.clone(), error))?.then(|| key.clone()))
    })
    .await;
    no_failures("resumed", failures)?;
    Ok(resumed.into_iter().flatten().collect())
}

/// Resumes an object only if it still carries the mark of the run. Whoever removed the mark may have paused the object
/// again.
async fn resume_one(
    source: &ManagementCluster,
    run: &str,
    key: &ObjectKey,
    how: Resting,
) -> Result<bool, ApiError> {
    let server = &source.server;
    let kind = server.kind(&key.group_kind()).await?;
    let Some(found) = server.get(&kind, &key.namespace, &key.name).await? else { return Ok(false) };
    if found.annotation(MARK) != Some(run) {
        return Ok(false);
    }
    let mut patch = how.resume();
    patch["metadata"]["uid"] = found.get(&["metadata", "uid"]).cloned().unwrap_or(Value::Null);
    match server.patch(&kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object).await {
        Err(error) if error.is_not_found() => Ok(false),
        patched => patched.map(|_| true),
    }
}
