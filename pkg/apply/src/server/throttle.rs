//! The time until which a server refuses all requests.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// The maximum of a pause; the next answer can extend it.
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// A gate that is closed while the server is overloaded.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Option<Instant>>);

impl Throttle {
    /// Closes the gate for a time; a later end stays in effect. One answer closes the gate for at most a minute,
    /// because waiting requests have no deadline.
    pub(super) fn pause_for(&self, time: Duration) {
        let until = Instant::now().checked_add(time.min(MAX_PAUSE));
        let mut closed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *closed = until.max(*closed);
    }

    /// Waits until the gate is open.
    pub(super) async fn wait(&self) {
        loop {
            let closed = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match closed {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_wait_for_the_longest_requested_pause() {
        let (gate, start) = (Throttle::default(), Instant::now());
        gate.wait().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        gate.pause_for(Duration::from_secs(3));
        gate.pause_for(Duration::from_secs(1));
        gate.wait().await;
        assert_eq!(start.elapsed(), Duration::from_secs(3));
        gate.pause_for(Duration::MAX);
        gate.wait().await;
        assert_eq!(start.elapsed(), Duration::from_secs(63));
    }
}
