//! A move that is interrupted after any of its requests, and resumed.

use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::testing::move_world::{State, World, move_lab, plan_and_execute, request, state};

/// Revisions of both clusters from which a move was already resumed.
type Seen = Mutex<HashSet<(u64, u64)>>;

/// Interrupts a move after a number of requests to both clusters, and resumes the move. Returns false if the move ended
/// before.
async fn killed_after(requests: u64, world: &World, expected: &State, seen: &Seen) -> bool {
    let started = world.start().await;
    let lab = &started.lab;
    let lines = lab.breaking_after(requests);
    let (source, target) = (lines.source().await, lines.target().await);
    if let Some(ended) = lines.until_broken(plan_and_execute(&source, &target, &request(), "1")).await {
        ended.unwrap();
        return false;
    }
    let when = format!("killed after {requests} requests");
    // A request without a write leaves the same state as the request before.
    let (here, there) = (lab.source.sandbox().revision(), lab.target.sandbox().revision());
    if !seen.lock().unwrap().insert((here, there)) {
        return true;
    }
    // Garbage is collected before the move is resumed.
    futures::join!(lab.source.wait_until_idle(), lab.target.wait_until_idle());
    move_lab(lab, &request(), "2").await.unwrap_or_else(|error| panic!("{when}: {error:?}"));
    let found = state(lab).await;
    found.check(&when);
    found.assert_same(expected, &when);
    true
}

/// Distance between tested requests. All requests together take three minutes of processor time. This distance reaches
/// all phases and every kind of write. With 1, every request is tested.
const STEP: u64 = 3;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

// Row: D-141
#[test]
fn a_move_killed_after_any_request_is_completed_by_the_same_command() {
    let world = runtime().block_on(World::build());
    let expected = runtime().block_on(async {
        let started = world.start().await;
        move_lab(&started.lab, &request(), "1").await.unwrap();
        state(&started.lab).await
    });
    let seen = Seen::default();
    let (next, last) = (AtomicU64::new(1), AtomicU64::new(u64::MAX));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let requests = next.fetch_add(STEP, Ordering::Relaxed);
                    if requests >= last.load(Ordering::Relaxed) {
                        return;
                    }
                    if !runtime().block_on(killed_after(requests, &world, &expected, &seen)) {
                        last.fetch_min(requests, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(last.into_inner() > 100);
}
