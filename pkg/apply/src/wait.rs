//! Waits for objects: all objects are watched concurrently, until one deadline.

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

/// The interval at which workloads that are not ready are checked for their Pods. Most objects are ready before.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The objects to wait for.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The objects with their hints.
    pub objects: Vec<(ObjectKey, Hints)>,
    /// A label selector that matches all objects; empty without one.
    pub labels: String,
    /// The deadline. None for no deadline.
    pub until: Option<Instant>,
}

impl Server {
    /// Waits until all objects are ready at the same time; reports changes of the blockers.
    ///
    /// One watch is opened for each kind, or for each namespace of a kind if no label selects the objects. The wait
    /// includes failed objects, because their controllers may recover. If the server refuses the names of a definition,
    /// the whole wait ends after some seconds. After some seconds, the Pods of unready workloads are watched too, for
    /// their messages.
    /// Shape: empty if all objects are ready, or else the objects that were not at the end, in the order of the input.
    /// # Errors
    /// A permanent error of a watch, such as a missing permission.
    pub async fn wait(&self, waiting: &Waiting) -> Result<Vec<Blocker>, ApiError> {
        let goals = waiting.objects.iter().map(|(key, hints)| (key.clone(), Goal::Ready(hints.clone())));
        self.wait_for(goals.collect(), &waiting.labels, waiting.until).await
    }

    /// Waits for goals other than readiness.
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
                    // Simultaneous changes are reported together.
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
        // Without permission to read Pods, only their messages are missing.
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
