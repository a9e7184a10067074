//! Layouts of dates: Go writes them as the date of 2 January 2006, 15:04:05.

use super::time::Time;

/// One piece of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    LongMonth,
    Month,
    NumberMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    SpaceDay,
    ZeroDay,
    SpaceYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    Half,
    LowerHalf,
    ZoneName,
    /// An offset, by the position in `OFFSETS`.
    Offset(usize),
    /// A fraction of a second with a number of digits; trailing zeros are kept or left out.
    Fraction {
        digits: usize,
        keeps_zeros: bool,
    },
}

/// Offsets of a zone: the layout, and the parts `Z` for zero, colons, minutes, seconds.
pub(super) const OFFSETS: [(&str, Offset); 10] = [
    ("-070000", Offset { is_iso: false, colon: false, minutes: true, seconds: true }),
    ("-07:00:00", Offset { is_iso: false, colon: true, minutes: true, seconds: true }),
    ("-0700", Offset { is_iso: false, colon: false, minutes: true, seconds: false }),
    ("-07:00", Offset { is_iso: false, colon: true, minutes: true, seconds: false }),
    ("-07", Offset { is_iso: false, colon: false, minutes: false, seconds: false }),
    ("Z070000", Offset { is_iso: true, colon: false, minutes: true, seconds: true }),
    ("Z07:00:00", Offset { is_iso: true, colon: true, minutes: true, seconds: true }),
    ("Z0700", Offset { is_iso: true, colon: false, minutes: true, seconds: false }),
    ("Z07:00", Offset { is_iso: true, colon: true, minutes: true, seconds: false }),
    ("Z07", Offset { is_iso: true, colon: false, minutes: false, seconds: false }),
];

/// The form of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a format")]
pub(super) struct Offset {
    pub(super) is_iso: bool,
    pub(super) colon: bool,
    pub(super) minutes: bool,
    pub(super) seconds: bool,
}

const WORDS: [(&str, Chunk); 22] = [
    ("January", Chunk::LongMonth),
    ("Monday", Chunk::LongWeekday),
    ("MST", Chunk::ZoneName),
    ("01", Chunk::ZeroMonth),
    ("02", Chunk::ZeroDay),
    ("03", Chunk::ZeroHour12),
    ("04", Chunk::ZeroMinute),
    ("05", Chunk::ZeroSecond),
    ("06", Chunk::Year),
    ("002", Chunk::ZeroYearDay),
    ("15", Chunk::Hour),
    ("1", Chunk::NumberMonth),
    ("2006", Chunk::LongYear),
    ("2", Chunk::Day),
    ("__2", Chunk::SpaceYearDay),
    ("_2", Chunk::SpaceDay),
    ("3", Chunk::Hour12),
    ("4", Chunk::Minute),
    ("5", Chunk::Second),
    ("PM", Chunk::Half),
    ("pm", Chunk::LowerHalf),
    ("Jan", Chunk::Month),
];

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Splits a layout at its first chunk: the text before, the chunk, the text behind.
pub(super) fn split(layout: &str) -> (&str, Option<Chunk>, &str) {
    for (at, _) in layout.char_indices() {
        if let Some((chunk, length)) = chunk_at(layout, at) {
            return (&layout[..at], Some(chunk), &layout[at + length..]);
        }
    }
    (layout, None, "")
}

fn chunk_at(layout: &str, at: usize) -> Option<(Chunk, usize)> {
    let rest = &layout[at..];
    if rest.starts_with("_2006") {
        return None;
    }
    let is_small = |text: &str| text.starts_with(|next: char| next.is_ascii_lowercase());
    if let Some((word, chunk)) = WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
        let is_part = *chunk == Chunk::Month && is_small(&rest[word.len()..]);
        return (!is_part).then_some((*chunk, word.len()));
    }
    if let Some(after) = rest.strip_prefix("Mon") {
        return (!is_small(after)).then_some((Chunk::Weekday, 3));
    }
    if let Some(index) = OFFSETS.iter().position(|(offset, _)| rest.starts_with(offset)) {
        return Some((Chunk::Offset(index), OFFSETS[index].0.len()));
    }
    fraction(rest)
}

