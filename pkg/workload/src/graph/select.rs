//! What moves, what stays, and why.

mod candidates;
mod kept;

use std::collections::BTreeSet;

use self::candidates::Candidates;
use super::{Graph, Node, NodeId, cycles, order};

/// What is to be moved.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Out of these namespaces; all that were discovered when empty. Objects of the whole cluster always count.
    pub namespaces: BTreeSet<String>,
    /// Only these Clusters, by namespace and name; none for all.
    pub clusters: Option<BTreeSet<(String, String)>>,
    /// What becomes of objects that are being deleted.
    pub going: Going,
}

/// What becomes of objects that are being deleted, but for those an earlier move was about to delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Going {
    /// They are selected as all others, for whoever refuses them.
    #[default]
    Selected,
    /// They stay, and with them what they own.
    LeftOut,
}

impl Choice {
    /// Out of these namespaces the Clusters at these places, `namespace/name` each; none for all.
    pub fn of_places(namespaces: &BTreeSet<String>, clusters: Option<&BTreeSet<String>>) -> Self {
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

/// What becomes of every object.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// By node.
    fates: Vec<Fate>,
    /// Clusters beyond the chosen ones that share objects with them which can neither be copied nor stay: the choice is
    /// not closed. Each with an object they share; what is below that is not named.
    pub shared: Vec<(NodeId, NodeId)>,
    /// Owner references in a circle, once each.
    pub cycles: Vec<Vec<NodeId>>,
}

/// What becomes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is created on the target.
    Moves {
        /// Why.
        why: Included,
        /// Why it stays on the source as well; none when it is deleted there.
        kept: Option<KeptBecause>,
    },
    /// It stays.
    Stays(Excluded),
}

/// Why an object moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Included {
    /// It is the root of a hierarchy: a Cluster, a ClusterClass, a ClusterResourceSet, or labelled so.
    Root,
    /// It belongs to one, by owners or by name.
    BelongsTo(NodeId),
    /// It carries the label `move`.
    Labelled,
    /// Its definition does.
    KindLabelled,
}

/// Why an object that was moved is not deleted on the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBecause {
    /// It is of the whole cluster, or belongs to what is: left alone on the target if it is there.
    Global,
    /// Clusters that stay use it: a ClusterClass or ClusterResourceSet, and what belongs to it. With a choice of Clusters
    /// also what was labelled and is of no Cluster: others may use it.
    StillUsed,
}

/// Why an object stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// Nothing links it to what moves.
    NotLinked,
    /// It is of another namespace, and was looked at for what it may belong to.
    OtherNamespace,
    /// It belongs to a Cluster that was not chosen.
    NotChosen(NodeId),
    /// It belongs to what moves, and one of its owners does not move.
    OwnerStays(NodeId),
    /// It belongs to what moves, and one of its owners is not there or is of a kind that is not moved: `Kind name`.
    OwnerMissing(String),
    /// It, or an owner of it, owns itself.
    Cycle,
    /// It is being deleted.
    Going,
}

impl Selection {
    /// What becomes of an object.
    pub fn fate(&self, node: NodeId) -> &Fate {
        &self.fates[node.index()]
    }

    /// Whether an object moves.
    pub fn moves(&self, node: NodeId) -> bool {
        matches!(self.fate(node), Fate::Moves { .. })
    }

    /// What moves.
    pub fn moving(&self) -> impl Iterator<Item = NodeId> {
        (0..)
            .map(NodeId)
            .zip(&self.fates)
            .filter(|(_, fate)| matches!(fate, Fate::Moves { .. }))
            .map(|(id, _)| id)
    }
}

impl Choice {
    fn has_namespace(&self, node: &Node) -> bool {
        let namespace = &node.facts.key.namespace;
        self.namespaces.is_empty() || namespace.is_empty() || self.namespaces.contains(namespace)
    }

    /// Whether a Cluster is to move.
    fn has_cluster(&self, node: &Node) -> bool {
        let key = &node.facts.key;
        let is_named = |clusters: &BTreeSet<_>| clusters.contains(&(key.namespace.clone(), key.name.clone()));
        self.has_namespace(node) && self.clusters.as_ref().is_none_or(is_named)
    }
}

impl Graph {
    /// What becomes of every object when a choice of clusters is moved out of some namespaces.
    pub fn select(&self, choice: &Choice) -> Selection {
        let candidates = candidates::find(self, choice);
        let order = order::order(self);
        let mut fates = vec![Fate::Stays(Excluded::Cycle); self.nodes.len()];
        for id in order.sorted {
            fates[id.index()] = fate(self, id, choice, &candidates, &fates);
        }
        for id in &order.circular {
            if let Err(why) = candidates.of(*id) {
                fates[id.index()] = Fate::Stays(why);
            }
        }
        kept::mark(self, choice, &candidates, &mut fates);
        let cycles = cycles::rings(self, &order.circular);
        Selection { fates, shared: candidates.shared(self), cycles }
    }
}

/// What becomes of an object whose owners' fates are known: it moves when it is to and all its owners do.
fn fate(graph: &Graph, id: NodeId, choice: &Choice, candidates: &Candidates, fates: &[Fate]) -> Fate {
    let why = match candidates.of(id) {
        Ok(why) => why,
        Err(why) => return Fate::Stays(why),
    };
    let node = graph.node(id);
    if choice.going == Going::LeftOut && node.facts.is_just_going() {
        return Fate::Stays(Excluded::Going);
    }
    if let Some((written, _)) = node.owners.iter().find(|(_, owner)| owner.is_none()) {
        return Fate::Stays(Excluded::OwnerMissing(format!("{} {}", written.kind, written.name)));
    }
    let mut owners = node.all_owners();
    match owners.find(|owner| matches!(fates[owner.index()], Fate::Stays(_))) {
        None => Fate::Moves { why, kept: None },
        Some(owner) if fates[owner.index()] == Fate::Stays(Excluded::Cycle) => Fate::Stays(Excluded::Cycle),
        Some(owner) => Fate::Stays(Excluded::OwnerStays(owner)),
    }
}
