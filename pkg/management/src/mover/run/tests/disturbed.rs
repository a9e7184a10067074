//! What happens to a move while it goes on.

use serde_json::json;
use support::{
    cluster_api::{cluster, object},
    kind,
};

use super::world::{Started, World, carried_out, installed, moved, moves, request, state};
use crate::{
    MoveError, MovePhase, move_state,
    mover::{BLOCK_MOVE, MARK, lab::Lab},
    plan_move,
};

/// Cuts a move off some requests behind the beginning of a phase.
async fn cut_off_in(world: &World, phase: MovePhase, behind: u64) -> Started {
    // Of these numbers of requests, the first is too few, and the second enough.
    let (mut few, mut enough) = (20, 1000);
    while enough - few > 1 {
        let middle = u64::midpoint(few, enough);
        let begun = cut_off_after(world, middle).await.1 >= Some(phase);
        *(if begun { &mut enough } else { &mut few }) = middle;
    }
    let (started, found) = cut_off_after(world, enough + behind).await;
    assert_eq!(found, Some(phase));
    started
}

async fn cut_off_after(world: &World, requests: u64) -> (Started, Option<MovePhase>) {
    let started = world.start().await;
    let lines = started.lab.breaking_after(requests);
    let (source, target) = (lines.source().await, lines.target().await);
    lines.until_broken(moved(&source, &target, &request(), "1")).await;
    let source = started.lab.lines().source().await;
    let phase = move_state(Some(&source), None).await.unwrap().map(|journal| journal.phase);
    (started, phase)
}

const JOURNAL: &str = "cluster-api-system/capstan-move";

async fn without_journals(lab: &Lab) {
    for side in [&lab.source, &lab.target] {
        side.delete(kind::CONFIG_MAP, JOURNAL).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_is_deleted_in_the_middle_is_not_missed() {
    let world = Box::pin(World::build()).await;
    let clean = world.start().await;
    moves(&clean.lab, &request(), "1").await.unwrap();
    let expected = state(&clean.lab).await;
    for (phase, behind) in [
        (MovePhase::Pausing, 6),
        (MovePhase::Creating, 90),
        (MovePhase::Deleting, 50),
        (MovePhase::Resuming, 4),
    ] {
        let started = cut_off_in(&world, phase, behind).await;
        let when = format!("cut off in {phase:?}, without a journal");
        without_journals(&started.lab).await;
        let outcome = moves(&started.lab, &request(), "2").await;
        outcome.unwrap_or_else(|error| panic!("{when}: {error:?}"));
        let found = state(&started.lab).await;
        found.check(&when);
        found.assert_same(&expected, &when);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_user_changes_between_two_runs_is_not_lost() {
    let world = Box::pin(World::build()).await;
    let started = cut_off_in(&world, MovePhase::Creating, 90).await;
    let lab = &started.lab;
    lab.source.merge(kind::CLUSTER, "team/a", &json!({"metadata": {"labels": {"late": "1"}}})).await;
    lab.source.create(cluster("team/new")).await;
    moves(lab, &request(), "2").await.unwrap();
    let after = state(lab).await;
    after.check("changed");
    assert_eq!(after.target["Cluster team/a"]["metadata"]["labels"]["late"], "1");
    assert!(
        after.target.contains_key("DockerCluster team/new") && !after.source.contains_key("Cluster team/new")
    );
}

#[tokio::test(start_paused = true)]
async fn what_blocks_a_move_is_waited_for_and_named_when_the_time_is_over() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    let block = |value| json!({"metadata": {"annotations": {BLOCK_MOVE: value}}});
    lab.source.merge(kind::DOCKER_CLUSTER, "team/c", &block(json!(""))).await;
    let failed = moves(lab, &request(), "1").await.unwrap_err();
    assert_eq!(failed.to_string(), "`DockerCluster team/c` still holds the move up after 600 s");
    let on_target = lab.target.list(kind::CLUSTER).await;
    assert!(on_target.is_empty());
    let lines = lab.lines();
    let (source, target) = (lines.source().await, lines.target().await);
    let request = request();
    let run = moved(&source, &target, &request, "2");
    let release = async {
        // It is paused, and marked, by the time the provider lets it go.
        while lab.source.get(kind::CLUSTER, "team/c").await.unwrap()["metadata"]["annotations"][MARK]
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
async fn an_object_the_target_refuses_stops_the_move_before_anything_is_deleted_and_is_named() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    lab.target.create([object(kind::NAMESPACE, "team")]).await;
    let refusal = sandbox::Fault::parse("403,verb=create,resource=cluster.x-k8s.io/machines").unwrap();
    lab.target.sandbox().faults().add(refusal);
    let before = state(lab).await;
    let MoveError::Objects { action, failures } = moves(lab, &request(), "1").await.unwrap_err() else {
        panic!("another failure")
    };
    assert_eq!(action, "created");
    assert!(failures.iter().all(|(key, _)| key.kind == "Machine") && !failures.is_empty());
    assert_eq!(state(lab).await.source.len(), before.source.len());
    lab.target.sandbox().faults().clear();
    moves(lab, &request(), "2").await.unwrap();
    state(lab).await.check("after the refusal");
}

#[tokio::test(start_paused = true)]
async fn what_comes_to_the_source_after_the_plan_and_is_on_the_target_is_checked_before_it_is_overwritten() {
    let lab = Lab::start().await;
    futures::join!(installed(&lab.source), installed(&lab.target));
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
        let failed = carried_out(&source, &target, &request, plan, "1").await.unwrap_err();
        let MoveError::Objects { failures, .. } = failed else { panic!("{failed:?}") };
        let [(key, _)] = failures.as_slice() else { panic!("{failures:?}") };
        assert_eq!(key.to_string(), "ConfigMap team/late");
    }
    let from = |object: serde_json::Value| object["data"]["from"].clone();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/late").await.unwrap()), "target");
    moves(&lab, &request, "2").await.unwrap();
    assert_eq!(from(lab.target.get(kind::CONFIG_MAP, "team/late").await.unwrap()), "source");
}
