//! A move that is interrupted before its first deletion, and aborted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::MoveError;
use crate::testing::move_world::{State, World, abort_lab, plan_and_execute, request, state};

/// The result of aborting an interrupted move.
enum AbortKind {
    /// Both clusters are as before the move.
    Yes,
    /// The move has deleted objects, or has finished.
    TooLate,
}

async fn aborted_after(writes: u64, world: &World, before: &State) -> AbortKind {
    let started = world.start().await;
    let lab = &started.lab;
    let lines = lab.breaking_after_writes(writes);
    let (source, target) = (lines.source().await, lines.target().await);
    if let Some(ended) = lines.until_broken(plan_and_execute(&source, &target, &request(), "1")).await {
        ended.unwrap();
        return AbortKind::TooLate;
    }
    let when = format!("undone after {writes} writes");
    futures::join!(lab.source.wait_until_idle(), lab.target.wait_until_idle());
    match abort_lab(lab).await {
        Err(MoveError::AlreadyDeleting) => return AbortKind::TooLate,
        Ok(_) => {}
        Err(error) => panic!("{when}: {error:?}"),
    }
    let found = state(lab).await;
    found.check(&when);
    found.assert_same(before, &when);
    AbortKind::Yes
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

#[test]
fn an_abort_before_the_first_deletion_leaves_no_trace() {
    let world = runtime().block_on(World::build());
    let before = runtime().block_on(async { state(&world.start().await.lab).await });
    let (next, is_over) = (AtomicU64::new(1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let writes = next.fetch_add(1, Ordering::Relaxed);
                    match runtime().block_on(aborted_after(writes, &world, &before)) {
                        AbortKind::Yes => {}
                        AbortKind::TooLate => is_over.store(true, Ordering::Relaxed),
                    }
                }
            });
        }
    });
    assert!(next.into_inner() > 50);
}
