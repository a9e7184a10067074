//! Saves the objects of a move as files: pauses the source, reads the objects and deletes nothing.
//!
//! ```text
//! plan_save    discover, preflight ─► MovePlan without a target
//! save_objects pause, mark ─► discover again ─► read group by group ─► keep(SavedObject) ─► still paused? ─► resume
//! ```
//!
//! - There is no journal: the marks hold all state. An interrupted run leaves Clusters paused and marked
//!   `save-PROCESS`. The next save of these Clusters, or [`resume_saved`], finds that the process has ended and takes
//!   over.
//! - The source is resumed in every case. Objects that the user had paused are neither marked nor resumed, and are
//!   paused in the files. The files contain no marks.
//! - A move of objects that are being saved is refused, and so is a save of objects that are being moved.

mod form;
mod left_out;
mod plan;
mod rest;
#[cfg(test)]
pub(super) mod tests;

use std::{collections::BTreeSet, io};

use api::output::{MovePhase, ProgressEvent};
use apply::ObjectKey;
use inventory::ManagementCluster;
use manifest::Object;
use workload::{NodeId, Scope, discover_again};

use self::{form::Form, left_out::Lost};
use crate::{
    JournalKeeper, MoveError, MovePlan, MoveRequest, MoveSide,
    blocked::{blocking, wait},
    create::Reading,
    error::{at, no_failures},
    mark::marked,
    pause::Resting,
    request::{ROUNDS, patient},
    side_by_side::side_by_side,
};

pub(crate) use form::{go_json, is_users_pause};
pub use left_out::LeftOut;
pub use plan::plan_save;
pub use rest::{OpenSave, OpenSaves, open_saves, resume_saved};

/// The state of the source during a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveRest {
    /// Objects are paused while they are read, and paused in the files. No object changes between two reads.
    #[default]
    Paused,
    /// Nothing is paused, and nothing is written to the cluster. Objects may be of different moments.
    AsItIs,
}

/// The format of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveInto {
    /// Files that are named like those of clusterctl, without the group.
    Files,
    /// An archive, which distinguishes all objects.
    Archive,
}

/// An object that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedObject {
    /// Object key.
    pub key: ObjectKey,
    /// Object uid.
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
pub struct Saved {
    /// Number of saved objects.
    pub objects: usize,
    /// Related objects that were not saved.
    pub left_out: Vec<LeftOut>,
}

/// A function that stores an object that was read.
pub type KeepSaved<'k> = dyn FnMut(SavedObject) -> io::Result<()> + Send + 'k;

struct Save<'a> {
    source: ManagementCluster,
    request: &'a MoveRequest,
    plan: MovePlan,
    how: SaveRest,
    /// The mark on the objects that the save pauses.
    run: String,
}

/// Reads all objects of a plan of [`plan_save`] and passes them to `keep`, owners first.
///
/// The saved objects are complete only after this function succeeds.
/// # Errors
/// The source is resumed on every error. If the future is dropped, [`resume_saved`] or the same call resumes the
/// source.
pub async fn save_objects(
    source: &ManagementCluster,
    request: &MoveRequest,
    plan: MovePlan,
    how: SaveRest,
    keeper: &JournalKeeper,
    keep: &mut KeepSaved<'_>,
) -> Result<Saved, MoveError> {
    let source = patient(source, request.timeout);
    let mut save = Save { source, request, plan, how, run: rest::run_of(&keeper.holder) };
    let saved = Box::pin(save.carry_out(keep)).await;
    if how == SaveRest::Paused {
        let resumed = Box::pin(rest::resume_run(&save.source, &save.run)).await;
        // An error of the save takes precedence over an error of the resume.
        let saved = saved?;
        let resumed = resumed?.len();
        save.source.events.send(&ProgressEvent::Moving {
            phase: MovePhase::Resuming,
            done: resumed,
            of: resumed,
        });
        return Ok(saved);
    }
    saved
}

