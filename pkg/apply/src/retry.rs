//! When and how often a request is tried again.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{ApiError, Event, EventSink};

/// Pauses between tries: doubling, with a bound and some chance in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    /// The first pause.
    pub(crate) first: Duration,
    /// No pause is longer.
    pub(crate) longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// The pause after a number of failures, from 1; at least what the server asked for.
    pub(crate) fn pause(&self, failures: u32, asked: Option<Duration>) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let full = self.first.saturating_mul(1 << doublings).min(self.longest);
        // Clients that failed together must not come back together.
        full.mul_f64(0.5 + fastrand::f64() / 2.0).max(asked.unwrap_or_default())
    }
}

/// The tries of one request.
#[derive(Debug)]
pub(crate) struct Tries {
    events: EventSink<Event>,
    started: Instant,
    failures: u32,
}

impl Tries {
    pub(crate) fn new(events: EventSink<Event>) -> Self {
        Self { events, started: Instant::now(), failures: 0 }
    }

    /// For how long it has been tried.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Pauses after a failure of what was to be done.
    /// # Errors
    /// The failure itself when it cannot pass, `OutOfTime` when there is no time for another try.
    pub(crate) async fn pause(
        &mut self,
        action: &str,
        error: ApiError,
        give_up_after: Duration,
    ) -> Result<(), ApiError> {
        if !error.can_pass() {
            return Err(error);
        }
        let (after, tried) = (self.next_pause(&error), self.started.elapsed());
        if tried + after <= give_up_after {
            self.rest(action, &error, after).await;
            return Ok(());
        }
        // Nothing was tried twice: the failure says it all.
        if self.failures == 1 {
            return Err(error);
        }
        Err(ApiError::OutOfTime { action: action.to_owned(), tried, last: Box::new(error) })
    }

    /// Pauses after a failure that is gone over for ever.
    pub(crate) async fn pause_endlessly(&mut self, action: &str, error: &ApiError) {
        let after = self.next_pause(error);
        self.rest(action, error, after).await;
    }

    fn next_pause(&mut self, error: &ApiError) -> Duration {
        self.failures = self.failures.saturating_add(1);
        Backoff::default().pause(self.failures, error.retry_after())
    }

    async fn rest(&self, action: &str, error: &ApiError, after: Duration) {
        let (action, why, since) = (action.to_owned(), error.why(), self.started.elapsed());
        self.events.send(&Event::Retrying { action, why, since, after });
        sleep(after).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Row: ENG-38
    #[test]
    fn pauses_double_up_to_a_bound_and_are_never_shorter_than_asked() {
        let backoff = Backoff::default();
        for (failures, asked, shortest, longest) in [
            (1, 0, 50, 100),
            (2, 0, 100, 200),
            (4, 0, 400, 800),
            (7, 0, 2500, 5000),
            (u32::MAX, 0, 2500, 5000),
            (0, 0, 50, 100),
            (1, 7000, 7000, 7000),
            (7, 1000, 2500, 5000),
        ] {
            let pause = backoff.pause(failures, Some(Duration::from_millis(asked))).as_millis();
            assert!((shortest..=longest).contains(&pause), "{failures} failures, asked {asked}: {pause}");
        }
    }
}
