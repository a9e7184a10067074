//! Tests of moves through the binary, between two sandboxes.

use sandbox::Fault;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{cluster, object},
    kind::{CLUSTER, CONFIG_MAP, MACHINE, SECRET},
    request_counter::RequestCounter,
};

use crate::{move_leases::of_another_run, testing::ClusterPair};

/// Returns both clusters, with an object on the source that does not move.
async fn two() -> ClusterPair {
    let two = ClusterPair::start().await;
    two.source.create([object(CONFIG_MAP, "default/stray")]).await;
    two
}

// Row: D-145
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_lists_objects_with_reasons_and_writes_nothing() {
    let two = two().await;
    let counter = RequestCounter::start(two.target.sandbox());
    assert_data_eq!(
        two.run("move --dry-run").await.to_string(),
        str![[r#"
exit 0
--- stdout
ACTION    OBJECT                                 WHY
move      Cluster default/demo                   is a root object
move      DockerCluster default/demo             belongs to Cluster default/demo
move      Machine default/demo-machine-0         belongs to Cluster default/demo
move      Secret default/demo-ca                 belongs to Cluster default/demo
move      Secret default/demo-kubeconfig         belongs to Cluster default/demo
move      DockerMachine default/demo-machine-0   belongs to Cluster default/demo
move      KubeadmConfig default/demo-machine-0   belongs to Cluster default/demo
move      Secret default/demo-machine-0          belongs to Cluster default/demo

stays
  it is not linked to a moving object: ConfigMap default/kube-root-ca.crt, ConfigMap default/stray

objects: 8 to move; 2 stay

"#]]
    );
    assert!(two.target.list(CLUSTER).await.is_empty());
    let writes = counter.writes().to_string();
    assert!(!writes.contains("namespaces") && writes.contains("create clusters (dry run)"), "{writes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_transfers_objects_to_the_target() {
    let two = two().await;
    assert_data_eq!(
        two.run("move").await.to_string(),
        str![[r#"
exit 0
--- stderr
paused 1 Cluster or ClusterClass
created 8 objects on the target
verified 8 objects on the target
deleted 8 objects on the source
resumed 1 Cluster or ClusterClass
done in [..]: moved 8 objects

"#]]
    );
    assert!(two.source.list(CLUSTER).await.is_empty() && two.source.list(MACHINE).await.is_empty());
    let moved = two.target.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(moved["spec"]["paused"], json!(null));
    assert!(two.target.get(SECRET, "default/demo-ca").await.is_some());
    assert!(two.source.get(CONFIG_MAP, "default/stray").await.is_some());
    let report = two.run("move report").await;
    assert!(report.stdout.contains("Cluster default/demo "), "{report}");
    let report = two.run("move report -o json").await;
    let printed: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(printed["journal"]["phase"], "finished");
    let from_disk = tokio::task::block_in_place(|| two.world.run(["move", "report", "-o", "json"]));
    assert_eq!(from_disk.stdout, report.stdout);
    assert_data_eq!(
        two.named(from_disk).await.messages(),
        str![[r#"
exit 0
--- stderr
cannot find a kubeconfig; showing the report in `[HOME]/.local/state/capstan/moves/[..].report.json`

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_of_another_cluster_is_not_shown() {
    let (two, other) = (two().await, ClusterPair::start().await);
    assert_eq!(two.run("move").await.status, 0);
    let [source, target] = other.kubeconfigs().await;
    let [_, moved_to] = two.kubeconfigs().await;
    for (from, to) in [(&source, &target), (&source, &moved_to)] {
        let ends = ["move", "report", "--kubeconfig", from, "--to-kubeconfig", to];
        let run = tokio::task::block_in_place(|| two.world.run(ends));
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_different_secret_is_overwritten_only_on_request() {
    let two = two().await;
    let other = object(SECRET, "default/demo-ca").field("type", json!("cluster.x-k8s.io/secret"));
    two.target.create([other]).await;
    let refused = two.run("move").await;
    assert_eq!((refused.status, refused.stdout.as_str()), (1, ""), "{refused}");
    assert_eq!(two.target.get(SECRET, "default/demo-ca").await.unwrap()["data"], json!(null));
    let expected = two.source.get(SECRET, "default/demo-ca").await.unwrap()["data"].clone();
    assert_eq!(two.run("move --overwrite").await.status, 0);
    assert_eq!(two.target.get(SECRET, "default/demo-ca").await.unwrap()["data"], expected);
}

// Row: D-172
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_move_succeeds() {
    let two = two().await;
    let plan = two.run("move --dry-run -n empty").await;
    assert_data_eq!(
        plan.to_string(),
        str![[r#"
exit 0
--- stdout
nothing would move
--- stderr
warning: no objects to move in namespace `empty`
    namespace `default` has a Cluster: add `--namespace default`

"#]]
    );
    two.source.create(cluster("web/shop")).await;
    assert_eq!(two.run("move").await.status, 0);
    let last = two.run("move report -o json").await.stdout;
    assert_data_eq!(
        two.run("move").await.to_string(),
        str![[r#"
exit 0
--- stderr
nothing to move: the move started at [..] has already moved 8 objects; run `capstan move report --kubeconfig [SOURCE] --to-kubeconfig [TARGET]` to list them
done in [..]: nothing to move

"#]]
    );
    assert_data_eq!(
        two.run("move -n empty").await.to_string(),
        str![[r#"
exit 0
--- stderr
warning: no objects to move in namespace `empty`
    namespace `web` has a Cluster: add `--namespace web`
done in [..]: nothing to move

"#]]
    );
    assert_eq!(two.run("move report -o json").await.stdout, last);
}

#[tokio::test(flavor = "multi_thread")]
async fn move_status_reports_an_unfinished_save() {
    let two = two().await;
    let mark = json!({"metadata": {"annotations": {"capstan.dev/move": "save-7-elsewhere-1"}}});
    two.source.merge(CLUSTER, "default/demo", &mark).await;
    let status = two.run("move status -o json").await;
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    let save = &status["saves"][0];
    assert_eq!((&save["process"], &save["over"]), (&json!("7-elsewhere-1"), &json!(false)), "{status}");
    assert_eq!(save["paused"][0]["name"], "demo");
}

#[tokio::test(flavor = "multi_thread")]
async fn move_status_reports_forbidden_reads_and_the_rest() {
    let two = two().await;
    assert_eq!(two.run("move").await.status, 0);
    let mark = json!({"metadata": {"annotations": {"capstan.dev/move": "save-7-elsewhere-1"}}});
    two.source.create(cluster("web/shop")).await;
    two.source.merge(CLUSTER, "web/shop", &mark).await;
    let fault = |text| Fault::parse(text).unwrap();
    let faults = two.source.sandbox().faults();
    let classes = faults.add(fault("forbid,resource=cluster.x-k8s.io/clusterclasses"));
    let status: serde_json::Value =
        serde_json::from_str(&two.run("move status -o json").await.stdout).unwrap();
    assert_eq!(status["saves"][0]["paused"][0]["name"], "shop", "{status}");
    assert_eq!(status["unseen"].as_array().map(Vec::len), Some(1), "{status}");
    faults.remove(classes);
    faults.add(fault("forbid,resource=cluster.x-k8s.io/clusters"));
    let status = two.run("move status").await.stdout;
    assert_data_eq!(
        status.split_once("\n\n").unwrap().1,
        str![[r#"
nothing to do; run `capstan move report --kubeconfig [SOURCE] --to-kubeconfig [TARGET]` for the outcome of every object

these saves cannot be checked for paused Clusters
  cannot list objects of kind `Cluster.cluster.x-k8s.io`: clusters.cluster.x-k8s.io is forbidden: User "admin" cannot list resource "clusters" in API group "cluster.x-k8s.io" at the cluster scope

"#]]
    );
}

// Row: D-142
#[tokio::test(flavor = "multi_thread")]
async fn all_obstacles_of_a_move_are_reported_with_hints() {
    let two = two().await;
    two.target.delete(support::kind::PROVIDER, "infrastructure-docker-system/infrastructure-docker").await;
    two.source.merge(MACHINE, "default/demo-machine-0", &json!({"metadata": {"finalizers": ["hold"]}})).await;
    two.source.delete(MACHINE, "default/demo-machine-0").await;
    assert_data_eq!(
        two.run("move").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: found 2 problems; nothing was written
  cause: objects are being deleted: Machine default/demo-machine-0
  cause: `infrastructure-docker` v1.14.0 is missing on the target
hint: wait until they are deleted, or remove the blocking finalizers; the move would create them again on the target
hint: install it with `capstan init --infrastructure docker:v1.14.0 --kubeconfig [TARGET]`

"#]]
    );
    let paused = two.source.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(paused["spec"]["paused"], json!(null));
}

// Row: D-143
#[tokio::test(flavor = "multi_thread")]
async fn source_and_target_must_differ() {
    let two = two().await;
    let [source, _] = two.kubeconfigs().await;
    let ends = ["move", "--kubeconfig", &source, "--to-kubeconfig", &source];
    let run = tokio::task::block_in_place(|| two.world.run(ends));
    assert_data_eq!(
        two.named(run).await.to_string(),
        str![[r#"
exit 1
--- stderr
error: source and target are the same cluster
hint: set the target with `--to-kubeconfig` and `--to-kubeconfig-context`, or with `--to-sandbox`; `--kubeconfig` or `--sandbox` sets the source

"#]]
    );
    assert!(two.source.get(CLUSTER, "default/demo").await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn move_results_and_progress_are_available_as_json() {
    let two = two().await;
    let plan = two.run("move --dry-run -o json --cluster demo").await;
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!(plan["moving"][0]["object"]["kind"], "Cluster");
    assert_eq!((&plan["moving"][0]["action"], &plan["moving"][0]["group"]), (&json!("move"), &json!(1)));
    let run = two.run("move -o json --progress json").await;
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let demo =
        json!({"group": "cluster.x-k8s.io", "kind": "Cluster", "namespace": "default", "name": "demo"});
    let objects = report["objects"].as_array().unwrap();
    assert!(objects.iter().any(|one| one["object"] == demo && one["outcome"] == "moved"), "{report}");
    let lines: Vec<serde_json::Value> =
        run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let phases: Vec<&str> = lines.iter().filter_map(|line| line["phase"].as_str()).collect();
    assert_eq!((phases.first(), phases.last()), (Some(&"pausing"), Some(&"resuming")), "{run}");
    assert_eq!(phases.iter().filter(|phase| **phase == "pausing").count(), 1, "{run}");
}

/// Returns the clusters after a move that the target rejected halfway.
async fn refused() -> ClusterPair {
    let two = two().await;
    two.target.inject_fault("403,verb=create,resource=infrastructure.cluster.x-k8s.io/dockermachines");
    assert_data_eq!(
        two.run("move").await.to_string(),
        str![[r#"
exit 1
--- stderr
paused 1 Cluster or ClusterClass
error: cannot create an object
  cause: cannot create DockerMachine default/demo-machine-0: dockermachines.infrastructure.cluster.x-k8s.io is forbidden: User "admin" cannot create resource "dockermachines" in API group "infrastructure.cluster.x-k8s.io" in the namespace "default"
hint: request this permission; check it with `kubectl --kubeconfig [TARGET] auth can-i create dockermachines.infrastructure.cluster.x-k8s.io -n default`
hint: the Clusters stay paused; run `capstan move status --kubeconfig [SOURCE] --to-kubeconfig [TARGET]` for the command that resumes the move, and add `--abort` to undo it instead

"#]]
    );
    let paused = two.source.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(paused["spec"]["paused"], json!(true));
    two
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_move_resumes_after_the_fix() {
    let two = refused().await;
    two.target.sandbox().faults().clear();
    let done = two.run("move").await;
    assert_eq!((done.status, done.stdout.as_str()), (0, ""), "{done}");
    assert!(two.source.list(CLUSTER).await.is_empty() && two.source.list(SECRET).await.is_empty());
    assert_eq!(two.target.list(SECRET).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hint_for_an_unfinished_move_names_the_program_as_called() {
    let two = refused().await;
    let [source, _] = two.kubeconfigs().await;
    let delete = ["delete", "--infrastructure", "docker", "--kubeconfig", &source];
    let run = tokio::task::block_in_place(|| two.world.run_as("clusterctl", delete));
    assert_eq!(run.status, 1, "{run}");
    let suggested = run.suggested_commands();
    assert!(suggested.iter().any(|command| command.starts_with("clusterctl move ")), "{run}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_beside_a_move_waits_for_its_lease() {
    let two = refused().await;
    let [source, _] = two.kubeconfigs().await;
    two.source.apply(&of_another_run().to_string()).await;
    let delete = ["delete", "--infrastructure", "docker", "--no-wait-lock", "--kubeconfig", &source];
    let run = tokio::task::block_in_place(|| two.world.run(delete));
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: another run is writing to this cluster: another program on `elsewhere/1/1` (since [..])
hint: re-run without `--no-wait-lock` to wait, or with `--take-over` to stop the other run

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_move_can_be_aborted() {
    let two = refused().await;
    assert_data_eq!(
        two.run("move -n other").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: another move is unfinished: it moves the namespaces `default`
hint: complete that move first, or undo it with `--abort`; `capstan move status --kubeconfig [SOURCE] --to-kubeconfig [TARGET]` shows its details

"#]]
    );
    let undone = two.run("move --abort").await;
    assert_eq!(undone.status, 0, "{undone}");
    assert!(two.target.list(CLUSTER).await.is_empty());
    let resumed = two.source.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(resumed["spec"]["paused"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_can_be_aborted_without_its_target() {
    let two = refused().await;
    let half = two.run("move --lost source").await;
    assert_data_eq!(
        half.stderr.as_str(),
        str![[r#"
error: cannot resume Cluster default/demo on the target cluster: the move has not verified all of their objects there
hint: restore them from a backup with `capstan restore FILE --kubeconfig [SOURCE]`; existing objects are kept

"#]]
    );
    assert_eq!(half.status, 1, "{half}");
    let undone = two.run("move --lost target").await;
    assert_eq!(undone.status, 0, "{undone}");
    let resumed = two.source.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(resumed["spec"]["paused"], json!(null));
    let copy = two.target.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(copy["spec"]["paused"], json!(true));
    assert_data_eq!(
        two.run("move --lost target").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot abort the move: no move found
hint: look for a move on both clusters with `capstan move status --kubeconfig [SOURCE] --to-kubeconfig [TARGET]`; set the target with `--to-kubeconfig` or `--to-sandbox`

"#]]
    );
}
