//! The owner graph of Cluster API objects: their owners, their Clusters, and the decisions and the order of a move.
//!
//! ```text
//! discover ─► Facts of every object ─► Graph (hard and soft owners) ─► Selection (decisions, with reasons) ─► groups
//! ```
//!
//! Pure: facts in, decisions out. Near-linear in objects and owner references.

mod build;
mod cycles;
mod facts;
mod order;
mod reasons;
mod select;

pub use facts::{
    ClusterFacts, ConditionFacts, ContentFacts, ObjectFacts, OwnerRef, ReplicaCounts, TypeFacts,
};
pub use select::{
    ExcludeReason, IncludeReason, KeepReason, MoveChoice, MoveDecision, Selection, TerminatingPolicy,
};

/// An object in its graph: an index into [`Graph::node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// All discovered objects with their owners.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
}

/// An object with its facts and owners.
#[derive(Clone, Debug)]
pub struct Node {
    /// The known facts.
    pub facts: ObjectFacts,
    /// The owner references, each with its owner if the owner was discovered.
    pub owners: Vec<(OwnerRef, Option<NodeId>)>,
    /// Owners without an owner reference: the Cluster of user-supplied certificates, the ClusterClass of a Cluster, the
    /// Cluster of a ClusterResourceSetBinding.
    pub soft_owners: Vec<NodeId>,
    /// The owned objects, by hard and by soft references.
    pub owned: Vec<NodeId>,
}

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Node {
    /// Returns the discovered owners, hard and soft. An owner with two references occurs twice.
    pub fn all_owners(&self) -> impl Iterator<Item = NodeId> {
        self.owners.iter().filter_map(|(_, owner)| *owner).chain(self.soft_owners.iter().copied())
    }
}

impl Graph {
    /// Returns every object with its id, by kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Returns an object.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

#[cfg(test)]
pub(crate) mod tests;
