/// Returns a time in the notation of Kubernetes: UTC, whole seconds. `None` for the zero time, which is written as
/// null.
///
/// Source: apimachinery v0.36.3 pkg/apis/meta/v1/time.go.
/// # Errors
/// [`NotATime`] if the text is no RFC 3339 time.
pub(super) fn canonical(text: &str) -> Result<Option<String>, NotATime> {
    let parts = TimeParts::parse(text).ok_or(NotATime)?;
    let seconds = parts.seconds_since_year_zero();
    let (days, in_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = date_of(days);
    if !(0..=9999).contains(&year) {
        return Err(NotATime);
    }
    if (year, month, day, in_day, parts.has_fraction) == (1, 1, 1, 0, false) {
        return Ok(None);
    }
    let (hour, minute, second) = (in_day / 3600, in_day / 60 % 60, in_day % 60);
    Ok(Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")))
}

/// A text that is no time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotATime;

const DAY: i64 = 24 * 60 * 60;
/// The number of days in 400 years, the period of the calendar.
const CYCLE: i64 = 146_097;
const MONTH_DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

struct TimeParts {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
    has_fraction: bool,
    offset: i64,
}

impl TimeParts {
    fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (clock, zone) = bytes.split_at_checked(19)?;
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if separators.iter().any(|(at, separator)| clock[*at] != *separator) {
            return None;
        }
        let (year, month, day) = (digits(&clock[..4])?, digits(&clock[5..7])?, digits(&clock[8..10])?);
        let (hour, minute, second) =
            (digits(&clock[11..13])?, digits(&clock[14..16])?, digits(&clock[17..])?);
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let (fraction, zone) = split_fraction(zone)?;
        let second_of_day = hour * 3600 + minute * 60 + second;
        let has_fraction = fraction.iter().take(9).any(|digit| *digit != b'0');
        Some(Self { year, month, day, second_of_day, has_fraction, offset: offset(zone)? })
    }

    fn seconds_since_year_zero(&self) -> i64 {
        let years = self.year / 400 * CYCLE
            + (0..self.year % 400).map(|year| 365 + i64::from(is_leap(year))).sum::<i64>();
        let months: i64 = (1..self.month).map(|month| days_in(self.year, month)).sum();
        (years + months + self.day - 1) * DAY + self.second_of_day - self.offset
    }
}

/// Splits `.123Z` into the digits and the zone; a comma may replace the dot.
fn split_fraction(zone: &[u8]) -> Option<(&[u8], &[u8])> {
    match zone {
        [b'.' | b',', rest @ ..] => {
            let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (length > 0).then(|| rest.split_at(length))
        }
        _ => Some((&[], zone)),
    }
}

/// Parses `Z`, `+02:00` or `-02:00` into seconds.
fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), hour @ .., b':', ten, one] => {
            let (hour, minute) = (digits(hour).filter(|_| hour.len() == 2)?, digits(&[*ten, *one])?);
            let size = (hour <= 24 && minute < 60).then_some(hour * 3600 + minute * 60)?;
            Some(if *sign == b'-' { -size } else { size })
        }
        _ => None,
    }
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap_day = i64::from(month == 2 && is_leap(year));
    usize::try_from(month - 1).ok().and_then(|at| MONTH_DAYS.get(at)).map_or(0, |days| days + leap_day)
}

/// Converts days since the start of year 0 to year, month and day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let mut year = days.div_euclid(CYCLE) * 400;
    let mut left = days.rem_euclid(CYCLE);
    while left >= 365 + i64::from(is_leap(year)) {
        left -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    while left >= days_in(year, month) {
        left -= days_in(year, month);
        month += 1;
    }
    (year, month, left + 1)
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