/// Reads `.000` or `,999`, which no further digit may follow.
fn fraction(rest: &str) -> Option<(Chunk, usize)> {
    let after = rest.strip_prefix(['.', ','])?;
    let digit = after.chars().next().filter(|digit| matches!(digit, '0' | '9'))?;
    let digits = after.len() - after.trim_start_matches(digit).len();
    if after[digits..].starts_with(|next: char| next.is_ascii_digit()) {
        return None;
    }
    Some((Chunk::Fraction { digits, keeps_zeros: digit == '0' }, digits + 1))
}

/// Prints a time by a layout.
pub(super) fn format(time: &Time, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    let mut rest = layout;
    loop {
        let (before, chunk, after) = split(rest);
        out.push_str(before);
        let Some(chunk) = chunk else { return out };
        // The mark of a fraction is part of the layout.
        let mark = rest[before.len()..].chars().next().unwrap_or('.');
        push(&mut out, time, chunk, mark);
        rest = after;
    }
}

fn push(out: &mut String, time: &Time, chunk: Chunk, mark: char) {
    let civil = time.zoned().datetime();
    let (year, month, day) = (civil.year(), civil.month(), civil.day());
    let hour12 = match civil.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let month_name = MONTHS[usize::try_from(month - 1).unwrap_or(0)];
    let weekday = WEEKDAYS[usize::try_from(civil.weekday().to_sunday_zero_offset()).unwrap_or(0)];
    let text = match chunk {
        Chunk::LongMonth => month_name.to_owned(),
        Chunk::Month => month_name[..3].to_owned(),
        Chunk::NumberMonth => month.to_string(),
        Chunk::ZeroMonth => format!("{month:02}"),
        Chunk::LongWeekday => weekday.to_owned(),
        Chunk::Weekday => weekday[..3].to_owned(),
        Chunk::Day => day.to_string(),
        Chunk::SpaceDay => format!("{day:2}"),
        Chunk::ZeroDay => format!("{day:02}"),
        Chunk::SpaceYearDay => format!("{:3}", civil.day_of_year()),
        Chunk::ZeroYearDay => format!("{:03}", civil.day_of_year()),
        Chunk::Hour => format!("{:02}", civil.hour()),
        Chunk::Hour12 => hour12.to_string(),
        Chunk::ZeroHour12 => format!("{hour12:02}"),
        Chunk::Minute => civil.minute().to_string(),
        Chunk::ZeroMinute => format!("{:02}", civil.minute()),
        Chunk::Second => civil.second().to_string(),
        Chunk::ZeroSecond => format!("{:02}", civil.second()),
        Chunk::LongYear => format!("{year:04}"),
        Chunk::Year => format!("{:02}", year.rem_euclid(100)),
        Chunk::Half => if civil.hour() >= 12 { "PM" } else { "AM" }.to_owned(),
        Chunk::LowerHalf => if civil.hour() >= 12 { "pm" } else { "am" }.to_owned(),
        Chunk::ZoneName => time.zone_name(),
        Chunk::Offset(index) => offset(time.offset_seconds(), OFFSETS[index].1),
        Chunk::Fraction { digits, keeps_zeros } => {
            fraction_text(civil.subsec_nanosecond().unsigned_abs(), digits, keeps_zeros, mark)
        }
    };
    out.push_str(&text);
}

pub(super) fn offset(seconds: i32, form: Offset) -> String {
    if form.is_iso && seconds == 0 {
        return "Z".to_owned();
    }
    let magnitude = seconds.unsigned_abs();
    let colon = if form.colon { ":" } else { "" };
    let mut out = format!("{}{:02}", if seconds < 0 { '-' } else { '+' }, magnitude / 3_600);
    if form.minutes {
        out += &format!("{colon}{:02}", magnitude / 60 % 60);
    }
    if form.seconds {
        out += &format!("{colon}{:02}", magnitude % 60);
    }
    out
}

fn fraction_text(nanoseconds: u32, digits: usize, keeps_zeros: bool, mark: char) -> String {
    let all = format!("{nanoseconds:09}");
    let kept = if digits <= 9 { all[..digits].to_owned() } else { format!("{all:0<digits$}") };
    if keeps_zeros {
        return format!("{mark}{kept}");
    }
    match kept.trim_end_matches('0') {
        "" => String::new(),
        kept => format!("{mark}{kept}"),
    }
}
