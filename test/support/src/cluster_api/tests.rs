use snapbox::{assert_data_eq, str};
use std::fmt::Write as _;

use api::{ProviderId, ProviderType};
use sandbox::ControllerSwitches;
use serde_json::json;

use super::*;
use crate::{fixture::Fixture, kind};

/// A sandbox that contains the definitions.
async fn lab() -> Fixture {
    let lab = Fixture::start().await;
    install(&lab).await;
    lab
}

#[tokio::test]
async fn a_cluster_is_a_chain_of_owners() {
    let lab = lab().await;
    lab.create(cluster("team/a").control_plane(1).machines(1).machine_deployment("md", 1)).await;
    lab.wait_until_idle().await;
    assert_data_eq!(
        outline(&lab, "team").await,
        str![[r#"
Cluster a [cluster]
KubeadmControlPlane a-control-plane: owned by Cluster a [kubeadm.controlplane]
MachineDeployment a-md: owned by Cluster a [machinedeployment]
MachineSet a-md-1: controlled by MachineDeployment a-md [machineset]
Machine a-control-plane-0: controlled by KubeadmControlPlane a-control-plane [machine]
Machine a-machine-0: owned by Cluster a [machine]
Machine a-md-1-0: controlled by MachineSet a-md-1 [machine]
KubeadmConfig a-control-plane-0: controlled by Machine a-control-plane-0
KubeadmConfig a-machine-0: controlled by Machine a-machine-0
KubeadmConfig a-md-1-0: controlled by Machine a-md-1-0
KubeadmConfigTemplate a-md: owned by Cluster a
DockerCluster a: owned by Cluster a [dockercluster.infrastructure]
DockerMachine a-control-plane-0: controlled by Machine a-control-plane-0 [dockermachine.infrastructure]
DockerMachine a-machine-0: controlled by Machine a-machine-0 [dockermachine.infrastructure]
DockerMachine a-md-1-0: controlled by Machine a-md-1-0 [dockermachine.infrastructure]
DockerMachineTemplate a-control-plane: owned by Cluster a
DockerMachineTemplate a-md: owned by Cluster a
Secret a-ca: controlled by KubeadmControlPlane a-control-plane
Secret a-control-plane-0: controlled by KubeadmConfig a-control-plane-0
Secret a-etcd: controlled by KubeadmControlPlane a-control-plane
Secret a-kubeconfig: controlled by KubeadmControlPlane a-control-plane
Secret a-machine-0: controlled by KubeadmConfig a-machine-0
Secret a-md-1-0: controlled by KubeadmConfig a-md-1-0
Secret a-proxy: controlled by KubeadmControlPlane a-control-plane
Secret a-sa: controlled by KubeadmControlPlane a-control-plane

"#]]
    );
}

#[tokio::test]
async fn the_topology_of_a_class_controls_its_parts() {
    let lab = lab().await;
    lab.create(cluster_class("classes/quick")).await;
    lab.create(cluster("default/a").of_class("classes/quick").control_plane(0).machine_deployment("md", 0))
        .await;
    assert_data_eq!(
        outline(&lab, "classes").await,
        str![[r#"
ClusterClass quick
KubeadmControlPlaneTemplate quick: owned by ClusterClass quick
KubeadmConfigTemplate quick-worker: owned by ClusterClass quick
DockerClusterTemplate quick: owned by ClusterClass quick
DockerMachineTemplate quick-control-plane: owned by ClusterClass quick
DockerMachineTemplate quick-worker: owned by ClusterClass quick

"#]]
    );
    assert_data_eq!(
        outline(&lab, "default").await,
        str![[r#"
Cluster a [cluster]
KubeadmControlPlane a-control-plane: controlled by Cluster a [kubeadm.controlplane]
MachineDeployment a-md: owned by Cluster a [machinedeployment.topology, machinedeployment]
MachineSet a-md-1: controlled by MachineDeployment a-md [machineset.topology, machineset]
KubeadmConfigTemplate a-md: owned by Cluster a
DockerCluster a: controlled by Cluster a [dockercluster.infrastructure]
DockerMachineTemplate a-control-plane: owned by Cluster a
DockerMachineTemplate a-md: owned by Cluster a
Secret a-ca: controlled by KubeadmControlPlane a-control-plane
Secret a-etcd: controlled by KubeadmControlPlane a-control-plane
Secret a-kubeconfig: controlled by KubeadmControlPlane a-control-plane
Secret a-proxy: controlled by KubeadmControlPlane a-control-plane
Secret a-sa: controlled by KubeadmControlPlane a-control-plane

"#]]
    );
    let class = lab.get(kind::CLUSTER, "default/a").await.unwrap()["spec"]["topology"]["classRef"].clone();
    assert_eq!(class, json!({"name": "quick", "namespace": "classes"}));
    let set = lab.get(kind::MACHINE_SET, "default/a-md-1").await.unwrap();
    assert_data_eq!(
        set["metadata"]["labels"].to_string(),
        str![[r#"
{"cluster.x-k8s.io/cluster-name":"a","cluster.x-k8s.io/deployment-name":"a-md","machine-template-hash":"1","topology.cluster.x-k8s.io/deployment-name":"md","topology.cluster.x-k8s.io/owned":""}
"#]]
    );
}

#[tokio::test]
async fn a_resource_set_binds_its_resources_to_clusters() {
    let lab = lab().await;
    lab.create(cluster("default/a")).await;
    lab.create(resource_set("default/network", &["a"])).await;
    assert_data_eq!(
        outline(&lab, "default").await,
        str![[r#"
Cluster a [cluster]
ClusterResourceSet network [addons]
ClusterResourceSetBinding a: owned by ClusterResourceSet network
DockerCluster a: owned by Cluster a [dockercluster.infrastructure]
ConfigMap network: owned by ClusterResourceSet network
Secret a-ca
Secret a-kubeconfig: owned by Cluster a
Secret network: owned by ClusterResourceSet network

"#]]
    );
    let binding = lab.get(kind::CLUSTER_RESOURCE_SET_BINDING, "default/a").await.unwrap();
    assert_eq!(binding["spec"]["clusterName"], "a");
}

#[tokio::test]
async fn every_fixture_object_has_owners() {
    let lab = Fixture::builder().controllers(ControllerSwitches::none()).start().await;
    install(&lab).await;
    lab.create([
        object(kind::AWS_CLUSTER_STATIC_IDENTITY, "shared"),
        object(kind::SECRET, "team/keys").controlled_by(kind::AWS_CLUSTER_STATIC_IDENTITY, "shared"),
        object(kind::CONFIG_MAP, "team/cloud")
            .label("clusterctl.cluster.x-k8s.io/move", "")
            .annotation("by", "hand"),
    ])
    .await;
    lab.delete(kind::AWS_CLUSTER_STATIC_IDENTITY, "shared").await;
    assert_data_eq!(
        outline(&lab, "team").await,
        str![[r#"
ConfigMap cloud
Secret keys: controlled by missing AWSClusterStaticIdentity shared

"#]]
    );
    let cloud = lab.get(kind::CONFIG_MAP, "team/cloud").await.unwrap();
    assert_eq!(cloud["metadata"]["annotations"], json!({"by": "hand"}));
}

#[tokio::test]
async fn fixtures_have_the_status_that_a_move_requires() {
    let lab = lab().await;
    lab.create(cluster("default/a").control_plane(1)).await;
    let cluster = lab.get(kind::CLUSTER, "default/a").await.unwrap();
    let initialization = json!({"controlPlaneInitialized": true, "infrastructureProvisioned": true});
    assert_eq!(cluster["status"]["initialization"], initialization);
    let machine = lab.get(kind::MACHINE, "default/a-control-plane-0").await.unwrap();
    assert_eq!(machine["status"]["nodeRef"], json!({"name": "a-control-plane-0"}));
    assert_eq!(machine["metadata"]["generation"], 1, "a status changes no generation");
    let authority = lab.get(kind::SECRET, "default/a-ca").await.unwrap();
    assert_eq!(authority["data"]["tls.crt"], "Y2Egb2YgYQ==");
}

#[tokio::test]
#[should_panic(expected = "team/a-machine-0 is owned by Cluster team/a, which does not exist")]
async fn an_owner_must_be_created_first() {
    let lab = lab().await;
    let machine = cluster("team/a").machines(1).into_iter();
    lab.create(machine.filter(|object| object.kind() == kind::MACHINE)).await;
}

#[tokio::test]
async fn definitions_have_the_labels_that_clusterctl_requires() {
    let lab = lab().await;
    let mut found = String::new();
    for name in [
        "clusters",
        "dockermachines.infrastructure",
        "awsclusterstaticidentities.infrastructure",
        "providers.clusterctl",
    ] {
        let name = format!("{name}.cluster.x-k8s.io");
        let definition = lab.get(kind::CUSTOM_RESOURCE_DEFINITION, &name).await.unwrap();
        let _ = writeln!(found, "{}", definition["metadata"]["labels"]);
    }
    assert_data_eq!(
        found,
        str![[r#"
{"cluster.x-k8s.io/provider":"cluster-api","clusterctl.cluster.x-k8s.io":""}
{"cluster.x-k8s.io/provider":"infrastructure-docker","cluster.x-k8s.io/v1beta1":"v1beta1","cluster.x-k8s.io/v1beta2":"v1beta2","clusterctl.cluster.x-k8s.io":""}
{"cluster.x-k8s.io/provider":"infrastructure-aws","cluster.x-k8s.io/v1beta1":"v1beta1","cluster.x-k8s.io/v1beta2":"v1beta2","clusterctl.cluster.x-k8s.io":"","clusterctl.cluster.x-k8s.io/move-hierarchy":""}
{"clusterctl.cluster.x-k8s.io/core":"inventory"}

"#]]
    );
}

#[tokio::test]
async fn providers_have_the_names_of_clusterctl() {
    let lab = lab().await;
    let mut found = Vec::new();
    for (kind, name) in [(ProviderType::Core, "cluster-api"), (ProviderType::ControlPlane, "kubeadm")] {
        lab.create([provider(&ProviderId::new(kind, name), "v1.14.0")]).await;
    }
    for entry in lab.list(kind::PROVIDER).await {
        let place = format!("{}/{}", entry["metadata"]["namespace"], entry["metadata"]["name"]);
        found.push(format!("{place} {} {}", entry["type"], entry["providerName"]).replace('"', ""));
    }
    let expected = [
        "cluster-api-system/cluster-api CoreProvider cluster-api",
        "control-plane-kubeadm-system/control-plane-kubeadm ControlPlaneProvider kubeadm",
    ];
    assert_eq!(found, expected);
}
