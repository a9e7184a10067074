//! Deletes the objects that a move created on the target.

use std::collections::{BTreeMap, BTreeSet, HashSet, btree_map::Entry};

use api::labels::FIELD_MANAGER;
use api::output::{MovePhase, ProgressEvent};
use apply::{ApiError, ApiKind, DeletionOutcome, GroupKind, ObjectKey, ObjectRevision, PatchTarget};
use inventory::ManagementCluster;
use serde_json::json;
use workload::{DELETE_FOR_MOVE, Discovery, KeepReason, MOVE_MARK, MoveDecision, NodeId, ObjectFacts};

use super::AbortContext;
use crate::{
    MoveError, MoveSide,
    concurrency::run_concurrently,
    create::is_copy_of,
    error::{api_error, check_failures},
    stale::StaleCopies,
    target::TargetView,
    target_key,
};

/// Maximum number of attempts to delete an object that keeps getting new finalizers.
const MAX_ATTEMPTS: usize = 5;

/// Objects of a move that exist on the target.
pub(super) struct CopiesToDelete<'d> {
    kinds: BTreeMap<GroupKind, ApiKind>,
    /// Objects that did not exist before the move; children first.
    created: Vec<Vec<CreatedObject<'d>>>,
    /// Objects that existed before the move. Cluster-scoped objects are left out, because a move leaves them unchanged.
    pub(super) overwritten: Vec<ObjectKey>,
    /// Copies of Clusters that the source no longer has, with everything they own.
    pub(super) only_on_target: Vec<ObjectKey>,
}

/// An object on the target that did not exist before the move.
struct CreatedObject<'d> {
    key: ObjectKey,
    uid: String,
    /// The object on the source. None for a stale copy, which a copy owns.
    source: Option<&'d ObjectFacts>,
}

impl<'d> CopiesToDelete<'d> {
    /// Lists the objects of the journal on the target, and separates created objects from earlier ones.
    pub(super) async fn read(
        undo: &AbortContext<'_>,
        discovered: &'d Discovery,
    ) -> Result<CopiesToDelete<'d>, MoveError> {
        let AbortContext { target, journal, .. } = undo;
        let selection = discovered.graph.select(&journal.choice());
        let key = |node| target_key(&discovered.graph.node(node).facts.key, &journal.namespace_map);
        let keys: BTreeMap<NodeId, ObjectKey> = selection.moving().map(|node| (node, key(node))).collect();
        let view = TargetView::read(target, &keys).await.map_err(api_error(MoveSide::Target))?;
        let stale = StaleCopies::find(target, journal, &keys.values().collect::<BTreeSet<_>>()).await?;
        let existed: HashSet<&ObjectKey> = journal.existed.iter().collect();
        let stale_group = |group: Vec<(ObjectKey, String)>| {
            group.into_iter().map(|(key, uid)| CreatedObject { key, uid, source: None }).collect()
        };
        let mut copies = Self {
            kinds: BTreeMap::new(),
            created: stale.owned_by_source.into_iter().rev().map(stale_group).collect(),
            overwritten: Vec::new(),
            only_on_target: stale.only_on_target,
        };
        for group in discovered.graph.groups(&selection).into_iter().rev() {
            let mut created = Vec::new();
            for node in group {
                let key = &keys[&node];
                let Some(found) = view.objects.get(key) else { continue };
                if !existed.contains(key) {
                    let source = Some(&discovered.graph.node(node).facts);
                    created.push(CreatedObject { key: key.clone(), uid: found.uid.clone(), source });
                } else if !matches!(
                    selection.decision(node),
                    MoveDecision::Moves { kept: Some(KeepReason::ClusterScoped), .. }
                ) {
                    copies.overwritten.push(key.clone());
                }
            }
            copies.created.push(created);
        }
        for object in copies.created.iter().flatten() {
            if let Entry::Vacant(vacant) = copies.kinds.entry(object.key.group_kind()) {
                let found = target.server.kind(vacant.key()).await;
                vacant.insert(found.map_err(api_error(MoveSide::Target))?);
            }
        }
        copies.overwritten.sort();
        Ok(copies)
    }

    /// Deletes the objects that the move created. Returns their number, and the objects of other programs.
    pub(super) async fn delete(&self, undo: &AbortContext<'_>) -> Result<(usize, Vec<ObjectKey>), MoveError> {
        let target = &undo.target;
        let mut of: usize = self.created.iter().map(Vec::len).sum();
        let (mut done, mut foreign) = (0, Vec::new());
        for group in &self.created {
            let at_most = target.server.max_in_flight();
            let (outcomes, failures) = run_concurrently(at_most, group, |object| async move {
                self.delete_if_created(undo, object).await.map_err(|error| (object.key.clone(), error))
            })
            .await;
            check_failures("remove", failures)?;
            let (group_size, others) = (outcomes.len(), outcomes.into_iter().flatten().collect::<Vec<_>>());
            done += group_size - others.len();
            of -= others.len();
            foreign.extend(others);
            target.events.send(&ProgressEvent::Moving { phase: MovePhase::Aborting, done, of });
        }
        foreign.sort();
        Ok((done, foreign))
    }

    /// Deletes an object, or returns the key of an object that another program created.
    async fn delete_if_created(
        &self,
        undo: &AbortContext<'_>,
        object: &CreatedObject<'_>,
    ) -> Result<Option<ObjectKey>, ApiError> {
        if let Some(facts) = object.source
            && !self.is_created(undo, object, facts).await?
        {
            return Ok(Some(object.key.clone()));
        }
        self.delete_one(&undo.target, &object.key, &object.uid).await.map(|()| None)
    }

    /// True if the move created an object: it has the mark of the move, or field managers of its source. An object that is gone
    /// counts as created.
    async fn is_created(
        &self,
        undo: &AbortContext<'_>,
        object: &CreatedObject<'_>,
        facts: &ObjectFacts,
    ) -> Result<bool, ApiError> {
        let AbortContext { source, target, journal } = undo;
        let key = &object.key;
        let kind = &self.kinds[&key.group_kind()];
        let Some(there) = target.server.get(kind, &key.namespace, &key.name).await? else { return Ok(true) };
        if there.annotation(MOVE_MARK) == Some(&journal.run) {
            return Ok(true);
        }
        let here = source.server.get(&facts.object_type.kind, &facts.key.namespace, &facts.key.name).await?;
        Ok(here.is_some_and(|here| is_copy_of(&here, &there)))
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
