//! Rest on the source while it is read.

use std::collections::{BTreeMap, BTreeSet};

use api::output::{MovePhase, ProgressEvent};
use apply::{ApiError, GroupKind, ObjectKey, PatchOf};
use inventory::{FIELD_MANAGER, ManagementCluster};
use manifest::Value;
use workload::{Fate, KeptBecause, MARK, NodeId};

use super::Save;
use crate::{
    Holder, JournalKeeper, MoveError, MoveRequest, MoveSide,
    error::{at, no_failures},
    mark::{RESTING, SAVE, marked, marked_of, process_of},
    pause::{Resting, patch},
    request::patient,
    side_by_side::side_by_side,
};

/// The mark of a process.
pub(super) fn run_of(holder: &Holder) -> String {
    format!("{SAVE}{}", holder.process)
}

/// Whether the save that has put a mark may still be at work.
pub(super) fn is_at_work(run: &str, keeper: &JournalKeeper) -> bool {
    process_of(run).is_some_and(|process| {
        let holder = Holder { process: process.to_owned(), ..Holder::default() };
        process != keeper.holder.process && !(keeper.is_gone)(&holder)
    })
}

impl Save<'_> {
    /// What has to rest: not a class that Clusters which stay use, nor what the user has paused.
    pub(super) fn rests(&self) -> impl Iterator<Item = NodeId> {
        self.plan.selection.moving().filter(|node| {
            let facts = self.plan.facts(*node);
            let is_used = matches!(
                self.plan.selection.fate(*node),
                Fate::Moves { kept: Some(KeptBecause::StillUsed), .. }
            );
            let is_users = facts.is_paused && facts.paused_by.is_none();
            Resting::of(&facts.key).is_some() && !is_used && !is_users
        })
    }

    /// Pauses what does not rest by this run, and gives how many that were. What a save that was cut off has paused is taken
    /// over.
    pub(super) async fn pause(&self) -> Result<usize, MoveError> {
        let awake = self.rests().filter(|node| self.plan.facts(*node).paused_by.as_ref() != Some(&self.run));
        let at_most = self.source.server.max_in_flight();
        let (paused, failures) = side_by_side(at_most, awake, |node| async move {
            let facts = self.plan.facts(node);
            match Resting::of(&facts.key) {
                Some(resting) => {
                    patch(&self.source, &facts.of.kind, &facts.key, &resting.pause(&self.run)).await
                }
                None => Ok(()),
            }
        })
        .await;
        no_failures("paused", failures)?;
        let done = paused.len();
        if done > 0 {
            self.source.events.send(&ProgressEvent::Moving { phase: MovePhase::Pausing, done, of: done });
        }
        Ok(done)
    }
}

/// A save that has paused what it reads: one that is at work, or was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSave {
    /// Which process works or worked on it.
    pub process: String,
    /// Whether that process is known to have ended. Of those of other machines it is not.
    pub is_over: bool,
    /// Clusters and ClusterClasses that rest, sorted.
    pub paused: Vec<ObjectKey>,
}

/// What is known of saves that are not at their end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenSaves {
    /// By process.
    pub saves: Vec<OpenSave>,
    /// What the user may not look at, each with the server's words: there may be marks on it.
    pub unseen: Vec<String>,
}

/// The saves whose marks are on something, in any namespace.
/// # Errors
/// When the cluster cannot be asked.
pub async fn open_saves(source: &ManagementCluster, keeper: &JournalKeeper) -> Result<OpenSaves, MoveError> {
    let mut by_run: BTreeMap<String, BTreeSet<ObjectKey>> = BTreeMap::new();
    let mut unseen = Vec::new();
    for kind in RESTING {
        match marked_of(source, kind).await {
            Ok(marked) => marked.into_iter().for_each(|(key, run)| {
                by_run.entry(run).or_default().insert(key);
            }),
            Err(error) if error.code() == Some(403) => unseen.push(api::with_causes(&error)),
            Err(error) => return Err(at(MoveSide::Source)(error)),
        }
    }
    let open = by_run.into_iter().filter_map(|(run, paused)| {
        let process = process_of(&run)?.to_owned();
        let is_over = !is_at_work(&run, keeper);
        Some(OpenSave { process, is_over, paused: paused.into_iter().collect() })
    });
    Ok(OpenSaves { saves: open.collect(), unseen })
}

/// Resumes what a save of these namespaces has paused and left so when it was cut off, and tells of what.
/// # Errors
/// `Saving` when that save is still at work.
pub async fn resume_saved(
    source: &ManagementCluster,
    request: &MoveRequest,
    keeper: &JournalKeeper,
) -> Result<Vec<ObjectKey>, MoveError> {
    let source = patient(source, request.timeout);
    let found = marked(&source).await.map_err(at(MoveSide::Source))?;
    // Classes of other namespaces rest along with the Clusters that use them.
    let here: BTreeSet<&String> = found
        .iter()
        .filter(|(key, _)| request.namespaces.is_empty() || request.namespaces.contains(&key.namespace))
        .map(|(_, run)| run)
        .filter(|run| process_of(run).is_some())
        .collect();
    if let Some(run) = here.iter().find(|run| is_at_work(run, keeper)) {
        return Err(MoveError::Saving { process: process_of(run).unwrap_or_default().to_owned() });
    }
    let mut resumed = Vec::new();
    for run in here {
        resumed.extend(resume_run(&source, run).await?);
    }
    Ok(resumed)
}

/// Resumes what carries the mark of a run, classes first.
pub(super) async fn resume_run(source: &ManagementCluster, run: &str) -> Result<Vec<ObjectKey>, MoveError> {
    let found = marked(source).await.map_err(at(MoveSide::Source))?;
    let ours = found.into_iter().filter(|(_, by)| by == run).map(|(key, _)| key);
    let (classes, clusters): (Vec<_>, Vec<_>) =
        ours.partition(|key| Resting::of(key) == Some(Resting::ClusterClass));
    let mut resumed = Vec::new();
    for keys in [classes, clusters] {
        let at_most = source.server.max_in_flight();
        let (done, failures) = side_by_side(at_most, keys, |key| async move {
            match resume_one(source, &key, run).await {
                Ok(is_resumed) => Ok(is_resumed.then_some(key)),
                Err(error) => Err((key, error)),
            }
        })
        .await;
        no_failures("resumed", failures)?;
        resumed.extend(done.into_iter().flatten());
    }
    Ok(resumed)
}

/// Looks first: who has taken the mark off in the meantime may have paused it himself.
async fn resume_one(source: &ManagementCluster, key: &ObjectKey, run: &str) -> Result<bool, ApiError> {
    let Some(resting) = Resting::of(key) else { return Ok(false) };
    let server = &source.server;
    let kind = server.kind(&GroupKind::new(&*key.group, &*key.kind)).await?;
    let Some(found) = server.get(&kind, &key.namespace, &key.name).await? else { return Ok(false) };
    if found.annotation(MARK) != Some(run) {
        return Ok(false);
    }
    let mut patch = resting.resume();
    patch["metadata"]["uid"] = found.get(&["metadata", "uid"]).cloned().unwrap_or(Value::Null);
    match server.patch(&kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchOf::Object).await {
        Err(error) if error.is_not_found() => Ok(false),
        patched => patched.map(|_| true),
    }
}
