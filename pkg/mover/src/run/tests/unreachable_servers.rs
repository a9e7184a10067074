//! Servers that are unreachable for a while, and lists that expire.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use support::{
    cluster_api::object,
    kind,
    scripted_connection::{RequestOutcome, ScriptedConnection},
};
use tokio::time::Instant;

use crate::testing::move_world::{World, move_lab, plan_and_execute, request, state};

/// Duration of an outage.
const AWAY: Duration = Duration::from_secs(30);
/// Number of objects; more than one page.
const MANY: usize = 260;
const TO_MOVE: &str = "clusterctl.cluster.x-k8s.io/move";

#[tokio::test(start_paused = true)]
async fn a_target_outage_of_30_seconds_is_survived_in_every_phase() {
    let world = Box::pin(World::build()).await;
    let clean = world.start().await;
    move_lab(&clean.lab, &request(), "1").await.unwrap();
    let expected = state(&clean.lab).await;
    for (method, part) in [("POST", "/machines"), ("PATCH", "/secrets/"), ("PATCH", "/clusters/")] {
        let started = world.start().await;
        let since = Mutex::new(None);
        let target = ScriptedConnection::new(&started.lab.target, move |request| {
            let mut since = since.lock().unwrap();
            if request.method == method && request.path.contains(part) {
                since.get_or_insert_with(Instant::now);
            }
            match *since {
                Some(since) if since.elapsed() < AWAY => {
                    RequestOutcome::Rejected(503, "ServiceUnavailable", "away")
                }
                _ => RequestOutcome::Answered,
            }
        });
        let when = format!("away since {method} {part}");
        let (source, begun) = (started.lab.lines().source().await, Instant::now());
        let outcome =
            plan_and_execute(&source, &crate::testing::cluster_behind(&target).await, &request(), "1").await;
        outcome.unwrap_or_else(|error| panic!("{when}: {error:?}"));
        assert!(begun.elapsed() >= AWAY, "{when}");
        let found = state(&started.lab).await;
        found.check(&when);
        found.assert_same(&expected, &when);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_list_is_restarted() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    let template =
        |index: usize| object(kind::KUBEADM_CONFIG_TEMPLATE, &format!("team/t{index}")).label(TO_MOVE, "");
    lab.source.create((0..MANY).map(template)).await;
    let behind = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&behind);
    let source = ScriptedConnection::new(&lab.source, move |request| {
        if !request.query.contains("continue=") {
            return RequestOutcome::Answered;
        }
        match counted.fetch_add(1, Ordering::Relaxed) {
            0 => RequestOutcome::Rejected(410, "Expired", "forgotten"),
            _ => RequestOutcome::Answered,
        }
    });
    let target = lab.lines().target().await;
    plan_and_execute(&crate::testing::cluster_behind(&source).await, &target, &request(), "1").await.unwrap();
    assert!(behind.load(Ordering::Relaxed) >= 2, "nothing was listed anew");
    state(lab).await.check("forgotten");
    let come = lab.target.list(kind::KUBEADM_CONFIG_TEMPLATE).await;
    let is_labelled = |object: &&serde_json::Value| !object["metadata"]["labels"][TO_MOVE].is_null();
    assert_eq!(come.iter().filter(is_labelled).count(), MANY);
}
