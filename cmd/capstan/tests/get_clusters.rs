//! Tests of `get clusters` on a sandbox with several clusters.
#![cfg(unix)]

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api,
    fixture::Fixture,
    kind::{CLUSTER, KUBEADM_CONTROL_PLANE},
    request_counter::RequestCounter,
};

use crate::testing::Management;

/// Starts a sandbox with clusters `team/one`, `team/two` and `other/three`. The last cluster has a class.
async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    for place in ["team/two", "team/one"] {
        lab.fixture.create(cluster_api::cluster(place).control_plane(3).machine_deployment("md", 2)).await;
    }
    lab.fixture.create(cluster_api::cluster("other/three").control_plane(1).of_class("quick")).await;
    let counts = json!({"desiredReplicas": 3, "replicas": 3, "readyReplicas": 2});
    let workers = json!({"desiredReplicas": 2, "replicas": 2, "readyReplicas": 2});
    let status = json!({"status": {"controlPlane": counts, "workers": workers}});
    lab.fixture.merge_status(CLUSTER, "team/one", &status).await;
    let condition = json!({
        "type": "Available", "status": "False", "reason": "NotAvailable", "message": "* ControlPlane: gone",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    });
    lab.fixture.merge_status(CLUSTER, "team/two", &json!({"status": {"conditions": [condition]}})).await;
    lab.fixture
        .merge(CLUSTER, "team/two", &json!({"spec": {"paused": true}, "metadata": {"labels": {"ring": "a"}}}))
        .await;
    lab
}

fn names(list: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(list).unwrap();
    let name =
        |one: &Value| format!("{}/{}", one["namespace"].as_str().unwrap(), one["name"].as_str().unwrap());
    list["clusters"].as_array().unwrap().iter().map(name).collect()
}

/// Returns the cells of all lines, without the age.
fn cells(table: &str) -> Vec<Vec<String>> {
    let line = |line: &str| {
        let mut cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        cells.remove(7);
        cells
    };
    table.lines().map(line).collect()
}

// Row: D-337
#[tokio::test(flavor = "multi_thread")]
async fn every_cluster_is_a_line_sorted_by_namespace_and_name() {
    let lab = lab().await;
    let run = lab.run("get clusters -A");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(
        cells(&run.stdout),
        [
            ["NAMESPACE", "NAME", "STATUS", "PHASE", "VERSION", "CP", "WORKERS"],
            ["other", "three", "Available", "Provisioned", "v1.36.0", "-", "-"],
            ["team", "one", "Available", "Provisioned", "v1.36.0", "2/3", "2/2"],
            ["team", "two", "NotAvailable,Paused", "Provisioned", "v1.36.0", "-", "-"],
        ]
    );
    let wide = lab.run("get clusters -n team -l ring=a -o wide");
    assert_eq!(cells(&wide.stdout)[1][7..], ["-", "NotAvailable", "*", "ControlPlane:", "gone"], "{wide}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_are_filtered_by_namespace_and_label() {
    let lab = lab().await;
    assert_eq!(names(&lab.run("get clusters -A -o json").stdout), ["other/three", "team/one", "team/two"]);
    assert_eq!(names(&lab.run("get clusters -n team -o json").stdout), ["team/one", "team/two"]);
    assert_eq!(names(&lab.run("get clusters -A -l ring=a -o json").stdout), ["team/two"]);
    let list: Value = serde_json::from_str(&lab.run("get clusters -A -o json").stdout).unwrap();
    let [three, one, two] = &list["clusters"].as_array().unwrap()[..] else { panic!("{list}") };
    assert_eq!((&three["class"], one.get("class")), (&json!("quick"), None));
    assert_eq!(one["controlPlane"], json!({"desired": 3, "current": 3, "ready": 2}));
    assert_eq!((&two["paused"], &two["deleting"]), (&json!(true), &json!(false)));
    assert_eq!((&two["health"]["type"], &two["health"]["status"]), (&json!("Available"), &json!("False")));
    assert!(lab.run("get clusters -A -o yaml").stdout.starts_with("clusters:\n- "));
    let bad = lab.run("get clusters -o xml");
    assert_eq!(bad.status, 1, "{bad}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_namespace_lists_namespaces_with_clusters() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("get clusters").to_string(),
        str![[r#"
exit 0
--- stderr
no Clusters found in namespace `default`; 2 other namespaces have 3: run `capstan get clusters -A` to list them

"#]]
    );
    let json = lab.run("get clusters -o json");
    assert_eq!(names(&json.stdout), Vec::<String>::new());
}

// Row: D-337
#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_requests_is_independent_of_clusters() {
    let lab = Management::start(Fixture::builder()).await;
    let mut requests = Vec::new();
    for number in 0..24 {
        lab.fixture.create(cluster_api::cluster(&format!("team/c{number:02}")).control_plane(1)).await;
        if number == 7 || number == 23 {
            let counter = RequestCounter::start(lab.fixture.sandbox());
            let run = lab.run("get clusters -A");
            assert_eq!(run.stdout.matches(" v1.36.0 ").count(), number + 1, "{run}");
            requests.push(counter.all().total());
        }
    }
    assert_eq!(requests[0], requests[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_control_planes_give_a_warning() {
    let lab = lab().await;
    let fault =
        format!("403,verb=get,resource={}/{}", KUBEADM_CONTROL_PLANE.group, KUBEADM_CONTROL_PLANE.plural);
    lab.fixture.inject_fault(&fault);
    let run = lab.run("get clusters -n team -o json");
    assert_eq!((run.status, names(&run.stdout).len()), (0, 2), "{run}");
    assert_data_eq!(
        run.messages(),
        str![[r#"
exit 0
--- stderr
warning: cannot read the versions of kubeadmcontrolplanes: cannot get KubeadmControlPlane team/one-control-plane: kubeadmcontrolplanes.controlplane.cluster.x-k8s.io "one-control-plane" is forbidden: User "admin" cannot get resource "kubeadmcontrolplanes" in API group "controlplane.cluster.x-k8s.io" in the namespace "team"

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_cluster_api_the_error_says_so() {
    let fixture = Fixture::start().await;
    let world = crate::world().env("KUBECONFIG", fixture.kubeconfig().await.as_os_str());
    assert_data_eq!(
        world.run_line("get clusters -A").to_string(),
        str![[r#"
exit 1
--- stderr
error: Cluster API is not installed on this cluster
hint: install Cluster API with `capstan init`

"#]]
    );
}
