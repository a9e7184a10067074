//! Moves of one namespace out of several.

use super::builder::{from, graph, reported};
use snapbox::{assert_data_eq, str};

// Row: PRV-63
#[test]
fn only_objects_of_the_namespace_or_cluster_scoped_objects_move() {
    let graph = graph(
        "Cluster a/one
         Machine a/m < Cluster one
         Cluster b/two
         Machine b/m < Cluster two
         Pool b/all
         Thing b/labelled move
         Thing b/root move-hierarchy
         ClusterResourceSet b/net
         Identity who",
    );
    assert_data_eq!(
        reported(&graph, &from(&["a"])),
        str![[r#"
Cluster a/one: moves
Cluster b/two: stays, elsewhere
ClusterResourceSet b/net: stays, elsewhere
Identity who: moves, kept as global
Machine a/m: moves with Cluster a/one
Machine b/m: stays, elsewhere
Pool b/all: stays, elsewhere
Thing b/labelled: stays, elsewhere
Thing b/root: stays, elsewhere

"#]]
    );
}

// Row: PRV-66
#[test]
fn a_secret_of_a_providers_namespace_moves_with_its_owner_or_its_label() {
    let graph = graph(
        "Identity who
         Secret provider-system/credentials < Identity who
         Secret provider-system/labelled move
         Secret provider-system/root move-hierarchy
         Secret provider-system/unrelated
         Secret provider-system/x < Cluster x
         Secret provider-system/x-ca
         Cluster provider-system/x class=a/small
         ClusterClass a/small",
    );
    assert_data_eq!(
        reported(&graph, &from(&["a"])),
        str![[r#"
Cluster provider-system/x: stays, elsewhere
ClusterClass a/small: moves, kept as used
Identity who: moves, kept as global
Secret provider-system/credentials: moves with Identity who, kept as global
Secret provider-system/labelled: moves by its label
Secret provider-system/root: moves
Secret provider-system/unrelated: stays, elsewhere
Secret provider-system/x: stays, elsewhere
Secret provider-system/x-ca: stays, elsewhere

"#]]
    );
}

#[test]
fn a_used_class_in_another_namespace_is_copied_and_kept() {
    let graph = graph(
        "ClusterClass shared/small
         Template shared/t < ClusterClass small
         Template shared/both < ClusterClass small < ClusterClass large
         ClusterClass shared/large
         Template shared/l < ClusterClass large
         ClusterClass shared/unused
         Template shared/u < ClusterClass unused
         Cluster a/one class=shared/small
         Machine a/m < Cluster one
         Cluster b/two class=shared/small
         Cluster shared/three class=shared/unused",
    );
    assert_data_eq!(
        reported(&graph, &from(&["a"])),
        str![[r#"
Cluster a/one: moves
Cluster b/two: stays, elsewhere
Cluster shared/three: stays, elsewhere
ClusterClass shared/large: moves, kept as used
ClusterClass shared/small: moves, kept as used
ClusterClass shared/unused: stays, elsewhere
Machine a/m: moves with Cluster a/one
Template shared/both: moves with ClusterClass shared/small, kept as used
Template shared/l: moves with ClusterClass shared/large, kept as used
Template shared/t: moves with ClusterClass shared/small, kept as used
Template shared/u: stays, elsewhere

"#]]
    );
}

#[test]
fn a_class_is_kept_when_clusters_of_other_namespaces_use_it() {
    let graph = graph(
        "ClusterClass a/used
         Template a/t < ClusterClass used
         Deep a/d < Template t
         ClusterClass a/own
         Template a/o < ClusterClass own
         Cluster a/one class=a/used
         Cluster b/two class=a/used
         Cluster a/three class=a/own",
    );
    assert_data_eq!(
        reported(&graph, &from(&["a"])),
        str![[r#"
Cluster a/one: moves
Cluster a/three: moves
Cluster b/two: stays, elsewhere
ClusterClass a/own: moves
ClusterClass a/used: moves, kept as used
Deep a/d: moves with ClusterClass a/used, kept as used
Template a/o: moves with ClusterClass a/own
Template a/t: moves with ClusterClass a/used, kept as used

"#]]
    );
    assert_data_eq!(
        reported(&graph, &from(&["a", "b"])),
        str![[r#"
Cluster a/one: moves
Cluster a/three: moves
Cluster b/two: moves
ClusterClass a/own: moves
ClusterClass a/used: moves
Deep a/d: moves with ClusterClass a/used
Template a/o: moves with ClusterClass a/own
Template a/t: moves with ClusterClass a/used

"#]]
    );
}
