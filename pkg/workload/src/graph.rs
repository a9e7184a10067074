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
    /// Every object with its id, by kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// An object.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

#[cfg(test)]
pub(crate) mod tests;
