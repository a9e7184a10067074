//! Properties of every graph in every format.

use std::{collections::BTreeSet, fmt::Write as _};

use api::output::GraphTie;

use super::{DrawingFormat, MoveAnnotations, OwnerGraph, draw, graph, page};

/// Makes up to 40 objects with up to three owners each, including cycles.
fn random(random: &mut fastrand::Rng) -> OwnerGraph {
    let objects = random.usize(1..40);
    let mut lines = "Cluster a/c\n".to_owned();
    for at in 0..objects {
        let kind = if random.u8(..4) == 0 { "Secret" } else { "Thing" };
        let name = if kind == "Secret" && random.bool() { "c-ca".to_owned() } else { format!("t{at}") };
        let _ = write!(lines, "{kind} a/{name}");
        for _ in 0..random.usize(..3) {
            let _ = write!(lines, " < Thing t{}", random.usize(..objects));
        }
        lines.push('\n');
    }
    graph(&lines)
}

/// Returns the edges as positions of owner and owned object, once per pair.
fn edges(graph: &OwnerGraph) -> BTreeSet<(usize, usize, bool)> {
    let objects = graph.objects.iter().enumerate();
    let ties = objects.flat_map(|(at, object)| object.owners.iter().map(move |owner| (at, owner)));
    ties.filter_map(|(at, owner)| Some((owner.position?, at, owner.tie == GraphTie::Soft))).collect()
}

fn number(text: &str) -> usize {
    text.trim_end_matches(';').strip_prefix('n').unwrap().parse().unwrap()
}

/// Parses the nodes and edges of a digraph.
fn read(text: &str, arrows: [&str; 2]) -> (BTreeSet<usize>, BTreeSet<(usize, usize, bool)>) {
    let (mut nodes, mut edges) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('n') && !line.starts_with("node"))
    {
        match &*line.split(' ').collect::<Vec<_>>() {
            [owner, arrow, owned, rest @ ..] if arrows.contains(arrow) => {
                let is_soft = *arrow == arrows[1] && !rest.is_empty() || *arrow == "-.->";
                edges.insert((number(owner), number(owned), is_soft));
            }
            _ => _ = nodes.insert(number(&line[..line.find([' ', '[']).unwrap()])),
        }
    }
    (nodes, edges)
}

#[test]
fn every_format_contains_every_object_and_owner() {
    let mut rng = fastrand::Rng::with_seed(6);
    for round in 0..200 {
        let graph = random(&mut rng);
        let (all, ties) = ((0..graph.objects.len()).collect::<BTreeSet<_>>(), edges(&graph));
        assert_eq!(
            read(&draw(&graph, DrawingFormat::Dot), ["->", "->"]),
            (all.clone(), ties.clone()),
            "{round}"
        );
        assert_eq!(
            read(&draw(&graph, DrawingFormat::Mermaid), ["-->", "-.->"]),
            (all, ties.clone()),
            "{round}"
        );
        assert_tree(&graph, &ties);
        assert!(page(&graph).contains(&format!("\"objects\":{}", json(&graph))), "{round}");
    }
}

/// Checks that a tree has every object once in full, and a branch for every edge.
fn assert_tree(graph: &OwnerGraph, ties: &BTreeSet<(usize, usize, bool)>) {
    let tree = draw(graph, DrawingFormat::Text(MoveAnnotations::Shown));
    let lines: Vec<&str> = tree.lines().take_while(|line| !line.is_empty()).collect();
    let full = lines.iter().filter(|line| line.contains("  -> "));
    assert_eq!(full.count(), graph.objects.len(), "{tree}");
    let branches =
        lines.iter().filter(|line| ["├─ ", "└─ ", "├╌ ", "└╌ "].iter().any(|mark| line.contains(mark)));
    let pairs: BTreeSet<_> = ties.iter().map(|(owner, owned, _)| (owner, owned)).collect();
    assert_eq!(branches.count(), pairs.len(), "{tree}");
}

fn json(graph: &OwnerGraph) -> String {
    serde_json::to_string(&graph.objects).unwrap()
}

#[test]
fn the_same_objects_in_any_order_give_the_same_drawing() {
    let one = graph("Cluster a/c\nMachine a/m < Cluster c\nMachine a/n < Cluster c");
    let other = graph("Machine a/n < Cluster c\nMachine a/m < Cluster c\nCluster a/c");
    for drawing in [DrawingFormat::Text(MoveAnnotations::Shown), DrawingFormat::Dot, DrawingFormat::Mermaid] {
        assert_eq!(draw(&one, drawing), draw(&other, drawing));
    }
    assert_eq!(page(&one), page(&other));
}
