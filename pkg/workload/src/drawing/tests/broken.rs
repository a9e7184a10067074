//! Invalid graphs.

use super::{Graph, Scope, builder, graph, owner_graph, text};
use snapbox::{assert_data_eq, str};

#[test]
fn a_missing_owner_is_named() {
    assert_data_eq!(
        text(&graph("Machine a/m < Cluster gone")),
        str![[r#"
Machine a/m  [owner Cluster gone does not exist]

"#]]
    );
}

#[test]
fn cycles_are_drawn_once_and_reported() {
    assert_data_eq!(
        text(&graph(
            "Thing a/x < Thing z
         Thing a/y < Thing x
         Thing a/z < Thing y
         Thing a/below < Thing z
         Thing a/self < Thing self"
        )),
        str![[r#"
Thing a/self
└─ Thing self  [shown separately]
Thing a/x
└─ Thing y
   └─ Thing z
      ├─ Thing below
      └─ Thing x  [shown separately]

ownership cycle: Thing a/self
ownership cycle: Thing a/x is owned by Thing a/z is owned by Thing a/y

"#]]
    );
}

#[test]
fn a_chain_of_any_length_is_drawn() {
    let lines: Vec<String> = (1..3_000).map(|n| format!("Thing a/t{n} < Thing t{}", n - 1)).collect();
    let drawn = text(&graph(&format!("Thing a/t0\n{}", lines.join("\n"))));
    assert_eq!(drawn.lines().count(), 3_000);
}

#[test]
fn a_missing_cluster_is_reported_with_similar_names() {
    let graph = Graph::new(builder::facts("Cluster a/production\nCluster b/other"));
    let near = |scope: &Scope, name: &str| owner_graph(&graph, scope, Some(name)).unwrap_err().suggestions;
    let all = Scope::default();
    assert_eq!(near(&all, "prodution"), ["a/production"]);
    assert_eq!(near(&all, "b/production"), ["a/production"]);
    let one = Scope { namespaces: ["b".to_owned()].into() };
    assert_eq!(near(&one, "production"), ["b/other"]);
}
