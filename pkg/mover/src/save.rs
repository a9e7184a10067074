//! Saves the objects of a move as files: pauses the source, reads the objects and deletes nothing.
//!
//! ```text
//! plan_save    discover, preflight ─► MovePlan without a target
//! save_objects pause, mark ─► discover again ─► read group by group ─► keep(SavedObject) ─► still paused? ─► resume
//! ```
//!
//! - There is no journal: the marks hold all state. An interrupted run leaves Clusters paused and marked
//!   `save-PROCESS`. The next save of these Clusters, or [`resume_interrupted_save`], finds that the process has ended and takes
//!   over.
//! - The source is resumed in every case. Objects that the user had paused are neither marked nor resumed, and are
//!   paused in the files. The files contain no marks.
//! - A move of objects that are being saved is refused, and so is a save of objects that are being moved.

mod file_format;
mod left_out;
mod pause;
mod plan;
#[cfg(test)]
pub(super) mod tests;

use std::{collections::BTreeSet, io};

use api::output::{MovePhase, ProgressEvent};
use apply::ObjectKey;
use inventory::ManagementCluster;
use manifest::Object;
use workload::{NodeId, Scope, rediscover};

use self::{file_format::FileFormat, left_out::SkippedObjects};
use crate::{
    JournalStore, MoveError, MovePlan, MoveRequest, MoveSide,
    blocking::{blocking_objects, wait_for_providers},
    concurrency::run_concurrently,
    create::ObjectReader,
    error::{api_error, check_failures},
    mark::marked_objects,
    pause::PausableKind,
    request::{MAX_DISCOVERIES, with_retries},
};

pub(crate) use file_format::is_paused_by_user;
pub use left_out::LeftOutObject;
pub use pause::{UnfinishedSave, UnfinishedSaves, find_unfinished_saves, resume_interrupted_save};
pub use plan::plan_save;

/// The state of the source during a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveMode {
    /// Objects are paused while they are read, and paused in the files. No object changes between two reads.
    #[default]
    Paused,
    /// Nothing is paused, and nothing is written to the cluster. Objects may be of different moments.
    Live,
}

/// The format of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveFormat {
    /// Files that are named like those of clusterctl, without the group.
    Files,
    /// An archive, which distinguishes all objects.
    Archive,
}

/// An object that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedObject {
    /// Object key on the source.
    pub key: ObjectKey,
    /// Object uid on the source.
    pub uid: String,
    /// Uids of the owners, from the owner references.
    pub owners: Vec<String>,
    /// True if the user had paused the object. A restore keeps the pause.
    pub was_paused: bool,
    /// File name `Kind_namespace_name.yaml`, as in clusterctl.
    pub file: String,
    /// The object as one line of JSON.
    pub content: Vec<u8>,
}

/// The result of a save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveOutcome {
    /// Number of saved objects.
    pub objects: usize,
    /// Related objects that were not saved.
    pub left_out: Vec<LeftOutObject>,
}

/// A function that stores an object that was read.
pub type StoreSavedFn<'k> = dyn FnMut(SavedObject) -> io::Result<()> + Send + 'k;

struct SaveContext<'a> {
    source: ManagementCluster,
    request: &'a MoveRequest,
    plan: MovePlan,
    mode: SaveMode,
    /// The mark on the objects that the save pauses.
    run: String,
}

/// Reads all objects of a plan of [`plan_save`] and passes them to `keep`, owners first.
///
/// The saved objects are complete only after this function succeeds.
/// # Errors
/// The source is resumed on every error. If the future is dropped, [`resume_interrupted_save`] or the same call resumes the
/// source.
pub async fn save_objects(
    source: &ManagementCluster,
    request: &MoveRequest,
    plan: MovePlan,
    mode: SaveMode,
    store: &JournalStore,
    store_object: &mut StoreSavedFn<'_>,
) -> Result<SaveOutcome, MoveError> {
    let source = with_retries(source, request.timeout);
    let mut save = SaveContext { source, request, plan, mode, run: pause::save_mark(&store.holder) };
    let saved = Box::pin(save.execute(store_object)).await;
    if mode == SaveMode::Paused {
        let resumed = Box::pin(pause::resume_run(&save.source, &save.run)).await;
        if let Ok(done) = resumed.as_ref().map(Vec::len) {
            save.source.events.send(&ProgressEvent::Moving { phase: MovePhase::Resuming, done, of: done });
        }
        // An error of the save takes precedence over an error of the resume.
        let saved = saved?;
        return resumed.map(|_| saved);
    }
    saved
}

