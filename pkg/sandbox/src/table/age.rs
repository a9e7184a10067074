//! Ages in readable form: `5s`, `3m20s`, `4h`, `12d`.

use jiff::Timestamp;

/// Formats a duration with one or two units. `seconds` may be negative: up to one second in the future counts as now.
///
/// Source: apimachinery 1.36 `util/duration.HumanDuration`.
pub(super) fn human(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        s if s < 10 * MINUTE => two_units(s / MINUTE, 'm', s % MINUTE, 's'),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two_units(s / HOUR, 'h', s % HOUR / MINUTE, 'm'),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two_units(s / DAY, 'd', s % DAY / HOUR, 'h'),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two_units(s / YEAR, 'y', s % YEAR / DAY, 'd'),
        s => format!("{}y", s / YEAR),
    }
}

fn two_units(large: i64, unit: char, small: i64, small_unit: char) -> String {
    if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{small_unit}") }
}

/// Parses a recorded time into seconds since 1970. `None` if the text is not an RFC 3339 time.
pub(super) fn seconds(time: &str) -> Option<i64> {
    // The parser accepts a space instead of `T`, and texts without parts that RFC 3339 requires.
    let strict = time.len() >= 20 && time.as_bytes()[10] == b'T';
    let time: Timestamp = time.parse().ok().filter(|_| strict)?;
    Some(time.as_second())
}

/// Returns the age of a time, or `<unknown>` for an invalid time.
pub(super) fn since(time: &str, now: i64) -> String {
    seconds(time).map_or_else(|| "<unknown>".to_owned(), |time| human(now.saturating_sub(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_printed_in_short_form() {
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (200, "3m20s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_071_999, "729d"),
            (63_072_000, "2y"),
            (64_000_000, "2y10d"),
            (252_288_000, "8y"),
            (i64::MAX, "292471208677y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn only_complete_timestamps_are_parsed() {
        assert_eq!(seconds("1970-01-02T00:00:00Z"), Some(86_400));
        assert_eq!(seconds("1970-01-02T01:00:00.5+01:00"), Some(86_400));
        assert_eq!(seconds("1970-01-02"), None);
        assert_eq!(seconds("1970-01-02 00:00:00Z"), None);
        assert_eq!(since("", 5), "<unknown>");
    }
}
