//! Dates and times in the forms of Go's YAML readers.

use std::fmt;

use super::scalar::leading_digits;

/// A date, optionally with a time of day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timestamp {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanoseconds: u32,
    /// The offset from UTC in minutes, positive to the east.
    offset_minutes: i32,
}

impl Timestamp {
    /// Parses `2001-1-2`, `2001-01-02T03:04:05.6Z`, the same with an offset or a small `t`, and `2001-01-02 03:04:05`.
    /// Source: go.yaml.in/yaml/v2 2.4.3 and v3 3.0.4 resolve.go (`parseTimestamp`).
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if leading_digits(bytes) != 4 || bytes.get(4) != Some(&b'-') {
            return None;
        }
        let (month, rest) = short_number(&bytes[5..], 1, 12)?;
        let (day, rest) = short_number(rest.strip_prefix(b"-")?, 1, 31)?;
        let year = bytes[..4].iter().fold(0, |year: u32, digit| year * 10 + u32::from(digit - b'0'));
        if day > days_in_month(year, month) {
            return None;
        }
        let date = Self { year, month, day, ..Self::MIDNIGHT };
        match rest {
            [] => Some(date),
            [b'T' | b't', rest @ ..] => {
                let (time, zone) = date.with_clock(rest)?;
                Some(Self { offset_minutes: offset(zone)?, ..time })
            }
            [b' ', ..] => {
                let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
                let (time, rest) = date.with_clock(&rest[blanks..])?;
                rest.is_empty().then_some(time)
            }
            _ => None,
        }
    }

    const MIDNIGHT: Self =
        Self { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanoseconds: 0, offset_minutes: 0 };

    /// Parses a time of day with an optional fraction. Returns the remaining text too.
    fn with_clock(self, bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (hour, rest) = match bytes {
            [b'0'..=b'1', b'0'..=b'9', ..] | [b'2', b'0'..=b'3', ..] => short_number(bytes, 0, 23)?,
            // Only the hour may have one digit, as in Go's parsing of `15`.
            [b'0'..=b'9', b':', ..] => short_number(bytes, 0, 9)?,
            _ => return None,
        };
        let (minute, rest) = short_number(rest.strip_prefix(b":")?, 0, 59)?;
        let (second, rest) = short_number(rest.strip_prefix(b":")?, 0, 59)?;
        let (nanoseconds, rest) = match rest {
            [b'.' | b',', fraction @ ..] if fraction.first().is_some_and(u8::is_ascii_digit) => {
                let (digits, rest) = fraction.split_at(leading_digits(fraction));
                let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
                (padded.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')), rest)
            }
            _ => (0, rest),
        };
        Some((Self { hour, minute, second, nanoseconds, ..self }, rest))
    }

    /// Writes `2001-01-02T03:04:05.6+02:00`, or `Z` at the end.
    /// Source: Go time.Time.MarshalJSON.
    pub(super) fn rfc3339(self) -> String {
        let Self { year, month, day, hour, minute, second, nanoseconds, offset_minutes } = self;
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if nanoseconds != 0 {
            let digits = format!(".{nanoseconds:09}");
            text.push_str(digits.trim_end_matches('0'));
        }
        if offset_minutes == 0 {
            return text + "Z";
        }
        let sign = if offset_minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset_minutes.unsigned_abs() / 60, offset_minutes.unsigned_abs() % 60);
        format!("{text}{sign}{hours:02}:{minutes:02}")
    }
}

/// Writes a time like Go: `2001-01-02 03:04:05.6 +0200 +0200`, or `+0000 UTC` at the end.
/// Source: Go time.Time.String with UTC as local time.
impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, nanoseconds, offset_minutes } = *self;
        write!(formatter, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")?;
        if nanoseconds != 0 {
            let digits = format!("{nanoseconds:09}");
            write!(formatter, ".{}", digits.trim_end_matches('0'))?;
        }
        if offset_minutes == 0 {
            return formatter.write_str(" +0000 UTC");
        }
        let sign = if offset_minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset_minutes.unsigned_abs() / 60, offset_minutes.unsigned_abs() % 60);
        let zone = format!("{sign}{hours:02}{minutes:02}");
        write!(formatter, " {zone} {zone}")
    }
}

/// Parses the whole of `Z` or `+01:30` into minutes.
fn offset(zone: &[u8]) -> Option<i32> {
    let (sign, digits) = match zone {
        b"Z" => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let [h1 @ b'0'..=b'9', h2 @ b'0'..=b'9', b':', m1 @ b'0'..=b'9', m2 @ b'0'..=b'9'] = digits else {
        return None;
    };
    let number = |tens: &u8, ones: &u8| i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
    let (hours, minutes) = (number(h1, h2), number(m1, m2));
    (hours <= 24 && minutes <= 60).then_some(sign * (hours * 60 + minutes))
}

/// Parses a number of one or two digits within bounds. Returns the remaining text too.
fn short_number(bytes: &[u8], least: u32, most: u32) -> Option<(u32, &[u8])> {
    let (number, rest) = match bytes {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] => {
            (u32::from((tens - b'0') * 10 + (ones - b'0')), rest)
        }
        [ones @ b'0'..=b'9', rest @ ..] => (u32::from(ones - b'0'), rest),
        _ => return None,
    };
    (least..=most).contains(&number).then_some((number, rest))
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
