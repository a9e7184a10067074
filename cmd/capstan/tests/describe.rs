//! Tests of `describe cluster` on a sandbox with a cluster. Other tests cover the content of rows. These tests cover
//! the command line and its output.
#![cfg(unix)]
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api,
    fixture::Fixture,
    kind::{CLUSTER, DOCKER_MACHINE, MACHINE},
};

use crate::testing::Management;

/// Starts a sandbox with cluster `one` in namespace `team`.
async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    let one = cluster_api::cluster("team/one").control_plane(3).machine_deployment("md", 2);
    lab.fixture.create(one).await;
    lab
}

async fn break_machine(lab: &Management, message: &str) {
    let condition = json!({
        "type": "Ready", "status": "False", "reason": "NotReady", "message": message,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    });
    let broken = json!({"status": {"conditions": [condition]}});
    lab.fixture.merge_status(MACHINE, "team/one-md-1-0", &broken).await;
}

/// Removes the column SINCE, which changes over time.
fn without_ages(table: &str) -> String {
    let head = table.lines().next().unwrap();
    let (from, to) = (head.find("SINCE").unwrap(), head.find("MESSAGE").unwrap());
    let line = |line: &str| {
        let kept = line.chars().enumerate().filter(|(at, _)| !(from..to).contains(at));
        kept.map(|(_, c)| c).collect::<String>() + "\n"
    };
    table.lines().map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_shown_as_a_tree() {
    let lab = lab().await;
    break_machine(&lab, "* NodeHealthy: gone\n* Other: too").await;
    assert_data_eq!(
        without_ages(&lab.run("describe cluster one -n team").stdout),
        str![[r#"
NAME                                                   REPLICAS AVAILABLE READY UP TO DATE STATUS REASON     MESSAGE                                            
Cluster team/one                                                                           True   Available                                                     
├─DockerCluster team/one                                                                   True   Ready                                                         
├─KubeadmControlPlane team/one-control-plane, v1.36.0  3/3      3         3     3          True   Available                                                     
│ └─3 Machines...                                               3         3     3          True   Ready      See one-control-plane-0, one-control-plane-1, ...  
└─Workers                                                                                                                                                       
  └─MachineDeployment team/one-md, v1.36.0             2/2      2         2     2                                                                               
    ├─Machine team/one-md-1-0, v1.36.0                 1        0         0     0          False  NotReady   * NodeHealthy: gone                                
    │                                                                                                        * Other: too                                       
    └─Machine team/one-md-1-1, v1.36.0                 1        1         1     1          True   Ready                                                         

"#]]
    );
}

// Row: D-138
#[tokio::test(flavor = "multi_thread")]
async fn colours_change_no_text_and_follow_the_flags_of_clusterctl() {
    let lab = lab().await;
    let plain = lab.run("describe cluster one -n team");
    for switched in ["-c", "--color", "--color=true", "--color=always", "--color always"] {
        let coloured = lab.run(&format!("describe cluster {switched} one -n team"));
        assert!(coloured.stdout.contains("\u{1b}[32mTrue\u{1b}[0m"), "{switched}: {coloured}");
        assert_eq!(anstream::adapter::strip_str(&coloured.stdout).to_string(), plain.stdout, "{switched}");
    }
    for switched in ["-c=false", "--color=never", "--color never"] {
        assert_eq!(lab.run(&format!("describe cluster {switched} one -n team")), plain, "{switched}");
    }
}

// Row: D-139
#[tokio::test(flavor = "multi_thread")]
async fn structured_output_ignores_the_filters_of_the_tree() {
    let lab = lab().await;
    let json = lab.run("describe cluster one -n team -o json --grouping --show-conditions all");
    let tree: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&tree["name"], &tree["namespace"], &tree["health"]),
        (&"one".into(), &"team".into(), &"healthy".into())
    );
    let parts = parts(&tree["tree"]);
    for (role, count) in
        [("machine", 5), ("machineInfrastructure", 5), ("bootstrapConfig", 5), ("machineSet", 1)]
    {
        assert_eq!(parts.iter().filter(|part| part["role"] == role).count(), count, "{role}");
    }
    let control_plane = parts.iter().find(|part| part["role"] == "controlPlane").unwrap();
    assert_eq!(
        control_plane["state"]["replicas"],
        json!({"desired": 3, "current": 3, "available": 3, "ready": 3, "upToDate": 3})
    );
    assert_eq!(control_plane["state"]["version"], "v1.36.0");
    let yaml = lab.run("describe cluster one -n team -o yaml");
    assert!(yaml.stdout.starts_with("health: healthy\nname: one\nnamespace: team\ntree:\n"), "{yaml}");
}

fn parts(node: &Value) -> Vec<&Value> {
    let children = node["children"].as_array().unwrap();
    std::iter::once(node).chain(children.iter().flat_map(parts)).collect()
}

// Row: D-139
#[tokio::test(flavor = "multi_thread")]
async fn the_exit_status_reports_health_on_request() {
    let lab = lab().await;
    assert_eq!(lab.run("describe cluster one -n team --exit-status").status, 0);
    let fault = "403,resource=infrastructure.cluster.x-k8s.io/dockerclusters";
    lab.fixture.inject_fault(fault);
    let unknown = lab.run("describe cluster one -n team --exit-status");
    assert_eq!(unknown.status, 3, "{unknown}");
    assert_data_eq!(
        unknown.stderr.as_str(),
        str![[r#"
error: some objects of cluster `team/one` cannot be read

"#]]
    );
    assert!(unknown.stdout.contains("─DockerCluster team/one"), "{unknown}");
    lab.fixture.merge_status(CLUSTER, "team/one", &json!({"status": {"conditions": []}})).await;
    let unwell = lab.run("describe cluster one -n team --exit-status -o json");
    let error: Value = serde_json::from_str(&unwell.stderr).unwrap();
    assert_eq!((unwell.status, &error["kind"]), (3, &json!("unhealthy")), "{unwell}");
    assert!(unwell.stdout.contains("\"health\": \"unhealthy\""), "{unwell}");
    assert_eq!(lab.run("describe cluster one -n team").status, 0);
}

// Row: D-131
#[tokio::test(flavor = "multi_thread")]
async fn unreadable_objects_are_shown_with_a_reason() {
    let lab = lab().await;
    break_machine(&lab, "gone").await;
    let none = json!({"metadata": {"finalizers": null}});
    lab.fixture.merge(DOCKER_MACHINE, "team/one-md-1-0", &none).await;
    lab.fixture.delete(DOCKER_MACHINE, "team/one-md-1-0").await;
    let shown = lab.run("describe cluster one -n team");
    assert_data_eq!(
        without_ages(&shown.stdout),
        str![[r#"
NAME                                                   REPLICAS AVAILABLE READY UP TO DATE STATUS   REASON     MESSAGE                                            
Cluster team/one                                                                           True     Available                                                     
├─DockerCluster team/one                                                                   True     Ready                                                         
├─KubeadmControlPlane team/one-control-plane, v1.36.0  3/3      3         3     3          True     Available                                                     
│ └─3 Machines...                                               3         3     3          True     Ready      See one-control-plane-0, one-control-plane-1, ...  
└─Workers                                                                                                                                                         
  └─MachineDeployment team/one-md, v1.36.0             2/2      2         2     2                                                                                 
    ├─Machine team/one-md-1-0, v1.36.0                 1        0         0     0          False    NotReady   gone                                               
    │ └─DockerMachine team/one-md-1-0                                                      Unknown  NotFound   it does not exist                                  
    └─Machine team/one-md-1-1, v1.36.0                 1        1         1     1          True     Ready                                                         

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_cluster_gets_a_hint() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("describe cluster onne -n team").to_string(),
        str![[r#"
exit 1
--- stderr
error: cluster `onne` does not exist in namespace `team`
hint: did you mean `one`?

"#]]
    );
    assert_data_eq!(
        lab.run("describe cluster one").to_string(),
        str![[r#"
exit 1
--- stderr
error: cluster `one` does not exist in namespace `default`
hint: a Cluster of this name exists in namespace `team`: select it with `--namespace`

"#]]
    );
    assert_data_eq!(
        lab.run("describe cluster").stderr,
        str![[r#"
error: missing argument NAME: workload cluster name
usage: capstan describe cluster [OPTIONS] <NAME>

"#]]
    );
    let spaced = lab.world().run(["describe", "cluster", "one", "--show-conditions", "a, b"]);
    assert_data_eq!(
        spaced.to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value for `--show-conditions`
  cause: cannot parse conditions `a, b`: white space is not allowed around commas or at the ends
hint: separate values only with commas: `--show-conditions Cluster,Machine/m1`

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn v1beta1_conditions_have_their_own_table() {
    let lab = lab().await;
    let older = lab.run("describe cluster one -n team --v1beta2=false");
    assert!(older.stdout.starts_with("NAME "), "{older}");
    let columns: Vec<&str> = older.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(columns, ["NAME", "READY", "SEVERITY", "REASON", "SINCE", "MESSAGE"]);
    assert_data_eq!(
        older.stderr,
        str![[r#"
warning: `--v1beta2` is deprecated; it will be removed with contract v1beta1

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_names_are_completed() {
    let lab = lab().await;
    let words = ["capstan", "describe", "cluster", "-n", "team", "o"];
    let mut command = lab.world().command(["--"].iter().chain(&words));
    let output = command.env("CAPSTAN_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "5").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "one");
}
