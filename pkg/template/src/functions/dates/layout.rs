//! Layouts of dates: Go writes them as the date of 2 January 2006, 15:04:05.

use super::time::Time;

/// One piece of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'l> {
    /// Text that stands for itself.
    Text(&'l str),
    /// A field, as the layout writes it.
    Field(Field, &'l str),
}

/// A part of a date that a layout names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Year,
    YearOfCentury,
    Month(Padding),
    MonthName(Name),
    Weekday(Name),
    Day(Padding),
    DayOfYear(Padding),
    /// The hour of 24, always with two digits.
    Hour,
    HourOfHalf(Padding),
    Minute(Padding),
    Second(Padding),
    /// The halves of a day, before and after noon.
    Half([&'static str; 2]),
    ZoneName,
    Offset(Offset),
    /// A fraction of a second with a number of digits; trailing zeros are kept or left out.
    Fraction {
        digits: usize,
        keeps_zeros: bool,
    },
}

/// The character before short numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    None,
    Space,
    Zero,
}

/// The forms of names: three letters or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Short,
    Long,
}

impl Name {
    pub(super) fn of(self, name: &str) -> &str {
        if self == Self::Short { &name[..3] } else { name }
    }
}

/// The form of an offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// True if `Z` stands for zero.
    pub(super) has_z: bool,
    /// The text between hours, minutes and seconds.
    pub(super) separator: &'static str,
    /// The count of parts: hours, minutes, seconds.
    pub(super) parts: usize,
}

const fn offset_field(has_z: bool, separator: &'static str, parts: usize) -> Field {
    Field::Offset(Offset { has_z, separator, parts })
}