impl SaveContext<'_> {
    async fn execute(&mut self, store_object: &mut StoreSavedFn<'_>) -> Result<SaveOutcome, MoveError> {
        if self.mode == SaveMode::Paused {
            self.wait_for_pause().await?;
        }
        let (mut saved, mut skipped) = (SaveOutcome::default(), SkippedObjects::default());
        for group in self.plan.groups.clone() {
            let group = self.without_orphans(&group, &mut skipped);
            self.read_group(&group, &mut saved, &mut skipped, store_object).await?;
        }
        saved.left_out = self.left_out(skipped);
        if self.mode == SaveMode::Paused {
            self.check_still_paused().await?;
        }
        Ok(saved)
    }

    /// Pauses objects until no moving object needs a pause, and waits for providers that block a move.
    async fn wait_for_pause(&mut self) -> Result<(), MoveError> {
        for _ in 0..MAX_DISCOVERIES {
            let paused = self.pause().await?;
            let blocking = blocking_objects(&self.plan, self.plan.selection.moving());
            if paused == 0 && blocking.is_empty() {
                return Ok(());
            }
            if !blocking.is_empty() {
                wait_for_providers(&self.source, blocking, self.request.timeout).await?;
            }
            self.rediscover().await?;
        }
        Err(self.keeps_changing_error(self.plan.selection.moving()))
    }

    async fn rediscover(&mut self) -> Result<(), MoveError> {
        let scope = Scope { namespaces: self.request.namespaces.clone() };
        let discovered = rediscover(&self.source, &scope, &self.plan.discovered).await;
        let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
        let choice = self.plan.choice(self.request);
        self.plan.selection = discovered.graph.select(&choice);
        self.plan.groups = discovered.graph.groups(&self.plan.selection);
        self.plan.discovered = discovered;
        Ok(())
    }

    async fn read_group(
        &self,
        nodes: &[NodeId],
        saved: &mut SaveOutcome,
        skipped: &mut SkippedObjects,
        store_object: &mut StoreSavedFn<'_>,
    ) -> Result<(), MoveError> {
        let graph = &self.plan.discovered.graph;
        let mut remaining: BTreeSet<NodeId> = nodes.iter().copied().collect();
        let mut reading = ObjectReader::new(&self.source, graph, nodes);
        let of = self.plan.selection.moving().count();
        while let Some(batch) = reading.next().await? {
            let at_most = self.source.server.max_in_flight();
            let (read, failures) = run_concurrently(at_most, batch, |(node, object)| async move {
                let found = match object {
                    Some(object) => Some(object),
                    None => self
                        .read_object(node)
                        .await
                        .map_err(|error| (self.plan.facts(node).key.clone(), error))?,
                };
                Ok(found.map(|object| (node, object)))
            })
            .await;
            check_failures("read", failures)?;
            for (node, object) in read.into_iter().flatten() {
                remaining.remove(&node);
                if self.must_skip(&object) {
                    skipped.add_terminating(node);
                    continue;
                }
                store_object(self.build_saved_object(node, object)).map_err(MoveError::WriteSaved)?;
                saved.objects += 1;
            }
            self.source.events.send(&ProgressEvent::Saving { done: saved.objects, of });
        }
        if !remaining.is_empty() && self.mode == SaveMode::Paused {
            return Err(self.keeps_changing_error(remaining.into_iter()));
        }
        for node in remaining {
            skipped.add_deleted(node);
        }
        Ok(())
    }

    async fn read_object(&self, node: NodeId) -> Result<Option<Object>, apply::ApiError> {
        let facts = self.plan.facts(node);
        self.source.server.get(&facts.object_type.kind, &facts.key.namespace, &facts.key.name).await
    }

    fn build_saved_object(&self, node: NodeId, object: Object) -> SavedObject {
        let facts = self.plan.facts(node);
        let was_paused = facts.is_paused && facts.paused_by.is_none();
        // A ClusterClass that other Clusters use is not paused; its copy is.
        let pausing = (self.plan.is_still_used(node) && self.mode == SaveMode::Paused)
            .then(|| PausableKind::of(&facts.key))
            .flatten();
        SavedObject {
            file: file_format::file_name(&facts.key),
            content: FileFormat {
                api_version: &facts.object_type.kind.api_version(),
                kind: &facts.key.kind,
                pause: pausing,
            }
            .to_json_line(object),
            key: facts.key.clone(),
            uid: facts.uid.clone(),
            owners: facts.owners.iter().map(|owner| owner.uid.clone()).collect(),
            was_paused,
        }
    }

    fn keeps_changing_error(&self, nodes: impl Iterator<Item = NodeId>) -> MoveError {
        MoveError::SourceKeepsChanging {
            objects: nodes.map(|node| self.plan.facts(node).key.clone()).collect(),
        }
    }

    /// Fails unless all objects that the save paused still carry the mark of this run.
    async fn check_still_paused(&self) -> Result<(), MoveError> {
        let marked = marked_objects(&self.source).await.map_err(api_error(MoveSide::Source))?;
        let ours: BTreeSet<ObjectKey> =
            marked.into_iter().filter(|(_, run)| *run == self.run).map(|(key, _)| key).collect();
        let resumed = self.nodes_to_pause().filter(|node| !ours.contains(&self.plan.facts(*node).key));
        let objects: Vec<ObjectKey> = resumed.map(|node| self.plan.facts(node).key.clone()).collect();
        if objects.is_empty() { Ok(()) } else { Err(MoveError::ResumedDuringSave { objects }) }
    }
}
