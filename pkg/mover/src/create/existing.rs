use std::collections::{BTreeMap, BTreeSet};

use apply::{ApiError, GroupKind, ListQuery, ObjectKey, ObjectRevision};
use workload::{NodeId, TypeFacts};

use manifest::Object;

use super::{
    compare::essence,
    copy::managers_of,
    read::{CLUSTER_NAME, FEW, is_read_apart},
};
use crate::{
    MoveError, MoveSide,
    error::at,
    run::Work,
    target::{TargetView, There, kind_on_target},
};

/// The moving objects that were on the target before this run wrote to the target.
#[derive(Debug)]
pub(crate) struct Existing {
    /// Target keys of moving objects that were looked up.
    pub(super) known: BTreeSet<ObjectKey>,
    /// Target keys of moving objects that existed on the target at planning time.
    pub(super) existed: BTreeSet<ObjectKey>,
    /// The existing objects; none until they are read.
    there: Option<BTreeMap<ObjectKey, Before>>,
}

/// An object that existed on the target.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) uid: String,
    /// resourceVersion at the time of the read.
    version: String,
    /// Hash of the content, and field managers, at the time of the read.
    pub(super) content: Option<(u64, Vec<[String; 3]>)>,
}

impl Before {
    /// Returns the revision that was read.
    pub(super) fn revision(&self) -> ObjectRevision {
        ObjectRevision { uid: self.uid.clone(), resource_version: self.version.clone() }
    }

    /// True if a target object still has the uid and the version that were read.
    pub(super) fn is_still(&self, there: &Object) -> bool {
        let There { uid, version, .. } = There::of(there);
        self.uid == uid && self.version == version
    }
}

impl Existing {
    pub(crate) fn new(known: BTreeSet<ObjectKey>, existed: BTreeSet<ObjectKey>) -> Self {
        Self { known, existed, there: None }
    }

    /// Reads the existing objects once: their metadata, and their content where one list returns many objects. If no
    /// object existed before the move, nothing is read.
    pub(super) async fn look(&mut self, work: &Work<'_>) -> Result<(), MoveError> {
        if self.there.is_some() {
            return Ok(());
        }
        let mut there = BTreeMap::new();
        if !self.existed.is_empty() {
            let nodes = work.plan.selection.moving();
            let keys = nodes.map(|node| (node, work.plan.key_on_target(node, work.request)));
            let keys: BTreeMap<_, _> = keys.filter(|(_, key)| self.existed.contains(key)).collect();
            let view = TargetView::look(&work.target, &keys).await.map_err(at(MoveSide::Target))?;
            there.extend(
                view.there
                    .into_iter()
                    .map(|(key, There { uid, version, .. })| (key, Before { uid, version, content: None })),
            );
            if !work.is_past_return() {
                read(work, &keys, &mut there).await.map_err(at(MoveSide::Target))?;
            }
        }
        self.there = Some(there);
        Ok(())
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Before> {
        self.there.as_ref()?.get(key)
    }
}

async fn read(
    work: &Work<'_>,
    keys: &BTreeMap<NodeId, ObjectKey>,
    there: &mut BTreeMap<ObjectKey, Before>,
) -> Result<(), ApiError> {
    for ((kind, namespace), of) in worth_a_list(work, keys, there) {
        let kind = kind_on_target(&work.target, &kind, &of.kind.version).await?;
        let labels = if is_read_apart(&kind.group_kind()) { CLUSTER_NAME } else { "" };
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let list = ListQuery { namespace, labels: labels.to_owned(), ..ListQuery::default() };
        let mut pages = work.target.server.pages(&kind, &list);
        let read = pages.gather(|read: &mut Vec<_>, object| {
            let key = ObjectKey::of(&object);
            if there.contains_key(&key) {
                let There { uid, version, .. } = There::of(&object);
                let content = Some((essence(&object), managers_of(&object)));
                read.push((key, Before { uid, version, content }));
            }
        });
        there.extend(read.await?);
    }
    Ok(())
}

/// Returns the kinds and namespaces with enough objects for a list. Secrets and ConfigMaps without the name of a
/// Cluster are compared one by one.
fn worth_a_list<'w>(
    work: &'w Work<'_>,
    keys: &BTreeMap<NodeId, ObjectKey>,
    there: &BTreeMap<ObjectKey, Before>,
) -> BTreeMap<(GroupKind, String), &'w TypeFacts> {
    let mut counts: BTreeMap<(GroupKind, String), (usize, &TypeFacts)> = BTreeMap::new();
    for (node, key) in keys.iter().filter(|(_, key)| there.contains_key(key)) {
        let facts = work.plan.facts(*node);
        if !is_read_apart(&key.group_kind()) || facts.cluster_name.is_some() {
            counts.entry((key.group_kind(), key.namespace.clone())).or_insert((0, &facts.of)).0 += 1;
        }
    }
    let many = counts.into_iter().filter(|(_, (count, _))| *count >= FEW);
    many.map(|(place, (_, of))| (place, of)).collect()
}
