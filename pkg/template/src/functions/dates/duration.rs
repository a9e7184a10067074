//! Durations as Go prints them.

pub(super) use manifest::duration::nanoseconds;

const SECOND: u64 = 1_000_000_000;

/// Rounds to seconds; halves are rounded away from zero.
pub(super) fn rounded_to_seconds(nanoseconds: i64) -> i64 {
    let magnitude = nanoseconds.unsigned_abs();
    let rounded = magnitude.saturating_add(SECOND / 2) / SECOND * SECOND;
    let rounded = i64::try_from(rounded).unwrap_or(i64::MAX);
    if nanoseconds < 0 { -rounded } else { rounded }
}

/// Returns a text such as `1h2m3.5s`.
pub(super) fn text(nanoseconds: i64) -> String {
    let magnitude = nanoseconds.unsigned_abs();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    if magnitude == 0 {
        return "0s".to_owned();
    }
    let (unit, scale) = match magnitude {
        0..1_000 => ("ns", 1),
        1_000..1_000_000 => ("µs", 1_000),
        1_000_000..SECOND => ("ms", 1_000_000),
        _ => return format!("{sign}{}", clock(magnitude)),
    };
    format!("{sign}{}{unit}", decimal(magnitude, scale))
}

/// Returns a quotient without trailing zeros; the scale is a power of ten.
fn decimal(number: u64, scale: u64) -> String {
    let (whole, fraction) = (number / scale, number % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let width = scale.ilog10() as usize;
    format!("{whole}.{}", format!("{fraction:0width$}").trim_end_matches('0'))
}

fn clock(magnitude: u64) -> String {
    let minutes = magnitude / (60 * SECOND);
    let seconds = decimal(magnitude % (60 * SECOND), SECOND);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Returns the number of the largest unit that fits, such as `3d`.
pub(super) fn largest_unit(nanoseconds: i64) -> String {
    const HOUR: u64 = 3_600 * SECOND;
    let magnitude = nanoseconds.unsigned_abs();
    let units = [
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (60 * SECOND, "m"),
        (SECOND, "s"),
    ];
    let found = units.iter().find(|(length, _)| magnitude > *length);
    found.map_or_else(|| "0s".to_owned(), |(length, unit)| format!("{}{unit}", magnitude / length))
}

/// Returns Go's message for a text that is no duration.
pub(super) fn mistake(text: &str) -> String {
    let quoted = quoted(text);
    let invalid = format!("time: invalid duration {quoted}");
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = rest[digits..].strip_prefix('.').unwrap_or(&rest[digits..]);
        let unit = after.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() - unit.len() == 0 || &rest[..rest.len() - unit.len()] == "." {
            return invalid;
        }
        let length = unit.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(unit.len());
        match &unit[..length] {
            "" => return format!("time: missing unit in duration {quoted}"),
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => rest = &unit[length..],
            unknown => {
                let unknown = self::quoted(unknown);
                return format!("time: unknown unit {unknown} in duration {quoted}");
            }
        }
    }
    invalid
}

/// Quotes a text as the errors of dates do: control characters and all that is not ASCII as bytes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b' '..=b'~' | 0x7F => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}
