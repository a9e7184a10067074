use std::collections::{BTreeMap, BTreeSet};

use apply::{ApiError, GroupKind, ListQuery, ObjectKey, ObjectRevision, key_of};
use workload::{NodeId, TypeFacts};

use manifest::Object;

use super::{
    compare::content_hash,
    copy::field_manager_names,
    read::{CLUSTER_NAME, MIN_LIST_OBJECTS, is_listed_by_cluster},
};
use crate::{
    MoveError, MoveSide,
    error::api_error,
    run::MoveContext,
    target::{TargetObject, TargetView, kind_on_target},
};

/// The moving objects that were on the target before this run wrote to the target.
#[derive(Debug)]
pub(crate) struct ExistingObjects {
    /// Target keys of moving objects that were looked up.
    pub(super) checked: BTreeSet<ObjectKey>,
    /// Target keys of moving objects that existed on the target at planning time.
    pub(super) existed: BTreeSet<ObjectKey>,
    /// The existing objects; none until they are read.
    objects: Option<BTreeMap<ObjectKey, ExistingObject>>,
}

/// An object that existed on the target.
#[derive(Debug)]
pub(crate) struct ExistingObject {
    pub(crate) uid: String,
    /// resourceVersion at the time of the read.
    version: String,
    /// Hash of the content, and field managers, at the time of the read.
    pub(super) content: Option<(u64, Vec<[String; 3]>)>,
}

impl ExistingObject {
    /// Returns the revision that was read.
    pub(super) fn revision(&self) -> ObjectRevision {
        ObjectRevision { uid: self.uid.clone(), resource_version: self.version.clone() }
    }

    /// True if a target object still has the uid and the version that were read.
    pub(super) fn is_unchanged(&self, there: &Object) -> bool {
        let TargetObject { uid, version, .. } = TargetObject::of(there);
        self.uid == uid && self.version == version
    }
}

impl ExistingObjects {
    pub(crate) fn new(known: BTreeSet<ObjectKey>, existed: BTreeSet<ObjectKey>) -> Self {
        Self { checked: known, existed, objects: None }
    }

    /// Reads the existing objects once: their metadata, and their content where one list returns many objects. If no
    /// object existed before the move, nothing is read.
    pub(super) async fn load(&mut self, work: &MoveContext<'_>) -> Result<(), MoveError> {
        if self.objects.is_some() {
            return Ok(());
        }
        let mut there = BTreeMap::new();
        if !self.existed.is_empty() {
            let nodes = work.plan.selection.moving();
            let keys = nodes.map(|node| (node, work.plan.key_on_target(node, work.request)));
            let keys: BTreeMap<_, _> = keys.filter(|(_, key)| self.existed.contains(key)).collect();
            let view = TargetView::read(&work.target, &keys).await.map_err(api_error(MoveSide::Target))?;
            there.extend(view.objects.into_iter().map(|(key, TargetObject { uid, version, .. })| {
                (key, ExistingObject { uid, version, content: None })
            }));
            read_content(work, &keys, &mut there).await.map_err(api_error(MoveSide::Target))?;
        }
        self.objects = Some(there);
        Ok(())
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&ExistingObject> {
        self.objects.as_ref()?.get(key)
    }
}

async fn read_content(
    work: &MoveContext<'_>,
    keys: &BTreeMap<NodeId, ObjectKey>,
    there: &mut BTreeMap<ObjectKey, ExistingObject>,
) -> Result<(), ApiError> {
    for ((kind, namespace), of) in kinds_to_list(work, keys, there) {
        let kind = kind_on_target(&work.target, &kind, &of.kind.version).await?;
        let labels = if is_listed_by_cluster(&kind.group_kind()) { CLUSTER_NAME } else { "" };
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let list = ListQuery { namespace, labels: labels.to_owned(), ..ListQuery::default() };
        let mut pages = work.target.server.pages(&kind, &list);
        let read = pages.gather(|read: &mut Vec<_>, object| {
            let key = key_of(&object);
            if there.contains_key(&key) {
                let TargetObject { uid, version, .. } = TargetObject::of(&object);
                let content = Some((content_hash(&object), field_manager_names(&object)));
                read.push((key, ExistingObject { uid, version, content }));
            }
        });
        there.extend(read.await?);
    }
    Ok(())
}

/// Returns the kinds and namespaces with enough objects for a list. Secrets and ConfigMaps without the name of a
/// Cluster are compared one by one.
fn kinds_to_list<'w>(
    work: &'w MoveContext<'_>,
    keys: &BTreeMap<NodeId, ObjectKey>,
    there: &BTreeMap<ObjectKey, ExistingObject>,
) -> BTreeMap<(GroupKind, String), &'w TypeFacts> {
    let mut counts: BTreeMap<(GroupKind, String), (usize, &TypeFacts)> = BTreeMap::new();
    for (node, key) in keys.iter().filter(|(_, key)| there.contains_key(key)) {
        let facts = work.plan.facts(*node);
        if !is_listed_by_cluster(&key.group_kind()) || facts.cluster_name.is_some() {
            counts.entry((key.group_kind(), key.namespace.clone())).or_insert((0, &facts.object_type)).0 += 1;
        }
    }
    let many = counts.into_iter().filter(|(_, (count, _))| *count >= MIN_LIST_OBJECTS);
    many.map(|(place, (_, of))| (place, of)).collect()
}
