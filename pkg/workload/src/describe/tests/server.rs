//! Tests against a server: the number of requests, and unreadable objects.

use api::output::PartRole;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{self, object},
    fixture::Fixture,
    kind::{CLUSTER, CUSTOM_RESOURCE_DEFINITION, DOCKER_MACHINE, KUBEADM_CONTROL_PLANE, Kind, MACHINE},
    request_counter::RequestCounter,
};

use crate::describe::*;
use crate::testing::cluster;

async fn lab(machines: usize) -> Fixture {
    let fixture = Fixture::start().await;
    cluster_api::install(&fixture).await;
    let made = cluster_api::cluster("team/one").control_plane(3).machine_deployment("md", machines);
    fixture.create(made).await;
    fixture
}

fn request() -> DescribeRequest {
    DescribeRequest { namespace: "team".into(), name: "one".into(), ..DescribeRequest::default() }
}

async fn described(fixture: &Fixture, request: &DescribeRequest) -> ClusterTree {
    describe_cluster(&cluster(fixture).await, request).await.unwrap()
}

/// Lists the unreadable nodes with kind, name and reason.
fn unreadable(node: &TreeNode) -> Vec<String> {
    let own = match &node.subject {
        Subject::Unreadable(of) => Some(format!("{}: {}", of.key, of.reason)),
        _ => None,
    };
    own.into_iter().chain(node.children.iter().flat_map(unreadable)).collect()
}

fn count(node: &TreeNode, role: PartRole) -> usize {
    let own = usize::from(node.role == role);
    own + node.children.iter().map(|child| count(child, role)).sum::<usize>()
}

// Row: D-137
#[tokio::test]
async fn requests_depend_on_kinds_and_not_on_machines() {
    let fixture = lab(50).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let tree = described(&fixture, &request()).await;
    assert_eq!(count(&tree.root, PartRole::Machine), 2);
    assert!(counter.all().total() <= 12, "{}", counter.all());
    assert_eq!(counter.writes().total(), 0);

    let counter = RequestCounter::start(fixture.sandbox());
    let tree = described(&fixture, &DescribeRequest::full("team", "one")).await;
    assert_eq!(count(&tree.root, PartRole::MachineInfrastructure), 53);
    assert_eq!(count(&tree.root, PartRole::BootstrapConfig), 53);
    assert_eq!(unreadable(&tree.root), Vec::<String>::new());
    // Two more lists, and the objects that only a full description reads.
    assert!(counter.all().total() <= 16, "{}", counter.all());
    assert_eq!(tree.health(), ClusterHealth::Healthy);
}

#[tokio::test]
async fn objects_without_a_cluster_name_are_found() {
    let fixture = lab(6).await;
    for machine in fixture.list(DOCKER_MACHINE).await {
        let place = format!("team/{}", machine["metadata"]["name"].as_str().unwrap());
        let none = json!({"metadata": {"labels": {"cluster.x-k8s.io/cluster-name": null}}});
        fixture.merge(DOCKER_MACHINE, &place, &none).await;
    }
    let counter = RequestCounter::start(fixture.sandbox());
    let tree = described(&fixture, &DescribeRequest::full("team", "one")).await;
    assert_eq!(count(&tree.root, PartRole::MachineInfrastructure), 9);
    assert_eq!(unreadable(&tree.root), Vec::<String>::new());
    assert!(counter.reads().to_string().contains("2 list dockermachines"), "{}", counter.reads());
}

// Row: D-131
#[tokio::test]
async fn a_forbidden_kind_is_shown_with_the_reason() {
    let fixture = lab(2).await;
    for fault in [
        "403,resource=infrastructure.cluster.x-k8s.io/dockermachines",
        "403,resource=cluster.x-k8s.io/machinedeployments",
        "403,resource=infrastructure.cluster.x-k8s.io/dockerclusters",
    ] {
        fixture.inject_fault(fault);
    }
    let tree = described(&fixture, &DescribeRequest::full("team", "one")).await;
    let reported = unreadable(&tree.root);
    assert!(reported.contains(&"DockerCluster team/one: Forbidden".to_owned()), "{reported:?}");
    assert!(reported.contains(&"MachineDeployment team/: Forbidden".to_owned()), "{reported:?}");
    assert!(reported.contains(&"DockerMachine team/one-md-1-0: Forbidden".to_owned()), "{reported:?}");
    assert_eq!(reported.len(), 1 + 1 + 5);
    assert_eq!(tree.health(), ClusterHealth::Unknown);
}

