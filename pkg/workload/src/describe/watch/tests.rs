//! Events of a changing cluster, and of a server that becomes unreachable. Time is paused, so pauses take no real time.
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api,
    fixture::Fixture,
    kind::{CLUSTER, DOCKER_MACHINE, MACHINE},
    request_counter::RequestCounter,
};

use super::*;
use crate::testing::cluster;

/// The time limit for every event, including pauses for an unreachable server.
const PATIENCE: Duration = Duration::from_mins(2);

type News = BoxStream<'static, Result<ClusterEvent, DescribeError>>;

async fn lab() -> (Fixture, News) {
    let fixture = Fixture::start().await;
    cluster_api::install(&fixture).await;
    fixture.create(cluster_api::cluster("team/one").control_plane(1).machine_deployment("md", 2)).await;
    let news = watch_cluster(&cluster(&fixture).await, DescribeRequest::full("team", "one"));
    (fixture, news)
}

/// Returns the next event in one word.
async fn reported(news: &mut News) -> String {
    let next = tokio::time::timeout(PATIENCE, news.next()).await.expect("an event arrives in time");
    match next {
        Some(Ok(ClusterEvent::Tree(tree))) => format!("{:?}", tree.health()),
        Some(Ok(ClusterEvent::Unreachable { reason: why, .. })) => format!("away: {why}"),
        Some(Ok(ClusterEvent::Reachable)) => "back".to_owned(),
        Some(Ok(ClusterEvent::Deleted)) => "gone".to_owned(),
        Some(Err(error)) => format!("error: {error}"),
        None => "end".to_owned(),
    }
}

async fn say(fixture: &Fixture, available: &str) {
    let condition = json!({"type": "Available", "status": available, "reason": "Said"});
    fixture.merge_status(CLUSTER, "team/one", &json!({"status": {"conditions": [condition]}})).await;
}

// Row: D-170
#[tokio::test(start_paused = true)]
async fn every_change_is_reported_until_the_cluster_is_deleted() {
    let (fixture, mut news) = lab().await;
    assert_eq!(reported(&mut news).await, "Healthy");
    say(&fixture, "False").await;
    assert_eq!(reported(&mut news).await, "Unhealthy");
    say(&fixture, "True").await;
    assert_eq!(reported(&mut news).await, "Healthy");
    fixture.merge(CLUSTER, "team/one", &json!({"metadata": {"finalizers": null}})).await;
    fixture.delete(CLUSTER, "team/one").await;
    assert_eq!(reported(&mut news).await, "gone");
    assert_eq!(reported(&mut news).await, "end");
}

#[tokio::test(start_paused = true)]
async fn every_change_is_seen_with_one_watch_per_kind() {
    let (fixture, mut news) = lab().await;
    let counter = RequestCounter::start(fixture.sandbox());
    reported(&mut news).await;
    let not_ready =
        json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Said"}]}});
    for (kind, place) in [(MACHINE, "team/one-md-1-0"), (DOCKER_MACHINE, "team/one-md-1-0")] {
        fixture.merge_status(kind, place, &not_ready).await;
        assert_eq!(reported(&mut news).await, "Healthy", "{kind:?}");
    }
    let reads = counter.reads().to_string();
    for kind in ["machines", "dockermachines", "clusters"] {
        assert!(reads.contains(&format!("1 watch {kind}")), "{kind}: {reads}");
    }
}

#[tokio::test(start_paused = true)]
async fn changes_outside_the_tree_are_not_reported() {
    let (fixture, mut news) = lab().await;
    reported(&mut news).await;
    let note = json!({"metadata": {"annotations": {"note": "seen"}}});
    fixture.merge(MACHINE, "team/one-md-1-0", &note).await;
    assert!(tokio::time::timeout(MAX_READ_INTERVAL * 2, news.next()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_server_is_reported_once_and_again_on_recovery() {
    let (fixture, mut news) = lab().await;
    assert_eq!(reported(&mut news).await, "Healthy");
    fixture.inject_fault("503,resource=cluster.x-k8s.io/clusters,times=7");
    assert!(reported(&mut news).await.starts_with("away: "));
    assert_eq!(reported(&mut news).await, "back");
    fixture.inject_fault("503,resource=cluster.x-k8s.io/clusters,times=7");
    say(&fixture, "False").await;
    assert!(reported(&mut news).await.starts_with("away: "));
    assert_eq!(reported(&mut news).await, "Unhealthy");
}

#[tokio::test(start_paused = true)]
async fn an_unwatchable_kind_is_polled() {
    let (fixture, mut news) = lab().await;
    fixture.inject_fault("403,verb=watch");
    assert_eq!(reported(&mut news).await, "Healthy");
    say(&fixture, "False").await;
    assert_eq!(reported(&mut news).await, "Unhealthy");
}

#[tokio::test(start_paused = true)]
async fn broken_and_expired_watches_are_restarted() {
    let (fixture, mut news) = lab().await;
    fixture.inject_fault("drop-watch");
    fixture.inject_fault("410,verb=watch,times=3");
    for (message, health) in
        [("True", "Healthy"), ("False", "Unhealthy"), ("True", "Healthy"), ("False", "Unhealthy")]
    {
        say(&fixture, message).await;
        while reported(&mut news).await != health {}
    }
}

#[tokio::test(start_paused = true)]
async fn an_initial_failure_is_an_error() {
    let (fixture, _) = lab().await;
    let request = DescribeRequest::full("team", "two");
    let mut news = watch_cluster(&cluster(&fixture).await, request);
    assert_data_eq!(
        reported(&mut news).await,
        str!["error: cluster `two` does not exist in namespace `team`"]
    );
    assert_eq!(reported(&mut news).await, "end");
}
