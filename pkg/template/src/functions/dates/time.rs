//! A moment in a time zone: `time.Time`.

use std::any::Any;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::layout::{MONTHS, Offset, WEEKDAYS, format, offset};
use crate::functions::{Arguments as _, table};
use crate::value::{Kind, Object, Shared, Signature, Value};

/// A moment in a zone.
#[derive(Clone, Debug)]
pub(in super::super) struct Time {
    pub(super) at: Timestamp,
    pub(super) zone: TimeZone,
    /// The name of the zone in the text of the time, if the zone itself has none.
    pub(super) name: Option<String>,
}

impl Time {
    pub(super) fn new(at: Timestamp, zone: TimeZone) -> Self {
        Self { at, zone, name: None }
    }

    /// The start of the year 1, which Go uses for no time.
    pub(super) fn zero() -> Self {
        const SECONDS: i64 = -62_135_596_800;
        Self::new(Timestamp::from_second(SECONDS).unwrap_or(Timestamp::UNIX_EPOCH), TimeZone::UTC)
    }

    pub(super) fn zoned(&self) -> Zoned {
        self.at.to_zoned(self.zone.clone())
    }

    pub(super) fn offset_seconds(&self) -> i32 {
        self.zone.to_offset(self.at).seconds()
    }

    /// Returns the short name of the zone, or its offset.
    pub(super) fn zone_name(&self) -> String {
        if let Some(name) = self.name.as_deref().filter(|name| !name.is_empty()) {
            return name.to_owned();
        }
        let info = self.zone.to_offset_info(self.at);
        let name = info.abbreviation();
        if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return name.to_owned();
        }
        let seconds = self.offset_seconds();
        let parts = if seconds % 3_600 == 0 { 1 } else { 2 };
        offset(seconds, Offset { has_z: false, separator: "", parts })
    }
}

const METHODS: &[(&str, &str)] = &[
    ("Unix", ""),
    ("UnixMilli", ""),
    ("UnixMicro", ""),
    ("UnixNano", ""),
    ("Year", ""),
    ("Month", ""),
    ("Day", ""),
    ("Hour", ""),
    ("Minute", ""),
    ("Second", ""),
    ("Nanosecond", ""),
    ("YearDay", ""),
    ("Weekday", ""),
    ("IsZero", ""),
    ("UTC", ""),
    ("String", ""),
    ("Format", "s"),
    ("AddDate", "iii"),
    ("After", "t"),
    ("Before", "t"),
    ("Equal", "t"),
    ("Compare", "t"),
];

impl Object for Time {
    fn type_name(&self) -> &'static str {
        "time.Time"
    }

    fn method(&self, name: &str) -> Option<Signature> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, letters)| table::signature(letters))
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let civil = self.zoned().datetime();
        let order = super::time_of(args.value(0)).map(|other| self.at.cmp(&other.at));
        let nanoseconds = self.at.as_nanosecond();
        let named = |kind: &'static str, number: i8, names: &[&'static str]| {
            let text =
                usize::try_from(number).ok().and_then(|index| names.get(index)).copied().unwrap_or_default();
            Value::Object(Shared::new(Named { kind, text }))
        };
        Ok(match name {
            "Unix" => Value::Int64(self.at.as_second()),
            "UnixMilli" => Value::Int64(self.at.as_millisecond()),
            "UnixMicro" => Value::Int64(self.at.as_microsecond()),
            "UnixNano" => Value::Int64(super::clamped(nanoseconds)),
            "Year" => Value::Int(civil.year().into()),
            "Month" => named("time.Month", civil.month() - 1, &MONTHS),
            "Day" => Value::Int(civil.day().into()),
            "Hour" => Value::Int(civil.hour().into()),
            "Minute" => Value::Int(civil.minute().into()),
            "Second" => Value::Int(civil.second().into()),
            "Nanosecond" => Value::Int(civil.subsec_nanosecond().into()),
            "YearDay" => Value::Int(civil.day_of_year().into()),
            "Weekday" => named("time.Weekday", civil.weekday().to_sunday_zero_offset(), &WEEKDAYS),
            "IsZero" => (self.at == Self::zero().at).into(),
            "UTC" => super::shared(Self::new(self.at, TimeZone::UTC)),
            "String" => self.to_string().into(),
            "Format" => format(self, &args.utf8(0)).into(),
            "AddDate" => super::shared(self.later(args)?),
            "After" => order.is_some_and(std::cmp::Ordering::is_gt).into(),
            "Before" => order.is_some_and(std::cmp::Ordering::is_lt).into(),
            "Equal" => order.is_some_and(std::cmp::Ordering::is_eq).into(),
            _ => Value::Int(order.map_or(0, |order| order as i64)),
        })
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn plain(&self) -> Value {
        format(self, "2006-01-02T15:04:05.999999999Z07:00").into()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .as_any()
            .downcast_ref::<Self>()
            .is_some_and(|other| self.at == other.at && self.zone == other.zone)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Time {
    /// Adds years, months and days. A day that the month does not have becomes one of the next month.
    fn later(&self, args: &[Value]) -> Result<Self, String> {
        let far = || "the date is out of range".to_owned();
        let zoned = self.zoned();
        let civil = zoned.datetime();
        let months = args.int(0).saturating_mul(12).saturating_add(args.int(1));
        let first = civil.with().day(1).build().map_err(|_| far())?;
        let span = jiff::Span::new().try_months(months).map_err(|_| far())?;
        let days = args.int(2).saturating_add(i64::from(civil.day()) - 1);
        let days = jiff::Span::new().try_days(days).map_err(|_| far())?;
        let moved = first.checked_add(span).and_then(|first| first.checked_add(days)).map_err(|_| far())?;
        let at = self.zone.to_ambiguous_timestamp(moved).compatible().map_err(|_| far())?;
        Ok(Self { at, ..self.clone() })
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format(self, "2006-01-02 15:04:05.999999999 -0700 MST"))
    }
}

/// A month or a day of the week, printed by its name.
#[derive(Debug)]
struct Named {
    kind: &'static str,
    text: &'static str,
}

impl Object for Named {
    fn type_name(&self) -> &'static str {
        self.kind
    }

    fn kind(&self) -> Kind {
        Kind::Int
    }

    fn text(&self) -> Option<String> {
        Some(self.text.to_owned())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.text == other.text)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
