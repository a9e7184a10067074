//! Writes one object of a restore to the target.

use std::collections::{BTreeMap, btree_map::Entry};

use apply::{ApiError, ApiKind, GroupKind, ObjectKey, ObjectRevision, PatchTarget, WriteMode};
use inventory::FIELD_MANAGER;
use manifest::{Object, Value};
use serde_json::json;
use workload::{Facts, MARK, NodeId};

use super::{Made, Restore, SavedContent};
use crate::{
    create::{
        Copying, References, complete, copy_of, difference, field_managers_of, managers_of, refused,
        takes_status,
    },
    mark::RESTORE,
    pause::Resting,
    run::Copied,
    target::kind_on_target,
};

/// The kinds of the target in which objects are written.
pub(super) struct Writer {
    kinds: BTreeMap<(GroupKind, String), ApiKind>,
    references: References,
}

/// A saved object and the copy to write.
struct Pair<'r> {
    facts: &'r Facts,
    kind: &'r ApiKind,
    key: ObjectKey,
    saved: Object,
    copy: Object,
}

impl Writer {
    pub(super) async fn new(restore: &Restore<'_>) -> Result<Self, ApiError> {
        let mut kinds = BTreeMap::new();
        for node in restore.plan.selection.moving() {
            let kind = &restore.plan.facts(node).of.kind;
            if let Entry::Vacant(vacant) = kinds.entry((kind.group_kind(), kind.version.clone())) {
                let (group_kind, version) = vacant.key();
                let kind = kind_on_target(&restore.target, group_kind, version).await?;
                vacant.insert(kind);
            }
        }
        Ok(Self { kinds, references: References::of(restore.plan, restore.request) })
    }

    /// Creates an object, or keeps the existing one.
    pub(super) async fn write(&self, restore: &Restore<'_>, node: NodeId) -> Result<Made, ApiError> {
        let pair = self.pair(restore, node)?;
        if restore.is_expected(node) {
            return keep(restore, node, &pair).await;
        }
        match restore.target.server.create(pair.kind, &pair.copy, FIELD_MANAGER, WriteMode::Real).await {
            Ok(answer) => {
                repair(restore, &pair, &answer).await?;
                Ok(made(&answer, false))
            }
            Err(error) if error.is_already_exists() => keep(restore, node, &pair).await,
            Err(error) => Err(error),
        }
    }

    fn pair<'r>(&'r self, restore: &'r Restore<'_>, node: NodeId) -> Result<Pair<'r>, ApiError> {
        let facts = restore.plan.facts(node);
        let key = restore.key(node);
        let broken = || refused("create", &key, "what was saved of it cannot be read again");
        let saved = restore.content(node).and_then(SavedContent::object).ok_or_else(broken)?;
        let of = &facts.of.kind;
        let kind = &self.kinds[&(of.group_kind(), of.version.clone())];
        let rest = Resting::of(&facts.key).filter(|_| !restore.stays_paused(node));
        let how = Copying {
            api_version: &kind.api_version(),
            namespace: &key.namespace,
            rest: rest.map(|rest| (rest, RESTORE)),
            has_status: facts.of.has_status,
        };
        let copy = copy_of(&saved, &how, |uid| restore.copies.get(uid).map(|copied| copied.uid.clone()));
        let mut copy = copy.map_err(|_| refused("create", &key, "one of its owners is not on the target"))?;
        self.references.follow(&mut copy);
        Ok(Pair { facts, kind, key, saved, copy })
    }
}

/// Keeps an existing object. An object that an interrupted run created is completed. A paused Cluster that lacks
/// objects is marked, so that this restore or the next one resumes the Cluster.
async fn keep(restore: &Restore<'_>, node: NodeId, pair: &Pair<'_>) -> Result<Made, ApiError> {
    let ObjectKey { namespace, name, .. } = &pair.key;
    let Some(there) = restore.target.server.get(pair.kind, namespace, name).await? else {
        return Err(refused("keep", &pair.key, "it was there and is gone meanwhile"));
    };
    if there.get(&["metadata", "deletionTimestamp"]).is_some() {
        return Err(refused("keep", &pair.key, "it is being deleted on the target"));
    }
    let managers = managers_of(&there);
    let is_ours = managers.iter().any(|[name, ..]| name == FIELD_MANAGER);
    if is_ours && managers != managers_of(&pair.saved) && difference(&pair.copy, &there).is_none() {
        repair(restore, pair, &there).await?;
    }
    if restore.completes(node) && there.annotation(MARK).is_none() {
        let uid = there.get(&["metadata", "uid"]).cloned().unwrap_or_default();
        let mark = json!({"metadata": {"uid": uid, "annotations": {MARK: RESTORE}}});
        let server = &restore.target.server;
        let marked =
            server.patch(pair.kind, namespace, name, &mark, FIELD_MANAGER, PatchTarget::Object).await?;
        return Ok(made(&marked, true));
    }
    Ok(made(&there, true))
}

/// Writes the status if requested, then replaces the field managers by the saved ones.
async fn repair(restore: &Restore<'_>, pair: &Pair<'_>, written: &Object) -> Result<(), ApiError> {
    let wanted = takes_status(pair.facts, &restore.request.include_status);
    let status = pair.saved.as_map().get("status").filter(|_| wanted);
    let (server, managers) = (&restore.target.server, field_managers_of(&pair.saved));
    complete(server, pair.kind, &pair.key, ObjectRevision::of(written), status, managers).await
}

fn made(object: &Object, was_there: bool) -> Made {
    let text = |field: &str| object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default();
    Made {
        copied: Copied { uid: text("uid").to_owned(), version: text("resourceVersion").to_owned() },
        was_there,
    }
}