/// The fields of fixed texts, by content.
const FIELDS: [(&str, Field); 33] = [
    ("2006", Field::Year),
    ("06", Field::YearOfCentury),
    ("January", Field::MonthName(Name::Long)),
    ("Jan", Field::MonthName(Name::Short)),
    ("01", Field::Month(Padding::Zero)),
    ("1", Field::Month(Padding::None)),
    ("Monday", Field::Weekday(Name::Long)),
    ("Mon", Field::Weekday(Name::Short)),
    ("02", Field::Day(Padding::Zero)),
    ("_2", Field::Day(Padding::Space)),
    ("2", Field::Day(Padding::None)),
    ("002", Field::DayOfYear(Padding::Zero)),
    ("__2", Field::DayOfYear(Padding::Space)),
    ("15", Field::Hour),
    ("03", Field::HourOfHalf(Padding::Zero)),
    ("3", Field::HourOfHalf(Padding::None)),
    ("PM", Field::Half(["AM", "PM"])),
    ("pm", Field::Half(["am", "pm"])),
    ("04", Field::Minute(Padding::Zero)),
    ("4", Field::Minute(Padding::None)),
    ("05", Field::Second(Padding::Zero)),
    ("5", Field::Second(Padding::None)),
    ("MST", Field::ZoneName),
    ("-07", offset_field(false, "", 1)),
    ("-0700", offset_field(false, "", 2)),
    ("-070000", offset_field(false, "", 3)),
    ("-07:00", offset_field(false, ":", 2)),
    ("-07:00:00", offset_field(false, ":", 3)),
    ("Z07", offset_field(true, "", 1)),
    ("Z0700", offset_field(true, "", 2)),
    ("Z070000", offset_field(true, "", 3)),
    ("Z07:00", offset_field(true, ":", 2)),
    ("Z07:00:00", offset_field(true, ":", 3)),
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

/// Splits a layout into its items.
pub(super) fn items(layout: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let (mut text, mut at) = (0, 0);
    while let Some(next) = layout[at..].chars().next() {
        let Some((field, length)) = field_at(&layout[at..]) else {
            at += next.len_utf8();
            continue;
        };
        if text < at {
            items.push(Item::Text(&layout[text..at]));
        }
        items.push(Item::Field(field, &layout[at..at + length]));
        at += length;
        text = at;
    }
    if text < layout.len() {
        items.push(Item::Text(&layout[text..]));
    }
    items
}

/// Returns the field at the start of a text, and its length.
fn field_at(text: &str) -> Option<(Field, usize)> {
    // An underscore before a year is no space before a day.
    if text.starts_with("_2006") {
        return None;
    }
    let longest =
        FIELDS.iter().filter(|(shown, _)| text.starts_with(shown)).max_by_key(|(shown, _)| shown.len());
    let Some((shown, field)) = longest else { return fraction_at(text) };
    let is_name = matches!(field, Field::MonthName(Name::Short) | Field::Weekday(Name::Short));
    // The start of a longer word is no name.
    if is_name && text[shown.len()..].starts_with(|next: char| next.is_ascii_lowercase()) {
        return None;
    }
    Some((*field, shown.len()))
}

/// Reads `.000` or `,999`, which no further digit may follow.
fn fraction_at(text: &str) -> Option<(Field, usize)> {
    let digits = text.strip_prefix(['.', ','])?;
    let digit = digits.chars().next().filter(|digit| matches!(digit, '0' | '9'))?;
    let behind = digits.trim_start_matches(digit);
    if behind.starts_with(|next: char| next.is_ascii_digit()) {
        return None;
    }
    let count = digits.len() - behind.len();
    Some((Field::Fraction { digits: count, keeps_zeros: digit == '0' }, count + 1))
}

/// Prints a time by a layout.
pub(super) fn format(time: &Time, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    for item in items(layout) {
        match item {
            Item::Text(text) => out.push_str(text),
            // The mark of a fraction is part of the layout.
            Item::Field(field, shown) => out.push_str(&field_text(time, field, &shown[..1])),
        }
    }
    out
}

fn field_text(time: &Time, field: Field, mark: &str) -> String {
    let civil = time.zoned().datetime();
    let padded = |number: i16, padding, width: usize| match padding {
        Padding::None => number.to_string(),
        Padding::Space => format!("{number:width$}"),
        Padding::Zero => format!("{number:0width$}"),
    };
    let is_afternoon = civil.hour() >= 12;
    match field {
        Field::Year => format!("{:04}", civil.year()),
        Field::YearOfCentury => format!("{:02}", civil.year().rem_euclid(100)),
        Field::Month(padding) => padded(civil.month().into(), padding, 2),
        Field::MonthName(form) => form.of(MONTHS[usize::try_from(civil.month() - 1).unwrap_or(0)]).to_owned(),
        Field::Weekday(form) => {
            let day = usize::try_from(civil.weekday().to_sunday_zero_offset()).unwrap_or(0);
            form.of(WEEKDAYS[day]).to_owned()
        }
        Field::Day(padding) => padded(civil.day().into(), padding, 2),
        Field::DayOfYear(padding) => padded(civil.day_of_year(), padding, 3),
        Field::Hour => padded(civil.hour().into(), Padding::Zero, 2),
        Field::HourOfHalf(padding) => padded(i16::from((civil.hour() + 11) % 12 + 1), padding, 2),
        Field::Minute(padding) => padded(civil.minute().into(), padding, 2),
        Field::Second(padding) => padded(civil.second().into(), padding, 2),
        Field::Half(halves) => halves[usize::from(is_afternoon)].to_owned(),
        Field::ZoneName => time.zone_name(),
        Field::Offset(form) => offset(time.offset_seconds(), form),
        Field::Fraction { digits, keeps_zeros } => {
            let mut fraction = format!("{mark}{:09}", civil.subsec_nanosecond());
            fraction.truncate(digits + 1);
            if keeps_zeros {
                return fraction;
            }
            // Without digits there is no mark either.
            fraction.trim_end_matches('0').trim_end_matches(mark).to_owned()
        }
    }
}

/// Prints an offset from UTC.
pub(super) fn offset(seconds: i32, form: Offset) -> String {
    if form.has_z && seconds == 0 {
        return "Z".to_owned();
    }
    let magnitude = seconds.unsigned_abs();
    let parts = [magnitude / 3_600, magnitude / 60 % 60, magnitude % 60].map(|part| format!("{part:02}"));
    let sign = if seconds < 0 { '-' } else { '+' };
    format!("{sign}{}", parts[..form.parts].join(form.separator))
}
