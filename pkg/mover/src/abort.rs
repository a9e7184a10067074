//! Undoing a move that has deleted nothing yet: the target gives up what it was given, then the source goes on.
//!
//! In this order nothing ever works on a cluster from both sides. Everything is told by what is there, so that the same call
//! goes on where it was cut off: what is on the target and was not before is taken away, what carries the mark of the run is
//! resumed.

mod namespaces;
mod remove;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, time::Duration};

use api::output::MovePhase;
use apply::{ApiError, ObjectKey, PatchOf};
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

/// What undoing a move came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aborted {
    /// Objects that were taken away from the target again.
    pub removed: usize,
    /// Objects that were on the target before and may have been overwritten: they stay as they are, a Cluster among them
    /// paused, as the source works on it.
    pub overwritten: Vec<ObjectKey>,
    /// What goes on on the source.
    pub resumed: Vec<ObjectKey>,
    /// Namespaces the move had made on the target and that hold other things by now, so they stay.
    pub namespaces_left: Vec<String>,
}

/// Undoes a move that has deleted nothing yet: takes away from the target what it created there, children first and
/// without their finalizers, and resumes the source. What was on the target before stays. Cut off, the same call goes on.
/// What is undone is what the journal says, whatever else the command line would move.
/// # Errors
/// `TooLate` once something was deleted; `NoMove`; `Journal` when a run works on it, or it is between other clusters.
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
    // Its holder may have gone on until it was silent.
    if !held.journal.can_be_undone() {
        return Err(MoveError::TooLate);
    }
    held.update(|journal| journal.phase = MovePhase::Aborting).await?;
    let undo = Undo { source, target, journal: &held.journal };
    let aborted = Box::pin(undo.carry_out()).await?;
    held.update(|journal| journal.phase = MovePhase::Aborted).await?;
    Ok(aborted)
}

/// A move that is undone.
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

    /// What there was on the target before is known from then on alone.
    fn has_created(&self) -> bool {
        self.journal.objects > 0
    }
}

/// Takes pause and mark off what the run has paused on the source, and tells of what. What the user had paused carries no
/// mark.
pub(super) async fn resume_source(
    source: &ManagementCluster,
    journal: &MoveJournal,
    discovered: &Discovered,
) -> Result<Vec<ObjectKey>, MoveError> {
    let nodes = discovered.graph.iter().map(|(_, node)| &node.facts);
    let marked = nodes.filter(|facts| facts.paused_by.as_ref() == Some(&journal.run));
    let mut resting: BTreeSet<ObjectKey> = marked.map(|facts| facts.key.clone()).collect();
    // It may have left the scope since.
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

/// Looks first: who took the mark off in the meantime may have paused it himself.
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
    match server.patch(&kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchOf::Object).await {
        Err(error) if error.is_not_found() => Ok(false),
        patched => patched.map(|_| true),
    }
}
