//! Properties of all graphs.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
};

use fastrand::Rng;

use super::builder::{from, graph, only};
use crate::{ExcludeReason, Graph, MoveChoice, MoveDecision, NodeId, Selection};

const NAMESPACES: [&str; 2] = ["a", "b"];

/// Returns Clusters, classes, sets and other objects. Most have one or two owners, and cycles are possible.
fn some(rng: &mut Rng) -> Graph {
    let kinds =
        ["Cluster", "ClusterClass", "ClusterResourceSet", "Identity", "Thing", "Thing", "Secret", "Pool"];
    let namespaced = |kind: &str| kind != "Identity";
    let objects: Vec<(&str, &str, usize)> = (0..rng.usize(1..40))
        .map(|number| (kinds[rng.usize(..8)], NAMESPACES[rng.usize(..2)], number))
        .collect();
    let mut text = String::new();
    for (kind, namespace, number) in &objects {
        let place = if namespaced(kind) { format!("{namespace}/{number}") } else { number.to_string() };
        let _ = write!(text, "{kind} {place}");
        let owners = if *kind == "Cluster" { rng.usize(..5) / 4 } else { rng.usize(..3) };
        for _ in 0..owners {
            // The owner may be in another namespace; then it is a missing owner.
            let (kind, _, number) = objects[rng.usize(..objects.len())];
            let _ = write!(text, " < {kind} {number}");
        }
        let classes: Vec<_> = objects.iter().filter(|(kind, ..)| *kind == "ClusterClass").collect();
        if let (&"Cluster", Some((_, namespace, number))) = (kind, rng.choice(classes)) {
            let _ = write!(text, " class={namespace}/{number}");
        }
        text.push_str(["", "", "", "", " move", " move-hierarchy"][rng.usize(..6)]);
        text.push('\n');
    }
    graph(&text)
}

fn choices(graph: &Graph) -> [MoveChoice; 3] {
    let clusters: Vec<&str> = graph
        .iter()
        .filter(|(_, node)| node.facts.key.kind == "Cluster")
        .map(|(_, node)| &*node.facts.key.name)
        .collect();
    [from(&[]), from(&["a"]), only(&clusters[..clusters.len() / 2])]
}

#[test]
fn every_object_has_one_decision_and_moves_after_its_owners() {
    for seed in 0..500 {
        let graph = some(&mut Rng::with_seed(seed));
        for choice in choices(&graph) {
            let selection = graph.select(&choice);
            check(&graph, &selection, &format!("seed {seed}, {choice:?}"));
        }
    }
}

fn check(graph: &Graph, selection: &Selection, about: &str) {
    let mut places: HashMap<NodeId, usize> = HashMap::new();
    for (place, group) in graph.groups(selection).iter().enumerate() {
        assert!(group.is_sorted(), "{about}");
        for id in group {
            assert_eq!(
                places.insert(*id, place),
                None,
                "{about}: {} is there twice",
                graph.node(*id).facts.key
            );
        }
    }
    for (id, node) in graph.iter() {
        let about = format!("{about}: {}", node.facts.key);
        let moves = matches!(selection.decision(id), MoveDecision::Moves { .. });
        assert_eq!(places.contains_key(&id), moves, "{about}");
        if moves {
            assert!(node.owners.iter().all(|(_, owner)| owner.is_some()), "{about}");
            assert!(node.all_owners().all(|owner| places[&owner] < places[&id]), "{about}");
        }
        if let MoveDecision::Stays(ExcludeReason::OwnerStays(owner)) = selection.decision(id) {
            assert!(!selection.moves(*owner) && node.all_owners().any(|one| one == *owner), "{about}");
        }
    }
    let in_rings = selection.cycles.iter().flatten().count();
    let unique: BTreeSet<_> = selection.cycles.iter().flatten().collect();
    assert_eq!(in_rings, unique.len(), "{about}");
    for ring in &selection.cycles {
        for (owned, owner) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            assert!(graph.node(*owned).all_owners().any(|one| one == *owner), "{about}");
            assert!(!selection.moves(*owned), "{about}");
        }
    }
}

#[test]
fn chains_and_cycles_of_any_length_are_traversed() {
    let ring = |from: usize| {
        let line = |number: usize| format!("Thing a/{number} < Thing {}\n", (number + 1) % 20_000);
        (from..20_000).map(line).collect::<String>()
    };
    let selection = graph(&ring(0)).select(&from(&[]));
    assert_eq!(selection.cycles.iter().map(Vec::len).collect::<Vec<_>>(), [20_000]);
    let chain = graph(&("Thing a/0 move-hierarchy\n".to_owned() + &ring(1)));
    let selection = chain.select(&from(&[]));
    assert_eq!((selection.cycles.len(), chain.groups(&selection).len()), (0, 20_000));
}
