//! Foreign objects on the target, and changes by others during a move.

use api::output::MovePhase;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use support::{
    cluster_api::{Object, cluster, cluster_class, object},
    fixture::Fixture,
    kind::{self, Kind},
    scripted_connection::{PausePoint, RequestOutcome, ScriptedConnection},
};
use workload::{BLOCK_MOVE, DELETE_FOR_MOVE, MOVE_MARK, PAUSED_ANNOTATION};

use serde_json::{Value, json};

use crate::testing::move_world::{execute, install_providers, keeper, move_lab, plan_and_execute, request};
use crate::{
    ClusterChoice, DifferencePolicy, JournalStore, MoveError, MoveOutcome, MoveRequest, MoveRoute,
    execute_move, find_move_journal, plan_move, testing::Lab,
};

const TO_MOVE: &str = "clusterctl.cluster.x-k8s.io/move";

async fn lab() -> Lab {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    lab.source.create(cluster("team/a").control_plane(1)).await;
    lab
}

/// Returns an object that moves because of its own label.
fn labelled(kind: Kind, place: &str, value: &str) -> Object {
    let content = json!({"from": value});
    let field = if kind == kind::SECRET { "stringData" } else { "data" };
    object(kind, place).label(TO_MOVE, "").field(field, content)
}

fn from(object: Option<Value>) -> Value {
    object.expect("it is there")["data"]["from"].clone()
}

