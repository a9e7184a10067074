//! Writes one object to the target.

use std::collections::{BTreeMap, BTreeSet};

use api::labels::FIELD_MANAGER;
use apply::{ApiError, ApiKind, GroupKind, ObjectKey, ObjectRevision, PatchTarget, Server, WriteMode};
use manifest::{Object, Value};
use serde_json::json;
use workload::{BLOCK_MOVE, DELETE_FOR_MOVE, MOVE_MARK, NodeId, ObjectFacts};

use super::{
    compare::{content_hash, first_difference, without_pause},
    conflict_error,
    copy::{CopyOptions, UnknownOwner, build_copy, field_manager_names, field_managers_patch, is_copy_of},
    existing::{ExistingObject, ExistingObjects},
    references::MovedReferences,
};
use crate::{
    DifferencePolicy,
    pause::PausableKind,
    run::{KnownCopies, MoveContext, TargetCopy},
    target::kinds_on_target,
};

/// Maximum number of attempts to complete an object while controllers change the object.
const MAX_ATTEMPTS: usize = 5;

type WriteFailure = (ObjectKey, ApiError);

pub(crate) struct CopyWriter<'w> {
    work: &'w MoveContext<'w>,
    existing: &'w ExistingObjects,
    /// Kinds of the target, by kind and version on the source.
    kinds: BTreeMap<(GroupKind, String), ApiKind>,
    references: MovedReferences,
}

/// The result of a write.
#[derive(Debug)]
pub(crate) enum CopyOutcome {
    /// The target has the object.
    Copy {
        /// Uid on the source.
        source_uid: String,
        /// The copy on the target.
        copied: TargetCopy,
        /// Key on the target, and path of the first difference.
        difference: Option<(ObjectKey, String)>,
    },
    /// The object has changed since discovery: it is gone, blocks the move, or has other owners.
    SourceChanged,
}

/// An object and the copy to write.
struct CopyJob<'o> {
    facts: &'o ObjectFacts,
    kind: &'o ApiKind,
    key: ObjectKey,
    source: &'o Object,
    copy: Object,
    /// True if an existing object on the target stays unchanged.
    is_left_alone: bool,
}

impl CopyJob<'_> {
    /// True if an interrupted move, this one or another, was about to delete the source object. The object may lack
    /// finalizers that the target must keep, so it is compared and never written.
    fn is_marked_for_deletion(&self) -> bool {
        self.source.annotation(DELETE_FOR_MOVE).is_some()
    }
}

impl<'w> CopyWriter<'w> {
    /// Determines the API version in which each moving kind is written.
    pub(crate) async fn new(
        work: &'w MoveContext<'w>,
        existing: &'w ExistingObjects,
    ) -> Result<Self, ApiError> {
        let kinds = kinds_on_target(&work.target, work.plan.moving_kinds()).await?;
        let references = MovedReferences::new(&work.plan, work.request);
        Ok(Self { work, existing, kinds, references })
    }

    /// Reads an object of the source again; none if the object no longer exists.
    pub(crate) async fn read(&self, node: NodeId) -> Result<Option<Object>, WriteFailure> {
        let facts = self.facts(node);
        let read =
            self.work.source.server.get(&facts.object_type.kind, &facts.key.namespace, &facts.key.name).await;
        read.map_err(|error| (facts.key.clone(), error))
    }

    /// Writes an object to the target as it was read.
    pub(crate) async fn write(
        &self,
        node: NodeId,
        source: &Object,
        copies: &KnownCopies,
    ) -> Result<CopyOutcome, WriteFailure> {
        let facts = self.facts(node);
        if metadata_text(source, "uid") != facts.uid || source.annotation(BLOCK_MOVE).is_some() {
            return Ok(CopyOutcome::SourceChanged);
        }
        let Ok(pair) = self.prepare(node, source, copies) else { return Ok(CopyOutcome::SourceChanged) };
        let failed = |error| (facts.key.clone(), error);
        let (uid, difference) = self.ensure_copy(&pair, copies).await.map_err(failed)?;
        let copied = TargetCopy { uid, source_version: metadata_text(source, "resourceVersion").to_owned() };
        let difference = difference.map(|path| (pair.key, path));
        Ok(CopyOutcome::Copy { source_uid: facts.uid.clone(), copied, difference })
    }

    fn facts(&self, node: NodeId) -> &ObjectFacts {
        self.work.plan.facts(node)
    }

