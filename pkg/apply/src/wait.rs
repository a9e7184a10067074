//! Waits for objects: all objects are watched concurrently, until one deadline.

mod pods;
#[cfg(test)]
mod tests;
mod tracker;
mod watches;

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use futures::FutureExt;
use tokio::time::{self, interval_at, sleep_until};

use crate::{ApiError, Blocker, ObjectKey, Server, StatusHints};

pub(crate) use tracker::WaitGoal;

use tracker::ReadinessTracker;
use watches::{WatchUpdate, Watches};

/// The interval at which workloads that are not ready are checked for their Pods. Most objects are ready before.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The objects to wait for.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// The objects with their hints.
    pub objects: Vec<(ObjectKey, StatusHints)>,
    /// A label selector that matches all objects; empty without one.
    pub labels: String,
    /// The deadline. None for no deadline.
    pub deadline: Option<Instant>,
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
    pub async fn wait(&self, waiting: &WaitRequest) -> Result<Vec<Blocker>, ApiError> {
        let goals = waiting.objects.iter().map(|(key, hints)| (key.clone(), WaitGoal::Ready(hints.clone())));
        self.wait_for(goals.collect(), &waiting.labels, waiting.deadline).await
    }

    /// Waits for goals other than readiness.
    pub(crate) async fn wait_for(
        &self,
        goals: Vec<(ObjectKey, WaitGoal)>,
        labels: &str,
        until: Option<Instant>,
    ) -> Result<Vec<Blocker>, ApiError> {
        let mut tracker = ReadinessTracker::new(goals);
        let mut watches = Watches::open(self, tracker.keys(), labels).await?;
        let mut look = interval_at(time::Instant::now() + CHECK_INTERVAL, CHECK_INTERVAL);
        let mut over = pin!(deadline_passed(until));
        while !tracker.is_done() {
            tokio::select! {
                biased;
                () = &mut over => break,
                _ = look.tick() => {
                    tracker.mark_missing();
                    if tracker.has_refused_definition() {
                        break;
                    }
                    for (workload, pods) in tracker.unwatched_workloads() {
                        watches.add_pods(self, workload, &pods);
                    }
                }
                news = watches.next() => {
                    handle_update(&mut tracker, news)?;
                    // Simultaneous changes are reported together.
                    while let Some(more) = watches.next().now_or_never() {
                        handle_update(&mut tracker, more)?;
                    }
                }
            }
            tracker.report_changes(self.events());
        }
        Ok(tracker.blockers())
    }
}

fn handle_update(board: &mut ReadinessTracker, news: WatchUpdate) -> Result<(), ApiError> {
    match news {
        WatchUpdate::Object(event) => board.handle_event(&event?),
        WatchUpdate::Pod(workload, Ok(event)) => board.handle_pod_event(workload, &event),
        // Without permission to read Pods, only their messages are missing.
        WatchUpdate::Pod(_, Err(_)) => {}
    }
    Ok(())
}

async fn deadline_passed(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}
