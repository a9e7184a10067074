//! Tests of `graph` on a sandbox with clusters. Other tests cover the drawing. These tests cover the command line and
//! its output.
#![cfg(unix)]

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{cluster_api, fixture::Fixture, kind::SECRET};

use crate::testing::Management;

/// Starts a sandbox with Clusters `one` and `other` in namespace `team`, and `two` in namespace `rest`.
async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create(cluster_api::cluster("team/one").machines(1)).await;
    lab.fixture.create(cluster_api::cluster("team/other")).await;
    lab.fixture.create(cluster_api::cluster("rest/two")).await;
    let password = json!({"password": "hunter2"});
    lab.fixture.create([cluster_api::object(SECRET, "team/unrelated").field("stringData", password)]).await;
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_of_a_namespace_or_of_a_cluster_is_a_tree() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("graph -n team").to_string(),
        str![[r#"
exit 0
--- stdout
Cluster team/one  [Available]
├─ DockerCluster one
├─ Machine one-machine-0  [Ready]
│  ├─ DockerMachine one-machine-0
│  └─ KubeadmConfig one-machine-0
│     └─ Secret one-machine-0
├╌ Secret one-ca  [soft owner]
└─ Secret one-kubeconfig
Cluster team/other  [Available]
├─ DockerCluster other
├╌ Secret other-ca  [soft owner]
└─ Secret other-kubeconfig

not shown: 1 Secret or ConfigMap without links

"#]]
    );
    assert_data_eq!(
        lab.run("graph team/one --fates").to_string(),
        str![[r#"
exit 0
--- stdout
Cluster team/one  [Available]  -> moves: is a root object
├─ DockerCluster one  -> moves: belongs to Cluster team/one
├─ Machine one-machine-0  [Ready]  -> moves: belongs to Cluster team/one
│  ├─ DockerMachine one-machine-0  -> moves: belongs to Cluster team/one
│  └─ KubeadmConfig one-machine-0  -> moves: belongs to Cluster team/one
│     └─ Secret one-machine-0  -> moves: belongs to Cluster team/one
├╌ Secret one-ca  [soft owner]  -> moves: belongs to Cluster team/one
└─ Secret one-kubeconfig  -> moves: belongs to Cluster team/one

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_covers_named_or_all_namespaces() {
    let lab = lab().await;
    let clusters = |arguments: &str| -> Vec<String> {
        let graph: Value = serde_json::from_str(&lab.run(arguments).stdout).unwrap();
        let objects = graph["objects"].as_array().unwrap().iter().map(|object| &object["object"]);
        let clusters = objects.filter(|object| object["kind"] == "Cluster");
        clusters.map(|object| object["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(clusters("graph -n rest -o json"), ["two"]);
    assert_eq!(clusters("graph -n team -n rest -o json"), ["two", "one", "other"]);
    assert_eq!(clusters("graph -A -o json"), ["two", "one", "other"]);
    assert_eq!(clusters("graph two -A -o json"), ["two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_html_page_is_written_atomically_without_secrets() {
    let lab = lab().await;
    let outcome = lab.run("graph -A -o html --write-to owners.html");
    assert_eq!((outcome.status, &*outcome.stdout), (0, ""), "{outcome}");
    let page = lab.world().read("owners.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("one-kubeconfig") && !page.contains("hunter2"));
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let origin = &data["origin"];
    assert!(origin["server"].as_str().unwrap().starts_with("https://127.0.0.1:"), "{origin}");
    assert_eq!(origin["program"], concat!("capstan v", env!("CARGO_PKG_VERSION")));
    assert!(
        origin["name"].as_str().unwrap().starts_with("context ") && origin["time"].is_string(),
        "{origin}"
    );
    assert!(lab.run("graph -A -o dot").stdout.starts_with("digraph owners {"));
    assert!(lab.run("graph -A -o mermaid").stdout.starts_with("flowchart TB"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_cluster_is_reported_with_existing_names() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("graph oone -n team").to_string(),
        str![[r#"
exit 1
--- stderr
error: Cluster `oone` does not exist
hint: existing Clusters: team/one

"#]]
    );
}
