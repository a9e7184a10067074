//! Graphs as text: one line for each object, with its owners after `<`.
//!
//! ```text
//! Cluster a/one class=a/small
//! Machine a/m < Cluster one
//! Secret a/credentials move
//! ```
//!
//! An owner is in the namespace of the owned object, or cluster-scoped.

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use apply::{ApiKind, ObjectKey};

use crate::{
    ClusterFacts, ContentFacts, ExcludeReason, Graph, IncludeReason, KeepReason, MoveChoice, MoveDecision,
    NodeId, ObjectFacts, OwnerRef, Selection, TypeFacts,
};

/// The properties of kinds, except for namespaced kinds of an infrastructure provider.
struct OfKind {
    group: &'static str,
    namespaced: bool,
    is_to_move: bool,
    is_hierarchy: bool,
}

fn of_kind(kind: &str) -> OfKind {
    let (group, namespaced, is_to_move, is_hierarchy) = match kind {
        "Cluster" | "ClusterClass" => ("cluster.x-k8s.io", true, false, true),
        "ClusterResourceSet" => ("addons.cluster.x-k8s.io", true, false, true),
        "ClusterResourceSetBinding" => ("addons.cluster.x-k8s.io", true, false, false),
        "Secret" | "ConfigMap" => ("", true, false, false),
        "Identity" => ("infrastructure.cluster.x-k8s.io", false, false, true),
        "LocalIdentity" => ("infrastructure.cluster.x-k8s.io", true, false, true),
        "Global" => ("infrastructure.cluster.x-k8s.io", false, false, false),
        "Pool" => ("ipam.cluster.x-k8s.io", true, true, false),
        _ => ("infrastructure.cluster.x-k8s.io", true, false, false),
    };
    OfKind { group, namespaced, is_to_move, is_hierarchy }
}

/// Parses facts of objects, one for each line.
pub(crate) fn facts(text: &str) -> Vec<ObjectFacts> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(one).collect()
}

/// Parses a graph.
pub(super) fn graph(text: &str) -> Graph {
    Graph::new(facts(text))
}

fn one(line: &str) -> ObjectFacts {
    let mut words = line.split_whitespace();
    let (kind, place) = (words.next().unwrap(), words.next().unwrap());
    let mut facts = bare(kind, place);
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some(("class", class)) => {
                let (namespace, name) = class.split_once('/').unwrap();
                let class = Some((namespace.to_owned(), name.to_owned()));
                facts.content = ContentFacts::Cluster(ClusterFacts { class, ..ClusterFacts::default() });
            }
            Some(("for", cluster)) => facts.content = ContentFacts::Binding { cluster: cluster.to_owned() },
            _ if word == "<" => {
                let owner = owner(&facts.key.namespace, words.next().unwrap(), words.next().unwrap());
                facts.owners.push(owner);
            }
            _ if word == "going" => facts.is_terminating = true,
            _ if word == "move" => facts.is_labelled_to_move = true,
            _ if word == "move-hierarchy" => facts.is_hierarchy = true,
            _ => panic!("`{word}` in `{line}`"),
        }
    }
    facts
}

/// Returns the facts of an object with only a key: `namespace/name`, or a name alone.
pub(crate) fn bare(kind: &str, place: &str) -> ObjectFacts {
    let OfKind { group, namespaced, is_to_move, is_hierarchy } = of_kind(kind);
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let api_kind = ApiKind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: format!("{}s", kind.to_lowercase()),
        namespaced,
        verbs: Vec::new(),
    };
    let key = ObjectKey {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    let content = match kind {
        "Cluster" => ContentFacts::Cluster(ClusterFacts::default()),
        "ClusterClass" => ContentFacts::ClusterClass,
        _ => ContentFacts::Plain,
    };
    ObjectFacts {
        uid: key.to_string(),
        key,
        object_type: Arc::new(TypeFacts {
            kind: api_kind,
            is_labelled_to_move: is_to_move,
            is_hierarchy,
            has_status: true,
            provider: None,
        }),
        resource_version: "1".to_owned(),
        owners: Vec::new(),
        is_labelled_to_move: false,
        is_hierarchy: false,
        blocks_move: false,
        is_terminating: false,
        is_deleted_for_move: false,
        paused_by: None,
        is_paused: false,
        pause_acknowledged: None,
        gitops_tool: None,
        cluster_name: None,
        condition: None,
        content,
    }
}

