//! Pauses the source while objects are read.

use std::collections::{BTreeMap, BTreeSet};

use api::output::{MovePhase, ProgressEvent};
use apply::{ApiError, GroupKind, ObjectKey, PatchTarget};
use inventory::{FIELD_MANAGER, ManagementCluster};
use manifest::Value;
use workload::{MARK, NodeId};

use super::Save;
use crate::{
    Holder, JournalKeeper, MoveError, MoveRequest, MoveSide,
    error::{at, no_failures},
    mark::{RESTING, SAVE, marked, marked_of, process_of},
    pause::{Resting, patch},
    request::patient,
    side_by_side::side_by_side,
};

/// Returns the mark of a process.
pub(super) fn run_of(holder: &Holder) -> String {
    format!("{SAVE}{}", holder.process)
}

/// True if the save that set a mark may still be active.
pub(super) fn is_at_work(run: &str, keeper: &JournalKeeper) -> bool {
    process_of(run).is_some_and(|process| {
        let holder = Holder { process: process.to_owned(), ..Holder::default() };
        process != keeper.holder.process && !(keeper.is_gone)(&holder)
    })
}

impl Save<'_> {
    /// Returns the objects to pause, without ClusterClasses that remaining Clusters use, and without objects that the
    /// user paused.
    pub(super) fn rests(&self) -> impl Iterator<Item = NodeId> {
        self.plan.selection.moving().filter(|node| {
            let facts = self.plan.facts(*node);
            let is_users = facts.is_paused && facts.paused_by.is_none();
            Resting::of(&facts.key).is_some() && !self.plan.is_still_used(*node) && !is_users
        })
    }

    /// Pauses objects that this run has not paused, and returns their number. Objects that an interrupted save paused
    /// are taken over.
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

/// A save that has paused objects, and is either active or interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSave {
    /// The process of the save.
    pub process: String,
    /// True if the process is known to have ended, according to the keeper.
    pub is_over: bool,
    /// Paused Clusters and ClusterClasses, sorted.
    pub paused: Vec<ObjectKey>,
}

/// The known saves that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenSaves {
    /// Saves by process.
    pub saves: Vec<OpenSave>,
    /// Server messages for kinds that the user may not read. Objects of these kinds may carry marks.
    pub unseen: Vec<String>,
}

/// Returns the saves whose marks are on objects, in any namespace.
/// # Errors
/// Fails if the cluster does not answer.
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

/// Resumes objects that an interrupted save of these namespaces paused, and returns their keys.
/// # Errors
/// `Saving` if that save is still active.
pub async fn resume_saved(
    source: &ManagementCluster,
    request: &MoveRequest,
    keeper: &JournalKeeper,
) -> Result<Vec<ObjectKey>, MoveError> {
    let source = patient(source, request.timeout);
    let found = marked(&source).await.map_err(at(MoveSide::Source))?;
    // ClusterClasses of other namespaces are paused together with the Clusters that use them.
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

/// Resumes the objects with the mark of a run, ClusterClasses first.
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

/// Resumes an object only if it still carries the mark of the run. Whoever removed the mark may have paused the object
/// again.
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
    match server.patch(&kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object).await {
        Err(error) if error.is_not_found() => Ok(false),
        patched => patched.map(|_| true),
    }
}
