use std::{borrow::Cow, time::Duration};

use indicatif::HumanBytes;

/// Escapes foreign text for display: control characters cannot move the cursor, colour or hide anything.
/// Shape: line ends and tabs stay. Other control characters, and marks that change the writing direction, become
/// `\u{…}`.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// Escapes foreign text for display in one line, including line ends and tabs.
pub(crate) fn sanitize_line(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() || is_unsafe(c))
}

fn escape(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn is_unsafe(c: char) -> bool {
    let turns_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns_direction
}

/// Formats a number of bytes, such as `2.00 KiB`.
pub(crate) fn format_bytes(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}

/// Formats a duration in short form: `420ms`, `8s`, `3m20s`, `1h05m`.
pub(crate) fn format_duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{}ms", span.as_millis()),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h{minutes:02}m"),
    }
}

/// Returns the last line of a writing verb: the result and the duration.
pub(crate) fn closing_line(result: &str, took: Duration) -> String {
    format!("done in {}: {result}", format_duration(took))
}

/// Formats a count with its noun: `no object`, `1 object`, `7 objects`.
pub(crate) fn format_count(count: usize, thing: &str) -> String {
    match count {
        0 => format!("no {thing}"),
        1 => format!("1 {thing}"),
        several => format!("{several} {thing}s"),
    }
}

/// Formats a long duration in its largest unit: `3 days`, `1 hour`, `20 minutes`.
pub(crate) fn format_age(span: Duration) -> String {
    let minutes = span.as_secs() / 60;
    let (count, unit) = match minutes {
        0..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{sanitize, sanitize_line, *};

    #[test]
    fn an_escape_sequence_in_a_name_cannot_reach_the_terminal() {
        assert_eq!(sanitize("a\u{1b}[2Jb\r"), "a\\u{1b}[2Jb\\u{d}");
        assert_eq!(sanitize("two\nlines\t\u{e4}"), "two\nlines\tä");
        assert_eq!(sanitize("\u{202e}evil"), "\\u{202e}evil");
        assert_eq!(sanitize_line("two\nlines\u{1b}"), "two\\u{a}lines\\u{1b}");
    }

    #[test]
    fn short_spans_have_milliseconds_and_long_ones_hours() {
        let text = |milliseconds| format_duration(Duration::from_millis(milliseconds));
        assert_eq!([text(0), text(999), text(8_999), text(200_000)], ["0ms", "999ms", "8s", "3m20s"]);
        assert_eq!([text(60_000), text(3_900_000)], ["1m00s", "1h05m"]);
    }

    #[test]
    fn an_age_has_its_largest_unit() {
        let age = |minutes| format_age(Duration::from_mins(minutes));
        assert_eq!([age(0), age(1), age(59)], ["0 minutes", "1 minute", "59 minutes"]);
        assert_eq!([age(60), age(1439), age(2880)], ["1 hour", "23 hours", "2 days"]);
    }
}
