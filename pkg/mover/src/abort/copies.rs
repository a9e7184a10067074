//! Deletes the objects that a move created on the target.

use std::collections::{BTreeMap, HashSet};

use api::output::{MovePhase, ProgressEvent};
use apply::{ApiError, ApiKind, DeletionOutcome, GroupKind, ObjectKey, ObjectRevision, PatchTarget};
use inventory::{FIELD_MANAGER, ManagementCluster};
use serde_json::json;
use workload::{DELETE_FOR_MOVE, Discovery, KeepReason, MoveDecision};

use super::AbortContext;
use crate::{
    MoveError, concurrency::run_concurrently, error::check_failures, target::TargetView, target_key,
};

/// Maximum number of attempts to delete an object that keeps getting new finalizers.
const MAX_ATTEMPTS: usize = 5;

/// Objects of a move that exist on the target.
pub(super) struct CopiesToDelete {
    kinds: BTreeMap<GroupKind, ApiKind>,
    /// Objects that the move created, with their uids on the target; children first.
    created: Vec<Vec<(ObjectKey, String)>>,
    /// Objects that existed before the move. Cluster-scoped objects are left out, because a move leaves them unchanged.
    pub(super) overwritten: Vec<ObjectKey>,
}

impl CopiesToDelete {
    /// Lists the objects of the journal on the target, and separates created objects from earlier ones.
    pub(super) async fn read(undo: &AbortContext<'_>, discovered: &Discovery) -> Result<Self, ApiError> {
        let AbortContext { target, journal, .. } = undo;
        let selection = discovered.graph.select(&journal.choice());
        let key = |node| target_key(&discovered.graph.node(node).facts.key, &journal.namespace_map);
        let keys = selection.moving().map(|node| (node, key(node))).collect();
        let there = TargetView::read(target, &keys).await?.objects;
        let existed: HashSet<&ObjectKey> = journal.existed.iter().collect();
        let mut copies = Self { kinds: BTreeMap::new(), created: Vec::new(), overwritten: Vec::new() };
        for group in discovered.graph.groups(&selection).into_iter().rev() {
            let mut created = Vec::new();
            for node in group {
                let key = &keys[&node];
                let Some(found) = there.get(key) else { continue };
                if !existed.contains(key) {
                    created.push((key.clone(), found.uid.clone()));
                } else if !matches!(
                    selection.decision(node),
                    MoveDecision::Moves { kept: Some(KeepReason::ClusterScoped), .. }
                ) {
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

    /// Deletes the created objects and returns their number.
    pub(super) async fn delete(&self, target: &ManagementCluster) -> Result<usize, MoveError> {
        let of = self.created.iter().map(Vec::len).sum();
        let mut done = 0;
        for group in &self.created {
            let at_most = target.server.max_in_flight();
            let (removed, failures) = run_concurrently(at_most, group, |(key, uid)| async move {
                self.delete_one(target, key, uid).await.map_err(|error| (key.clone(), error))
            })
            .await;
            check_failures("remove", failures)?;
            done += removed.len();
            target.events.send(&ProgressEvent::Moving { phase: MovePhase::Aborting, done, of });
        }
        Ok(done)
    }

    /// Marks an object as moved so that webhooks allow its deletion, removes its finalizers and deletes the object. Its
    /// Cluster is paused, so no controller deletes external resources.
    async fn delete_one(
        &self,
        target: &ManagementCluster,
        key: &ObjectKey,
        uid: &str,
    ) -> Result<(), ApiError> {
        let (server, kind) = (&target.server, &self.kinds[&key.group_kind()]);
        let metadata = json!({"uid": uid, "annotations": {DELETE_FOR_MOVE: ""}, "finalizers": null});
        let patch = json!({ "metadata": metadata });
        for _ in 0..MAX_ATTEMPTS {
            let stripped = match server
                .patch(kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object)
                .await
            {
                Err(error) if error.is_not_found() || is_uid_conflict(&error) => return Ok(()),
                patched => ObjectRevision::of(&patched?),
            };
            match server.delete(kind, &key.namespace, &key.name, Some(&stripped)).await {
                Ok(DeletionOutcome::Gone) => return Ok(()),
                Err(error) if !error.is_conflict() => return Err(error),
                _ => {}
            }
        }
        Err(ApiError::Status {
            action: format!("remove {key}"),
            code: 409,
            reason: "Conflict".to_owned(),
            message: "a controller keeps adding finalizers".to_owned(),
            causes: Vec::new(),
            retry_after: None,
        })
    }
}

/// True if a patch failed because another object has this name by now.
/// Source: kube-apiserver 1.36, measured: the uid of an object may not change.
fn is_uid_conflict(error: &ApiError) -> bool {
    matches!(error, ApiError::Status { causes, .. } if causes.iter().any(|cause| cause.field == "metadata.uid"))
}
