//! A run that ends after any of its requests, and the next run.

use super::*;
use api::output::MovePhase;

/// Performs all journal writes of a run.
async fn work(
    source: &ManagementCluster,
    target: &ManagementCluster,
    process: &str,
) -> Result<(), JournalError> {
    let keeper = JournalStore { has_ended: Arc::new(|_| true), ..keeper(process) };
    let mut held = JournalLease::acquire(source, target, started_journal(), &keeper).await?;
    for phase in [MovePhase::Creating, MovePhase::Deleting, MovePhase::Resuming] {
        if held.journal.phase < phase {
            held.update(|journal| journal.phase = phase).await?;
        }
    }
    held.finish(&MoveReport { run: held.journal.run.clone(), objects: Vec::new() }).await
}

#[tokio::test(start_paused = true)]
async fn a_move_killed_after_any_request_is_resumed_and_finished() {
    let mut unfinished = 0;
    for requests in 1.. {
        let lab = Lab::start().await;
        let lines = lab.breaking_after(requests);
        let (source, target) = (lines.source().await, lines.target().await);
        if let Some(ended) = lines.until_broken(Box::pin(work(&source, &target, "1"))).await {
            ended.unwrap();
            assert!(unfinished > 10 && requests > 12, "{unfinished} of {requests}");
            return;
        }
        let when = format!("killed after {requests} requests");
        let lines = lab.lines();
        let (source, target) = (lines.source().await, lines.target().await);
        let left = find_move_journal(Some(&source), Some(&target)).await.unwrap();
        let left = left.filter(MoveJournal::is_unfinished);
        Box::pin(work(&source, &target, "2")).await.unwrap_or_else(|error| panic!("{when}: {error:?}"));
        let (source, target) =
            (stored_journal(&lab.source).await.unwrap(), stored_journal(&lab.target).await.unwrap());
        assert_eq!(source, target, "{when}");
        assert_eq!(source.phase, MovePhase::Finished, "{when}");
        if let Some(left) = left {
            assert_eq!(source.run, left.run, "{when}");
            unfinished += 1;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_update_does_not_look_like_another_run() {
    let (lab, keeper) = (Lab::start().await, keeper("1"));
    let lines = lab.lines();
    let (source, target) = (lines.source().await, lines.target().await);
    let mut held = JournalLease::acquire(&source, &target, started_journal(), &keeper).await.unwrap();
    for polls in 1.. {
        let mut update = Box::pin(held.update(|journal| journal.phase = MovePhase::Deleting));
        let mut is_done = false;
        for _ in 0..polls {
            is_done = is_done || futures::poll!(&mut update).is_ready();
            tokio::task::yield_now().await;
        }
        drop(update);
        held.update(|journal| journal.phase = MovePhase::Creating).await.unwrap();
        assert_eq!(stored_journal(&lab.source).await.as_ref(), Some(&held.journal));
        assert_eq!(stored_journal(&lab.target).await.as_ref(), Some(&held.journal));
        if is_done {
            assert!(polls > 2, "{polls}");
            return;
        }
    }
}
