//! The owner graph of the objects of Cluster API: who owns whom, which cluster each belongs to, what a move takes along
//! and why, and in which order.
//!
//! ```text
//! discover ─► Facts of every object ─► Graph (hard and soft owners) ─► Selection (fate of each, with the reason) ─► groups
//! ```
//!
//! Pure: facts in, decisions out. Near-linear in objects and owner references.

mod build;
mod cycles;
mod facts;
mod order;
mod select;
mod words;

pub use facts::{ClusterFacts, ConditionFacts, Content, Facts, OwnerRef, Replicas, TypeFacts};
pub use select::{Choice, Excluded, Fate, Going, Included, KeptBecause, Selection};

/// An object in its graph: an index into [`Graph::node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// All discovered objects and who owns them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
}

/// An object.
#[derive(Clone, Debug)]
pub struct Node {
    /// What is known of it.
    pub facts: Facts,
    /// Its owner references, each with the owner when that was discovered.
    pub owners: Vec<(OwnerRef, Option<NodeId>)>,
    /// Whom it belongs to without an owner reference: the Cluster of a user's certificates, the ClusterClass of a
    /// Cluster, the Cluster of a ClusterResourceSetBinding.
    pub soft_owners: Vec<NodeId>,
    /// What it owns, by hard and by soft references.
    pub owned: Vec<NodeId>,
}

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Node {
    /// Its owners that were discovered, hard and soft; one of two references more than once.
    pub fn all_owners(&self) -> impl Iterator<Item = NodeId> {
        self.owners.iter().filter_map(|(_, owner)| *owner).chain(self.soft_owners.iter().copied())
    }
}

impl Graph {
    /// Puts objects together by their owner references (by uid), the names of certificates and what Clusters refer to.
    /// An object that was given twice (by uid) is there once.
    /// Source: clusterctl v1.14 client/cluster/objectgraph.go; differs: there, the last dash of
    /// `NAME-apiserver-etcd-client` is taken wrongly: here such Secrets belong to their Cluster.
    pub fn new(objects: Vec<Facts>) -> Self {
        build::build(objects)
    }

    /// Every object with its id, by kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// An object.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// What becomes of every object when a choice of clusters is moved out of some namespaces.
    pub fn select(&self, choice: &Choice) -> Selection {
        select::select(self, choice)
    }

    /// What moves, in groups: owners, hard and soft, before what they own; by kind, namespace and name within a group.
    /// A move creates group by group and deletes in reverse. Selected objects are all in exactly one group.
    pub fn groups(&self, selection: &Selection) -> Vec<Vec<NodeId>> {
        order::groups(self, selection)
    }
}

#[cfg(test)]
pub(crate) mod tests;
