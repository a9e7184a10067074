//! Reads dates by a layout.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::layout::{Chunk, MONTHS, OFFSETS, WEEKDAYS, split};
use super::time::Time;

/// The parts of a date.
#[derive(Default)]
struct Parts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    year_day: Option<i16>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    is_afternoon: Option<bool>,
    offset: Option<i32>,
    zone: Option<String>,
}

/// Parses a date; without an offset it is local.
///
/// # Errors
/// Go's message.
pub(super) fn parse(layout: &str, text: &str, local: &TimeZone) -> Result<Time, String> {
    let quoted = super::duration::quoted;
    let context = || format!("parsing time {} as {}: cannot parse", quoted(text), quoted(layout));
    let mut parts = Parts::default();
    let (mut layout_rest, mut rest) = (layout, text);
    loop {
        let (before, chunk, after) = split(layout_rest);
        let Some(tail) = skip(rest, before) else {
            return Err(format!("{} {} as {}", context(), quoted(rest), quoted(before)));
        };
        let Some(chunk) = chunk else {
            if tail.is_empty() {
                break;
            }
            return Err(format!("parsing time {}: extra text: {}", quoted(text), quoted(tail)));
        };
        let shown = &layout_rest[before.len()..layout_rest.len() - after.len()];
        match parts.read(chunk, tail, after) {
            Ok(tail) => rest = tail,
            Err(Mistake::Syntax) => {
                return Err(format!("{} {} as {}", context(), quoted(tail), quoted(shown)));
            }
            Err(Mistake::Range(name)) => {
                return Err(format!("parsing time {}: {name} out of range", quoted(text)));
            }
        }
        layout_rest = after;
    }
    parts.time(local).map_err(|name| format!("parsing time {}: {name} out of range", quoted(text)))
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

/// Reads a number of one or two digits.
fn number(text: &str, least: usize, most: usize) -> Result<(i32, &str), Mistake> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return Err(Mistake::Syntax);
    }
    Ok((text[..count].parse().unwrap_or_default(), &text[count..]))
}

fn small(number: i32, range: std::ops::Range<i32>, name: &'static str) -> Result<i8, Mistake> {
    if !range.contains(&number) {
        return Err(Mistake::Range(name));
    }
    i8::try_from(number).map_err(|_| Mistake::Range(name))
}

