//! Writes one object of a restore to the target.

use std::collections::BTreeMap;

use api::labels::FIELD_MANAGER;
use apply::{ApiError, ApiKind, GroupKind, ObjectKey, ObjectRevision, PatchTarget, WriteMode};
use manifest::{Object, Value};
use serde_json::json;
use workload::{MOVE_MARK, NodeId, ObjectFacts};

use super::{RestoreContext, RestoredObject, SavedContent};
use crate::{
    create::{
        CopyOptions, MovedReferences, build_copy, conflict_error, copies_status, field_manager_names,
        field_managers_patch, first_difference, lacks_content_of, patch_status_and_managers,
    },
    mark::RESTORE_MARK,
    pause::PausableKind,
    run::TargetCopy,
    target::kinds_on_target,
};

/// The kinds of the target in which objects are written.
pub(super) struct RestoreWriter {
    kinds: BTreeMap<(GroupKind, String), ApiKind>,
    references: MovedReferences,
}

/// A saved object and the copy to write.
struct RestoreJob<'r> {
    facts: &'r ObjectFacts,
    kind: &'r ApiKind,
    key: ObjectKey,
    saved: Object,
    copy: Object,
}

impl RestoreWriter {
    pub(super) async fn new(restore: &RestoreContext<'_>) -> Result<Self, ApiError> {
        let kinds = kinds_on_target(&restore.target, restore.plan.moving_kinds()).await?;
        Ok(Self { kinds, references: MovedReferences::new(restore.plan, restore.request) })
    }

    /// Creates an object, or keeps the existing one.
    pub(super) async fn write(
        &self,
        restore: &RestoreContext<'_>,
        node: NodeId,
    ) -> Result<RestoredObject, ApiError> {
        let pair = self.prepare(restore, node)?;
        if restore.exists_on_target(node) {
            return keep_existing(restore, node, &pair).await;
        }
        match restore.target.server.create(pair.kind, &pair.copy, FIELD_MANAGER, WriteMode::Real).await {
            Ok(answer) => {
                write_status_and_managers(restore, &pair, &answer).await?;
                Ok(restored_object(&answer, false))
            }
            Err(error) if error.is_already_exists() => keep_existing(restore, node, &pair).await,
            Err(error) => Err(error),
        }
    }

    fn prepare<'r>(
        &'r self,
        restore: &'r RestoreContext<'_>,
        node: NodeId,
    ) -> Result<RestoreJob<'r>, ApiError> {
        let facts = restore.plan.facts(node);
        let key = restore.key(node);
        let broken = || conflict_error("create", &key, "its saved content is invalid");
        let saved = restore.content(node).and_then(SavedContent::object).ok_or_else(broken)?;
        let of = &facts.object_type.kind;
        let kind = &self.kinds[&(of.group_kind(), of.version.clone())];
        let rest = PausableKind::of(&facts.key).filter(|_| !restore.stays_paused(node));
        let options = CopyOptions {
            api_version: &kind.api_version(),
            namespace: &key.namespace,
            pause: rest.map(|rest| (rest, RESTORE_MARK)),
            has_status: facts.object_type.has_status,
        };
        let copy =
            build_copy(&saved, &options, |uid| restore.copies.get(uid).map(|copied| copied.uid.clone()));
        let mut copy = copy
            .map_err(|_| conflict_error("create", &key, "one of its owners does not exist on the target"))?;
        self.references.rewrite(&mut copy);
        Ok(RestoreJob { facts, kind, key, saved, copy })
    }
}

/// Keeps an existing object. An object that an interrupted run created is completed. A paused Cluster that lacks
/// objects is marked, so that this restore or the next one resumes the Cluster.
async fn keep_existing(
    restore: &RestoreContext<'_>,
    node: NodeId,
    pair: &RestoreJob<'_>,
) -> Result<RestoredObject, ApiError> {
    let ObjectKey { namespace, name, .. } = &pair.key;
    let Some(there) = restore.target.server.get(pair.kind, namespace, name).await? else {
        return Err(conflict_error("keep", &pair.key, "it was deleted on the target during the restore"));
    };
    if there.get(&["metadata", "deletionTimestamp"]).is_some() {
        return Err(conflict_error("keep", &pair.key, "it is being deleted on the target"));
    }
    if !restore.exists_on_target(node) && lacks_content_of(&pair.copy, &there) {
        return Err(conflict_error("create", &pair.key, "another program created it with other content"));
    }
    let managers = field_manager_names(&there);
    let is_ours = managers.iter().any(|[name, ..]| name == FIELD_MANAGER);
    if is_ours
        && managers != field_manager_names(&pair.saved)
        && first_difference(&pair.copy, &there).is_none()
    {
        write_status_and_managers(restore, pair, &there).await?;
    }
    if restore.completes_cluster(node) && there.annotation(MOVE_MARK).is_none() {
        let uid = there.get(&["metadata", "uid"]).cloned().unwrap_or_default();
        let mark = json!({"metadata": {"uid": uid, "annotations": {MOVE_MARK: RESTORE_MARK}}});
        let server = &restore.target.server;
        let marked =
            server.patch(pair.kind, namespace, name, &mark, FIELD_MANAGER, PatchTarget::Object).await?;
        return Ok(restored_object(&marked, true));
    }
    Ok(restored_object(&there, true))
}

/// Writes the status if requested, then replaces the field managers by the saved ones.
async fn write_status_and_managers(
    restore: &RestoreContext<'_>,
    pair: &RestoreJob<'_>,
    written: &Object,
) -> Result<(), ApiError> {
    let wanted = copies_status(pair.facts, &restore.request.include_status);
    let status = pair.saved.as_map().get("status").filter(|_| wanted);
    let (server, managers) = (&restore.target.server, field_managers_patch(&pair.saved));
    patch_status_and_managers(server, pair.kind, &pair.key, ObjectRevision::of(written), status, managers)
        .await
}

fn restored_object(object: &Object, was_there: bool) -> RestoredObject {
    let text = |field: &str| object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default();
    RestoredObject {
        copied: TargetCopy {
            uid: text("uid").to_owned(),
            source_version: text("resourceVersion").to_owned(),
        },
        existed: was_there,
    }
}
