//! Durations as Go writes them.

/// Reads a duration such as `1h30m` or `-1.5s` and gives its whole seconds, towards zero and within 32 bits.
///
/// Source: Go's time.ParseDuration; api/core/v1beta2/conversion.go (ConvertToSeconds) for the rounding and the limit.
pub(super) fn whole_seconds(text: &str) -> Option<i32> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let mut total = 0_i128;
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (part, after) = part_nanoseconds(rest)?;
        total += part;
        // Go counts nanoseconds in 64 bits.
        if total > i128::from(i64::MAX) + i128::from(negative) {
            return None;
        }
        rest = after;
    }
    let seconds = total / 1_000_000_000 * if negative { -1 } else { 1 };
    Some(i32::try_from(seconds).unwrap_or(if negative { i32::MIN } else { i32::MAX }))
}

/// Reads one number with its unit.
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
    let whole = if whole.is_empty() { 0 } else { i128::from(whole.parse::<i64>().ok()?) };
    // More digits than this are below a nanosecond of any unit.
    let fraction = &fraction[..fraction.len().min(18)];
    let parts = if fraction.is_empty() { 0 } else { i128::from(fraction.parse::<i64>().ok()?) };
    let denominator = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    Some((whole * scale + parts * scale / denominator, rest))
}
