//! Pauses the source while objects are read.

use std::collections::{BTreeMap, BTreeSet};

use api::labels::FIELD_MANAGER;
use api::output::{MovePhase, ProgressEvent};
use apply::{ApiError, GroupKind, ObjectKey, PatchTarget};
use inventory::ManagementCluster;
use manifest::Value;
use workload::{MOVE_MARK, NodeId};

use super::SaveContext;
use crate::{
    JournalHolder, JournalStore, MoveError, MoveRequest, MoveSide,
    concurrency::run_concurrently,
    error::{api_error, check_failures},
    mark::{PAUSABLE_KINDS, RESTORE_MARK, SAVE_PREFIX, marked_objects, marked_objects_of_kind, save_process},
    pause::{PausableKind, patch_if_exists},
    request::with_retries,
};

/// Returns the mark of a process.
pub(super) fn save_mark(holder: &JournalHolder) -> String {
    format!("{SAVE_PREFIX}{}", holder.process)
}

/// True if the save that set a mark may still be active.
pub(super) fn may_be_active(run: &str, store: &JournalStore) -> bool {
    save_process(run).is_some_and(|process| {
        let holder = JournalHolder { process: process.to_owned(), ..JournalHolder::default() };
        process != store.holder.process && !(store.has_ended)(&holder)
    })
}

impl SaveContext<'_> {
    /// Returns the objects to pause, without ClusterClasses that remaining Clusters use, and without objects that the
    /// user paused.
    pub(super) fn nodes_to_pause(&self) -> impl Iterator<Item = NodeId> {
        self.plan.selection.moving().filter(|node| {
            let facts = self.plan.facts(*node);
            let is_users = facts.is_paused && facts.paused_by.is_none();
            PausableKind::of(&facts.key).is_some() && !self.plan.is_still_used(*node) && !is_users
        })
    }

    /// Pauses objects that this run has not paused, and returns their number. Objects that an interrupted save paused
    /// are taken over.
    pub(super) async fn pause(&self) -> Result<usize, MoveError> {
        let awake =
            self.nodes_to_pause().filter(|node| self.plan.facts(*node).paused_by.as_ref() != Some(&self.run));
        let at_most = self.source.server.max_in_flight();
        let (paused, failures) = run_concurrently(at_most, awake, |node| async move {
            let facts = self.plan.facts(node);
            match PausableKind::of(&facts.key) {
                Some(resting) => {
                    patch_if_exists(
                        &self.source,
                        &facts.object_type.kind,
                        &facts.key,
                        &resting.pause_patch(&self.run),
                    )
                    .await
                }
                None => Ok(()),
            }
        })
        .await;
        check_failures("pause", failures)?;
        let done = paused.len();
        if done > 0 {
            self.source.events.send(&ProgressEvent::Moving { phase: MovePhase::Pausing, done, of: done });
        }
        Ok(done)
    }
}

/// A save that has paused objects, and is either active or interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedSave {
    /// The process of the save.
    pub process: String,
    /// True if the process is known to have ended, according to the keeper.
    pub has_ended: bool,
    /// Paused Clusters and ClusterClasses, sorted.
    pub paused: Vec<ObjectKey>,
}

/// The known saves and restores that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnfinishedSaves {
    /// Saves by process.
    pub saves: Vec<UnfinishedSave>,
    /// Clusters and ClusterClasses that a restore has paused and not resumed, sorted.
    pub restoring: Vec<ObjectKey>,
    /// Server messages for kinds that the user may not read. Objects of these kinds may carry marks.
    pub unreadable_kinds: Vec<String>,
}