// Row: D-131
#[tokio::test]
async fn a_missing_control_plane_keeps_its_machines() {
    let fixture = Fixture::start().await;
    cluster_api::install(&fixture).await;
    fixture.create(cluster_api::cluster("team/one")).await;
    let to = json!({"spec": {"controlPlaneRef": {
        "apiGroup": KUBEADM_CONTROL_PLANE.group, "kind": KUBEADM_CONTROL_PLANE.kind, "name": "gone"
    }}});
    fixture.merge(CLUSTER, "team/one", &to).await;
    let machine = object(MACHINE, "team/m")
        .label("cluster.x-k8s.io/cluster-name", "one")
        .label("cluster.x-k8s.io/control-plane", "");
    fixture.create([machine]).await;
    let tree = described(&fixture, &request()).await;
    assert_data_eq!(unreadable(&tree.root).join("\n"), str!["KubeadmControlPlane team/gone: NotFound"]);
    let control_plane = tree.root.children.iter().find(|node| node.role == PartRole::ControlPlane).unwrap();
    assert_eq!(count(control_plane, PartRole::Machine), 1);
}

// Row: D-135
#[tokio::test]
async fn a_cluster_is_described_without_permission_to_list_definitions() {
    let fixture = lab(1).await;
    fixture.inject_fault("403,resource=apiextensions.k8s.io/customresourcedefinitions");
    let tree = described(&fixture, &request()).await;
    assert_eq!(unreadable(&tree.root), Vec::<String>::new());
    assert_eq!(count(&tree.root, PartRole::ClusterInfrastructure), 1);
}

// Row: D-140
#[tokio::test]
async fn a_missing_cluster_is_reported_with_existing_ones() {
    let fixture = lab(0).await;
    let server = cluster(&fixture).await;
    let missing = async |namespace: &str, name: &str| {
        let request = DescribeRequest { namespace: namespace.into(), name: name.into(), ..request() };
        match describe_cluster(&server, &request).await.unwrap_err() {
            DescribeError::UnknownCluster { suggestions, other_namespaces, .. } => {
                (suggestions, other_namespaces)
            }
            other => panic!("{other}"),
        }
    };
    assert_eq!(missing("team", "onne").await, (vec!["one".to_owned()], vec![]));
    assert_eq!(missing("default", "one").await, (vec![], vec!["team".to_owned()]));
    assert_eq!(crate::cluster_names(&server, "team").await.unwrap(), ["one"]);
    assert_eq!(crate::cluster_names(&server, "default").await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_server_without_cluster_api_is_reported() {
    let fixture = Fixture::start().await;
    let error = describe_cluster(&cluster(&fixture).await, &request()).await.unwrap_err();
    assert_data_eq!(error.to_string(), str!["Cluster API is not installed on this cluster"]);
    cluster_api::install(&fixture).await;
    fixture.delete(CUSTOM_RESOURCE_DEFINITION, "clusters.cluster.x-k8s.io").await;
    fixture.wait_until_idle().await;
    let older = Kind { version: "v1beta1", ..CLUSTER };
    fixture.create([cluster_api::definition(older)]).await;
    let error = describe_cluster(&cluster(&fixture).await, &request()).await.unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["the cluster runs Cluster API with contract v1beta1; this command requires v1beta2"]
    );
}

// Row: D-134
#[tokio::test]
async fn tree_annotations_on_an_object_are_ignored() {
    let fixture = lab(1).await;
    let before = described(&fixture, &request()).await;
    let annotations = json!({"metadata": {"annotations": {
        "tree.cluster.x-k8s.io.io/z-order": "9", "tree.cluster.x-k8s.io.io/virtual-object": "True",
        "tree.cluster.x-k8s.io.io/show-conditions": "All",
    }}});
    fixture.merge(MACHINE, "team/one-md-1-0", &annotations).await;
    assert_eq!(described(&fixture, &request()).await.root, before.root);
}
