//! Restoring: what was saved is created on a target, from files of this program or of the peer.
//!
//! ```text
//! files ─► SavedObjects (every document, uids, who paused it) ─► plan_restore ─► restore_objects
//!                                                                                  namespaces, group by group,
//!                                                                                  verify, resume
//! ```
//!
//! - What is there is kept, as by the peer; what is missing is created, paused and marked `restore`, owned by the uids of the
//!   target, with the field managers it had. All is resumed when all is there, so that a run that was cut off anywhere is
//!   gone on with by the same call.
//! - Clusters are resumed but for those the user had paused: an archive says so, and in files the manager of the pause does.
//!   Source: clusterctl v1.14 client/cluster/mover.go (FromDirectory), which resumes all.
//! - A restore holds what was saved, as text.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use apply::ObjectKey;
use provider::InstalledProvider;

use self::write::Writer;
use super::{
    MoveError, MovePhase, MovePlan, MoveRequest, MoveSide, OnTarget,
    create::namespace,
    pause::{Resting, resume_all},
    run::{Copied, at, no_failures, patient, side_by_side},
    target::TargetView,
    verify::what_is_wrong,
};
use crate::{
    Event, ManagementCluster, NodeId, cluster::served, inventory::FIELD_MANAGER, mover::preflight::listed,
};
use apply::WriteMode;

/// A file of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// Its name, for messages.
    pub name: String,
    /// What is in it: documents of YAML or JSON.
    pub content: Vec<u8>,
}

/// Objects that were saved, each known to be one.
#[derive(Clone, Debug, Default)]
pub struct SavedObjects {
    objects: Vec<SavedContent>,
    /// What was installed where they come from; empty when nobody noted it.
    pub providers: Vec<InstalledProvider>,
}

/// An object that was saved.
#[derive(Clone, Debug)]
pub(super) struct SavedContent {
    pub(super) key: ObjectKey,
    /// `group/version` it was saved in.
    pub(super) api_version: String,
    pub(super) uid: String,
    /// Whether it stays paused.
    pub(super) stays_paused: bool,
    json: Vec<u8>,
}

/// What came of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// What was created, by key on the target.
    pub created: Vec<ObjectKey>,
    /// What was there and is as it was.
    pub kept: Vec<ObjectKey>,
    /// Clusters and ClusterClasses that are paused, as they were.
    pub paused: Vec<ObjectKey>,
}

/// Creates what a plan of [`super::plan_restore`] says, and resumes it.
/// # Errors
/// Nothing that was created is taken away again: the same call goes on.
pub async fn restore_objects(
    target: &ManagementCluster,
    request: &MoveRequest,
    plan: &MovePlan,
    saved: &SavedObjects,
) -> Result<Restored, MoveError> {
    let target = patient(target, request.timeout);
    let mut restore = Restore { target, request, plan, saved, copies: BTreeMap::new() };
    restore.make_namespaces().await?;
    let restored = Box::pin(restore.create()).await?;
    restore.verify(&restored).await?;
    restore.resume().await?;
    Ok(restored)
}

/// A restore that is carried out.
pub(super) struct Restore<'a> {
    pub(super) target: ManagementCluster,
    pub(super) request: &'a MoveRequest,
    pub(super) plan: &'a MovePlan,
    pub(super) saved: &'a SavedObjects,
    /// What the target has, by uid in the files.
    pub(super) copies: BTreeMap<String, Copied>,
}

/// An object that is on the target.
pub(super) struct Made {
    pub(super) copied: Copied,
    pub(super) was_there: bool,
}

