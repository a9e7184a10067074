//! Reads dates by a layout.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::layout::{Field, Item, MONTHS, Name, Offset, Padding, WEEKDAYS, items};
use super::time::Time;

/// The parts of a date.
#[derive(Default)]
struct Parts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    day_of_year: Option<i16>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    is_afternoon: Option<bool>,
    offset: Option<i32>,
    zone: Option<String>,
}

/// Parses a date; without an offset it is in UTC.
///
/// # Errors
/// Go's message.
pub(super) fn parse(layout: &str, text: &str) -> Result<Time, String> {
    let quoted = super::duration::quoted;
    let context = || format!("parsing time {} as {}: cannot parse", quoted(text), quoted(layout));
    let items = items(layout);
    let mut parts = Parts::default();
    let mut rest = text;
    for (index, item) in items.iter().enumerate() {
        let next = items.get(index + 1);
        let (read, shown) = match item {
            Item::Text(plain) => (skip(rest, plain).ok_or(Mistake::Syntax), *plain),
            Item::Field(field, shown) => (parts.read(*field, rest, next), *shown),
        };
        rest = match read {
            Ok(behind) => behind,
            Err(Mistake::Syntax) => {
                return Err(format!("{} {} as {}", context(), quoted(rest), quoted(shown)));
            }
            Err(Mistake::Range(name)) => {
                return Err(format!("parsing time {}: {name} out of range", quoted(text)));
            }
        };
    }
    if !rest.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", quoted(text), quoted(rest)));
    }
    parts.time().map_err(|name| format!("parsing time {}: {name} out of range", quoted(text)))
}

/// A part that cannot be read.
enum Mistake {
    Syntax,
    Range(&'static str),
}

/// Skips the plain text of a layout; its spaces match any number of spaces.
fn skip<'t>(mut text: &'t str, plain: &str) -> Option<&'t str> {
    let mut plain = plain;
    while let Some(first) = plain.chars().next() {
        if first == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return None;
            }
            plain = plain.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(first)?;
        plain = &plain[first.len_utf8()..];
    }
    Some(text)
}

/// Reads a number with a least and a largest count of digits.
fn number(text: &str, least: usize, most: usize) -> Result<(i32, &str), Mistake> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return Err(Mistake::Syntax);
    }
    Ok((text[..count].parse().unwrap_or_default(), &text[count..]))
}

/// Reads a number of one or two digits, or of two if a zero is before short ones.
fn small<'t>(
    text: &'t str,
    padding: Padding,
    range: std::ops::Range<i32>,
    name: &'static str,
) -> Result<(i8, &'t str), Mistake> {
    let (number, rest) = number(text, if padding == Padding::Zero { 2 } else { 1 }, 2)?;
    let valid = i8::try_from(number).ok().filter(|_| range.contains(&number));
    Ok((valid.ok_or(Mistake::Range(name))?, rest))
}

fn count_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Finds the name at the start of a text, whatever its case.
fn name<'t>(text: &'t str, names: &[&str], form: Name) -> Result<(usize, &'t str), Mistake> {
    let mut shown = names.iter().map(|name| form.of(name)).enumerate();
    let found = shown.find_map(|(index, name)| {
        let (start, rest) = text.split_at_checked(name.len())?;
        start.eq_ignore_ascii_case(name).then_some((index, rest))
    });
    found.ok_or(Mistake::Syntax)
}

