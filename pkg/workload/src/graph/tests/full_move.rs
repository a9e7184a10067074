//! Moves of all objects.

use super::builder::{from, graph, reported};
use snapbox::{assert_data_eq, str};

// Row: PRV-55
// Row: PRV-67
// Row: PRV-73
#[test]
fn owned_objects_move_with_the_cluster_and_unlinked_objects_stay() {
    let graph = graph(
        "Cluster a/one
         MachineDeployment a/d < Cluster one
         MachineSet a/s < MachineDeployment d
         Machine a/m < MachineSet s
         DockerMachine a/m < Machine m
         ConfigMap a/linked < Machine m
         ConfigMap a/stray
         Secret a/stray
         MachineSet a/nobodys
         Machine a/nobodys < MachineSet nobodys",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/one: moves
ConfigMap a/linked: moves with Cluster a/one
ConfigMap a/stray: stays
DockerMachine a/m: moves with Cluster a/one
Machine a/m: moves with Cluster a/one
Machine a/nobodys: stays
MachineDeployment a/d: moves with Cluster a/one
MachineSet a/nobodys: stays
MachineSet a/s: moves with Cluster a/one
Secret a/stray: stays

"#]]
    );
}

// Row: PRV-68
#[test]
fn unowned_certificates_are_found_by_their_names() {
    let graph = graph(
        "Cluster a/one
         Cluster a/one-two
         Secret a/one-ca
         Secret a/one-etcd
         Secret a/one-sa
         Secret a/one-proxy
         Secret a/one-kubeconfig
         Secret a/one-apiserver-etcd-client
         Secret a/one-two-ca
         Secret a/one-other
         Secret a/three-ca
         Secret a/oneca
         Secret b/one-ca
         ConfigMap a/one-ca
         Secret a/one-two-etcd < ConfigMap stray
         ConfigMap a/stray",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/one: moves
Cluster a/one-two: moves
ConfigMap a/one-ca: stays
ConfigMap a/stray: stays
Secret a/one-apiserver-etcd-client: moves with Cluster a/one
Secret a/one-ca: moves with Cluster a/one
Secret a/one-etcd: moves with Cluster a/one
Secret a/one-kubeconfig: moves with Cluster a/one
Secret a/one-other: stays
Secret a/one-proxy: moves with Cluster a/one
Secret a/one-sa: moves with Cluster a/one
Secret a/one-two-ca: moves with Cluster a/one-two
Secret a/one-two-etcd: stays
Secret a/oneca: stays
Secret a/three-ca: stays
Secret b/one-ca: stays

"#]]
    );
}

// Row: PRV-69
#[test]
fn an_unused_cluster_resource_set_moves_with_resources_and_bindings() {
    let graph = graph(
        "Cluster a/one
         ClusterResourceSet a/net
         ConfigMap a/net < ClusterResourceSet net
         Secret a/net < ClusterResourceSet net
         ClusterResourceSetBinding a/one < ClusterResourceSet net for=one
         ClusterResourceSetBinding a/gone < ClusterResourceSet net for=gone
         ClusterResourceSet a/unused",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/one: moves
ClusterResourceSet a/net: moves
ClusterResourceSet a/unused: moves
ClusterResourceSetBinding a/gone: moves with ClusterResourceSet a/net
ClusterResourceSetBinding a/one: moves with Cluster a/one
ConfigMap a/net: moves with ClusterResourceSet a/net
Secret a/net: moves with ClusterResourceSet a/net

"#]]
    );
}

// Row: PRV-70
// Row: PRV-71
// Row: PRV-72
#[test]
fn labels_count_on_an_object_and_on_its_kind() {
    let graph = graph(
        "Pool a/all
         ConfigMap a/below-all < Pool all
         Secret a/labelled move
         ConfigMap a/below-labelled < Secret labelled
         LocalIdentity a/kind
         Secret a/of-kind < LocalIdentity kind
         Thing a/root move-hierarchy
         Secret a/of-root < Thing root
         Thing a/plain",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
ConfigMap a/below-all: stays
ConfigMap a/below-labelled: stays
LocalIdentity a/kind: moves
Pool a/all: moves by its kind's label
Secret a/labelled: moves by its label
Secret a/of-kind: moves with LocalIdentity a/kind
Secret a/of-root: moves with Thing a/root
Thing a/plain: stays
Thing a/root: moves

"#]]
    );
}

