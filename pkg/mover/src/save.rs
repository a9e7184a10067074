//! Saving: what a move would take along is read at rest and handed out as files; nothing is deleted.
//!
//! ```text
//! plan_save    discover, preflight ─► MovePlan without a target
//! save_objects pause, mark ─► discover again ─► read group by group ─► keep(SavedObject) ─► still at rest? ─► resume
//! ```
//!
//! - There is no journal: the marks say everything. A run that was cut off leaves Clusters paused and marked `save-PROCESS`;
//!   the next save of them, or [`resume_saved`], finds that process gone and takes over.
//! - The source is resumed whatever happens. What the user had paused is neither marked nor resumed, and is paused in the
//!   files; nothing of the mark is in them.
//! - A move of what is being saved is refused, and so is a save of what is being moved.

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
use workload::{Fate, KeptBecause, NodeId, Scope, discover_again};

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

/// Whether what is saved rests meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveRest {
    /// It is paused while it is read, and paused in what is saved: nothing changes between one object and another.
    #[default]
    Paused,
    /// It goes on, and nothing at all is written to the cluster. Objects may be of different moments.
    AsItIs,
}

/// What objects are saved in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveInto {
    /// Files that are named after objects, as the peer does: without their group.
    Files,
    /// Something that tells all objects apart.
    Archive,
}

/// An object that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedObject {
    /// Which one.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: String,
    /// The uids of its owners, as it names them.
    pub owners: Vec<String>,
    /// Whether the user had paused it, so that it stays paused where it is restored.
    pub was_paused: bool,
    /// `Kind_namespace_name.yaml`, as the peer names it.
    pub file: String,
    /// One line of JSON.
    pub content: Vec<u8>,
}

/// What came of a save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Objects that were handed out.
    pub objects: usize,
    /// What belongs to them and is not among them.
    pub left_out: Vec<LeftOut>,
}

/// Takes what was read.
pub type KeepSaved<'k> = dyn FnMut(SavedObject) -> io::Result<()> + Send + 'k;

/// A save that is carried out.
struct Save<'a> {
    source: ManagementCluster,
    request: &'a MoveRequest,
    plan: MovePlan,
    how: SaveRest,
    /// The mark on what it pauses.
    run: String,
}

/// Reads everything a plan of [`plan_save`] moves and hands it out, owners first.
///
/// What was handed out is whole when this ends well, and not before.
/// # Errors
/// The source is resumed all the same. When the future is dropped, [`resume_saved`] or the same call does it.
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
        // The first failure is the one to tell of.
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

    /// Pauses until nothing that moves is awake, and waits for what holds a move up.
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
        let is_used =
            matches!(self.plan.selection.fate(node), Fate::Moves { kept: Some(KeptBecause::StillUsed), .. });
        // A class that other Clusters use goes on; its copy rests like all others.
        let pausing = (is_used && self.how == SaveRest::Paused).then(|| Resting::of(&facts.key)).flatten();
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

    /// Whether all that was paused still is, by this run.
    async fn check_rest(&self) -> Result<(), MoveError> {
        let marked = marked(&self.source).await.map_err(at(MoveSide::Source))?;
        let ours: BTreeSet<ObjectKey> =
            marked.into_iter().filter(|(_, run)| *run == self.run).map(|(key, _)| key).collect();
        let lost = self.rests().filter(|node| !ours.contains(&self.plan.facts(*node).key));
        let objects: Vec<ObjectKey> = lost.map(|node| self.plan.facts(node).key.clone()).collect();
        if objects.is_empty() { Ok(()) } else { Err(MoveError::Awake { objects }) }
    }
}
