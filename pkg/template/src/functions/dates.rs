//! Dates, times and durations.
//!
//! Source: sprig 3.3 date.go, Go 1.26 time.

mod duration;
mod layout;
mod parse;
mod time;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::table::made;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Shared, Value};
use time::Time;

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("now", "", |run, _| Ok(shared(now(run)))),
    ("date", "sa", |run, args| formatted(run, &args.utf8(0), args.value(1), "Local")),
    ("dateInZone", "sas", |run, args| formatted(run, &args.utf8(0), args.value(1), &args.utf8(2))),
    ("date_in_zone", "sas", |run, args| formatted(run, &args.utf8(0), args.value(1), &args.utf8(2))),
    ("htmlDate", "a", |run, args| formatted(run, DATE, args.value(0), "Local")),
    ("htmlDateInZone", "as", |run, args| formatted(run, DATE, args.value(0), &args.utf8(1))),
    ("dateModify", "st", |_, args| Ok(modified(args).unwrap_or_else(|_| args.value(1).clone()))),
    ("date_modify", "st", |_, args| Ok(modified(args).unwrap_or_else(|_| args.value(1).clone()))),
    ("mustDateModify", "st", |_, args| modified(args)),
    ("must_date_modify", "st", |_, args| modified(args)),
    ("toDate", "ss", |_, args| Ok(shared(parsed(args).unwrap_or_else(|_| Time::zero())))),
    ("mustToDate", "ss", |_, args| Ok(shared(parsed(args)?))),
    ("unixEpoch", "t", |_, args| {
        Ok(time_of(args.value(0)).map_or(0, |time| time.at.as_second()).to_string().into())
    }),
    ("ago", "a", |run, args| {
        let at = moment(run, args.value(0));
        let nanoseconds = run.session().settings().now.as_nanosecond() - at.at.as_nanosecond();
        Ok(duration::text(duration::rounded_to_seconds(clamped(nanoseconds))).into())
    }),
    ("duration", "a", |_, args| {
        Ok(duration::text(seconds(args.value(0)).saturating_mul(1_000_000_000)).into())
    }),
    ("durationRound", "a", |run, args| {
        let nanoseconds = match args.value(0) {
            Value::String(text) => duration::nanoseconds(&text.to_str()).unwrap_or(0),
            Value::Int64(nanoseconds) => *nanoseconds,
            Value::Object(_) => {
                let now = run.session().settings().now.as_nanosecond();
                time_of(args.value(0)).map_or(0, |time| clamped(now - time.at.as_nanosecond()))
            }
            _ => 0,
        };
        Ok(duration::largest_unit(nanoseconds).into())
    }),
];

const DATE: &str = "2006-01-02";

fn shared(time: Time) -> Value {
    Value::Object(Shared::new(time))
}

fn clamped(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

fn now(run: &mut dyn Engine) -> Time {
    Time::new(run.session().settings().now, TimeZone::UTC)
}

fn time_of(value: &Value) -> Option<&Time> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref(),
        _ => None,
    }
}

/// Returns the moment that a value means: a time or seconds since 1970, else now.
fn moment(run: &mut dyn Engine, value: &Value) -> Time {
    if let Some(time) = time_of(value) {
        return time.clone();
    }
    let now = now(run);
    match value {
        Value::Int(seconds) | Value::Int64(seconds) => {
            Timestamp::from_second(*seconds).map_or(now.clone(), |at| Time { at, ..now })
        }
        _ => now,
    }
}

/// Returns a time zone of the database of this machine. The local zone is UTC on every machine, as is an unknown one.
fn zone(name: &str) -> TimeZone {
    let found = TimeZone::get(name).ok();
    // Go compares names of zones with their letter case.
    found.filter(|zone| zone.iana_name() == Some(name)).unwrap_or(TimeZone::UTC)
}

fn formatted(run: &mut dyn Engine, layout: &str, value: &Value, zone_name: &str) -> Result {
    let time = Time::new(moment(run, value).at, zone(zone_name));
    let limit = run.session().settings().limits.output_bytes;
    // Each letter of a layout becomes at most ten.
    run.session().create(layout.len().saturating_mul(10).min(limit))?;
    made(run, layout::format(&time, layout))
}

fn modified(args: &[Value]) -> Result {
    let text = args.utf8(0);
    let nanoseconds = duration::nanoseconds(&text).ok_or_else(|| Fault::new(duration::mistake(&text)))?;
    let time = time_of(args.value(1)).cloned().unwrap_or_else(Time::zero);
    let at = time.at.checked_add(jiff::SignedDuration::from_nanos(nanoseconds)).unwrap_or(time.at);
    Ok(shared(Time { at, ..time }))
}

fn parsed(args: &[Value]) -> std::result::Result<Time, Fault> {
    parse::parse(&args.utf8(0), &args.utf8(1)).map_err(Fault::new)
}

fn seconds(value: &Value) -> i64 {
    match value {
        Value::String(text) => text.to_str().parse().unwrap_or(0),
        Value::Int64(seconds) => *seconds,
        _ => 0,
    }
}
