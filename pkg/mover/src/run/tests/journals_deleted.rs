//! Moves whose journals were both deleted by hand, in every phase.

use support::scripted_connection::PausePoint;

use super::{
    phases::{InterruptionPoint, abort, assert_no_twins, before_and_after, delete_journals, move_again},
    second_run::under_leases,
};
use crate::{
    JournalError, MoveError,
    testing::{
        Lab,
        move_world::{State, World, state},
    },
};

/// Fails unless the same command completes the move, with every object once.
async fn assert_completed(lab: &Lab, moved: &State, when: &str) {
    assert_no_twins(lab, when).await;
    move_again(lab).await.unwrap_or_else(|error| panic!("{when}: {error:?}"));
    let found = state(lab).await;
    found.check(when);
    found.without_foreign_managers().assert_same(&moved.without_foreign_managers(), when);
}

#[tokio::test(start_paused = true)]
async fn move_without_journals_is_completed_by_the_same_command() {
    let world = Box::pin(World::build()).await;
    let [_, moved] = before_and_after(&world).await;
    for point in InterruptionPoint::all() {
        let when = format!("interrupted at {point:?}");
        let started = point.interrupt(&world).await;
        delete_journals(&started.lab).await;
        let error = abort(&started.lab).await.unwrap_err();
        assert!(matches!(error, MoveError::NoMove { .. }), "{when}: {error:?}");
        assert_completed(&started.lab, &moved, &when).await;
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_the_journals_stops_the_run_and_loses_nothing() {
    let world = Box::pin(World::build()).await;
    let [_, moved] = before_and_after(&world).await;
    for point in InterruptionPoint::all() {
        let when = format!("journals deleted at {point:?}");
        let started = point.before(&world).await;
        let lab = &started.lab;
        let (moment, at) = (PausePoint::default(), point.clone());
        let lines = lab.waiting_at(&moment, move |request| at.is_reached(request));
        let run = under_leases(&lines, "1", async |source, target| point.run(source, target, "1").await);
        let result = moment.run_with_change(Box::pin(run), delete_journals(lab)).await;
        let is_stopped = matches!(result, Err(MoveError::Journal(JournalError::TakenOver)));
        assert!(is_stopped, "{when}: {result:?}");
        assert_completed(lab, &moved, &when).await;
    }
}