impl Parts {
    /// Reads a field at the start of a text, and returns the text behind it.
    fn read<'t>(&mut self, field: Field, text: &'t str, next: Option<&Item<'_>>) -> Result<&'t str, Mistake> {
        let rest;
        match field {
            Field::Year => {
                let (year, behind) = number(text, 4, 4)?;
                (self.year, rest) = (i16::try_from(year).ok(), behind);
            }
            Field::YearOfCentury => {
                let (year, behind) = number(text, 2, 2)?;
                let century = if year >= 69 { 1_900 } else { 2_000 };
                (self.year, rest) = (i16::try_from(century + year).ok(), behind);
            }
            Field::MonthName(form) => {
                let (index, behind) = name(text, &MONTHS, form)?;
                (self.month, rest) = (i8::try_from(index + 1).ok(), behind);
            }
            Field::Weekday(form) => (_, rest) = name(text, &WEEKDAYS, form)?,
            Field::Month(padding) => {
                let (month, behind) = small(text, padding, 1..13, "month")?;
                (self.month, rest) = (Some(month), behind);
            }
            Field::Day(padding) => {
                let space = text.strip_prefix(' ').filter(|_| padding == Padding::Space);
                let (day, behind) = small(space.unwrap_or(text), padding, 0..100, "day")?;
                (self.day, rest) = (Some(day), behind);
            }
            Field::DayOfYear(padding) => {
                let digits = if padding == Padding::Space { text.trim_start_matches(' ') } else { text };
                let (day, behind) = number(digits, if padding == Padding::Zero { 3 } else { 1 }, 3)?;
                (self.day_of_year, rest) = (i16::try_from(day).ok(), behind);
            }
            Field::Hour => (self.hour, rest) = small(text, Padding::None, 0..24, "hour")?,
            Field::HourOfHalf(padding) => (self.hour, rest) = small(text, padding, 0..13, "hour")?,
            Field::Minute(padding) => (self.minute, rest) = small(text, padding, 0..60, "minute")?,
            Field::Second(padding) => {
                (self.second, rest) = small(text, padding, 0..60, "second")?;
                // A fraction may follow even if the layout has none.
                let has_fraction = matches!(next, Some(Item::Field(Field::Fraction { .. }, _)));
                let digits = rest.strip_prefix(['.', ',']).map_or(0, count_digits);
                if !has_fraction && digits > 0 {
                    return self.fraction(rest, digits, true);
                }
            }
            Field::Half(halves) => {
                let (half, behind) = text.split_at_checked(2).ok_or(Mistake::Syntax)?;
                let index = halves.iter().position(|known| *known == half).ok_or(Mistake::Syntax)?;
                (self.is_afternoon, rest) = (Some(index == 1), behind);
            }
            Field::ZoneName => rest = self.zone_name(text)?,
            Field::Offset(form) => rest = self.offset(text, form)?,
            Field::Fraction { digits, keeps_zeros } => rest = self.fraction(text, digits, keeps_zeros)?,
        }
        Ok(rest)
    }

    fn fraction<'t>(&mut self, text: &'t str, digits: usize, keeps_zeros: bool) -> Result<&'t str, Mistake> {
        let Some(after) = text.strip_prefix(['.', ',']) else {
            return if keeps_zeros { Err(Mistake::Syntax) } else { Ok(text) };
        };
        let found = count_digits(after);
        let count = if keeps_zeros { digits } else { found };
        if found < count || count == 0 {
            return Err(Mistake::Syntax);
        }
        let padded: String = after[..count].chars().chain(std::iter::repeat('0')).take(9).collect();
        self.nanosecond = padded.parse().unwrap_or_default();
        Ok(&after[count..])
    }

    fn offset<'t>(&mut self, text: &'t str, form: Offset) -> Result<&'t str, Mistake> {
        if let Some(rest) = text.strip_prefix('Z').filter(|_| form.has_z) {
            self.offset = Some(0);
            return Ok(rest);
        }
        let mut rest = text.strip_prefix(['+', '-']).ok_or(Mistake::Syntax)?;
        let mut seconds = 0;
        for (index, scale) in [3_600, 60, 1].into_iter().take(form.parts).enumerate() {
            let separator = if index > 0 { form.separator } else { "" };
            let (value, behind) = number(rest.strip_prefix(separator).ok_or(Mistake::Syntax)?, 2, 2)?;
            (seconds, rest) = (seconds + value * scale, behind);
        }
        self.offset = Some(if text.starts_with('-') { -seconds } else { seconds });
        Ok(rest)
    }

    /// Reads the short name of a zone: three or four capital letters, or `UTC`.
    fn zone_name<'t>(&mut self, text: &'t str) -> Result<&'t str, Mistake> {
        if let Some(rest) = text.strip_prefix("UTC") {
            self.offset = Some(0);
            return Ok(rest);
        }
        let count = text.bytes().take_while(u8::is_ascii_uppercase).count();
        let length = match count {
            3 => 3,
            4 if text.as_bytes()[3] == b'T' => 4,
            5 if text.as_bytes()[4] == b'T' => 5,
            _ => return Err(Mistake::Syntax),
        };
        self.zone = Some(text[..length].to_owned());
        Ok(&text[length..])
    }

    fn time(self) -> Result<Time, &'static str> {
        let hour = match self.is_afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let year = self.year.unwrap_or(0);
        let (mut month, mut day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if let Some(day_of_year) = self.day_of_year {
            let date = jiff::civil::Date::new(year, 1, 1)
                .and_then(|first| first.with().day_of_year(day_of_year).build())
                .map_err(|_| "day-of-year")?;
            (month, day) = (date.month(), date.day());
        }
        let civil = DateTime::new(year, month, day, hour, self.minute, self.second, self.nanosecond)
            .map_err(|_| "day")?;
        // A name without an offset counts as UTC.
        let offset =
            jiff::tz::Offset::from_seconds(self.offset.unwrap_or(0)).map_err(|_| "time zone offset")?;
        let at = offset.to_timestamp(civil).map_err(|_| "day")?;
        Ok(Time { at, zone: TimeZone::fixed(offset), name: self.zone })
    }
}
