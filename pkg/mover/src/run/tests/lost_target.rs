//! A target that is lost while objects are deleted on the source.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use apply::Lease;
use support::{
    kind,
    scripted_connection::{RequestOutcome, ScriptedConnection},
};

use crate::testing::move_world::{World, plan_and_execute, request};
use crate::{MoveRequest, testing::lease_request};

/// Maximum number of objects that one step of a move deletes: objects of a Cluster that own nothing.
const MOST_IN_A_BATCH: u64 = 14;

/// Loses the target at one of the deletions on the source. Returns the total number of deletions.
async fn lost_at_deletion(number: u64, world: &World) -> u64 {
    let started = world.start().await;
    let lab = &started.lab;
    let target = ScriptedConnection::new(&lab.target, |_| RequestOutcome::Answered);
    let deletions = Arc::new(AtomicU64::new(0));
    let (counted, lost) = (Arc::clone(&deletions), target.clone());
    let source = ScriptedConnection::new(&lab.source, move |request| {
        let is_deletion = request.method == "DELETE" && !request.is_lease_request();
        if is_deletion && counted.fetch_add(1, Ordering::Relaxed) + 1 == number {
            lost.break_now();
        }
        RequestOutcome::Answered
    });
    let (here, there) =
        (crate::testing::cluster_behind(&source).await, crate::testing::cluster_behind(&target).await);
    let leases = [
        Lease::acquire(here.server(), &lease_request("1")).await.unwrap(),
        Lease::acquire(there.server(), &lease_request("1")).await.unwrap(),
    ];
    let guarded = |cluster: &inventory::ManagementCluster| {
        leases.iter().fold(cluster.clone(), |cluster, lease| cluster.with_lease(lease))
    };
    let request = MoveRequest { timeout: Duration::from_mins(2), ..request() };
    let result = plan_and_execute(&guarded(&here), &guarded(&there), &request, "1").await;
    assert_eq!(result.is_ok(), number > deletions.load(Ordering::Relaxed), "{result:?}");
    if result.is_err() {
        let clusters = lab.source.list(kind::CLUSTER).await;
        assert_eq!(clusters.len(), 4, "no Cluster is deleted on the source");
    }
    deletions.load(Ordering::Relaxed)
}

#[tokio::test(start_paused = true)]
async fn deletions_stop_soon_after_the_target_is_lost() {
    let world = Box::pin(World::build()).await;
    let all = Box::pin(lost_at_deletion(u64::MAX, &world)).await;
    assert!(all > 2 * MOST_IN_A_BATCH, "{all}");
    for number in [1, 4, 9] {
        let deleted = Box::pin(lost_at_deletion(number, &world)).await;
        assert!(deleted <= number + MOST_IN_A_BATCH, "{deleted} deletions of {all}, lost at {number}");
    }
}