/// Returns the saves and restores whose marks are on objects, in any namespace.
/// # Errors
/// Fails if the cluster does not answer.
pub async fn find_unfinished_saves(
    source: &ManagementCluster,
    store: &JournalStore,
) -> Result<UnfinishedSaves, MoveError> {
    let mut by_run: BTreeMap<String, BTreeSet<ObjectKey>> = BTreeMap::new();
    let mut unreadable_kinds = Vec::new();
    for kind in PAUSABLE_KINDS {
        match marked_objects_of_kind(source, kind).await {
            Ok(marked) => marked.into_iter().for_each(|(key, run)| {
                by_run.entry(run).or_default().insert(key);
            }),
            Err(error) if error.is_forbidden() => unreadable_kinds.push(api::with_causes(&error)),
            Err(error) => return Err(api_error(MoveSide::Source)(error)),
        }
    }
    let restoring = by_run.remove(RESTORE_MARK).into_iter().flatten().collect();
    let open = by_run.into_iter().filter_map(|(run, paused)| {
        let process = save_process(&run)?.to_owned();
        let is_over = !may_be_active(&run, store);
        Some(UnfinishedSave { process, has_ended: is_over, paused: paused.into_iter().collect() })
    });
    Ok(UnfinishedSaves { saves: open.collect(), restoring, unreadable_kinds })
}

/// Resumes objects that an interrupted save of these namespaces paused, and returns their keys.
/// # Errors
/// `SaveInProgress` if that save is still active.
pub async fn resume_interrupted_save(
    source: &ManagementCluster,
    request: &MoveRequest,
    store: &JournalStore,
) -> Result<Vec<ObjectKey>, MoveError> {
    let source = with_retries(source, request.timeout);
    let found = marked_objects(&source).await.map_err(api_error(MoveSide::Source))?;
    // ClusterClasses of other namespaces are paused together with the Clusters that use them.
    let runs: BTreeSet<&String> = found
        .iter()
        .filter(|(key, _)| request.namespaces.is_empty() || request.namespaces.contains(&key.namespace))
        .map(|(_, run)| run)
        .filter(|run| save_process(run).is_some())
        .collect();
    if let Some(run) = runs.iter().find(|run| may_be_active(run, store)) {
        return Err(MoveError::SaveInProgress { process: save_process(run).unwrap_or_default().to_owned() });
    }
    let mut resumed = Vec::new();
    for run in runs {
        resumed.extend(resume_run(&source, run).await?);
    }
    Ok(resumed)
}

/// Resumes the objects with the mark of a run, ClusterClasses first.
pub(super) async fn resume_run(source: &ManagementCluster, run: &str) -> Result<Vec<ObjectKey>, MoveError> {
    let found = marked_objects(source).await.map_err(api_error(MoveSide::Source))?;
    let ours = found.into_iter().filter(|(_, by)| by == run).map(|(key, _)| key);
    let (classes, clusters): (Vec<_>, Vec<_>) =
        ours.partition(|key| PausableKind::of(key) == Some(PausableKind::ClusterClass));
    let mut resumed = Vec::new();
    for keys in [classes, clusters] {
        let at_most = source.server.max_in_flight();
        let (done, failures) = run_concurrently(at_most, keys, |key| async move {
            match resume_if_marked(source, &key, run).await {
                Ok(is_resumed) => Ok(is_resumed.then_some(key)),
                Err(error) => Err((key, error)),
            }
        })
        .await;
        check_failures("resume", failures)?;
        resumed.extend(done.into_iter().flatten());
    }
    Ok(resumed)
}

/// Resumes an object only if it still carries the mark of the run. Whoever removed the mark may have paused the object
/// again.
async fn resume_if_marked(source: &ManagementCluster, key: &ObjectKey, run: &str) -> Result<bool, ApiError> {
    let Some(resting) = PausableKind::of(key) else { return Ok(false) };
    let server = &source.server;
    let kind = server.kind(&GroupKind::new(&*key.group, &*key.kind)).await?;
    let Some(found) = server.get(&kind, &key.namespace, &key.name).await? else { return Ok(false) };
    if found.annotation(MOVE_MARK) != Some(run) {
        return Ok(false);
    }
    let mut patch = resting.resume_patch();
    patch["metadata"]["uid"] = found.get(&["metadata", "uid"]).cloned().unwrap_or(Value::Null);
    match server.patch(&kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object).await {
        Err(error) if error.is_not_found() => Ok(false),
        patched => patched.map(|_| true),
    }
}
