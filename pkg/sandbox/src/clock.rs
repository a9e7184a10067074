//! What time it is, for everything that records it.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// The clock of a server: the clock of the machine, or one that tests set.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    fixed: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// A clock that stands until it is moved; all its clones move with it.
    pub fn fixed(at: Timestamp) -> Self {
        Self { fixed: Some(Arc::new(Mutex::new(at))) }
    }

    /// Moves a fixed clock on; the clock of the machine stays what it is.
    pub fn advance(&self, by: SignedDuration) {
        if let Some(time) = &self.fixed {
            let mut time = time.lock().unwrap_or_else(PoisonError::into_inner);
            *time = time.saturating_add(by).unwrap_or(*time);
        }
    }

    /// The time.
    pub fn timestamp(&self) -> Timestamp {
        match &self.fixed {
            Some(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
            None => Timestamp::now(),
        }
    }

    /// The time as objects record it: RFC 3339, UTC, whole seconds.
    pub fn now(&self) -> String {
        Self::print(self.timestamp())
    }

    /// The time as the header `Date` of an answer has it.
    pub(crate) fn http_date(&self) -> String {
        self.timestamp().to_zoned(TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// A time as objects record it.
    pub fn print(time: Timestamp) -> String {
        time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_prints_whole_seconds_and_moves_when_told() {
        let clock = Clock::fixed("2026-01-02T03:04:05.9Z".parse().unwrap());
        let other = clock.clone();
        assert_eq!(clock.now(), "2026-01-02T03:04:05Z");
        other.advance(SignedDuration::from_secs(60));
        assert_eq!(clock.now(), "2026-01-02T03:05:05Z");
        assert_eq!(clock.http_date(), "Fri, 02 Jan 2026 03:05:05 GMT");
    }
}
