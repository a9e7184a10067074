//! Tests of `get kubeconfig` through the binary, on a sandbox.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{Object, cluster, object},
    fixture::Fixture,
    kind,
};

use crate::testing::Management;

fn secret(name: &str, value: &str) -> Object {
    object(kind::SECRET, &format!("default/{name}")).field("stringData", json!({"value": value}))
}

fn provisioning(place: &str) -> Object {
    object(kind::CLUSTER, place).status(json!({"phase": "Provisioning"}))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kubeconfig_is_printed_unchanged_with_a_newline() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture
        .create([secret("raw-kubeconfig", "# as it is\n"), secret("raw-user-kubeconfig", "other")])
        .await;
    let run = lab.run("get kubeconfig raw");
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "# as it is\n\n", ""));
    assert_eq!(lab.run("get kubeconfig raw --user -n default").stdout, "other\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_kubeconfig_gets_a_hint() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create([provisioning("team/demo")]).await;
    assert_data_eq!(
        lab.run("get kubeconfig demo -n team").to_string(),
        str![[r#"
exit 1
--- stderr
error: Cluster team/demo has no kubeconfig yet (phase Provisioning)
hint: wait for the kubeconfig with `--wait`

"#]]
    );
    assert_data_eq!(
        lab.run("get kubeconfig dmeo -n team").to_string(),
        str![[r#"
exit 1
--- stderr
error: Cluster `dmeo` does not exist in namespace `team`
hint: did you mean `demo`?

"#]]
    );
    assert_data_eq!(
        lab.run("get kubeconfig demo").to_string(),
        str![[r#"
exit 1
--- stderr
error: Cluster `demo` does not exist in namespace `default`
hint: list Clusters with `capstan get clusters -A`; select another namespace with `-n`

"#]]
    );
    assert_data_eq!(
        lab.run("get kubeconfig demo -n team --wait --timeout 1ms").to_string(),
        str![[r#"
exit 1
--- stderr
error: Cluster team/demo has no kubeconfig yet (phase Provisioning), after 0s
hint: find the cause with `kubectl describe cluster.cluster.x-k8s.io -n team demo`, or increase `--timeout`

"#]]
    );
    assert_data_eq!(
        lab.run("get kubeconfig").to_string(),
        str![[r#"
exit 1
--- stderr
error: missing argument NAME: workload cluster name
usage: capstan get kubeconfig [OPTIONS] <NAME>

"#]]
    );
}

// Row: D-155
#[tokio::test(flavor = "multi_thread")]
async fn get_kubeconfig_waits_for_a_new_cluster() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create([provisioning("default/demo")]).await;
    // The kubeconfig is created as soon as the command watches.
    let mut child = lab.spawn("get kubeconfig demo --wait -v5");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("watch=true") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ends before it watches");
    }
    lab.fixture.create([secret("demo-kubeconfig", "late")]).await;
    let output = child.wait_with_output().unwrap();
    stderr.read_to_string(&mut line).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "late\n", "{line}");
}

// Row: D-155
#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_is_merged_and_its_context_printed() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create(cluster("default/demo")).await;
    lab.fixture.create(cluster("team/demo")).await;
    assert_data_eq!(
        lab.run("get kubeconfig demo --merge=mine").to_string(),
        str![[r#"
exit 0
--- stdout
demo-admin@demo
--- stderr
added context `demo-admin@demo` to `[CWD]/mine`; switch to it with `kubectl --kubeconfig [CWD]/mine config use-context demo-admin@demo`

"#]]
    );
    let mine = lab.world().read("mine");
    assert!(mine.contains("server: https://demo.example.org:6443"), "{mine}");
    // A repeated merge changes nothing, also with the flag in its other position.
    assert_eq!(lab.run("get --merge=mine kubeconfig demo").status, 0);
    assert_eq!(lab.world().read("mine"), mine);
    assert_eq!(
        lab.run("get kubeconfig demo -n team --merge=mine --context-name team-demo").stdout,
        "team-demo\n"
    );
    // Without a file, the merge changes the effective kubeconfig, whose current context stays.
    assert_eq!(lab.run("get kubeconfig demo --merge").stdout, "demo-admin@demo\n");
    assert_eq!(lab.run("get kubeconfig demo -n team").status, 0);
}

// Row: D-155
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_merge_keeps_the_file_and_shows_no_secret() {
    let lab = Management::start(Fixture::builder()).await;
    lab.world().write("mine", "clusters:\n- {name: demo, cluster: {server: https://other}}\n");
    lab.fixture.create(cluster("default/demo")).await;
    lab.fixture.create([secret("broken-kubeconfig", "token: [not-to-be-shown\n")]).await;
    assert_data_eq!(
        lab.run("get kubeconfig demo --merge=mine").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot add context `demo-admin@demo` to `[CWD]/mine`
  cause: the entry `clusters[demo]` belongs to another context or another cluster
hint: use another name for the new entries: `--context-name NAME`

"#]]
    );
    assert_data_eq!(
        lab.run("get kubeconfig broken --merge=mine").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot use the kubeconfig in Secret default/broken-kubeconfig
  cause: the kubeconfig is not valid YAML at line 1
hint: omit `--merge` to print the unchanged kubeconfig

"#]]
    );
    assert_eq!(lab.world().read("mine"), "clusters:\n- {name: demo, cluster: {server: https://other}}\n");
    assert_data_eq!(
        lab.run("get kubeconfig demo --timeout 5s").to_string(),
        str![[r#"
exit 1
--- stderr
error: `--wait` is required

"#]]
    );
}

// Row: D-260
#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_a_merged_kubeconfig_needs_a_flag() {
    let lab = Management::start(Fixture::builder()).await;
    let content = json!({
        "clusters": [{"name": "c", "cluster": {"server": "https://c"}}],
        "users": [{"name": "u", "user": {"exec": {"command": "login"}}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    });
    lab.fixture.create([secret("demo-kubeconfig", &content.to_string())]).await;
    lab.world().write("mine", "{}\n");
    assert_eq!(lab.run("get kubeconfig demo --merge=mine").status, 1);
    assert_eq!(lab.world().read("mine"), "{}\n");
    assert_eq!(lab.run("get kubeconfig demo --merge=mine --allow-unsafe-fields").status, 0);
    assert!(lab.world().read("mine").contains("command: login"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_names_are_completed() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture
        .create([provisioning("team/demo"), provisioning("team/dev"), provisioning("default/else")])
        .await;
    let complete = |words: &[&str]| crate::completion::candidates(lab.world(), words);
    assert_eq!(complete(&["capstan", "get", "kubeconfig", "-n", "team", "d"]), ["demo", "dev"]);
    assert_eq!(complete(&["capstan", "get", "kubeconfig", "e"]), ["else"]);
}
