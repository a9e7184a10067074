//! Tests of `alpha rollout` through the binary, on a sandbox.
#![cfg(unix)]

use std::time::Duration;

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{cluster_api::cluster, fixture::Fixture, kind, request_counter::RequestCounter};

use crate::testing::Management;

async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create(cluster("default/a").control_plane(1).machine_deployment("md", 2)).await;
    lab
}

// Row: D-157
#[tokio::test(flavor = "multi_thread")]
async fn several_rollouts_stop_at_the_first_failure() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("alpha rollout pause MachineDeployment/a-md kcp/a-control-plane").to_string(),
        str![[r#"
exit 0
--- stderr
paused the rollout of MachineDeployment default/a-md
paused the rollout of KubeadmControlPlane default/a-control-plane
done in [..]: paused 2 rollouts

"#]]
    );
    assert_data_eq!(
        lab.run("alpha rollout resume kcp/a-control-plane kcp/a-control-plane md/a-md").to_string(),
        str![[r#"
exit 1
--- stderr
resumed the rollout of KubeadmControlPlane default/a-control-plane
error: cannot resume the rollout of KubeadmControlPlane default/a-control-plane
  cause: cannot resume KubeadmControlPlane default/a-control-plane: it is not paused

"#]]
    );
    assert_data_eq!(
        lab.run("alpha rollout restart md/a-md").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot restart the rollout of MachineDeployment default/a-md
  cause: cannot restart MachineDeployment default/a-md: it is paused
hint: resume it first with `capstan alpha rollout resume machinedeployment/a-md -n default`

"#]]
    );
    assert_eq!(lab.run("alpha rollout resume md/a-md -n default").status, 0);
    assert_eq!(lab.run("alpha rollout restart machinedeployments/a-md").stdout, "");
    let restarted = lab.fixture.get(kind::MACHINE_DEPLOYMENT, "default/a-md").await.unwrap();
    assert!(restarted["spec"]["rollout"]["after"].is_string());
}

// Row: D-327
#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_dry_run_lists_changes_and_writes_nothing() {
    let lab = lab().await;
    let counter = RequestCounter::start(lab.fixture.sandbox());
    assert_data_eq!(
        lab.world().screens(
            ["restart", "pause"]
                .map(|verb| { format!("alpha rollout {verb} md/a-md kcp/a-control-plane --dry-run") })
        ),
        str![[r#"
$ capstan alpha rollout restart md/a-md kcp/a-control-plane --dry-run
exit 0
--- stdout
would restart the rollout of MachineDeployment default/a-md
would restart the rollout of KubeadmControlPlane default/a-control-plane

$ capstan alpha rollout pause md/a-md kcp/a-control-plane --dry-run
exit 0
--- stdout
would pause the rollout of MachineDeployment default/a-md
would pause the rollout of KubeadmControlPlane default/a-control-plane

"#]]
    );
    let refused = lab.run("alpha rollout resume md/a-md --dry-run -o json");
    assert_eq!((refused.status, refused.stdout.as_str()), (1, ""), "{refused}");
    assert_eq!(counter.writes().to_string(), "nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_rollouts_are_listed_as_json() {
    let lab = lab().await;
    let report = |arguments: &str| -> serde_json::Value {
        let run = lab.run(&format!("alpha rollout {arguments} -o json"));
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
    };
    let planned = report("pause md/a-md --dry-run");
    assert_eq!((&planned["carriedOut"], &planned["command"]), (&json!(false), &json!("alpha rollout pause")));
    let paused = report("pause md/a-md");
    assert_eq!(paused["carriedOut"], true);
    assert_eq!(
        paused["rollouts"],
        json!([{"group": "cluster.x-k8s.io", "kind": "MachineDeployment", "namespace": "default", "name": "a-md"}])
    );
    assert_eq!(report("resume md/a-md")["command"], "alpha rollout resume");
    assert_eq!(report("restart md/a-md")["command"], "alpha rollout restart");
}

// Row: D-157
#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_resource_stops_a_rollout_before_any_change() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("alpha rollout pause md/a-md md").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot parse `md`: the form is RESOURCE/NAME
hint: use a form such as `md/demo-workers`

"#]]
    );
    assert_data_eq!(
        lab.run("alpha rollout pause md/a-md machine/a").to_string(),
        str![[r#"
exit 1
--- stderr
error: resource type `machine` does not support rollouts
hint: use one of kubeadmcontrolplane, machinedeployment, machinepool

"#]]
    );
    assert_data_eq!(
        lab.run("alpha rollout pause").to_string(),
        str![[r#"
exit 1
--- stderr
error: the resource is missing
hint: add a resource as TYPE/NAME, such as md/demo-workers

"#]]
    );
    assert_data_eq!(
        lab.run("alpha rollout restart md/a-dm").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot restart the rollout of MachineDeployment default/a-dm
  cause: MachineDeployment default/a-dm does not exist
hint: did you mean `a-md`?

"#]]
    );
    let untouched = lab.fixture.get(kind::MACHINE_DEPLOYMENT, "default/a-md").await.unwrap();
    assert!(untouched["spec"]["paused"].is_null());
}

// Row: D-159
#[tokio::test(flavor = "multi_thread")]
async fn rollout_progress_is_printed_as_text_and_json() {
    let lab = lab().await;
    lab.fixture.merge(kind::MACHINE_DEPLOYMENT, "default/a-md", &json!({"spec": {"replicas": 3}})).await;
    assert_data_eq!(
        lab.run("alpha rollout status kcp/a-control-plane md/a-md").to_string(),
        str![[r#"
exit 0
--- stdout
NAME                                  STATE         DESIRED   REPLICAS   UP TO DATE   AVAILABLE   MESSAGE
KubeadmControlPlane/a-control-plane   complete      1         1          1            1           
MachineDeployment/a-md                progressing   3         2          2            2           2 of 3 machines up to date

"#]]
    );
    let late = lab.run("alpha rollout status md/a-md --watch --timeout 1ms -o json");
    let report: serde_json::Value = serde_json::from_str(&late.stdout).unwrap();
    assert_eq!(report["rollouts"][0]["state"], "progressing");
    assert_eq!(report["rollouts"][0]["upToDate"], 2);
    assert_eq!(late.status, 1);
    assert_data_eq!(
        late.stderr,
        str![[r#"
MachineDeployment default/a-md: progressing, 2 of 3 machines up to date
{"kind":"environment","exitCode":1,"message":"the rollouts are not complete after 0s","causes":[],"hints":["increase `--timeout`, or find the cause with `kubectl describe`"]}

"#]]
    );
}

// Row: D-159
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_is_watched_until_it_completes() {
    // All objects are years old at the restart, because objects of the same second would not be replaced.
    let builder = Fixture::builder()
        .controllers(sandbox::ControllerSwitches::default())
        .clock_at("2020-01-01T00:00:00Z");
    let lab = Management::start(builder).await;
    let made_by_controllers =
        [kind::SECRET, kind::MACHINE_SET, kind::MACHINE, kind::KUBEADM_CONFIG, kind::DOCKER_MACHINE];
    let objects = cluster("default/a").control_plane(1).machine_deployment("md", 2);
    let roots = objects.into_iter().filter(|object| !made_by_controllers.contains(&object.kind()));
    lab.fixture.create(roots).await;
    lab.fixture.wait_until_idle().await;
    lab.fixture.advance(Duration::from_hours(24 * 365 * 100));
    assert_eq!(lab.run("alpha rollout restart md/a-md").status, 0);
    assert_data_eq!(
        lab.world().run_expecting_success("alpha rollout status md/a-md --watch --timeout 5m").stdout,
        str![[r#"
NAME                     STATE      DESIRED   REPLICAS   UP TO DATE   AVAILABLE   MESSAGE
MachineDeployment/a-md   complete   2         2          2            2           

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn types_and_names_are_completed() {
    let lab = lab().await;
    let complete =
        |word| crate::completion::candidates(lab.world(), &["capstan", "alpha", "rollout", "pause", word]);
    assert_eq!(complete("ma"), ["machinedeployment/", "machinepool/"]);
    assert_eq!(complete("md/"), ["md/a-md"]);
    assert_eq!(complete("kubeadmcontrolplane/a"), ["kubeadmcontrolplane/a-control-plane"]);
}
