//! Retries of requests.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{ApiError, Event, EventSink};

/// Pauses between tries: doubling, bounded and partly random.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    /// The first pause.
    pub(crate) first: Duration,
    /// The longest pause.
    pub(crate) longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// Returns the pause after a number of failures, from 1. It is at least the pause that the server requested.
    pub(crate) fn pause(&self, failures: u32, retry_after: Option<Duration>) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let full = self.first.saturating_mul(1 << doublings).min(self.longest);
        // Randomness keeps clients that failed together from retrying together.
        full.mul_f64(0.5 + fastrand::f64() / 2.0).max(retry_after.unwrap_or_default())
    }
}

/// The tries of one request.
#[derive(Debug)]
pub(crate) struct RetryState {
    events: EventSink<Event>,
    started: Instant,
    failures: u32,
}

impl RetryState {
    pub(crate) fn new(events: EventSink<Event>) -> Self {
        Self { events, started: Instant::now(), failures: 0 }
    }

    /// Returns the time since the first try.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Pauses after a failure of an action.
    /// # Errors
    /// The failure itself if it is permanent or no retry was possible, `RetriesExhausted` if the time is too short for another
    /// try.
    pub(crate) async fn pause(
        &mut self,
        action: &str,
        error: ApiError,
        give_up_after: Duration,
    ) -> Result<(), ApiError> {
        if !error.is_temporary() {
            return Err(error);
        }
        let (after, tried) = (self.next_pause(&error), self.started.elapsed());
        if tried + after <= give_up_after {
            self.wait(action, &error, after).await;
            return Ok(());
        }
        // There was no retry, so the failure alone is complete.
        if self.failures == 1 {
            return Err(error);
        }
        Err(ApiError::RetriesExhausted { action: action.to_owned(), tried, last: Box::new(error) })
    }

    /// Pauses after a failure without a limit of retries.
    pub(crate) async fn pause_without_limit(&mut self, action: &str, error: &ApiError) {
        let after = self.next_pause(error);
        self.wait(action, error, after).await;
    }

    fn next_pause(&mut self, error: &ApiError) -> Duration {
        self.failures = self.failures.saturating_add(1);
        Backoff::default().pause(self.failures, error.retry_after())
    }

    async fn wait(&self, action: &str, error: &ApiError, after: Duration) {
        let (action, why, since) = (action.to_owned(), error.short_message(), self.started.elapsed());
        self.events.send(&Event::Retrying { action, reason: why, since, after });
        sleep(after).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Row: ENG-38
    #[test]
    fn pauses_double_up_to_a_limit_and_respect_the_server() {
        let backoff = Backoff::default();
        for (failures, retry_after, shortest, longest) in [
            (1, 0, 50, 100),
            (2, 0, 100, 200),
            (4, 0, 400, 800),
            (7, 0, 2500, 5000),
            (u32::MAX, 0, 2500, 5000),
            (0, 0, 50, 100),
            (1, 7000, 7000, 7000),
            (7, 1000, 2500, 5000),
        ] {
            let pause = backoff.pause(failures, Some(Duration::from_millis(retry_after))).as_millis();
            assert!(
                (shortest..=longest).contains(&pause),
                "{failures} failures, asked {retry_after}: {pause}"
            );
        }
    }
}