    fn prepare<'o>(
        &'o self,
        node: NodeId,
        source: &'o Object,
        copies: &KnownCopies,
    ) -> Result<CopyJob<'o>, UnknownOwner> {
        let (work, facts) = (self.work, self.facts(node));
        let key = work.plan.key_on_target(node, work.request);
        let of = &facts.object_type.kind;
        let kind = &self.kinds[&(of.group_kind(), of.version.clone())];
        let paused = &work.journal_lease.journal.paused;
        let is_users = || paused.iter().any(|paused| paused.was_paused && paused.object == facts.key);
        let options = CopyOptions {
            api_version: &kind.api_version(),
            namespace: &key.namespace,
            pause: PausableKind::of(&facts.key)
                .filter(|_| !is_users())
                .map(|rest| (rest, &*work.journal_lease.journal.run)),
            has_status: facts.object_type.has_status,
        };
        let mut copy = build_copy(source, &options, |uid| copies.get(uid).map(|copied| copied.uid.clone()))?;
        self.references.rewrite(&mut copy);
        // An object that an earlier run of this move created is completed.
        let is_ours =
            || self.existing.get(&key).is_some() && !work.journal_lease.journal.existed.contains(&key);
        let is_left_alone = work.plan.is_cluster_scoped(node) && !is_ours();
        Ok(CopyJob { facts, kind, key, source, copy, is_left_alone })
    }

    /// Returns the uid on the target, and the path of the first difference.
    async fn ensure_copy(
        &self,
        pair: &CopyJob<'_>,
        copies: &KnownCopies,
    ) -> Result<(String, Option<String>), ApiError> {
        if let Some(before) = self.existing.get(&pair.key) {
            return self.ensure_existing(pair, before, copies).await;
        }
        if !metadata_text(pair.source, "deletionTimestamp").is_empty() {
            return Err(conflict_error("create", &pair.key, "it is being deleted on the source"));
        }
        match self.work.target.server.create(pair.kind, &pair.copy, FIELD_MANAGER, WriteMode::Real).await {
            Ok(answer) => self.finish(pair, &answer).await,
            Err(error) if error.is_already_exists() => self.ensure_unread(pair, copies).await,
            Err(error) => Err(error),
        }
    }

    async fn ensure_existing(
        &self,
        pair: &CopyJob<'_>,
        before: &ExistingObject,
        copies: &KnownCopies,
    ) -> Result<(String, Option<String>), ApiError> {
        if pair.is_left_alone {
            return Ok((before.uid.clone(), None));
        }
        match &before.content {
            Some((content, managers))
                if *content == content_hash(&pair.copy) && !pair.is_marked_for_deletion() =>
            {
                if *managers != field_manager_names(pair.source) {
                    self.write_status_and_managers(pair, before.revision()).await?;
                }
                Ok((before.uid.clone(), None))
            }
            _ => self.ensure_unread(pair, copies).await,
        }
    }

    /// Reads the existing object, then keeps, repairs or replaces the object.
    async fn ensure_unread(
        &self,
        pair: &CopyJob<'_>,
        copies: &KnownCopies,
    ) -> Result<(String, Option<String>), ApiError> {
        let server = &self.work.target.server;
        let Some(there) = server.get(pair.kind, &pair.key.namespace, &pair.key.name).await? else {
            let reason = "it was deleted on the target during the move";
            return Err(conflict_error("update", &pair.key, reason));
        };
        let uid = metadata_text(&there, "uid").to_owned();
        if pair.is_left_alone {
            return Ok((uid, None));
        }
        if !metadata_text(&there, "deletionTimestamp").is_empty() {
            return Err(conflict_error("update", &pair.key, "it is being deleted on the target"));
        }
        if pair.is_marked_for_deletion() {
            let difference = first_difference(&without_pause(&pair.copy), &there);
            // A difference that the request accepts was found before the first deletion.
            let is_accepted =
                self.work.may_have_deleted() && self.work.request.on_difference == DifferencePolicy::Continue;
            return match difference.filter(|_| !is_accepted) {
                None => Ok((uid, None)),
                Some(path) => Err(conflict_error("keep", &pair.key, &marked_for_deletion_message(&path))),
            };
        }
        // An interrupted abort leaves copies that are marked for deletion.
        let is_whole = there.annotation(DELETE_FOR_MOVE).is_none();
        if is_whole && first_difference(&pair.copy, &there).is_none() {
            if field_manager_names(&there) != field_manager_names(pair.source) {
                self.write_status_and_managers(pair, ObjectRevision::of(&there)).await?;
            }
            return Ok((uid, None));
        }
        if !self.may_replace(pair, &there, copies) {
            return Err(conflict_error("replace", &pair.key, FOREIGN_OBJECT));
        }
        let mut copy = pair.copy.clone();
        if let Some(metadata) = copy.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
            metadata.insert("uid".to_owned(), uid.into());
            metadata.insert("resourceVersion".to_owned(), metadata_text(&there, "resourceVersion").into());
        }
        let answer = server.replace(pair.kind, &copy, FIELD_MANAGER, WriteMode::Real).await?;
        self.finish(pair, &answer).await
    }

    /// True if this move may overwrite an object of the target.
    ///
    /// - An object that existed before the move, or is overwritten on demand, must still have the uid and the version
    ///   that this run read.
    /// - A Cluster or ClusterClass carries the mark of the move that created it, until the move ends.
    /// - Any other object is a copy if this run created the object. A copy of an earlier run existed when this run
    ///   began, has not changed since, and has a field manager of its source.
    fn may_replace(&self, pair: &CopyJob<'_>, there: &Object, copies: &KnownCopies) -> bool {
        let is_unchanged = self.existing.get(&pair.key).is_some_and(|before| before.is_unchanged(there));
        let existed = &self.work.journal_lease.journal.existed;
        if is_unchanged && (self.work.request.overwrite || existed.contains(&pair.key)) {
            return true;
        }
        if let Some(run) = pair.copy.annotation(MOVE_MARK) {
            return there.annotation(MOVE_MARK) == Some(run);
        }
        let copied = copies.get(&pair.facts.uid);
        copied.is_some_and(|copied| copied.uid == metadata_text(there, "uid"))
            || is_unchanged && is_copy_of(pair.source, there)
    }

    async fn finish(
        &self,
        pair: &CopyJob<'_>,
        answer: &Object,
    ) -> Result<(String, Option<String>), ApiError> {
        self.write_status_and_managers(pair, ObjectRevision::of(answer)).await?;
        Ok((metadata_text(answer, "uid").to_owned(), first_difference(&pair.copy, answer)))
    }

    /// Writes the status if requested, then replaces the field managers by those of the source.
    async fn write_status_and_managers(
        &self,
        pair: &CopyJob<'_>,
        written: ObjectRevision,
    ) -> Result<(), ApiError> {
        let (server, wanted) = (&self.work.target.server, &self.work.request.include_status);
        let status = pair.source.as_map().get("status").filter(|_| copies_status(pair.facts, wanted));
        patch_status_and_managers(
            server,
            pair.kind,
            &pair.key,
            written,
            status,
            field_managers_patch(pair.source),
        )
        .await
    }
}

