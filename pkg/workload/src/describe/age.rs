use jiff::Timestamp;

/// Returns an age in the notation of kubectl: the longer, the less precise.
/// Source: Kubernetes 1.36, apimachinery/pkg/util/duration (HumanDuration); a missing time counts as the longest
/// duration there.
pub fn format_age(since: Option<Timestamp>, now: Timestamp) -> String {
    let Some(since) = since else { return "292y".to_owned() };
    let seconds = now.duration_since(since).as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |large: i64, unit: char, small: i64, small_unit: char| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{small_unit}"),
    };
    match () {
        () if seconds < -1 => "<invalid>".to_owned(),
        () if seconds < 120 => format!("{}s", seconds.max(0)),
        () if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, 'd', hours % 24, 'h'),
        () if days < 365 * 2 => format!("{days}d"),
        () if days < 365 * 8 => two(days / 365, 'y', days % 365, 'd'),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn ages_are_printed_like_kubectl() {
        const DAY: i64 = 86_400;
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (7 * 3600 + 61, "7h1m"),
            (8 * 3600 + 60, "8h"),
            (47 * 3600, "47h"),
            (2 * DAY, "2d"),
            (7 * DAY + 3600, "7d1h"),
            (8 * DAY + 3600, "8d"),
            (729 * DAY, "729d"),
            (730 * DAY, "2y"),
            (771 * DAY, "2y41d"),
            (8 * 365 * DAY, "8y"),
        ] {
            let since = now.checked_sub(SignedDuration::from_secs(seconds)).unwrap();
            assert_eq!(format_age(Some(since), now), text, "{seconds}");
        }
        assert_eq!(format_age(None, now), "292y");
    }
}
