//! Disturbances during a move.

use std::time::Duration;

use api::output::MovePhase;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{cluster, object},
    kind,
    scripted_connection::PausePoint,
};
use tokio::time::advance;
use workload::{BLOCK_MOVE, MOVE_MARK};

use super::phases::InterruptionPoint;
use crate::{
    MoveError, plan_move,
    testing::{
        Lab,
        move_world::{
            World, abort_lab, execute, install_providers, move_lab, plan_and_execute, request, state,
        },
    },
};

#[tokio::test(start_paused = true)]
async fn user_changes_between_two_runs_are_kept() {
    let world = Box::pin(World::build()).await;
    let started = InterruptionPoint::new(MovePhase::Creating, 20).interrupt(&world).await;
    let lab = &started.lab;
    lab.source.merge(kind::CLUSTER, "team/a", &json!({"metadata": {"labels": {"late": "1"}}})).await;
    lab.source.create(cluster("team/new")).await;
    move_lab(lab, &request(), "2").await.unwrap();
    let after = state(lab).await;
    after.check("changed");
    assert_eq!(after.target["Cluster team/a"]["metadata"]["labels"]["late"], "1");
    assert!(
        after.target.contains_key("DockerCluster team/new") && !after.source.contains_key("Cluster team/new")
    );
}