const FOREIGN_OBJECT: &str = "the target has another object of this name: this move did not create it, or it changed after this run read it";

/// Returns the message for a source object that an earlier move marked for deletion, with the first different path.
fn marked_for_deletion_message(path: &str) -> String {
    format!("an earlier move marked the source object for deletion, and the target has another `{path}`")
}

/// Writes the status, if any, and then the field managers of the source. Each patch names a revision. After a conflict,
/// the patch is retried with the current revision.
pub(crate) async fn patch_status_and_managers(
    server: &Server,
    kind: &ApiKind,
    key: &ObjectKey,
    written: ObjectRevision,
    status: Option<&Value>,
    managers: Value,
) -> Result<(), ApiError> {
    let status = status.map(|status| (json!({"status": status}), PatchTarget::Status));
    let mut revision = written;
    for (mut patch, of) in status.into_iter().chain([(managers, PatchTarget::Object)]) {
        let ObjectKey { namespace, name, .. } = key;
        for attempt in 1.. {
            patch["metadata"]["uid"] = revision.uid.clone().into();
            patch["metadata"]["resourceVersion"] = revision.resource_version.clone().into();
            match server.patch(kind, namespace, name, &patch, FIELD_MANAGER, of).await {
                Err(error) if error.is_conflict() && attempt < MAX_ATTEMPTS => {
                    let found = server.get(kind, namespace, name).await?;
                    revision.resource_version =
                        found.as_ref().map(ObjectRevision::of).ok_or(error)?.resource_version;
                }
                patched => {
                    revision = ObjectRevision::of(&patched?);
                    break;
                }
            }
        }
    }
    Ok(())
}

/// True if the status of an object is copied: its kind has a status and is requested.
pub(crate) fn copies_status(facts: &ObjectFacts, wanted: &BTreeSet<String>) -> bool {
    let kind = facts.key.kind.to_lowercase();
    let full = format!("{kind}.{}", facts.key.group);
    facts.object_type.has_status && (wanted.contains(&kind) || wanted.contains(&full))
}

/// Returns a metadata field as text; empty if missing.
fn metadata_text<'o>(object: &'o Object, field: &str) -> &'o str {
    object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default()
}
