//! A move that is stopped at any of its writes while another run completes or aborts the move. Then the first run
//! continues.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use apply::{Lease, LeaseRequest};
use inventory::ManagementCluster;
use support::object_snapshot::ObjectSnapshot;

use crate::testing::move_world::{State, World, keeper, plan_and_execute, request, runtime, state};
use crate::{
    MoveError, MoveRoute, abort_move,
    testing::{Lab, LabConnections, lease_request},
};

/// Distance between tested writes. With 1, every write is tested.
const STEP: u64 = 7;

/// The run that acts while the first run is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondRun {
    /// The same move again.
    Move,
    /// An abort of the move.
    Abort,
}

/// Runs some work under the leases of both clusters.
pub(super) async fn under_leases<T>(
    lines: &LabConnections,
    process: &str,
    work: impl AsyncFnOnce(&ManagementCluster, &ManagementCluster) -> T,
) -> T {
    under_leases_of(lines, &lease_request(process), work).await
}

/// Runs some work under the leases that a request acquires.
pub(super) async fn under_leases_of<T>(
    lines: &LabConnections,
    request: &LeaseRequest,
    work: impl AsyncFnOnce(&ManagementCluster, &ManagementCluster) -> T,
) -> T {
    let (source, target) = (lines.source().await, lines.target().await);
    let mut leases = Vec::new();
    for cluster in [&source, &target] {
        leases.push(Lease::acquire(cluster.server(), request).await.unwrap());
    }
    let guarded = |cluster: &ManagementCluster| {
        leases.iter().fold(cluster.clone(), |cluster, lease| cluster.with_lease(lease))
    };
    let result = work(&guarded(&source), &guarded(&target)).await;
    for lease in leases {
        lease.release().await;
    }
    result
}

async fn run_second(lab: &Lab, second: SecondRun) -> Result<(), MoveError> {
    under_leases(&lab.lines(), "2", async |source, target| match second {
        SecondRun::Move => plan_and_execute(source, target, &request(), "2").await.map(drop),
        SecondRun::Abort => {
            let (route, keeper) = (MoveRoute { source, target }, keeper("2"));
            Box::pin(abort_move(route, Duration::from_mins(10), &keeper)).await.map(drop)
        }
    })
    .await
}

async fn both_sides(lab: &Lab) -> [ObjectSnapshot; 2] {
    futures::join!(lab.source.wait_until_idle(), lab.target.wait_until_idle());
    [lab.source.snapshot().await, lab.target.snapshot().await]
}

/// Stops a move at one of its writes. Returns false if the move has fewer writes.
async fn stopped_at(number: u64, second: SecondRun, world: &World, before: &State, expected: &State) -> bool {
    let started = world.start().await;
    let lab = &started.lab;
    let lines = lab.stopping_at_write(number);
    let when = format!("stopped at write {number}, {second:?} in between");
    let successor = async {
        lines.stopped().await;
        let result = run_second(lab, second).await;
        let left = both_sides(lab).await;
        lines.resume();
        (result, left)
    };
    let first = under_leases(&lines, "1", async |source, target| {
        plan_and_execute(source, target, &request(), "1").await.map(drop)
    });
    tokio::pin!(first, successor);
    let (lost, (result, left)) = tokio::select! {
        ended = &mut first => {
            ended.unwrap_or_else(|error| panic!("{when}: {error:?}"));
            return false;
        }
        successor = &mut successor => (first.await, successor),
    };
    let reported = format!("{:?}", lost.expect_err(&when));
    assert!(
        reported.contains("LeaseLost") || reported.contains("TakenOver") || reported.contains("Conflict"),
        "{when}: {reported}"
    );
    assert_eq!(both_sides(lab).await, left, "{when}");
    match result {
        Ok(()) => {
            let found = state(lab).await;
            found.check(&when);
            found.assert_same(if second == SecondRun::Move { expected } else { before }, &when);
        }
        // The first run was stopped while writing its journal, or had deleted objects.
        Err(MoveError::NoMove { .. } | MoveError::AlreadyDeleting) if second == SecondRun::Abort => {}
        Err(error) => panic!("{when}: {error:?}"),
    }
    true
}

fn stopped_anywhere(second: SecondRun) {
    let world = runtime().block_on(World::build());
    let [before, expected] = [false, true].map(|is_moved| {
        runtime().block_on(async {
            let started = world.start().await;
            if is_moved {
                run_second(&started.lab, SecondRun::Move).await.unwrap();
            }
            state(&started.lab).await
        })
    });
    let (next, last) = (AtomicU64::new(1), AtomicU64::new(u64::MAX));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(STEP, Ordering::Relaxed);
                    if number >= last.load(Ordering::Relaxed) {
                        return;
                    }
                    if !runtime().block_on(stopped_at(number, second, &world, &before, &expected)) {
                        last.fetch_min(number, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(last.into_inner() > 50);
}

#[test]
fn a_move_stopped_at_any_write_loses_to_the_same_move() {
    stopped_anywhere(SecondRun::Move);
}

#[test]
fn a_move_stopped_at_any_write_loses_to_its_abort() {
    stopped_anywhere(SecondRun::Abort);
}
