use std::collections::BTreeMap;

use apply::{ApiError, GroupKind, List, ObjectKey, Revision};
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

/// What was on the target before this run wrote anything.
#[derive(Debug, Default)]
pub(crate) struct Existing {
    there: BTreeMap<ObjectKey, Before>,
}

/// An object that was there.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) uid: String,
    /// Its resourceVersion when it was read.
    version: String,
    /// What it holds and who wrote it, when it was read.
    pub(super) content: Option<(u64, Vec<[String; 3]>)>,
}

impl Before {
    /// The revision that was read.
    pub(super) fn revision(&self) -> Revision {
        Revision { uid: self.uid.clone(), resource_version: self.version.clone() }
    }

    /// True if an object of the target is still the one that was looked at, in the same version.
    pub(super) fn is_still(&self, there: &Object) -> bool {
        let There { uid, version, .. } = There::of(there);
        self.uid == uid && self.version == version
    }
}

impl Existing {
    /// Looks at what is there of what moves: its metadata, and its content where a list gives much of it at once. On the
    /// target of a move from the beginning there is nothing to look at.
    pub(crate) async fn look(work: &Work<'_>) -> Result<Self, MoveError> {
        if work.existed.is_empty() {
            return Ok(Self::default());
        }
        let nodes = work.plan.selection.moving();
        let keys = nodes.map(|node| (node, work.plan.key_on_target(node, work.request)));
        let keys: BTreeMap<_, _> = keys.filter(|(_, key)| work.existed.contains(key)).collect();
        let view = TargetView::look(&work.target, &keys).await.map_err(at(MoveSide::Target))?;
        let there = view.there.into_iter().map(|(key, there)| {
            let There { uid, version, .. } = there;
            (key, Before { uid, version, content: None })
        });
        let mut existing = Self { there: there.collect() };
        if !work.is_past_return() {
            existing.read(work, &keys).await.map_err(at(MoveSide::Target))?;
        }
        Ok(existing)
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&Before> {
        self.there.get(key)
    }

    async fn read(&mut self, work: &Work<'_>, keys: &BTreeMap<NodeId, ObjectKey>) -> Result<(), ApiError> {
        for ((kind, namespace), of) in self.worth_a_list(work, keys) {
            let kind = kind_on_target(&work.target, &kind, &of.kind.version).await?;
            let labels = if is_read_apart(&kind.group_kind()) { CLUSTER_NAME } else { "" };
            let namespace = (!namespace.is_empty()).then_some(namespace);
            let list = List { namespace, labels: labels.to_owned(), ..List::default() };
            let mut pages = work.target.server.pages(&kind, &list);
            let read = pages.gather(|read: &mut Vec<_>, object| {
                let key = ObjectKey::of(&object);
                if self.there.contains_key(&key) {
                    let There { uid, version, .. } = There::of(&object);
                    let content = Some((essence(&object), managers_of(&object)));
                    read.push((key, Before { uid, version, content }));
                }
            });
            self.there.extend(read.await?);
        }
        Ok(())
    }

    /// Kinds and namespaces with much to compare. Secrets and ConfigMaps that name no Cluster are compared one by one.
    fn worth_a_list<'w>(
        &self,
        work: &'w Work<'_>,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> BTreeMap<(GroupKind, String), &'w TypeFacts> {
        let mut counts: BTreeMap<(GroupKind, String), (usize, &TypeFacts)> = BTreeMap::new();
        for (node, key) in keys.iter().filter(|(_, key)| self.there.contains_key(key)) {
            let facts = &work.plan.discovered.graph.node(*node).facts;
            if !is_read_apart(&key.group_kind()) || facts.cluster_name.is_some() {
                counts.entry((key.group_kind(), key.namespace.clone())).or_insert((0, &facts.of)).0 += 1;
            }
        }
        let many = counts.into_iter().filter(|(_, (count, _))| *count >= FEW);
        many.map(|(place, (_, of))| (place, of)).collect()
    }
}
