//! `graph`, on a sandbox that holds clusters. How a graph is drawn is tested where that is done; here is what a user types
//! and sees.
#![cfg(unix)]

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    binary::{Outcome, World},
    cluster_api,
    fixture::Fixture,
    kind::SECRET,
};

/// A sandbox on a port. Its runtime serves while the binary under test is waited for.
struct Lab {
    _runtime: tokio::runtime::Runtime,
    _fixture: Fixture,
    kubeconfig: String,
    world: World,
}

impl Lab {
    /// Holds Clusters `one` and `other` in namespace `team` and `two` in namespace `rest`.
    fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (fixture, kubeconfig) = runtime.block_on(async {
            let fixture = Fixture::start().await;
            cluster_api::install(&fixture).await;
            fixture.create(cluster_api::cluster("team/one").machines(1)).await;
            fixture.create(cluster_api::cluster("team/other")).await;
            fixture.create(cluster_api::cluster("rest/two")).await;
            let password = json!({"password": "hunter2"});
            fixture
                .create([cluster_api::object(SECRET, "team/unrelated").field("stringData", password)])
                .await;
            let kubeconfig = fixture.kubeconfig().await.display().to_string();
            (fixture, kubeconfig)
        });
        Self { _runtime: runtime, _fixture: fixture, kubeconfig, world: crate::world() }
    }

    fn run(&self, arguments: &str) -> Outcome {
        self.world.run(arguments.split_whitespace().chain(["--kubeconfig", &self.kubeconfig]))
    }
}

#[test]
fn the_graph_of_a_namespace_or_of_a_cluster_is_a_tree() {
    let lab = Lab::start();
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

left out: a Secret or ConfigMap that nothing links

"#]]
    );
    assert_data_eq!(
        lab.run("graph team/one --fates").to_string(),
        str![[r#"
exit 0
--- stdout
Cluster team/one  [Available]  -> moves by itself
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

#[test]
fn namespaces_are_named_or_all_looked_at() {
    let lab = Lab::start();
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

#[test]
fn a_page_is_written_as_a_whole_and_holds_no_secret() {
    let lab = Lab::start();
    let outcome = lab.run("graph -A -o html --write-to owners.html");
    assert_eq!((outcome.status, &*outcome.stdout), (0, ""), "{outcome}");
    let page = lab.world.read("owners.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("one-kubeconfig") && !page.contains("hunter2"));
    assert!(lab.run("graph -A -o dot").stdout.starts_with("digraph owners {"));
    assert!(lab.run("graph -A -o mermaid").stdout.starts_with("flowchart TB"));
}

#[test]
fn a_cluster_that_is_not_there_is_refused_with_those_that_are() {
    let lab = Lab::start();
    assert_data_eq!(
        lab.run("graph oone -n team").to_string(),
        str![[r#"
exit 1
--- stderr
error: there is no Cluster `oone`
hint: there is team/one

"#]]
    );
}
