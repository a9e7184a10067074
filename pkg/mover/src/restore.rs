//! Restores saved objects on a target, from files of this program or of clusterctl.
//!
//! ```text
//! files ─► SavedObjects (every document, uids, pause manager) ─► plan_restore ─► restore_objects
//!                                                                                  namespaces, group by group,
//!                                                                                  verify, resume
//! ```
//!
//! - Existing objects are kept, as in clusterctl. Missing objects are created, paused and marked `restore`, with the
//!   owner uids of the target and the saved field managers. Marked objects are resumed when all objects exist, so the
//!   same call completes an interrupted restore.
//! - Clusters that the user had paused stay paused. An archive lists these Clusters; in files, the field manager of the
//!   pause shows them.
//!   Source: clusterctl v1.14 client/cluster/mover.go (FromDirectory), which resumes all.
//! - A paused restore removes the marks and keeps the pause.
//! - A restore holds the saved objects in memory, as text.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use api::labels::FIELD_MANAGER;
use api::output::{MovePhase, ProgressEvent};
use inventory::{ClusterIdentity, ManagementCluster, ProviderInventory, known_kind};
use provider::InstalledProvider;
use serde_json::json;
use workload::{MOVE_MARK, NodeId};

pub(super) use self::read::ObjectChecks;
use self::write::RestoreWriter;
use crate::{
    BackupProvider, JournalError, MoveError, MovePlan, MoveRequest, MoveSide, TargetEffect,
    concurrency::run_concurrently,
    create::namespace_object,
    error::{api_error, check_failures},
    journal::RestoreRecord,
    mark::restoring_objects,
    pause::{PausableKind, patch_if_exists, resume_all},
    preflight::listed,
    request::with_retries,
    run::TargetCopy,
    target::TargetView,
    verify::copy_problem,
};
use apply::{GroupKind, ObjectKey, WriteMode, key_of};

/// A file of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// File name, for messages.
    pub name: String,
    /// Documents of YAML or JSON.
    pub content: Vec<u8>,
}

/// Saved objects that were parsed and checked.
#[derive(Clone, Debug, Default)]
pub struct SavedObjects {
    objects: Vec<SavedContent>,
    /// The management cluster that the objects were saved from, if a backup names the cluster.
    pub(super) source: Option<ClusterIdentity>,
    /// The providers that were installed on that cluster; empty if unknown.
    pub(super) providers: Vec<BackupProvider>,
}

/// Options of a restore.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreOptions<'a> {
    /// True to leave Clusters paused.
    pub paused: bool,
    /// The management cluster that may still run the Clusters.
    pub source: Option<&'a ManagementCluster>,
    /// The words of the command that completes an interrupted restore. Other runs show it.
    pub command: &'a [String],
}

/// A saved object.
#[derive(Clone, Debug)]
pub(super) struct SavedContent {
    pub(super) key: ObjectKey,
    /// `group/version` in which the object was saved.
    pub(super) api_version: String,
    pub(super) uid: String,
    /// True if the object stays paused after a restore.
    pub(super) stays_paused: bool,
    json: Vec<u8>,
}

/// The result of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreOutcome {
    /// Created objects, by key on the target.
    pub created: Vec<ObjectKey>,
    /// Objects that existed and are unchanged.
    pub kept: Vec<ObjectKey>,
    /// Clusters and ClusterClasses that stay paused, because the user had paused them or because the restore is paused.
    pub paused: Vec<ObjectKey>,
}

/// Creates the objects of a plan of [`super::plan_restore`], and resumes them.
/// # Errors
/// Created objects stay after a failure. The same call resumes the restore.
pub async fn restore_objects(
    target: &ManagementCluster,
    request: &MoveRequest,
    plan: &MovePlan,
    saved: &SavedObjects,
    options: RestoreOptions<'_>,
) -> Result<RestoreOutcome, MoveError> {
    let target = with_retries(target, request.timeout);
    let creates = plan.target_effects.values().any(|effect| *effect == TargetEffect::Create);
    let record = RestoreRecord::begin(&target, &plan.discovered.inventory, options.command, creates).await;
    let record = ok_or_warn(&target, record).flatten();
    let mut restore = RestoreContext { target, request, plan, saved, copies: BTreeMap::new() };
    restore.create_namespaces().await?;
    let mut restored = Box::pin(restore.create()).await?;
    restore.verify(&restored).await?;
    if options.paused {
        restored.paused.extend(restore.remove_marks().await?);
    } else {
        restore.resume().await?;
    }
    if let Some(record) = record {
        ok_or_warn(&restore.target, record.end().await);
    }
    Ok(restored)
}

