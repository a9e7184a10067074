//! Taking away what a move has created.

use std::collections::{BTreeMap, HashSet};

use api::output::{MovePhase, ProgressEvent};
use apply::{ApiError, ApiKind, Deletion, GroupKind, ObjectKey, PatchOf, Revision};
use inventory::{FIELD_MANAGER, ManagementCluster};
use serde_json::json;
use workload::{DELETE_FOR_MOVE, Discovered, Fate, KeptBecause};

use super::Undo;
use crate::{MoveError, error::no_failures, on_target, side_by_side::side_by_side, target::TargetView};

/// How often an object may be given new finalizers.
const TRIES: usize = 5;

/// What is on the target of what moves.
pub(super) struct Copies {
    kinds: BTreeMap<GroupKind, ApiKind>,
    /// Created by the move, with their uids there; children first.
    created: Vec<Vec<(ObjectKey, String)>>,
    /// There before, but for what is of the whole cluster, which is left alone then.
    pub(super) overwritten: Vec<ObjectKey>,
}

impl Copies {
    /// Looks for what moves by the journal, and tells apart what was there before.
    pub(super) async fn look(undo: &Undo<'_>, discovered: &Discovered) -> Result<Self, ApiError> {
        let Undo { target, journal, .. } = undo;
        let selection = discovered.graph.select(&journal.choice());
        let key = |node| on_target(&discovered.graph.node(node).facts.key, &journal.namespace_map);
        let keys = selection.moving().map(|node| (node, key(node))).collect();
        let there = TargetView::look(target, &keys).await?.there;
        let existed: HashSet<&ObjectKey> = journal.existed.iter().collect();
        let mut copies = Self { kinds: BTreeMap::new(), created: Vec::new(), overwritten: Vec::new() };
        for group in discovered.graph.groups(&selection).into_iter().rev() {
            let mut created = Vec::new();
            for node in group {
                let key = &keys[&node];
                let Some(found) = there.get(key) else { continue };
                if !existed.contains(key) {
                    created.push((key.clone(), found.uid.clone()));
                } else if !matches!(selection.fate(node), Fate::Moves { kept: Some(KeptBecause::Global), .. })
                {
                    copies.overwritten.push(key.clone());
                }
            }
            copies.created.push(created);
        }
        for (key, _) in copies.created.iter().flatten() {
            let kind = key.group_kind();
            if !copies.kinds.contains_key(&kind) {
                copies.kinds.insert(kind.clone(), target.server.kind(&kind).await?);
            }
        }
        copies.overwritten.sort();
        Ok(copies)
    }

    /// Takes away what was created, and tells how much.
    pub(super) async fn remove(&self, target: &ManagementCluster) -> Result<usize, MoveError> {
        let of = self.created.iter().map(Vec::len).sum();
        let mut done = 0;
        for group in &self.created {
            let at_most = target.server.max_in_flight();
            let (removed, failures) = side_by_side(at_most, group, |(key, uid)| async move {
                self.remove_one(target, key, uid).await.map_err(|error| (key.clone(), error))
            })
            .await;
            no_failures("removed", failures)?;
            done += removed.len();
            target.events.send(&ProgressEvent::Moving { phase: MovePhase::Aborting, done, of });
        }
        Ok(done)
    }

    /// Marks an object as one that is moved, so that webhooks let it go, takes its finalizers off and deletes it. Its
    /// Cluster is paused, so nothing of it is cleaned up elsewhere.
    async fn remove_one(
        &self,
        target: &ManagementCluster,
        key: &ObjectKey,
        uid: &str,
    ) -> Result<(), ApiError> {
        let (server, kind) = (&target.server, &self.kinds[&key.group_kind()]);
        let metadata = json!({"uid": uid, "annotations": {DELETE_FOR_MOVE: ""}, "finalizers": null});
        let patch = json!({ "metadata": metadata });
        for _ in 0..TRIES {
            let stripped = match server
                .patch(kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchOf::Object)
                .await
            {
                Err(error) if error.is_not_found() || is_another(&error) => return Ok(()),
                patched => Revision::of(&patched?),
            };
            match server.delete(kind, &key.namespace, &key.name, Some(&stripped)).await {
                Ok(Deletion::Gone) => return Ok(()),
                Err(error) if !error.is_conflict() => return Err(error),
                _ => {}
            }
        }
        Err(ApiError::Status {
            action: format!("remove {key}"),
            code: 409,
            reason: "Conflict".to_owned(),
            message: "it is given new finalizers again and again".to_owned(),
            causes: Vec::new(),
            retry_after: None,
        })
    }
}

/// Whether a patch was refused because the object of this name is another than the one it is for.
/// Source: kube-apiserver 1.36, measured: the uid is a field that may not change.
fn is_another(error: &ApiError) -> bool {
    matches!(error, ApiError::Status { causes, .. } if causes.iter().any(|cause| cause.field == "metadata.uid"))
}
