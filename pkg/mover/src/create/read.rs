//! Reads the objects to copy: page by page where many objects of a kind move. Objects are read one by one if few of a
//! kind move, or if a list would include objects that must not be read.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    mem,
};

use apply::{GroupKind, ListQuery, ObjectPage, ObjectPages};
use inventory::ManagementCluster;
use manifest::Object;
use workload::{Graph, NodeId, ObjectFacts};

use crate::{MoveError, MoveSide, error::api_error};

/// Minimum number of objects of a kind in a namespace for a list. Fewer objects are read one by one.
pub(super) const MIN_LIST_OBJECTS: usize = 4;
/// Maximum ratio of listed objects to wanted objects.
const MAX_LIST_RATIO: usize = 8;
/// Label of the objects that belong to a Cluster.
pub(super) const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// Maximum number of objects in memory at once.
const PAGE_SIZE: usize = 200;

/// The remaining reads of a group.
pub(crate) struct ObjectReader<'w> {
    source: &'w ManagementCluster,
    graph: &'w Graph,
    one_by_one: Vec<NodeId>,
    lists: VecDeque<PendingList>,
    current: Option<(PendingList, ObjectPages)>,
    has_missing: bool,
}

/// Objects of one kind in one namespace to read, by name.
struct PendingList {
    namespace: String,
    /// Label selector that matches all of the objects; may be empty.
    labels: &'static str,
    names: HashMap<String, NodeId>,
}

/// A set of objects that one list may read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ListScope<'w> {
    kind: GroupKind,
    namespace: &'w str,
    /// True if the objects name their Cluster.
    is_labelled: bool,
}

impl<'w> ListScope<'w> {
    /// Returns the set of an object. For most kinds, one set contains all objects of a namespace.
    fn of(facts: &'w ObjectFacts) -> Self {
        let kind = facts.key.group_kind();
        let is_labelled = is_listed_by_cluster(&kind) && facts.cluster_name.is_some();
        Self { kind, namespace: &facts.key.namespace, is_labelled }
    }

    /// Returns the label selector of a list. None if every list would read objects that must not be read.
    fn labels(&self) -> Option<&'static str> {
        match (is_listed_by_cluster(&self.kind), self.is_labelled) {
            (false, _) => Some(""),
            (true, true) => Some(CLUSTER_NAME),
            (true, false) => None,
        }
    }
}

/// True for kinds whose objects mostly stay and may be large. Only objects that name a Cluster are listed.
pub(super) fn is_listed_by_cluster(kind: &GroupKind) -> bool {
    kind.group.is_empty() && matches!(&*kind.kind, "Secret" | "ConfigMap")
}

impl<'w> ObjectReader<'w> {
    pub(crate) fn new(source: &'w ManagementCluster, graph: &'w Graph, nodes: &[NodeId]) -> Self {
        let facts = |node| &graph.node(node).facts;
        let mut scopes: BTreeMap<ListScope<'_>, Vec<NodeId>> = BTreeMap::new();
        for node in nodes {
            scopes.entry(ListScope::of(facts(*node))).or_default().push(*node);
        }
        let mut counts: BTreeMap<ListScope<'_>, usize> = BTreeMap::new();
        for (_, node) in graph.iter() {
            let place = ListScope::of(&node.facts);
            if scopes.contains_key(&place) {
                *counts.entry(place).or_default() += 1;
            }
        }
        let (one_by_one, lists) = (Vec::new(), VecDeque::new());
        let mut reading = Self { source, graph, one_by_one, lists, current: None, has_missing: false };
        for (place, nodes) in scopes {
            let all = counts.get(&place).copied().unwrap_or_default();
            match place
                .labels()
                .filter(|_| nodes.len() >= MIN_LIST_OBJECTS && nodes.len() * MAX_LIST_RATIO >= all)
            {
                None => reading.one_by_one.extend(nodes),
                Some(labels) => {
                    let names = nodes.into_iter().map(|node| (facts(node).key.name.clone(), node)).collect();
                    reading.lists.push_back(PendingList {
                        namespace: place.namespace.to_owned(),
                        labels,
                        names,
                    });
                }
            }
        }
        reading
    }

    /// Returns the next objects to copy. An object without content is read by the caller.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<(NodeId, Option<Object>)>>, MoveError> {
        if !self.one_by_one.is_empty() {
            let alone = mem::take(&mut self.one_by_one);
            return Ok(Some(alone.into_iter().map(|node| (node, None)).collect()));
        }
        loop {
            let Some((mut wanted, mut pages)) = self.current.take().or_else(|| self.start_next_list()) else {
                return Ok(None);
            };
            let page = match pages.next().await {
                // The list has expired more than once, so the remaining objects are listed again.
                Err(error) if error.code() == Some(410) => {
                    self.lists.push_front(wanted);
                    continue;
                }
                page => page.map_err(api_error(MoveSide::Source))?,
            };
            let Some(ObjectPage::First(objects) | ObjectPage::Next(objects)) = page else {
                self.has_missing |= !wanted.names.is_empty();
                continue;
            };
            let found = objects.into_iter();
            let found = found.filter_map(|object| Some((wanted.names.remove(object.name())?, Some(object))));
            let found: Vec<_> = found.collect();
            if !wanted.names.is_empty() {
                self.current = Some((wanted, pages));
            }
            if !found.is_empty() {
                return Ok(Some(found));
            }
        }
    }

    /// True if an object no longer existed.
    pub(crate) fn has_missing(&self) -> bool {
        self.has_missing
    }

    fn start_next_list(&mut self) -> Option<(PendingList, ObjectPages)> {
        let wanted = self.lists.pop_front()?;
        let node = *wanted.names.values().next()?;
        let kind = &self.graph.node(node).facts.object_type.kind;
        let list = ListQuery {
            namespace: (!wanted.namespace.is_empty()).then(|| wanted.namespace.clone()),
            labels: wanted.labels.to_owned(),
            ..ListQuery::default()
        };
        let pages = self.source.server.pages(kind, &list).with_size(PAGE_SIZE);
        Some((wanted, pages))
    }
}
