/// Tells whether a text is a span of time as Go reads it, such as `1h30m` or `-1.5s`.
/// Source: Go time.ParseDuration; spans beyond 292 years pass here.
pub(super) fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest.is_empty() || rest == "0" {
        return rest == "0";
    }
    while !rest.is_empty() {
        let Some(after) = after_part(rest) else { return false };
        rest = after;
    }
    true
}

/// Passes over one number with its unit.
fn after_part(text: &str) -> Option<&str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let unsigned = text.trim_start_matches(is_digit);
    let mut digits = text.len() - unsigned.len();
    let mut rest = unsigned;
    if let Some(fraction) = unsigned.strip_prefix('.') {
        rest = fraction.trim_start_matches(is_digit);
        digits += fraction.len() - rest.len();
    }
    let (unit, after) = rest.split_at(rest.find(|c: char| c == '.' || is_digit(c)).unwrap_or(rest.len()));
    let is_unit = matches!(unit, "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h");
    (digits > 0 && is_unit).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::is_duration;

    #[test]
    fn spans_are_numbers_with_units() {
        for text in ["0", "10m", "1h30m", "-1.5s", "+.5h", "1.ms", "3µs"] {
            assert!(is_duration(text), "{text}");
        }
        for text in ["", "-", "5", "1d", "h", ".s", "1h 2m", "1h2", "10 m"] {
            assert!(!is_duration(text), "{text}");
        }
    }
}