#[tokio::test(start_paused = true)]
async fn changes_between_two_runs_of_a_deletion_are_copied_or_stop_it() {
    let world = Box::pin(World::build()).await;
    let started = InterruptionPoint::new(MovePhase::Deleting, 12).interrupt(&world).await;
    let lab = &started.lab;
    let secret = "team/c-apiserver-etcd-client";
    lab.source.merge(kind::SECRET, secret, &json!({"data": {"late": "bGF0ZQ=="}})).await;
    move_lab(lab, &request(), "2").await.unwrap();
    assert_eq!(lab.target.get(kind::SECRET, secret).await.unwrap()["data"]["late"], "bGF0ZQ==");

    let started = InterruptionPoint::new(MovePhase::Deleting, 12).interrupt(&world).await;
    let lab = &started.lab;
    let late = |from: &str| {
        let late = object(kind::CONFIG_MAP, "team/late").label("clusterctl.cluster.x-k8s.io/move", "");
        late.field("data", json!({"from": from}))
    };
    lab.source.create([late("source")]).await;
    lab.target.advance(Duration::from_mins(1));
    lab.target.create([late("target")]).await;
    let error = move_lab(lab, &request(), "2").await.unwrap_err();
    let MoveError::ObjectFailures { action: "create", failures } = error else { panic!("{error:?}") };
    assert_eq!(failures[0].0.to_string(), "ConfigMap team/late");
    for (fixture, from) in [(&lab.source, "source"), (&lab.target, "target")] {
        assert_eq!(fixture.get(kind::CONFIG_MAP, "team/late").await.unwrap()["data"]["from"], from);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_deleted_between_two_runs_never_runs_on_the_target() {
    let world = Box::pin(World::build()).await;
    let started = InterruptionPoint::new(MovePhase::Verifying, 2).interrupt(&world).await;
    let lab = &started.lab;
    let resumed = json!({
        "metadata": {"annotations": {MOVE_MARK: null}, "finalizers": null}, "spec": {"paused": null}
    });
    lab.source.merge(kind::CLUSTER, "team/c", &resumed).await;
    lab.source.delete(kind::CLUSTER, "team/c").await;
    lab.source.wait_until_idle().await;
    assert_eq!(lab.source.get(kind::CLUSTER, "team/c").await, None);

    let error = move_lab(lab, &request(), "2").await.unwrap_err();
    let MoveError::StaleCopies { objects } = error else { panic!("{error:?}") };
    assert!(objects.iter().any(|key| key.to_string() == "Cluster team/c"), "{objects:?}");
    assert!(objects.len() > 3 && objects.iter().all(|key| key.name.starts_with('c')), "{objects:?}");
    assert_eq!(lab.target.get(kind::CLUSTER, "team/c").await.unwrap()["spec"]["paused"], true);

    let aborted = abort_lab(lab).await.unwrap();
    assert_eq!((aborted.foreign.len(), aborted.only_on_target), (0, objects));
    for fixture in [&lab.source, &lab.target] {
        fixture.wait_until_idle().await;
    }
    assert_eq!(lab.target.list(kind::CLUSTER).await.len(), 1, "the only copy stays");
    move_lab(lab, &request(), "3").await.unwrap();
    assert_eq!(lab.target.list(kind::CLUSTER).await.len(), 3);
    for (cluster, is_paused) in [("team/a", json!(null)), ("team/c", json!(true))] {
        assert_eq!(lab.target.get(kind::CLUSTER, cluster).await.unwrap()["spec"]["paused"], is_paused);
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_deleted_between_two_runs_does_not_come_back() {
    let world = Box::pin(World::build()).await;
    let started = InterruptionPoint::new(MovePhase::Verifying, 2).interrupt(&world).await;
    let lab = &started.lab;
    let machine = lab.source.list(kind::MACHINE).await.swap_remove(0)["metadata"]["name"].clone();
    let machine = format!("team/{}", machine.as_str().unwrap());
    lab.source.merge(kind::MACHINE, &machine, &json!({"metadata": {"finalizers": null}})).await;
    lab.source.delete(kind::MACHINE, &machine).await;
    lab.source.wait_until_idle().await;
    let MoveError::StaleCopies { objects } = move_lab(lab, &request(), "2").await.unwrap_err() else {
        panic!("another failure")
    };
    assert!(objects.iter().any(|key| key.to_string() == format!("Machine {machine}")), "{objects:?}");
    let aborted = abort_lab(lab).await.unwrap();
    assert_eq!((aborted.foreign.len(), aborted.only_on_target.len()), (0, 0));
    lab.target.wait_until_idle().await;
    assert_eq!(lab.target.list(kind::CLUSTER).await.len(), 0);
    assert_eq!(lab.target.list(kind::MACHINE).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_is_deleted_while_the_move_is_stopped_keeps_its_original() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    let secret = "team/c-apiserver-etcd-client";
    // The last write before the first deletion.
    let point = InterruptionPoint::new(MovePhase::Deleting, 2);
    let (moment, at) = (PausePoint::default(), point.clone());
    let lines = lab.waiting_at(&moment, move |request| at.is_reached(request));
    let (source, target) = (lines.source().await, lines.target().await);
    let stopped = async {
        lab.target.delete(kind::SECRET, secret).await;
        advance(Duration::from_secs(20)).await;
    };
    let run = moment.run_with_change(Box::pin(point.run(&source, &target, "1")), stopped);
    let MoveError::TargetDiffers { differences } = run.await.unwrap_err() else { panic!("another failure") };
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].0.to_string(), format!("Secret {secret}"));
    assert!(lab.source.get(kind::SECRET, secret).await.is_some());
    move_lab(lab, &request(), "2").await.unwrap();
    assert!(lab.target.get(kind::SECRET, secret).await.is_some());
    state(lab).await.check("completed");
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_the_user_on_the_target_survives_the_end_of_the_move() {
    let world = Box::pin(World::build()).await;
    let started = InterruptionPoint::new(MovePhase::Finished, 1).interrupt(&world).await;
    let lab = &started.lab;
    lab.target.merge(kind::CLUSTER, "team/a", &json!({"spec": {"paused": true}})).await;
    move_lab(lab, &request(), "2").await.unwrap();
    assert_eq!(lab.target.get(kind::CLUSTER, "team/a").await.unwrap()["spec"]["paused"], true);
    assert_eq!(lab.target.get(kind::CLUSTER, "team/c").await.unwrap()["spec"]["paused"], json!(null));
}

#[tokio::test(start_paused = true)]
async fn a_blocked_move_waits_and_reports_the_blockers_on_timeout() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    let block = |value| json!({"metadata": {"annotations": {BLOCK_MOVE: value}}});
    lab.source.merge(kind::DOCKER_CLUSTER, "team/c", &block(json!(""))).await;
    let failed = move_lab(lab, &request(), "1").await.unwrap_err();
    assert_data_eq!(
        failed.to_string(),
        str!["cannot move `DockerCluster team/c`: still blocked after 600 s"]
    );
    let on_target = lab.target.list(kind::CLUSTER).await;
    assert!(on_target.is_empty());
    let lines = lab.lines();
    let (source, target) = (lines.source().await, lines.target().await);
    let request = request();
    let run = plan_and_execute(&source, &target, &request, "2");
    let release = async {
        // The Cluster is paused and marked before the provider releases the object.
        while lab.source.get(kind::CLUSTER, "team/c").await.unwrap()["metadata"]["annotations"][MOVE_MARK]
            .is_null()
        {
            tokio::task::yield_now().await;
        }
        lab.source.merge(kind::DOCKER_CLUSTER, "team/c", &block(json!(null))).await;
    };
    let (moved, ()) = futures::join!(run, release);
    moved.unwrap();
    assert_eq!(lab.target.list(kind::CLUSTER).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_object_stops_the_move_before_any_deletion() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    lab.target.create([object(kind::NAMESPACE, "team")]).await;
    lab.target.inject_fault("403,verb=create,resource=cluster.x-k8s.io/machines");
    let before = state(lab).await;
    let MoveError::ObjectFailures { action, failures } = move_lab(lab, &request(), "1").await.unwrap_err()
    else {
        panic!("another failure")
    };
    assert_eq!(action, "create");
    assert!(failures.iter().all(|(key, _)| key.kind == "Machine") && !failures.is_empty());
    assert_eq!(state(lab).await.source.len(), before.source.len());
    lab.target.sandbox().faults().clear();
    move_lab(lab, &request(), "2").await.unwrap();
    state(lab).await.check("after the refusal");
}

// Row: D-182
#[tokio::test(start_paused = true)]
async fn late_source_objects_are_checked_before_they_overwrite_the_target() {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    lab.source.create(cluster("team/a")).await;
    let late = |from: &str| {
        let late = object(kind::CONFIG_MAP, "team/late").label("clusterctl.cluster.x-k8s.io/move", "");
        late.field("data", json!({"from": from}))
    };
    lab.target.create([late("target")]).await;
    let request = request();
    {
        let lines = lab.lines();
        let (source, target) = (lines.source().await, lines.target().await);
        let plan = plan_move(&source, Some(&target), &request).await.unwrap();
        lab.source.create([late("source")]).await;
        let failed = execute(&source, &target, &request, plan, "1").await.unwrap_err();
        let MoveError::ObjectFailures { failures, .. } = failed else { panic!("{failed:?}") };
        let [(key, _)] = failures.as_slice() else { panic!("{failures:?}") };
        assert_eq!(key.to_string(), "ConfigMap team/late");
    }
    let from = |object: serde_json::Value| object["data"]["from"].clone();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/late").await.unwrap()), "target");
    move_lab(&lab, &request, "2").await.unwrap();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/late").await.unwrap()), "source");
}
