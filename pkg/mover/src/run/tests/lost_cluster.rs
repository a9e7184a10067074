//! A cluster of a move that is destroyed and replaced by an empty one, in every phase.

use api::output::MovePhase;
use std::time::Duration;
use support::fixture::Fixture;

use super::phases::{InterruptionPoint, abort, before_and_after, move_again};
use crate::{
    JournalError, MoveError, MoveSide, abort_without_target, complete_without_source,
    testing::{
        Lab,
        move_world::{StartedWorld, State, World, install_providers, keeper, side_state, state},
    },
};

const PATIENCE: Duration = Duration::from_mins(10);

/// Replaces one cluster of the lab by a cluster with the same providers and without Clusters.
async fn replace(started: &mut StartedWorld, lost: MoveSide) {
    let empty = Fixture::start().await;
    install_providers(&empty).await;
    match lost {
        MoveSide::Source => started.lab.source = empty,
        MoveSide::Target => started.lab.target = empty,
    }
}

fn remaining(lab: &Lab, lost: MoveSide) -> &Fixture {
    match lost {
        MoveSide::Source => &lab.target,
        MoveSide::Target => &lab.source,
    }
}

/// Fails unless the same command and its abort are both refused, without a write.
async fn assert_refused(lab: &Lab, lost: MoveSide, when: &str) {
    let before = [lab.source.snapshot().await, lab.target.snapshot().await];
    for result in [move_again(lab).await, abort(lab).await] {
        let Err(MoveError::Journal(JournalError::Conflict { conflicting_side: other_end, .. })) = result
        else {
            panic!("{when}: {result:?}")
        };
        assert_eq!(other_end, Some(lost), "{when}");
    }
    assert_eq!([lab.source.snapshot().await, lab.target.snapshot().await], before, "{when}");
}

async fn end_without(lab: &Lab, lost: MoveSide) -> Result<(), MoveError> {
    let (lines, keeper) = (lab.lines(), keeper("3"));
    match lost {
        MoveSide::Source => complete_without_source(&lines.target().await, PATIENCE, &keeper).await.map(drop),
        MoveSide::Target => abort_without_target(&lines.source().await, PATIENCE, &keeper).await.map(drop),
    }
}

/// True if the journal of the remaining cluster shows, in this phase, that the cluster has every object.
fn has_everything(lost: MoveSide, phase: MovePhase) -> bool {
    let is_past_return = matches!(phase, MovePhase::Deleting | MovePhase::Resuming);
    match lost {
        MoveSide::Source => is_past_return,
        MoveSide::Target => !is_past_return,
    }
}

/// Loses a cluster at every point of a move. `expected` is the final state of the remaining cluster.
async fn lose_at_every_point(world: &World, lost: MoveSide, expected: &State) {
    for point in InterruptionPoint::all() {
        let when = format!("{lost} lost at {point:?}");
        let mut started = point.interrupt(world).await;
        replace(&mut started, lost).await;
        let lab = &started.lab;
        let Some(phase) = journal_phase(remaining(lab, lost)).await else {
            // The move has ended on the remaining cluster: nothing is left to do, and nothing is paused.
            state(lab).await.check(&when);
            move_again(lab).await.unwrap_or_else(|error| panic!("{when}: {error:?}"));
            continue;
        };
        assert_refused(lab, lost, &when).await;
        let before = remaining(lab, lost).snapshot().await;
        let result = end_without(lab, lost).await;
        if has_everything(lost, phase) {
            result.unwrap_or_else(|error| panic!("{when}: {error:?}"));
            let found = side_state(remaining(lab, lost)).await;
            let expected = match lost {
                MoveSide::Source => &expected.target,
                MoveSide::Target => &expected.source,
            };
            assert_eq!(&found, expected, "{when}");
            let error = end_without(lab, lost).await.unwrap_err();
            assert!(matches!(error, MoveError::NoMove { .. }), "{when}: {error:?}");
        } else {
            let Err(MoveError::Incomplete { clusters, .. }) = result else { panic!("{when}: {result:?}") };
            let clusters: Vec<String> = clusters.iter().map(ToString::to_string).collect();
            let all = ["Cluster team/a", "Cluster team/b", "Cluster team/c"];
            let is_not_listed_yet = phase == MovePhase::Pausing && clusters.is_empty();
            assert!(clusters == all || is_not_listed_yet, "{when}: {clusters:?}");
            assert_eq!(remaining(lab, lost).snapshot().await, before, "{when}");
        }
    }
}

/// Returns the phase of the unfinished move whose journal is on a cluster.
async fn journal_phase(fixture: &Fixture) -> Option<MovePhase> {
    let cluster = crate::testing::cluster(fixture).await;
    let journal = crate::find_move_journal(Some(&cluster), None).await.unwrap()?;
    journal.is_unfinished().then_some(journal.phase)
}

// Row: D-290
#[tokio::test(start_paused = true)]
async fn move_without_its_target_is_undone_on_the_source_or_refused() {
    let world = Box::pin(World::build()).await;
    let [before, _] = before_and_after(&world).await;
    lose_at_every_point(&world, MoveSide::Target, &before).await;
}

// Row: D-290
#[tokio::test(start_paused = true)]
async fn move_without_its_source_is_completed_on_the_target_or_refused() {
    let world = Box::pin(World::build()).await;
    let [_, moved] = before_and_after(&world).await;
    lose_at_every_point(&world, MoveSide::Source, &moved).await;
}

#[tokio::test(start_paused = true)]
async fn copies_of_an_unknown_source_are_not_resumed() {
    let world = Box::pin(World::build()).await;
    for (phase, write) in [(MovePhase::Creating, 20), (MovePhase::Resuming, 2)] {
        let mut started = InterruptionPoint::new(phase, write).interrupt(&world).await;
        replace(&mut started, MoveSide::Source).await;
        super::phases::delete_journals(&started.lab).await;
        let before = started.lab.target.snapshot().await;
        let error = move_again(&started.lab).await.unwrap_err();
        let MoveError::PausedByOtherMove { objects: orphans } = &error else {
            panic!("{phase:?}: {error:?}")
        };
        assert!(orphans.iter().all(|key| key.namespace == "team"), "{orphans:?}");
        assert_eq!(started.lab.target.snapshot().await, before, "{phase:?}");
    }
}
