//! Drawings in each format.

use super::{DrawingFormat, MoveAnnotations, OwnerGraph, builder, draw, graph, of, only, ready, text};
use snapbox::{Assert, assert::DEFAULT_ACTION_ENV, assert_data_eq, str};

/// Conditions of all kinds, two owners, a soft owner, a shared class, a cluster-scoped object.
const SMALL: &str = "
    ClusterClass a/small
    Template a/worker < ClusterClass small
    Cluster a/one class=a/small
    Cluster b/two class=a/small
    Machine a/m1 < Cluster one
    Machine a/m2 < Cluster one
    Config a/m1 < Machine m1
    Secret a/m1 < Config m1 < Cluster one
    Secret a/one-ca
    Secret a/unrelated
    Identity who";

fn small() -> OwnerGraph {
    let mut facts = builder::facts(SMALL);
    for facts in &mut facts {
        match &*facts.key.to_string() {
            "Cluster a/one" => facts.condition = Some(ready("True", "Ready")),
            "Machine a/m1" => facts.condition = Some(ready("False", "NodeNotReady")),
            "Machine a/m2" => (facts.condition, facts.is_terminating) = (Some(ready("Unknown", "")), true),
            "Cluster b/two" => facts.is_paused = true,
            _ => {}
        }
    }
    of(facts)
}