/// Finds the name at the start of a text, whatever its case; short names have three letters.
fn name<'t>(text: &'t str, names: &[&str], is_long: bool) -> Result<(usize, &'t str), Mistake> {
    let matches = |name: &str| {
        let name = if is_long { name } else { &name[..3] };
        text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let index = names.iter().position(|name| matches(name)).ok_or(Mistake::Syntax)?;
    let length = if is_long { names[index].len() } else { 3 };
    Ok((index, &text[length..]))
}

impl Parts {
    fn read<'t>(&mut self, chunk: Chunk, text: &'t str, after: &str) -> Result<&'t str, Mistake> {
        match chunk {
            Chunk::LongYear => {
                let (year, rest) = number(text, 4, 4)?;
                self.year = i16::try_from(year).ok();
                Ok(rest)
            }
            Chunk::Year => {
                let (year, rest) = number(text, 2, 2)?;
                self.year = i16::try_from(if year >= 69 { year + 1_900 } else { year + 2_000 }).ok();
                Ok(rest)
            }
            Chunk::LongMonth | Chunk::Month => {
                let (index, rest) = name(text, &MONTHS, chunk == Chunk::LongMonth)?;
                self.month = i8::try_from(index + 1).ok();
                Ok(rest)
            }
            Chunk::LongWeekday | Chunk::Weekday => Ok(name(text, &WEEKDAYS, chunk == Chunk::LongWeekday)?.1),
            Chunk::NumberMonth | Chunk::ZeroMonth => {
                let (month, rest) = number(text, if chunk == Chunk::ZeroMonth { 2 } else { 1 }, 2)?;
                self.month = Some(small(month, 1..13, "month")?);
                Ok(rest)
            }
            Chunk::Day | Chunk::SpaceDay | Chunk::ZeroDay => {
                let text =
                    if chunk == Chunk::SpaceDay { text.strip_prefix(' ').unwrap_or(text) } else { text };
                let (day, rest) = number(text, if chunk == Chunk::ZeroDay { 2 } else { 1 }, 2)?;
                self.day = Some(small(day, 0..100, "day")?);
                Ok(rest)
            }
            Chunk::SpaceYearDay | Chunk::ZeroYearDay => {
                let text = if chunk == Chunk::SpaceYearDay { text.trim_start_matches(' ') } else { text };
                let (day, rest) = number(text, if chunk == Chunk::ZeroYearDay { 3 } else { 1 }, 3)?;
                self.year_day = i16::try_from(day).ok();
                Ok(rest)
            }
            Chunk::Offset(index) => self.offset(text, index),
            Chunk::ZoneName => self.zone_name(text),
            Chunk::Half | Chunk::LowerHalf => {
                let (half, rest) = text.split_at_checked(2).ok_or(Mistake::Syntax)?;
                self.is_afternoon = Some(match (half, chunk) {
                    ("PM", Chunk::Half) | ("pm", Chunk::LowerHalf) => true,
                    ("AM", Chunk::Half) | ("am", Chunk::LowerHalf) => false,
                    _ => return Err(Mistake::Syntax),
                });
                Ok(rest)
            }
            Chunk::Fraction { digits, keeps_zeros } => self.fraction(text, digits, keeps_zeros),
            _ => self.clock(chunk, text, after),
        }
    }

    fn clock<'t>(&mut self, chunk: Chunk, text: &'t str, after: &str) -> Result<&'t str, Mistake> {
        let has_two = matches!(chunk, Chunk::ZeroHour12 | Chunk::ZeroMinute | Chunk::ZeroSecond);
        let (number, rest) = number(text, if has_two { 2 } else { 1 }, 2)?;
        match chunk {
            Chunk::Hour => self.hour = small(number, 0..24, "hour")?,
            Chunk::Hour12 | Chunk::ZeroHour12 => self.hour = small(number, 0..13, "hour")?,
            Chunk::Minute | Chunk::ZeroMinute => self.minute = small(number, 0..60, "minute")?,
            _ => {
                self.second = small(number, 0..60, "second")?;
                // A fraction may follow even if the layout has none.
                let has_fraction = matches!(split(after), ("", Some(Chunk::Fraction { .. }), _));
                let digits = rest
                    .strip_prefix(['.', ','])
                    .map_or(0, |digits| digits.bytes().take_while(u8::is_ascii_digit).count());
                if !has_fraction && digits > 0 {
                    return self.fraction(rest, digits, true);
                }
            }
        }
        Ok(rest)
    }

    fn fraction<'t>(&mut self, text: &'t str, digits: usize, keeps_zeros: bool) -> Result<&'t str, Mistake> {
        let Some(after) = text.strip_prefix(['.', ',']) else {
            return if keeps_zeros { Err(Mistake::Syntax) } else { Ok(text) };
        };
        let found = after.bytes().take_while(u8::is_ascii_digit).count();
        let count = if keeps_zeros { digits } else { found };
        if found < count || count == 0 {
            return Err(Mistake::Syntax);
        }
        let padded: String = after[..count].chars().chain(std::iter::repeat('0')).take(9).collect();
        self.nanosecond = padded.parse().unwrap_or_default();
        Ok(&after[count..])
    }

    fn offset<'t>(&mut self, text: &'t str, index: usize) -> Result<&'t str, Mistake> {
        let form = OFFSETS[index].1;
        if let Some(rest) = text.strip_prefix('Z').filter(|_| form.is_iso) {
            self.offset = Some(0);
            return Ok(rest);
        }
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let mut rest = text.strip_prefix(['+', '-']).ok_or(Mistake::Syntax)?;
        let mut seconds = 0;
        for (scale, is_present) in [(3_600, true), (60, form.minutes), (1, form.seconds)] {
            if !is_present {
                continue;
            }
            if scale < 3_600 && form.colon {
                rest = rest.strip_prefix(':').ok_or(Mistake::Syntax)?;
            }
            let (value, after) = number(rest, 2, 2)?;
            seconds += value * scale;
            rest = after;
        }
        self.offset = Some(sign * seconds);
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

    fn time(self, local: &TimeZone) -> Result<Time, &'static str> {
        let hour = match self.is_afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let year = self.year.unwrap_or(0);
        let (mut month, mut day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if let Some(year_day) = self.year_day {
            let date = jiff::civil::Date::new(year, 1, 1)
                .and_then(|first| first.with().day_of_year(year_day).build())
                .map_err(|_| "day-of-year")?;
            (month, day) = (date.month(), date.day());
        }
        let civil = DateTime::new(year, month, day, hour, self.minute, self.second, self.nanosecond)
            .map_err(|_| "day")?;
        if let Some(offset) = self.offset {
            return Self::at_offset(civil, offset, self.zone, local);
        }
        let ambiguous = local.to_ambiguous_timestamp(civil);
        let at = ambiguous.compatible().map_err(|_| "day")?;
        if let Some(name) = self.zone {
            let local_name = local.to_offset_info(at).abbreviation().to_owned();
            if name != local_name {
                // An unknown name counts as UTC.
                let at = TimeZone::UTC.to_ambiguous_timestamp(civil).compatible().map_err(|_| "day")?;
                return Ok(Time { at, zone: TimeZone::fixed(Offset::UTC), name: Some(name) });
            }
        }
        Ok(Time::new(at, local.clone()))
    }

    fn at_offset(
        civil: DateTime,
        seconds: i32,
        name: Option<String>,
        local: &TimeZone,
    ) -> Result<Time, &'static str> {
        let offset = Offset::from_seconds(seconds).map_err(|_| "time zone offset")?;
        let at = offset.to_timestamp(civil).map_err(|_| "day")?;
        let info = local.to_offset_info(at);
        let is_local =
            info.offset() == offset && name.as_deref().is_none_or(|name| name == info.abbreviation());
        if seconds == 0 && name.is_none() {
            return Ok(Time::new(at, TimeZone::UTC));
        }
        if is_local {
            return Ok(Time::new(at, local.clone()));
        }
        Ok(Time { at, zone: TimeZone::fixed(offset), name })
    }
}