impl Save<'_> {
    async fn carry_out(&mut self, keep: &mut KeepSaved<'_>) -> Result<Saved, MoveError> {
        if self.how == SaveRest::Paused {
            self.come_to_rest().await?;
        }
        let (mut saved, mut lost) = (Saved::default(), Lost::default());
        for group in self.plan.groups.clone() {
            let group = self.with_owners(&group, &mut lost);
            self.read_group(&group, &mut saved, &mut lost, keep).await?;
        }
        saved.left_out = self.left_out(lost);
        if self.how == SaveRest::Paused {
            self.check_rest().await?;
        }
        Ok(saved)
    }

    /// Pauses objects until no moving object needs a pause, and waits for providers that block a move.
    async fn come_to_rest(&mut self) -> Result<(), MoveError> {
        for _ in 0..ROUNDS {
            let paused = self.pause().await?;
            let holding = blocking(&self.plan, self.plan.selection.moving());
            if paused == 0 && holding.is_empty() {
                return Ok(());
            }
            if !holding.is_empty() {
                wait(&self.source, holding, self.request.timeout).await?;
            }
            self.look_again().await?;
        }
        Err(self.unsettled(self.plan.selection.moving()))
    }

    async fn look_again(&mut self) -> Result<(), MoveError> {
        let scope = Scope { namespaces: self.request.namespaces.clone() };
        let discovered = discover_again(&self.source, &scope, &self.plan.discovered).await;
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
        saved: &mut Saved,
        lost: &mut Lost,
        keep: &mut KeepSaved<'_>,
    ) -> Result<(), MoveError> {
        let graph = &self.plan.discovered.graph;
        let mut left: BTreeSet<NodeId> = nodes.iter().copied().collect();
        let mut reading = Reading::new(&self.source, graph, nodes);
        let of = self.plan.selection.moving().count();
        while let Some(batch) = reading.next().await? {
            let at_most = self.source.server.max_in_flight();
            let (read, failures) = side_by_side(at_most, batch, |(node, object)| async move {
                let found = match object {
                    Some(object) => Some(object),
                    None => {
                        self.get(node).await.map_err(|error| (self.plan.facts(node).key.clone(), error))?
                    }
                };
                Ok(found.map(|object| (node, object)))
            })
            .await;
            no_failures("read", failures)?;
            for (node, object) in read.into_iter().flatten() {
                left.remove(&node);
                if self.leaves_out(&object) {
                    lost.is_going(node);
                    continue;
                }
                keep(self.saved(node, object)).map_err(MoveError::Keep)?;
                saved.objects += 1;
            }
            self.source.events.send(&ProgressEvent::Saving { done: saved.objects, of });
        }
        if !left.is_empty() && self.how == SaveRest::Paused {
            return Err(self.unsettled(left.into_iter()));
        }
        for node in left {
            lost.is_gone(node);
        }
        Ok(())
    }

    async fn get(&self, node: NodeId) -> Result<Option<Object>, apply::ApiError> {
        let facts = self.plan.facts(node);
        self.source.server.get(&facts.of.kind, &facts.key.namespace, &facts.key.name).await
    }

    fn saved(&self, node: NodeId, object: Object) -> SavedObject {
        let facts = self.plan.facts(node);
        let was_paused = facts.is_paused && facts.paused_by.is_none();
        // A ClusterClass that other Clusters use is not paused; its copy is.
        let pausing = (self.plan.is_still_used(node) && self.how == SaveRest::Paused)
            .then(|| Resting::of(&facts.key))
            .flatten();
        SavedObject {
            file: form::file_name(&facts.key),
            content: Form { api_version: &facts.of.kind.api_version(), kind: &facts.key.kind, pausing }
                .of(object),
            key: facts.key.clone(),
            uid: facts.uid.clone(),
            owners: facts.owners.iter().map(|owner| owner.uid.clone()).collect(),
            was_paused,
        }
    }

    fn unsettled(&self, nodes: impl Iterator<Item = NodeId>) -> MoveError {
        MoveError::Unsettled { objects: nodes.map(|node| self.plan.facts(node).key.clone()).collect() }
    }

    /// Fails unless all objects that the save paused still carry the mark of this run.
    async fn check_rest(&self) -> Result<(), MoveError> {
        let marked = marked(&self.source).await.map_err(at(MoveSide::Source))?;
        let ours: BTreeSet<ObjectKey> =
            marked.into_iter().filter(|(_, run)| *run == self.run).map(|(key, _)| key).collect();
        let lost = self.rests().filter(|node| !ours.contains(&self.plan.facts(*node).key));
        let objects: Vec<ObjectKey> = lost.map(|node| self.plan.facts(node).key.clone()).collect();
        if objects.is_empty() { Ok(()) } else { Err(MoveError::Awake { objects }) }
    }
}
