//! Durations in Go's notation.

/// Parses a duration such as `1h30m` or `-1.5s` into nanoseconds. `None` if the text is invalid or exceeds 64 bits.
///
/// Source: Go's time.ParseDuration.
pub fn nanoseconds(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1 } else { 1 };
    if unsigned.is_empty() || unsigned == "0" {
        return (unsigned == "0").then_some(0);
    }
    let (mut total, mut rest) = (0_i128, unsigned);
    while !rest.is_empty() {
        let (part, after) = part_nanoseconds(rest)?;
        total += part;
        // Checked after each part, so that many parts cannot overflow.
        i64::try_from(sign * total).ok()?;
        rest = after;
    }
    i64::try_from(sign * total).ok()
}

/// Parses one number with its unit.
fn part_nanoseconds(text: &str) -> Option<(i128, &str)> {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole_length = digits(text);
    let (whole, mut rest) = text.split_at(whole_length);
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(digits(after));
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit_length = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_length);
    let scale: i128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let whole = if whole.is_empty() { 0 } else { i128::from(whole.parse::<u64>().ok()?) };
    // Further digits are less than a nanosecond in any unit.
    let fraction = &fraction[..fraction.len().min(18)];
    let parts = if fraction.is_empty() { 0 } else { i128::from(fraction.parse::<i64>().ok()?) };
    let denominator = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    Some((whole * scale + parts * scale / denominator, rest))
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn durations_are_numbers_with_units() {
        for (text, expected) in [
            ("0", 0),
            ("10m", 600_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("-1.5s", -1_500_000_000),
            ("+.5h", 1_800_000_000_000),
            ("1.ms", 1_000_000),
            ("3µs", 3_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(nanoseconds(text), Some(expected), "{text}");
        }
        let bad = [
            "",
            "-",
            "5",
            "1d",
            "h",
            ".s",
            "1h 2m",
            "1h2",
            "10 m",
            "9223372036854775808ns",
            "1e400h",
            "3000000h",
        ];
        for text in bad {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
