//! Moves of some Clusters of a namespace.

use super::builder::{from, graph, only, reported};
use crate::{MoveChoice, TerminatingPolicy};
use snapbox::{assert_data_eq, str};

#[test]
fn selected_clusters_move_with_their_objects_and_others_stay() {
    let graph = graph(
        "Cluster a/one
         Machine a/m < Cluster one
         Secret a/one-ca
         Cluster a/two
         Machine a/n < Cluster two
         Secret a/two-ca
         Thing a/two-root < Cluster two move-hierarchy
         Thing a/two-labelled < Cluster two move
         Secret a/stray
         Cluster b/three",
    );
    assert_data_eq!(
        reported(&graph, &only(&["one"])),
        str![[r#"
Cluster a/one: moves
Cluster a/two: stays with Cluster a/two
Cluster b/three: stays, elsewhere
Machine a/m: moves with Cluster a/one
Machine a/n: stays with Cluster a/two
Secret a/one-ca: moves with Cluster a/one
Secret a/stray: stays
Secret a/two-ca: stays with Cluster a/two
Thing a/two-labelled: stays with Cluster a/two
Thing a/two-root: stays with Cluster a/two

"#]]
    );
}

#[test]
fn shared_classes_and_resource_sets_are_copied_and_unshared_ones_move() {
    let graph = graph(
        "ClusterClass a/both
         Template a/both < ClusterClass both
         ClusterClass a/mine
         Template a/mine < ClusterClass mine
         ClusterClass a/theirs
         Template a/theirs < ClusterClass theirs
         ClusterClass a/unused
         Cluster a/one class=a/both
         Cluster a/two class=a/both
         Cluster a/three class=a/mine
         Cluster a/four class=a/theirs
         ClusterResourceSet a/all
         ConfigMap a/all < ClusterResourceSet all
         ClusterResourceSetBinding a/one < ClusterResourceSet all < ClusterResourceSet some for=one
         ClusterResourceSetBinding a/two < ClusterResourceSet all for=two
         ClusterResourceSetBinding a/gone < ClusterResourceSet all for=gone
         ClusterResourceSet a/some
         Secret a/some < ClusterResourceSet some
         Secret a/joint < ClusterResourceSet some < ClusterResourceSet further
         ClusterResourceSet a/further
         ClusterResourceSet a/unused",
    );
    assert_data_eq!(
        reported(&graph, &only(&["one", "three"])),
        str![[r#"
Cluster a/four: stays with Cluster a/four
Cluster a/one: moves
Cluster a/three: moves
Cluster a/two: stays with Cluster a/two
ClusterClass a/both: moves, kept as used
ClusterClass a/mine: moves
ClusterClass a/theirs: stays
ClusterClass a/unused: stays
ClusterResourceSet a/all: moves, kept as used
ClusterResourceSet a/further: moves, kept as used
ClusterResourceSet a/some: moves
ClusterResourceSet a/unused: stays
ClusterResourceSetBinding a/gone: stays
ClusterResourceSetBinding a/one: moves with Cluster a/one
ClusterResourceSetBinding a/two: stays with Cluster a/two
ConfigMap a/all: moves with ClusterResourceSet a/all, kept as used
Secret a/joint: moves with ClusterResourceSet a/some, kept as used
Secret a/some: moves with ClusterResourceSet a/some
Template a/both: moves with ClusterClass a/both, kept as used
Template a/mine: moves with ClusterClass a/mine
Template a/theirs: stays

"#]]
    );
}

#[test]
fn shared_objects_are_reported_with_all_their_users() {
    let graph = graph(
        "Cluster a/one
         Cluster a/two
         Cluster a/three
         Template a/shared < Cluster one < Cluster two < Cluster three
         Deep a/below < Template shared
         Template a/mine < Cluster one",
    );
    assert_data_eq!(
        reported(&graph, &only(&["one"])),
        str![[r#"
Cluster a/one: moves
Cluster a/three: stays with Cluster a/three
Cluster a/two: stays with Cluster a/two
Deep a/below: stays with Cluster a/three
Template a/mine: moves with Cluster a/one
Template a/shared: stays with Cluster a/three
shared with Cluster a/three: Template a/shared
shared with Cluster a/two: Template a/shared

"#]]
    );
    assert_data_eq!(
        reported(&graph, &only(&["one", "two", "three"])),
        str![[r#"
Cluster a/one: moves
Cluster a/three: moves
Cluster a/two: moves
Deep a/below: moves with Cluster a/one
Template a/mine: moves with Cluster a/one
Template a/shared: moves with Cluster a/one

"#]]
    );
}

#[test]
fn labelled_objects_without_a_cluster_are_copied() {
    let text = "Cluster a/one
         Cluster a/two
         Identity who
         Secret a/who < Identity who
         LocalIdentity a/who
         Secret a/local < LocalIdentity who
         Secret a/labelled move
         Pool a/all
         Secret a/mine < Cluster one move
         Secret provider-system/labelled move";
    assert_data_eq!(
        reported(&graph(text), &only(&["one"])),
        str![[r#"
Cluster a/one: moves
Cluster a/two: stays with Cluster a/two
Identity who: moves, kept as global
LocalIdentity a/who: moves, kept as used
Pool a/all: moves by its kind's label, kept as used
Secret a/labelled: moves by its label, kept as used
Secret a/local: moves with LocalIdentity a/who, kept as used
Secret a/mine: moves with Cluster a/one
Secret a/who: moves with Identity who, kept as global
Secret provider-system/labelled: moves by its label, kept as used

"#]]
    );
    let all = reported(&graph(text), &only(&["one", "two"]));
    assert!(all.contains("Secret a/labelled: moves by its label\n"), "nobody is left to use it: {all}");
}

#[test]
fn terminating_objects_stay_with_their_dependents_if_excluded() {
    let graph = graph(
        "Cluster a/one
         Machine a/m1 going < Cluster one
         Thing a/m1 < Machine m1
         Machine a/m2 < Cluster one
         Cluster a/two going
         Secret a/two-ca",
    );
    let choice = MoveChoice { terminating: TerminatingPolicy::Exclude, ..from(&["a"]) };
    assert_data_eq!(
        reported(&graph, &choice),
        str![[r#"
Cluster a/one: moves
Cluster a/two: stays, being deleted
Machine a/m1: stays, being deleted
Machine a/m2: moves with Cluster a/one
Secret a/two-ca: stays as Cluster a/two does
Thing a/m1: stays as Machine a/m1 does

"#]]
    );
}