fn owner(namespace: &str, kind: &str, name: &str) -> OwnerRef {
    let of = of_kind(kind);
    let namespace = if of.namespaced { format!("{namespace}/") } else { String::new() };
    OwnerRef {
        api_version: format!("{}/v1", of.group),
        kind: kind.to_owned(),
        name: name.to_owned(),
        uid: format!("{kind} {namespace}{name}"),
        controller: None,
        block_owner_deletion: None,
    }
}

/// Returns a choice of these namespaces; empty for all.
pub(super) fn from(namespaces: &[&str]) -> MoveChoice {
    let namespaces: BTreeSet<_> = namespaces.iter().map(|name| (*name).to_owned()).collect();
    MoveChoice { namespaces, ..MoveChoice::default() }
}

/// Returns a choice of these Clusters in namespace `a`.
pub(super) fn only(clusters: &[&str]) -> MoveChoice {
    let clusters = clusters.iter().map(|name| ("a".to_owned(), (*name).to_owned())).collect();
    MoveChoice { clusters: Some(clusters), ..from(&["a"]) }
}

/// Formats the decision for every object, shared objects and cycles; one line each.
pub(super) fn reported(graph: &Graph, choice: &MoveChoice) -> String {
    let selection = graph.select(choice);
    let name = |id: NodeId| graph.node(id).facts.key.to_string();
    let mut reported = String::new();
    for (id, _) in graph.iter() {
        let _ = writeln!(reported, "{}: {}", name(id), fate(selection.decision(id), &name));
    }
    for (cluster, object) in &selection.shared {
        let _ = writeln!(reported, "shared with {}: {}", name(*cluster), name(*object));
    }
    for ring in &selection.cycles {
        let names: Vec<_> = ring.iter().map(|id| name(*id)).collect();
        let _ = writeln!(reported, "ring: {}", names.join(" < "));
    }
    reported
}

fn fate(fate: &MoveDecision, name: &impl Fn(NodeId) -> String) -> String {
    match fate {
        MoveDecision::Moves { why, kept } => {
            let why = match why {
                IncludeReason::Root => "moves".to_owned(),
                IncludeReason::BelongsTo(root) => format!("moves with {}", name(*root)),
                IncludeReason::Labelled => "moves by its label".to_owned(),
                IncludeReason::KindLabelled => "moves by its kind's label".to_owned(),
            };
            let kept = match kept {
                None => "",
                Some(KeepReason::ClusterScoped) => ", kept as global",
                Some(KeepReason::StillUsed) => ", kept as used",
            };
            why + kept
        }
        MoveDecision::Stays(why) => match why {
            ExcludeReason::NotLinked => "stays".to_owned(),
            ExcludeReason::OtherNamespace => "stays, elsewhere".to_owned(),
            ExcludeReason::NotChosen(cluster) => format!("stays with {}", name(*cluster)),
            ExcludeReason::OwnerStays(owner) => format!("stays as {} does", name(*owner)),
            ExcludeReason::OwnerMissing(owner) => format!("stays without {owner}"),
            ExcludeReason::Cycle => "stays in a ring".to_owned(),
            ExcludeReason::Terminating => "stays, being deleted".to_owned(),
        },
    }
}

/// Formats the groups of moved objects, one line each.
pub(super) fn grouped(graph: &Graph, selection: &Selection) -> String {
    let groups = graph.groups(selection).into_iter();
    let names = groups.map(|group| {
        let names: Vec<_> = group.iter().map(|id| graph.node(*id).facts.key.to_string()).collect();
        names.join(", ") + "\n"
    });
    names.collect()
}
