use std::sync::LazyLock;

use jiff::{SignedDuration, civil::DateTime};
use regex::Regex;

/// Date and time, fraction, and the zone: sign, hours and minutes.
static RFC_3339: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9])(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-5][0-9]))$",
    )
    .expect("a constant expression")
});

/// A text that is no time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotATime;

/// Returns a time in the notation of Kubernetes: UTC, whole seconds. `None` for the zero time, which is written as
/// null.
///
/// Source: apimachinery v0.36.3 pkg/apis/meta/v1/time.go.
/// # Errors
/// [`NotATime`] if the text is no RFC 3339 time.
pub(super) fn canonical(text: &str) -> Result<Option<String>, NotATime> {
    let parts = RFC_3339.captures(text).ok_or(NotATime)?;
    let local: DateTime = parts[1].parse().map_err(|_| NotATime)?;
    let number = |group| parts.get(group).and_then(|digits| digits.as_str().parse::<i64>().ok()).unwrap_or(0);
    let (hours, minutes) = (number(4), number(5));
    if hours > 24 {
        return Err(NotATime);
    }
    let offset = SignedDuration::from_mins(hours * 60 + minutes);
    let is_west = parts.get(3).is_some_and(|sign| sign.as_str() == "-");
    let utc = local.checked_add(if is_west { offset } else { -offset }).map_err(|_| NotATime)?;
    if utc.year() < 0 || utc.year() > 9999 {
        return Err(NotATime);
    }
    let has_fraction =
        parts.get(2).is_some_and(|digits| digits.as_str().bytes().take(9).any(|digit| digit != b'0'));
    let is_zero = utc == DateTime::constant(1, 1, 1, 0, 0, 0, 0) && !has_fraction;
    Ok((!is_zero).then(|| format!("{utc}Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        canonical(text).unwrap()
    }

    #[test]
    fn times_are_written_in_utc_and_whole_seconds() {
        for (text, expected) in [
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00:00.999Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31T23:30:00-01:30", "2026-02-01T01:00:00Z"),
            ("2024-03-01T00:00:00+00:01", "2024-02-29T23:59:00Z"),
            ("2000-12-31T23:59:59-00:01", "2001-01-01T00:00:59Z"),
            ("9999-12-31T23:59:59+01:00", "9999-12-31T22:59:59Z"),
        ] {
            assert_eq!(written(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn the_zero_time_is_omitted() {
        assert_eq!(written("0001-01-01T00:00:00Z"), None);
        assert_eq!(written("0001-01-01T01:00:00+01:00"), None);
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in [
            "",
            "2026-01-31",
            "2026-01-31 12:00:00Z",
            "2026-01-31t12:00:00z",
            "2026-02-30T12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:00:60Z",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00+1:00",
            "2026-01-31T12:00:00+25:00",
            "2026-01-31T12:00:0äZ",
            "0000-01-01T00:00:00+01:00",
        ] {
            assert_eq!(canonical(text), Err(NotATime), "{text}");
        }
    }
}