impl Restore<'_> {
    async fn make_namespaces(&self) -> Result<(), MoveError> {
        let server = &self.target.server;
        let names = &self.plan.new_namespaces;
        let (_, failures) = side_by_side(server.max_in_flight(), names, |name| async move {
            let (kind, namespace) = (served("", "v1", "Namespace", "namespaces", false), namespace(name));
            match server.create(&kind, &namespace, FIELD_MANAGER, WriteMode::Real).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_already_there() => Ok(()),
                Err(error) => Err((ObjectKey::of(&namespace), error)),
            }
        })
        .await;
        no_failures("created", failures)
    }

    async fn create(&mut self) -> Result<Restored, MoveError> {
        let writer = Writer::new(self).await.map_err(at(MoveSide::Target))?;
        let of = self.plan.selection.moving().count();
        let mut restored = Restored::default();
        for group in &self.plan.groups {
            let at_most = self.target.server.max_in_flight();
            let (this, writer) = (&*self, &writer);
            let (made, failures) = side_by_side(at_most, group.iter().copied(), |node| async move {
                let made = writer.write(this, node).await;
                made.map(|made| (node, made)).map_err(|error| (this.key(node), error))
            })
            .await;
            no_failures("created", failures)?;
            for (node, Made { copied, was_there }) in made {
                let list = if was_there { &mut restored.kept } else { &mut restored.created };
                list.push(self.key(node));
                self.copies.insert(self.plan.facts(node).uid.clone(), copied);
            }
            let done = self.copies.len();
            self.target.events.send(&Event::Moving { phase: MovePhase::Creating, done, of });
        }
        let stays = self.plan.selection.moving().filter(|node| self.stays_paused(*node));
        restored.paused = stays.map(|node| self.key(node)).collect();
        Ok(restored)
    }

    /// All is there and what was created has its owners; what was there before has those it had.
    async fn verify(&self, restored: &Restored) -> Result<(), MoveError> {
        let keys: BTreeMap<NodeId, ObjectKey> =
            self.plan.selection.moving().map(|node| (node, self.key(node))).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let view = TargetView::look(&self.target, &keys).await.map_err(at(MoveSide::Target))?;
        let kept: BTreeSet<&ObjectKey> = restored.kept.iter().collect();
        let wrong = keys.iter().filter_map(|(node, key)| {
            let object = self.plan.discovered.graph.node(*node);
            let owners = object.owners.iter().map(|(owner, _)| self.copies.get(&owner.uid));
            let owners = owners.filter(|_| !kept.contains(key));
            let copied = self.copies.get(&object.facts.uid);
            let what = what_is_wrong(object, copied, view.there.get(key), owners)?;
            Some((key.clone(), what))
        });
        let differences: Vec<_> = wrong.collect();
        if !differences.is_empty() {
            return Err(MoveError::Differs { differences });
        }
        let of = keys.len();
        self.target.events.send(&Event::Moving { phase: MovePhase::Verifying, done: of, of });
        Ok(())
    }

    async fn resume(&self) -> Result<(), MoveError> {
        let rests =
            |node: &NodeId| Resting::of(&self.plan.facts(*node).key).is_some() && !self.stays_paused(*node);
        let keys: BTreeSet<ObjectKey> =
            self.plan.selection.moving().filter(rests).map(|node| self.key(node)).collect();
        let done = keys.len();
        resume_all(&self.target, keys).await?;
        self.target.events.send(&Event::Moving { phase: MovePhase::Resuming, done, of: done });
        Ok(())
    }

    pub(super) fn stays_paused(&self, node: NodeId) -> bool {
        self.content(node).is_some_and(|content| content.stays_paused)
    }

    pub(super) fn content(&self, node: NodeId) -> Option<&SavedContent> {
        self.saved.by_uid(&self.plan.facts(node).uid)
    }

    pub(super) fn is_expected(&self, node: NodeId) -> bool {
        self.plan.on_target.get(&node) == Some(&OnTarget::LeaveAlone)
    }

    pub(super) fn key(&self, node: NodeId) -> ObjectKey {
        self.plan.key_on_target(node, self.request)
    }
}

impl Restored {
    /// A line on what stays paused; none when nothing does.
    pub fn paused_in_words(&self) -> Option<String> {
        (!self.paused.is_empty()).then(|| format!("paused, as before: {}", listed(&self.paused)))
    }
}