#[test]
fn text_is_a_tree_with_each_object_once_in_full() {
    assert_data_eq!(
        text(&small()),
        str![[r#"
Identity who
ClusterClass a/small
├╌ Cluster one  [soft owner, Ready]
│  ├─ Machine m1  [not Ready: NodeNotReady]
│  │  └─ Config m1
│  │     └─ Secret m1
│  ├─ Machine m2  [Ready unknown, deleting]
│  ├─ Secret m1  [see Config m1]
│  └╌ Secret one-ca  [soft owner]
├╌ Cluster b/two  [soft owner, paused]
└─ Template worker

not shown: 1 Secret or ConfigMap without links

"#]]
    );
}

#[test]
fn annotations_show_the_move_decisions() {
    assert_data_eq!(
        draw(&small(), DrawingFormat::Text(MoveAnnotations::Shown)),
        str![[r#"
Identity who  -> moves: is a root object; also stays: it is cluster-scoped
ClusterClass a/small  -> moves: is a root object
├╌ Cluster one  [soft owner, Ready]  -> moves: is a root object
│  ├─ Machine m1  [not Ready: NodeNotReady]  -> moves: belongs to Cluster a/one
│  │  └─ Config m1  -> moves: belongs to Cluster a/one
│  │     └─ Secret m1  -> moves: belongs to Cluster a/one
│  ├─ Machine m2  [Ready unknown, deleting]  -> moves: belongs to Cluster a/one
│  ├─ Secret m1  [see Config m1]
│  └╌ Secret one-ca  [soft owner]  -> moves: belongs to Cluster a/one
├╌ Cluster b/two  [soft owner, paused]  -> moves: is a root object
└─ Template worker  -> moves: belongs to ClusterClass a/small

not shown: 1 Secret or ConfigMap without links

"#]]
    );
}

#[test]
fn a_cluster_graph_shows_owners_and_no_other_clusters() {
    assert_data_eq!(
        text(&only(SMALL, "one")),
        str![[r#"
ClusterClass a/small
└╌ Cluster one  [soft owner]
   ├─ Machine m1
   │  └─ Config m1
   │     └─ Secret m1
   ├─ Machine m2
   ├─ Secret m1  [see Config m1]
   └╌ Secret one-ca  [soft owner]

"#]]
    );
    assert_eq!(only(SMALL, "a/one").objects, only(SMALL, "one").objects);
}

#[test]
fn dot_has_frames_for_namespaces_and_clusters() {
    // A backslash here is not a path separator.
    let assert = Assert::new().action_env(DEFAULT_ACTION_ENV).normalize_paths(false);
    assert.eq(
        draw(&small(), DrawingFormat::Dot),
        str![[r##"
digraph owners {
  label="Owners of Cluster API";
  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10];
  subgraph cluster_0 {
    label="cluster-scoped";
      n4 [label="Identity\nwho", fillcolor="#eef0f3"];
  }
  subgraph cluster_1 {
    label="namespace a";
      n2 [label="ClusterClass\nsmall", fillcolor="#eef0f3"];
      n9 [label="Template\nworker", fillcolor="#eef0f3"];
    subgraph cluster_1_1 {
      label="Cluster one";
      n0 [label="Cluster\none\nReady", fillcolor="#d3f2dc"];
      n3 [label="Config\nm1", fillcolor="#eef0f3"];
      n5 [label="Machine\nm1\nnot Ready: NodeNotReady", fillcolor="#ffd9d6"];
      n6 [label="Machine\nm2\nReady unknown\ndeleting", fillcolor="#fdecc0"];
      n7 [label="Secret\nm1", fillcolor="#eef0f3"];
      n8 [label="Secret\none-ca", fillcolor="#eef0f3"];
    }
  }
  subgraph cluster_2 {
    label="namespace b";
    subgraph cluster_2_0 {
      label="Cluster two";
      n1 [label="Cluster\ntwo\npaused", fillcolor="#eef0f3"];
    }
  }
  n2 -> n0 [style=dashed];
  n2 -> n1 [style=dashed];
  n5 -> n3;
  n0 -> n5;
  n0 -> n6;
  n3 -> n7;
  n0 -> n7;
  n0 -> n8 [style=dashed];
  n2 -> n9;
}

"##]],
    );
}

#[test]
fn mermaid_has_frames_for_namespaces_and_clusters() {
    assert_data_eq!(
        draw(&small(), DrawingFormat::Mermaid),
        str![[r#"
flowchart TB
  subgraph f0["cluster-scoped"]
      n4["Identity<br/>who"]:::noCondition
  end
  subgraph f1["namespace a"]
      n2["ClusterClass<br/>small"]:::noCondition
      n9["Template<br/>worker"]:::noCondition
    subgraph f1p1["Cluster one"]
      n0["Cluster<br/>one<br/>Ready"]:::ready
      n3["Config<br/>m1"]:::noCondition
      n5["Machine<br/>m1<br/>not Ready: NodeNotReady"]:::notReady
      n6["Machine<br/>m2<br/>Ready unknown<br/>deleting"]:::unknown
      n7["Secret<br/>m1"]:::noCondition
      n8["Secret<br/>one-ca"]:::noCondition
    end
  end
  subgraph f2["namespace b"]
    subgraph f2p0["Cluster two"]
      n1["Cluster<br/>two<br/>paused"]:::noCondition
    end
  end
  n2 -.-> n0
  n2 -.-> n1
  n5 --> n3
  n0 --> n5
  n0 --> n6
  n3 --> n7
  n0 --> n7
  n0 -.-> n8
  n2 --> n9
  classDef ready fill:#d3f2dc,stroke:#1a7f37,color:#111
  classDef notReady fill:#ffd9d6,stroke:#c9302c,color:#111
  classDef unknown fill:#fdecc0,stroke:#9a6700,color:#111
  classDef noCondition fill:#eef0f3,stroke:#8a929c,color:#111

"#]]
    );
}

#[test]
fn json_refers_to_owners_by_position() {
    let mut facts = builder::facts("Cluster a/one\nMachine a/m < Cluster one < Thing gone");
    facts[0].condition = Some(ready("False", "ScalingUp"));
    facts[1].owners[0].controller = Some(true);
    let json = serde_json::to_string_pretty(&of(facts)).unwrap();
    assert_data_eq!(
        json,
        str![[r#"
{
  "namespaces": [],
  "objects": [
    {
      "object": {
        "group": "cluster.x-k8s.io",
        "kind": "Cluster",
        "namespace": "a",
        "name": "one"
      },
      "owners": [],
      "cluster": 0,
      "state": "notReady",
      "condition": {
        "type": "Ready",
        "status": "False",
        "reason": "ScalingUp"
      },
      "paused": false,
      "deleting": false,
      "fate": {
        "moves": true,
        "why": "is a root object"
      }
    },
    {
      "object": {
        "group": "infrastructure.cluster.x-k8s.io",
        "kind": "Machine",
        "namespace": "a",
        "name": "m"
      },
      "owners": [
        {
          "position": 0,
          "kind": "Cluster",
          "name": "one",
          "tie": "hard",
          "controller": true
        },
        {
          "kind": "Thing",
          "name": "gone",
          "tie": "hard",
          "controller": false
        }
      ],
      "cluster": 0,
      "state": "noCondition",
      "paused": false,
      "deleting": false,
      "fate": {
        "moves": false,
        "why": "its owner Thing gone does not exist or has a kind that does not move"
      }
    }
  ],
  "leftOut": 0
}
"#]]
    );
}

#[test]
fn an_empty_graph_is_drawn_empty() {
    assert_data_eq!(
        text(&graph("")),
        str![[r#"
no Cluster API objects found

"#]]
    );
    assert_data_eq!(
        text(&graph("Secret a/one\nConfigMap a/two")),
        str![[r#"
no Cluster API objects found

not shown: 2 Secrets and ConfigMaps without links

"#]]
    );
}
