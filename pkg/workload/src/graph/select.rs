//! The selection of a move: moved objects, remaining objects, and the reasons.

mod candidates;
mod keep_reasons;

use std::collections::BTreeSet;

use self::candidates::Candidates;
use super::{Graph, Node, NodeId, cycles, order};

/// The objects to move.
#[derive(Clone, Debug, Default)]
pub struct MoveChoice {
    /// The source namespaces; empty for all discovered namespaces. Cluster-scoped objects are always included.
    pub namespaces: BTreeSet<String>,
    /// The chosen Clusters, by namespace and name. None for all Clusters.
    pub clusters: Option<BTreeSet<(String, String)>>,
    /// The policy for terminating objects.
    pub terminating: TerminatingPolicy,
}

/// The policy for terminating objects, except objects that an earlier move was about to delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminatingPolicy {
    /// Select terminating objects like all others, so that the caller can refuse them.
    #[default]
    Include,
    /// Exclude terminating objects, and the objects they own.
    Exclude,
}

impl MoveChoice {
    /// Returns a choice of Clusters in these namespaces, as `namespace/name`. None for all Clusters.
    pub fn from_names(namespaces: &BTreeSet<String>, clusters: Option<&BTreeSet<String>>) -> Self {
        let pair = |place: &String| {
            let (namespace, name) = place.split_once('/').unwrap_or(("", place));
            (namespace.to_owned(), name.to_owned())
        };
        Self {
            namespaces: namespaces.clone(),
            clusters: clusters.map(|clusters| clusters.iter().map(pair).collect()),
            ..Self::default()
        }
    }
}

/// The decisions for all objects.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The decisions by node.
    decisions: Vec<MoveDecision>,
    /// Clusters outside the choice that share objects with chosen Clusters, if these objects can neither be copied nor
    /// stay. Each Cluster comes with a shared object; objects below that object are omitted.
    pub shared: Vec<(NodeId, NodeId)>,
    /// Cycles of owner references, each once.
    pub cycles: Vec<Vec<NodeId>>,
}

/// The decision for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveDecision {
    /// The object is created on the target.
    Moves {
        /// The reason for the move.
        why: IncludeReason,
        /// The reason to keep the object on the source as well. None if the source object is deleted.
        kept: Option<KeepReason>,
    },
    /// The object stays.
    Stays(ExcludeReason),
}

/// The reason why an object moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncludeReason {
    /// The object is the root of a hierarchy: a Cluster, a ClusterClass, a ClusterResourceSet, or a labelled object.
    Root,
    /// The object belongs to this root, by owners or by name.
    BelongsTo(NodeId),
    /// The object has the label `move`.
    Labelled,
    /// The definition of its kind has the label `move`.
    KindLabelled,
}

/// The reason why a moved object is not deleted on the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepReason {
    /// The object is cluster-scoped, or belongs to a cluster-scoped object. An existing object on the target is not
    /// changed.
    ClusterScoped,
    /// Remaining Clusters use the object: a ClusterClass or ClusterResourceSet, and its dependents. If Clusters were
    /// chosen, labelled objects without a Cluster are kept too, because others may use them.
    StillUsed,
}

/// The reason why an object stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExcludeReason {
    /// No moved object is linked to it.
    NotLinked,
    /// The object is in another namespace. It was only read to find its links.
    OtherNamespace,
    /// The object belongs to a Cluster that was not chosen.
    NotChosen(NodeId),
    /// The object belongs to a moved object, and one of its owners does not move.
    OwnerStays(NodeId),
    /// The object belongs to a moved object, and one of its owners does not exist or has a kind that is not moved:
    /// `Kind name`.
    OwnerMissing(String),
    /// The object, or one of its owners, owns itself.
    Cycle,
    /// The object is being deleted.
    Terminating,
}

impl Selection {
    /// Returns the decision for an object.
    pub fn decision(&self, node: NodeId) -> &MoveDecision {
        &self.decisions[node.index()]
    }

    /// True if the object moves.
    pub fn moves(&self, node: NodeId) -> bool {
        matches!(self.decision(node), MoveDecision::Moves { .. })
    }

    /// Returns the moved objects.
    pub fn moving(&self) -> impl Iterator<Item = NodeId> {
        (0..)
            .map(NodeId)
            .zip(&self.decisions)
            .filter(|(_, fate)| matches!(fate, MoveDecision::Moves { .. }))
            .map(|(id, _)| id)
    }
}

impl MoveChoice {
    fn includes_namespace(&self, node: &Node) -> bool {
        let namespace = &node.facts.key.namespace;
        self.namespaces.is_empty() || namespace.is_empty() || self.namespaces.contains(namespace)
    }

    /// True if the Cluster was chosen.
    fn includes_cluster(&self, node: &Node) -> bool {
        let key = &node.facts.key;
        let is_named = |clusters: &BTreeSet<_>| clusters.contains(&(key.namespace.clone(), key.name.clone()));
        self.includes_namespace(node) && self.clusters.as_ref().is_none_or(is_named)
    }
}

impl Graph {
    /// Decides about every object for a choice of Clusters and namespaces.
    pub fn select(&self, choice: &MoveChoice) -> Selection {
        let candidates = candidates::find(self, choice);
        let order = order::owner_order(self);
        let mut fates = vec![MoveDecision::Stays(ExcludeReason::Cycle); self.nodes.len()];
        for id in order.sorted {
            fates[id.index()] = decide(self, id, choice, &candidates, &fates);
        }
        for id in &order.circular {
            if let Err(why) = candidates.reason(*id) {
                fates[id.index()] = MoveDecision::Stays(why);
            }
        }
        keep_reasons::mark_kept(self, choice, &candidates, &mut fates);
        let cycles = cycles::find_cycles(self, &order.circular);
        Selection { decisions: fates, shared: candidates.shared(self), cycles }
    }
}

/// Decides about an object after its owners: the object moves if it is a candidate and all its owners move.
fn decide(
    graph: &Graph,
    id: NodeId,
    choice: &MoveChoice,
    candidates: &Candidates,
    fates: &[MoveDecision],
) -> MoveDecision {
    let why = match candidates.reason(id) {
        Ok(why) => why,
        Err(why) => return MoveDecision::Stays(why),
    };
    let node = graph.node(id);
    if choice.terminating == TerminatingPolicy::Exclude && node.facts.is_terminating_outside_move() {
        return MoveDecision::Stays(ExcludeReason::Terminating);
    }
    if let Some((reference, _)) = node.owners.iter().find(|(_, owner)| owner.is_none()) {
        return MoveDecision::Stays(ExcludeReason::OwnerMissing(format!(
            "{} {}",
            reference.kind, reference.name
        )));
    }
    let mut owners = node.all_owners();
    match owners.find(|owner| matches!(fates[owner.index()], MoveDecision::Stays(_))) {
        None => MoveDecision::Moves { why, kept: None },
        Some(owner) if fates[owner.index()] == MoveDecision::Stays(ExcludeReason::Cycle) => {
            MoveDecision::Stays(ExcludeReason::Cycle)
        }
        Some(owner) => MoveDecision::Stays(ExcludeReason::OwnerStays(owner)),
    }
}