// Row: PRV-80
#[test]
fn objects_of_a_global_root_are_global_even_with_a_cluster_owner() {
    let graph = graph(
        "Identity who
         Secret a/credentials < Identity who
         Secret a/both < Identity who < Cluster one
         Secret a/below < Thing labelled
         Cluster a/one
         Thing a/labelled
         Global other
         Global labelled move
         Secret a/of-labelled < Global labelled",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/one: moves
Global labelled: moves by its label, kept as global
Global other: stays
Identity who: moves, kept as global
Secret a/below: stays
Secret a/both: moves with Cluster a/one, kept as global
Secret a/credentials: moves with Identity who, kept as global
Secret a/of-labelled: stays
Thing a/labelled: stays

"#]]
    );
}

#[test]
fn an_object_with_a_missing_owner_stays_with_its_dependents() {
    let graph = graph(
        "Cluster a/one
         Cluster a/two < Deployment hive
         Secret a/two-ca
         Machine a/m < Cluster one < Thing stray
         DockerMachine a/m < Machine m
         Thing a/stray
         Machine a/n < Cluster one < Unknown x
         DockerMachine a/n < Machine n
         Machine a/fine < Cluster one",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/one: moves
Cluster a/two: stays without Deployment hive
DockerMachine a/m: stays as Machine a/m does
DockerMachine a/n: stays as Machine a/n does
Machine a/fine: moves with Cluster a/one
Machine a/m: stays as Thing a/stray does
Machine a/n: stays without Unknown x
Secret a/two-ca: stays as Cluster a/two does
Thing a/stray: stays

"#]]
    );
}

#[test]
fn owner_cycles_are_reported_once_and_stay_with_their_dependents() {
    let graph = graph(
        "Cluster a/one
         Thing a/a < Thing b < Cluster one
         Thing a/b < Thing c
         Thing a/c < Thing a
         Thing a/below < Thing c
         Thing a/lower < Thing below
         Thing a/self < Thing self < Cluster one
         Thing a/x < Thing y < Thing a
         Thing a/y < Thing x
         Other a/p < Other q
         Other a/q < Other p",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/one: moves
Other a/p: stays
Other a/q: stays
Thing a/a: stays in a ring
Thing a/b: stays in a ring
Thing a/below: stays in a ring
Thing a/c: stays in a ring
Thing a/lower: stays in a ring
Thing a/self: stays in a ring
Thing a/x: stays in a ring
Thing a/y: stays in a ring
ring: Other a/p < Other a/q
ring: Thing a/a < Thing a/b < Thing a/c
ring: Thing a/self
ring: Thing a/x < Thing a/y

"#]]
    );
}

#[test]
fn a_class_that_a_cluster_left_behind_uses_is_kept() {
    let graph = graph(
        "ClusterClass a/small
         Template a/t < ClusterClass small
         Cluster a/one class=a/small
         Cluster a/held class=a/small < Deployment hive
         Cluster a/lost class=a/gone
         ClusterClass a/unused",
    );
    assert_data_eq!(
        reported(&graph, &from(&[])),
        str![[r#"
Cluster a/held: stays without Deployment hive
Cluster a/lost: moves
Cluster a/one: moves
ClusterClass a/small: moves, kept as used
ClusterClass a/unused: moves
Template a/t: moves with ClusterClass a/small, kept as used

"#]]
    );
}

#[test]
fn objects_are_deduplicated_by_uid_and_kept_without_a_uid() {
    let mut facts = super::builder::facts(
        "Secret a/x move
         Secret a/x move
         Secret a/y move
         Secret a/z move
         ConfigMap a/owned < Secret y move",
    );
    facts.iter_mut().filter(|facts| facts.key.name != "x").for_each(|facts| facts.uid.clear());
    facts[4].owners[0].uid.clear();
    assert_data_eq!(
        reported(&crate::Graph::new(facts), &from(&[])),
        str![[r#"
ConfigMap a/owned: stays without Secret y
Secret a/x: moves by its label
Secret a/y: moves by its label
Secret a/z: moves by its label

"#]]
    );
}
