use std::time::Duration;

use indicatif::HumanBytes;

/// A number of bytes for people, as `2.00 KiB`.
pub(crate) fn in_bytes(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}

/// A long span for people, in its largest unit alone: `3 days`, `1 hour`, `20 minutes`.
pub(crate) fn in_days(span: Duration) -> String {
    let minutes = span.as_secs() / 60;
    let (count, unit) = match minutes {
        0..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// The time that a run took, as short as a glance: `0.4s`, `38s`, `3m20s`.
pub(crate) fn in_seconds(span: Duration) -> String {
    match (span.as_secs() / 60, span.as_secs() % 60) {
        (0, 0..10) => format!("{:.1}s", span.as_secs_f64()),
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds:02}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_have_tenths_of_a_second() {
        let told = |millis| in_seconds(Duration::from_millis(millis));
        assert_eq!([told(0), told(340), told(59_900), told(200_000)], ["0.0s", "0.3s", "59s", "3m20s"]);
    }

    #[test]
    fn a_span_is_told_in_its_largest_unit() {
        let told = |minutes| in_days(Duration::from_mins(minutes));
        assert_eq!([told(0), told(1), told(59)], ["0 minutes", "1 minute", "59 minutes"]);
        assert_eq!([told(60), told(1439), told(2880)], ["1 hour", "23 hours", "2 days"]);
    }
}
