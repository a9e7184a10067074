//! The order in which objects are created.

use super::builder::{from, graph, grouped};
use snapbox::{assert_data_eq, str};

#[test]
fn owners_come_before_their_objects() {
    let graph = graph(
        "ClusterClass a/small
         Template a/t < ClusterClass small
         Cluster a/one class=a/small
         DockerCluster a/one < Cluster one
         ControlPlane a/cp < Cluster one
         Secret a/one-ca
         Secret a/one-kubeconfig < ControlPlane cp
         Machine a/m < ControlPlane cp < Cluster one
         DockerMachine a/m < Machine m
         KubeadmConfig a/m < Machine m
         Secret a/m < KubeadmConfig m
         ClusterResourceSet a/net
         ClusterResourceSetBinding a/one < ClusterResourceSet net for=one
         ConfigMap a/stray
         Identity who
         Machine a/lost < Unknown x",
    );
    assert_data_eq!(
        grouped(&graph, &graph.select(&from(&[]))),
        str![[r#"
ClusterClass a/small, ClusterResourceSet a/net, Identity who
Cluster a/one, Template a/t
ClusterResourceSetBinding a/one, ControlPlane a/cp, DockerCluster a/one, Secret a/one-ca
Machine a/m, Secret a/one-kubeconfig
DockerMachine a/m, KubeadmConfig a/m
Secret a/m

"#]]
    );
}