/// Returns the objects that could not be written.
fn failed(outcome: Result<MoveOutcome, MoveError>) -> Vec<String> {
    match outcome {
        Err(MoveError::ObjectFailures { failures, .. }) => {
            failures.into_iter().map(|(key, _)| key.to_string()).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the objects that differ, with their paths.
fn differing(outcome: Result<MoveOutcome, MoveError>) -> Vec<(String, String)> {
    match outcome {
        Err(MoveError::TargetDiffers { differences }) => {
            differences.into_iter().map(|(key, path)| (key.to_string(), path)).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Runs a move, and a change when the move enters a phase.
async fn moved_with(
    lab: &Lab,
    request: &MoveRequest,
    phase: MovePhase,
    change: impl Future<Output = ()>,
) -> Result<MoveOutcome, MoveError> {
    let is_due = Arc::new(AtomicBool::new(false));
    let (moment, noted) = (PausePoint::default(), Arc::clone(&is_due));
    let keeper = JournalStore {
        write_journal: Arc::new(move |journal| {
            noted.fetch_or(journal.phase == phase, Ordering::Relaxed);
            Ok(())
        }),
        ..keeper("1")
    };
    let source =
        ScriptedConnection::pausing_before(&lab.source, &moment, move |_| is_due.load(Ordering::Relaxed));
    let (source, target) = (crate::testing::cluster_behind(&source).await, lab.lines().target().await);
    let plan = Box::pin(plan_move(&source, Some(&target), request)).await?;
    let route = MoveRoute { source: &source, target: &target };
    let work = Box::pin(execute_move(route, request, plan, &keeper));
    Box::pin(moment.run_with_change(work, change)).await.map(|outcome| outcome.expect("something moves"))
}

// Row: D-271
#[tokio::test(start_paused = true)]
async fn leftover_delete_annotation_never_deletes_the_only_copy() {
    let lab = Box::pin(lab()).await;
    let half_gone = labelled(kind::SECRET, "team/creds", "source").annotation(DELETE_FOR_MOVE, "");
    lab.source.create([half_gone]).await;
    lab.target.create([labelled(kind::SECRET, "team/creds", "target")]).await;
    let request = MoveRequest { overwrite: true, ..request() };
    assert_eq!(failed(move_lab(&lab, &request, "1").await), ["Secret team/creds"]);
    let here = from(lab.source.get(kind::SECRET, "team/creds").await);
    assert_ne!(here, from(lab.target.get(kind::SECRET, "team/creds").await));
}

// Row: D-271
#[tokio::test(start_paused = true)]
async fn leftover_delete_annotation_of_an_equal_object_is_completed() {
    let lab = Box::pin(lab()).await;
    let config = || labelled(kind::CONFIG_MAP, "team/config", "both");
    lab.source.create([config().annotation(DELETE_FOR_MOVE, "")]).await;
    lab.target.create([config().finalizer("example.org/mine")]).await;
    move_lab(&lab, &request(), "1").await.unwrap();
    assert_eq!(lab.source.get(kind::CONFIG_MAP, "team/config").await, None);
    let copy = lab.target.get(kind::CONFIG_MAP, "team/config").await.unwrap();
    assert_eq!(copy["metadata"]["annotations"], Value::Null);
    assert_eq!(copy["metadata"]["finalizers"], json!(["example.org/mine"]));
}

// Row: D-270
#[tokio::test(start_paused = true)]
async fn object_created_on_the_target_during_a_move_is_kept() {
    for kind in [kind::CONFIG_MAP, kind::SECRET, kind::CLUSTER] {
        let lab = Box::pin(lab()).await;
        if kind != kind::CLUSTER {
            lab.source.create([labelled(kind, "team/a", "source")]).await;
        }
        let request = request();
        let lines = lab.lines();
        let (source, target) = (lines.source().await, lines.target().await);
        let plan = plan_move(&source, Some(&target), &request).await.unwrap();
        lab.target.create([labelled(kind, "team/a", "target")]).await;
        let before = lab.target.get(kind, "team/a").await;
        let outcome = execute(&source, &target, &request, plan, "1").await;
        assert_eq!(failed(outcome), [format!("{} team/a", kind.kind)]);
        assert_eq!(lab.target.get(kind, "team/a").await, before);
    }
}

#[tokio::test(start_paused = true)]
async fn object_of_another_tool_is_kept_by_a_second_run_too() {
    let lab = Box::pin(lab()).await;
    lab.source.create([labelled(kind::CONFIG_MAP, "team/config", "source")]).await;
    let request = request();
    let lines = lab.lines();
    let (source, target) = (lines.source().await, lines.target().await);
    let plan = plan_move(&source, Some(&target), &request).await.unwrap();
    lab.target.create([object(kind::NAMESPACE, "team")]).await;
    lab.target
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: team}, data: {from: target}}")
        .await;
    assert_eq!(failed(execute(&source, &target, &request, plan, "1").await), ["ConfigMap team/config"]);
    assert_eq!(failed(plan_and_execute(&source, &target, &request, "2").await), ["ConfigMap team/config"]);
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/config").await), "target");
    let overwriting = MoveRequest { overwrite: true, ..request };
    plan_and_execute(&source, &target, &overwriting, "3").await.unwrap();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/config").await), "source");
}

// Row: D-270
#[tokio::test(start_paused = true)]
async fn existing_object_changed_after_the_check_is_kept() {
    let lab = Box::pin(lab()).await;
    lab.source.create([labelled(kind::CONFIG_MAP, "team/config", "source")]).await;
    lab.target.create([labelled(kind::CONFIG_MAP, "team/config", "target")]).await;
    let moment = PausePoint::default();
    let target = ScriptedConnection::pausing_before(&lab.target, &moment, |request| {
        request.path.ends_with("/configmaps/config")
    });
    let (source, target) = (lab.lines().source().await, crate::testing::cluster_behind(&target).await);
    let request = request();
    let another = json!({"data": {"from": "another"}});
    let change = lab.target.merge(kind::CONFIG_MAP, "team/config", &another);
    let work = Box::pin(plan_and_execute(&source, &target, &request, "1"));
    let outcome = moment.run_with_change(work, change).await;
    assert_eq!(failed(outcome), ["ConfigMap team/config"]);
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/config").await), "another");
    move_lab(&lab, &request, "2").await.unwrap();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/config").await), "source");
}

#[tokio::test(start_paused = true)]
async fn source_changed_between_copy_and_deletion_reaches_the_target() {
    let lab = Box::pin(lab()).await;
    lab.source.create([labelled(kind::CONFIG_MAP, "team/config", "old")]).await;
    let change = async {
        lab.source.merge(kind::CONFIG_MAP, "team/config", &json!({"data": {"from": "new"}})).await;
        lab.source.merge(kind::SECRET, "team/a-ca", &json!({"data": {"from": "bmV3"}})).await;
    };
    moved_with(&lab, &request(), MovePhase::Deleting, change).await.unwrap();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/config").await), "new");
    assert_eq!(from(lab.target.get(kind::SECRET, "team/a-ca").await), "bmV3");
    assert_eq!(lab.source.get(kind::SECRET, "team/a-ca").await, None);
}

const CONFIG: (Kind, &str) = (kind::KUBEADM_CONTROL_PLANE, "team/a-control-plane");

async fn delete_secret(target: &Fixture) {
    target.delete(kind::SECRET, "team/a-ca").await;
}

async fn begin_deletion(target: &Fixture) {
    target.merge(CONFIG.0, CONFIG.1, &json!({"metadata": {"finalizers": ["example.org/mine"]}})).await;
    target.delete(CONFIG.0, CONFIG.1).await;
}

async fn recreate_secret(target: &Fixture) {
    target.delete(kind::SECRET, "team/a-ca").await;
    target.create([object(kind::SECRET, "team/a-ca")]).await;
}

async fn drop_owner(target: &Fixture) {
    target.merge(kind::SECRET, "team/a-ca", &json!({"metadata": {"ownerReferences": null}})).await;
}

#[tokio::test(start_paused = true)]
async fn damage_on_the_target_stops_a_move_before_any_deletion() {
    for number in 0..4 {
        for on_difference in [DifferencePolicy::Stop, DifferencePolicy::Continue] {
            let lab = Box::pin(lab()).await;
            let before = lab.source.sandbox().revision();
            let damage = async {
                match number {
                    0 => delete_secret(&lab.target).await,
                    1 => begin_deletion(&lab.target).await,
                    2 => recreate_secret(&lab.target).await,
                    _ => drop_owner(&lab.target).await,
                }
            };
            let request = MoveRequest { on_difference, ..request() };
            let outcome = moved_with(&lab, &request, MovePhase::Verifying, damage).await;
            let expected = if number == 1 {
                format!("{} {}", CONFIG.0.kind, CONFIG.1)
            } else {
                "Secret team/a-ca".to_owned()
            };
            let differing: Vec<String> = differing(outcome).into_iter().map(|(key, _)| key).collect();
            assert_eq!(differing, [expected], "{number} {on_difference:?}");
            assert!(lab.source.sandbox().revision() > before);
            assert_nothing_is_deleted(&lab.source).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_replaced_a_copy_stops_a_move() {
    let lab = Box::pin(lab()).await;
    lab.source.create([labelled(kind::CONFIG_MAP, "team/config", "source")]).await;
    let replace = async {
        lab.target.delete(kind::CONFIG_MAP, "team/config").await;
        lab.target.create([labelled(kind::CONFIG_MAP, "team/config", "target")]).await;
    };
    let outcome = moved_with(&lab, &request(), MovePhase::Verifying, replace).await;
    let differing: Vec<String> = differing(outcome).into_iter().map(|(key, _)| key).collect();
    assert_eq!(differing, ["ConfigMap team/config"]);
    assert_eq!(from(lab.source.get(kind::CONFIG_MAP, "team/config").await), "source");
    assert_nothing_is_deleted(&lab.source).await;
}

async fn assert_nothing_is_deleted(source: &Fixture) {
    for kind in
        [kind::SECRET, kind::CLUSTER, kind::KUBEADM_CONTROL_PLANE, kind::MACHINE, kind::DOCKER_MACHINE]
    {
        let objects = source.list(kind).await;
        assert!(!objects.is_empty(), "{}", kind.kind);
        for object in objects {
            assert_eq!(object["metadata"]["annotations"].get(DELETE_FOR_MOVE), None, "{object:#}");
        }
    }
}

/// A definition with which DockerMachines of the target lose their specs.
const PRUNING: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dockermachines.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: DockerMachine, listKind: DockerMachineList, plural: dockermachines, singular: dockermachine}
  versions:
  - name: v1beta2
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
";

#[tokio::test(start_paused = true)]
async fn field_changed_by_the_target_stops_a_move_until_accepted() {
    let lab = Box::pin(lab()).await;
    lab.target.apply(PRUNING).await;
    let machine = lab.source.list(kind::DOCKER_MACHINE).await[0].clone();
    let place = format!("team/{}", machine["metadata"]["name"].as_str().unwrap());
    lab.source.merge(kind::DOCKER_MACHINE, &place, &json!({"spec": {"extra": "1"}})).await;
    let expected = format!("DockerMachine {place}");
    for process in ["1", "2"] {
        let differing = differing(move_lab(&lab, &request(), process).await);
        assert_eq!(differing, [(expected.clone(), "spec.extra".to_owned())]);
        assert_nothing_is_deleted(&lab.source).await;
    }
    let accepting = MoveRequest { on_difference: DifferencePolicy::Continue, ..request() };
    let outcome = move_lab(&lab, &accepting, "3").await.unwrap();
    let differences: Vec<String> = outcome.differences.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(differences, [expected]);
    assert!(lab.source.list(kind::DOCKER_MACHINE).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn pauses_are_recorded_in_the_journal_first() {
    let lab = Box::pin(lab()).await;
    let source = ScriptedConnection::new(&lab.source, |request| {
        let pauses = request.method == "PATCH" && request.path.contains("/clusters/");
        if pauses { RequestOutcome::AnswerLost } else { RequestOutcome::Answered }
    });
    let (cluster, target) = (crate::testing::cluster_behind(&source).await, lab.lines().target().await);
    let ended = source.run_until_broken(plan_and_execute(&cluster, &target, &request(), "1")).await;
    assert!(ended.is_none(), "{ended:?}");
    let journal = find_move_journal(Some(&lab.lines().source().await), None).await.unwrap().unwrap();
    let paused: Vec<String> = journal.paused.iter().map(|paused| paused.object.to_string()).collect();
    assert_eq!(paused, ["Cluster team/a"]);
}

#[tokio::test(start_paused = true)]
async fn cluster_paused_by_another_move_stays_paused() {
    let lab = Box::pin(lab()).await;
    lab.target.create(cluster("other/x")).await;
    let paused = json!({"metadata": {"annotations": {MOVE_MARK: "another"}}, "spec": {"paused": true}});
    lab.target.merge(kind::CLUSTER, "other/x", &paused).await;
    move_lab(&lab, &request(), "1").await.unwrap();
    let found = lab.target.get(kind::CLUSTER, "other/x").await.unwrap();
    assert_eq!(found["spec"]["paused"], true);
    assert_eq!(found["metadata"]["annotations"][MOVE_MARK], "another");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_paused_by_moves_on_both_sides_stays_paused() {
    let lab = Box::pin(lab()).await;
    lab.source.create(cluster("team/x")).await;
    lab.target.create(cluster("team/x")).await;
    let paused = json!({"metadata": {"annotations": {MOVE_MARK: "another"}}, "spec": {"paused": true}});
    lab.target.merge(kind::CLUSTER, "team/x", &paused).await;
    let only = ClusterChoice::Named(["a".to_owned()].into());
    let outcome = move_lab(&lab, &MoveRequest { clusters: only, ..request() }, "1").await.unwrap();
    assert_ne!(outcome.journal.run, "another");
    let found = lab.target.get(kind::CLUSTER, "team/x").await.unwrap();
    assert_eq!(found["spec"]["paused"], true);
    assert_eq!(found["metadata"]["annotations"][MOVE_MARK], "another");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_class_is_paused_unless_remaining_clusters_use_it() {
    let lab = Box::pin(lab()).await;
    lab.source.create([cluster_class("team/own"), cluster_class("team/shared")].concat()).await;
    lab.source.create(cluster("team/b").of_class("team/own")).await;
    lab.source.create(cluster("team/c").of_class("team/shared")).await;
    lab.source.create(cluster("other/x").of_class("team/shared")).await;
    let look = async {
        for (place, is_paused) in [("team/own", true), ("team/shared", false)] {
            let class = lab.source.get(kind::CLUSTER_CLASS, place).await.unwrap();
            assert_eq!(!class["metadata"]["annotations"][PAUSED_ANNOTATION].is_null(), is_paused, "{place}");
        }
    };
    moved_with(&lab, &request(), MovePhase::Creating, look).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn object_created_on_the_source_during_the_deletion_moves_too() {
    let lab = Box::pin(lab()).await;
    let late = lab.source.create([labelled(kind::CONFIG_MAP, "team/late", "source")]);
    moved_with(&lab, &request(), MovePhase::Deleting, late).await.unwrap();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/late").await), "source");
    assert_eq!(lab.source.get(kind::CONFIG_MAP, "team/late").await, None);
}

#[tokio::test(start_paused = true)]
async fn object_deleted_on_the_source_is_not_created_again() {
    let lab = Box::pin(lab()).await;
    let config = labelled(kind::CONFIG_MAP, "team/config", "source").finalizer("example.org/mine");
    lab.source.create([config]).await;
    let delete = lab.source.delete(kind::CONFIG_MAP, "team/config");
    let outcome = moved_with(&lab, &request(), MovePhase::Creating, delete).await;
    assert_eq!(failed(outcome), ["ConfigMap team/config"]);
    assert_eq!(lab.target.get(kind::CONFIG_MAP, "team/config").await, None);
    assert_nothing_is_deleted(&lab.source).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_blocked_during_copying_is_waited_for() {
    let lab = Box::pin(lab()).await;
    let block = json!({"metadata": {"annotations": {BLOCK_MOVE: ""}}});
    let change = lab.source.merge(kind::DOCKER_CLUSTER, "team/a", &block);
    let outcome = moved_with(&lab, &request(), MovePhase::Creating, change).await;
    let Err(MoveError::Blocked { objects, .. }) = outcome else { panic!("{outcome:?}") };
    let blocked: Vec<String> = objects.iter().map(ToString::to_string).collect();
    assert_eq!(blocked, ["DockerCluster team/a"]);
    assert_eq!(lab.target.get(kind::DOCKER_CLUSTER, "team/a").await, None);
    assert_nothing_is_deleted(&lab.source).await;
}
