//! The time source of the server.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// The clock of a server: the system clock or a fixed clock that tests set.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    fixed: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// Creates a fixed clock. The clock and its clones share one time.
    pub fn fixed(at: Timestamp) -> Self {
        Self { fixed: Some(Arc::new(Mutex::new(at))) }
    }

    /// Advances a fixed clock; the system clock ignores the call.
    pub fn advance(&self, by: SignedDuration) {
        if let Some(time) = &self.fixed {
            let mut time = time.lock().unwrap_or_else(PoisonError::into_inner);
            *time = time.saturating_add(by).unwrap_or(*time);
        }
    }

    /// The current time.
    pub fn timestamp(&self) -> Timestamp {
        match &self.fixed {
            Some(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
            None => Timestamp::now(),
        }
    }

    /// The current time in the format of object fields: RFC 3339, UTC, whole seconds.
    pub fn now(&self) -> String {
        Self::format(self.timestamp())
    }

    /// The current time in the format of the header `Date`.
    pub(crate) fn http_date(&self) -> String {
        self.timestamp().to_zoned(TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// Formats a time as object fields record times.
    pub fn format(time: Timestamp) -> String {
        time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_prints_whole_seconds_and_moves_on_request() {
        let clock = Clock::fixed("2026-01-02T03:04:05.9Z".parse().unwrap());
        let other = clock.clone();
        assert_eq!(clock.now(), "2026-01-02T03:04:05Z");
        other.advance(SignedDuration::from_secs(60));
        assert_eq!(clock.now(), "2026-01-02T03:05:05Z");
        assert_eq!(clock.http_date(), "Fri, 02 Jan 2026 03:05:05 GMT");
    }
}