/// Turns an error of the record into a warning, because only other runs need the record.
fn ok_or_warn<T>(target: &ManagementCluster, result: Result<T, JournalError>) -> Option<T> {
    result
        .map_err(|error| target.warn(format!("cannot record the restore: {}", api::with_causes(&error))))
        .ok()
}

pub(super) struct RestoreContext<'a> {
    pub(super) target: ManagementCluster,
    pub(super) request: &'a MoveRequest,
    pub(super) plan: &'a MovePlan,
    pub(super) saved: &'a SavedObjects,
    /// Objects on the target, by uid in the files.
    pub(super) copies: BTreeMap<String, TargetCopy>,
}

/// An object that exists on the target.
pub(super) struct RestoredObject {
    pub(super) copied: TargetCopy,
    pub(super) existed: bool,
}

impl RestoreContext<'_> {
    async fn create_namespaces(&self) -> Result<(), MoveError> {
        let server = &self.target.server;
        let names = &self.plan.new_namespaces;
        let (_, failures) = run_concurrently(server.max_in_flight(), names, |name| async move {
            let (kind, namespace) =
                (known_kind("", "v1", "Namespace", "namespaces", false), namespace_object(name));
            match server.create(&kind, &namespace, FIELD_MANAGER, WriteMode::Real).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_already_exists() => Ok(()),
                Err(error) => Err((key_of(&namespace), error)),
            }
        })
        .await;
        check_failures("create", failures)
    }

    async fn create(&mut self) -> Result<RestoreOutcome, MoveError> {
        let writer = RestoreWriter::new(self).await.map_err(api_error(MoveSide::Target))?;
        let of = self.plan.target_effects.values().filter(|there| **there == TargetEffect::Create).count();
        let mut restored = RestoreOutcome::default();
        for group in &self.plan.groups {
            let at_most = self.target.server.max_in_flight();
            let (this, writer) = (&*self, &writer);
            let (results, failures) = run_concurrently(at_most, group.iter().copied(), |node| async move {
                let made = writer.write(this, node).await;
                made.map(|made| (node, made)).map_err(|error| (this.key(node), error))
            })
            .await;
            check_failures("create", failures)?;
            for (node, RestoredObject { copied, existed: was_there }) in results {
                let list = if was_there { &mut restored.kept } else { &mut restored.created };
                list.push(self.key(node));
                self.copies.insert(self.plan.facts(node).uid.clone(), copied);
            }
            let done = restored.created.len();
            self.target.events.send(&ProgressEvent::Moving { phase: MovePhase::Creating, done, of });
        }
        let stays = self.plan.selection.moving().filter(|node| self.stays_paused(*node));
        restored.paused = stays.map(|node| self.key(node)).collect();
        Ok(restored)
    }

    /// Checks that all objects exist and that created objects have their owners. Objects that existed before keep their
    /// own owners.
    async fn verify(&self, restored: &RestoreOutcome) -> Result<(), MoveError> {
        let keys: BTreeMap<NodeId, ObjectKey> =
            self.plan.selection.moving().map(|node| (node, self.key(node))).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let view = TargetView::read(&self.target, &keys).await.map_err(api_error(MoveSide::Target))?;
        let kept: BTreeSet<&ObjectKey> = restored.kept.iter().collect();
        let wrong = keys.iter().filter_map(|(node, key)| {
            let object = self.plan.discovered.graph.node(*node);
            let owners = object.owners.iter().map(|(owner, _)| self.copies.get(&owner.uid));
            let owners = owners.filter(|_| !kept.contains(key));
            let copied = self.copies.get(&object.facts.uid);
            let what = copy_problem(object, copied, view.objects.get(key), owners)?;
            Some((key.clone(), what))
        });
        let differences: Vec<_> = wrong.collect();
        if !differences.is_empty() {
            return Err(MoveError::TargetDiffers { differences });
        }
        let of = keys.len();
        self.target.events.send(&ProgressEvent::Moving { phase: MovePhase::Verifying, done: of, of });
        Ok(())
    }

    /// Resumes marked objects: objects that a restore created, and Clusters whose missing objects were created.
    async fn resume(&self) -> Result<(), MoveError> {
        let keys: BTreeSet<ObjectKey> = self.marked_objects().await?.into_iter().collect();
        let done = keys.len();
        resume_all(&self.target, keys).await?;
        self.target.events.send(&ProgressEvent::Moving { phase: MovePhase::Resuming, done, of: done });
        Ok(())
    }

    /// Removes the marks of this restore and keeps the pause.
    async fn remove_marks(&self) -> Result<Vec<ObjectKey>, MoveError> {
        let keys = self.marked_objects().await?;
        let unmark = json!({"metadata": {"annotations": {MOVE_MARK: null}}});
        let at_most = self.target.server.max_in_flight();
        let (_, failures) = run_concurrently(at_most, &keys, |key| {
            let unmark = &unmark;
            async move {
                let kind = self.target.server.kind(&key.group_kind()).await;
                patch_if_exists(&self.target, &kind.map_err(|error| (key.clone(), error))?, key, unmark).await
            }
        })
        .await;
        check_failures("unmark", failures)?;
        Ok(keys)
    }

    /// Returns the restored Clusters and ClusterClasses with the mark of a restore.
    async fn marked_objects(&self) -> Result<Vec<ObjectKey>, MoveError> {
        let ours: BTreeSet<ObjectKey> = self.plan.selection.moving().map(|node| self.key(node)).collect();
        let mut marked = restoring_objects(&self.target).await.map_err(api_error(MoveSide::Target))?;
        marked.retain(|key| ours.contains(key));
        Ok(marked)
    }

    /// True if a Cluster exists on the target, paused, and lacks saved objects. The restore resumes this Cluster after
    /// creating the objects.
    pub(super) fn completes_cluster(&self, node: NodeId) -> bool {
        PausableKind::of(&self.plan.facts(node).key) == Some(PausableKind::Cluster)
            && self.exists_on_target(node)
            && !self.stays_paused(node)
            && self.plan.creates_any_of(node)
    }

    pub(super) fn stays_paused(&self, node: NodeId) -> bool {
        self.content(node).is_some_and(|content| content.stays_paused)
    }

    pub(super) fn content(&self, node: NodeId) -> Option<&SavedContent> {
        self.saved.by_uid(&self.plan.facts(node).uid)
    }

    pub(super) fn exists_on_target(&self, node: NodeId) -> bool {
        self.plan.target_effects.get(&node) == Some(&TargetEffect::LeaveAlone)
    }

    pub(super) fn key(&self, node: NodeId) -> ObjectKey {
        self.plan.key_on_target(node, self.request)
    }
}

impl SavedObjects {
    /// Returns the providers that objects of these kinds need, as an inventory. A provider without known kinds is
    /// included, because any object may need the provider.
    pub(super) fn inventory_of(&self, kinds: impl Iterator<Item = GroupKind>) -> ProviderInventory {
        let kinds: BTreeSet<String> = kinds.map(|kind| kind.to_string()).collect();
        let is_needed = |one: &&BackupProvider| one.kinds.is_empty() || !one.kinds.is_disjoint(&kinds);
        let needed = self.providers.iter().filter(is_needed).map(|one| InstalledProvider {
            id: one.provider.clone(),
            version: one.version.clone(),
            namespace: one.namespace.clone(),
        });
        ProviderInventory { providers: needed.collect(), is_defined: true, ..ProviderInventory::default() }
    }
}

impl RestoreOutcome {
    /// Returns a line that names the paused Clusters; none if there are none.
    pub fn paused_text(&self) -> Option<String> {
        (!self.paused.is_empty()).then(|| format!("paused: {}", listed(&self.paused)))
    }
}
