//! Waiting: every object watched, all at the same time, until one deadline.

mod below;
mod board;
#[cfg(test)]
mod tests;
mod watches;

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use futures::FutureExt;
use tokio::time::{self, interval_at, sleep_until};

use crate::{ApiError, Blocker, Hints, ObjectKey, Server};

pub(crate) use board::Goal;

use board::Board;
use watches::{News, Watches};

/// How often it is looked below what is not ready: most objects are ready before that.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What is to become ready.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The objects with their hints.
    pub objects: Vec<(ObjectKey, Hints)>,
    /// A label selector that all of them carry; empty when there is none.
    pub labels: String,
    /// When to stop; none for never.
    pub until: Option<Instant>,
}

impl Server {
    /// Waits until all objects are ready at the same time; tells what blocks whenever that changes.
    ///
    /// One watch for each kind, or for each namespace of it where no label says which objects are meant. An object that
    /// failed is waited for like any other: its controller may get over it. A definition whose names the server refuses is
    /// not: after some seconds the wait is over for all. Pods of workloads that are not ready after some seconds are
    /// watched too, for what they say.
    /// Shape: empty when all are ready, else what was not when the wait was over; in the order of the objects.
    /// # Errors
    /// What stops a watch for good, such as a missing permission.
    pub async fn wait(&self, waiting: &Waiting) -> Result<Vec<Blocker>, ApiError> {
        let goals = waiting.objects.iter().map(|(key, hints)| (key.clone(), Goal::Ready(hints.clone())));
        self.wait_for(goals.collect(), &waiting.labels, waiting.until).await
    }

    /// The same for other goals than being ready.
    pub(crate) async fn wait_for(
        &self,
        goals: Vec<(ObjectKey, Goal)>,
        labels: &str,
        until: Option<Instant>,
    ) -> Result<Vec<Blocker>, ApiError> {
        let mut board = Board::new(goals);
        let mut watches = Watches::open(self, board.keys(), labels).await?;
        let mut look = interval_at(time::Instant::now() + LOOK_EVERY, LOOK_EVERY);
        let mut over = pin!(over(until));
        while !board.is_done() {
            tokio::select! {
                biased;
                () = &mut over => break,
                _ = look.tick() => {
                    board.miss_unseen();
                    if board.has_refused_definition() {
                        break;
                    }
                    for (workload, pods) in board.workloads_to_look_below() {
                        watches.add_below(self, workload, &pods);
                    }
                }
                news = watches.next() => {
                    hear(&mut board, news)?;
                    // What has come at once is told at once.
                    while let Some(more) = watches.next().now_or_never() {
                        hear(&mut board, more)?;
                    }
                }
            }
            board.tell_changes(self.events());
        }
        Ok(board.blockers())
    }
}

fn hear(board: &mut Board, news: News) -> Result<(), ApiError> {
    match news {
        News::Goal(event) => board.hear(&event?),
        News::Below(workload, Ok(event)) => board.hear_below(workload, &event),
        // Pods that may not be seen are missing from what is told, and nothing else.
        News::Below(_, Err(_)) => {}
    }
    Ok(())
}

async fn over(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}
