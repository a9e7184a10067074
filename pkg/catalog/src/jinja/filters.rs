//! The filters of Kapitan.
#![allow(clippy::needless_pass_by_value)] // the engine passes values

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::{Timestamp, tz::TimeZone};
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

use super::{merge, python, regular_expressions};
use crate::compile::{find_files, sha256, write_toml};
use crate::results::Reads;
use crate::yaml::{YamlStyle, write_document};

/// The format of dates without a format.
const DATE_TIME: &str = "%Y-%m-%d %H:%M:%S";

/// The widest indent of JSON.
const MAX_INDENT: usize = 16;

/// Adds the filters to an engine.
pub(super) fn add(environment: &mut Environment<'_>, reads: &Arc<Reads>) {
    let (globbed, timed) = (Arc::clone(reads), Arc::clone(reads));
    // Encodings and checksums.
    environment.add_filter("b64decode", decode);
    environment.add_filter("b64encode", |text: &str| STANDARD.encode(text));
    environment.add_filter("reveal_maybe", |value: Value| value);
    environment.add_filter("sha256", |text: &str| sha256(text));
    environment.add_filter("toml", to_toml);
    environment.add_filter("tojson", |value: &Value, options: Kwargs| {
        let indent = options.get::<Option<usize>>("indent")?;
        options.assert_all_used()?;
        check_indent(indent)?;
        Ok::<_, Error>(python::json(&to_json(value)?, indent))
    });
    environment.add_filter("yaml", to_yaml);
    // Conditions.
    environment.add_filter("bool", to_bool);
    environment.add_filter("ternary", ternary);
    // Times.
    environment.add_filter("strftime", move |format: &str, second: Option<Value>| {
        if second.is_none() {
            timed.note_unknown();
        }
        format_time(format, second)
    });
    environment.add_filter("to_datetime", to_date_time);
    // Regular expressions.
    environment.add_filter("regex_escape", regular_expressions::escape);
    environment.add_filter("regex_findall", regular_expressions::find_all);
    environment.add_filter("regex_replace", regular_expressions::replace);
    environment.add_filter("regex_search", regular_expressions::search);
    // Lists.
    environment.add_filter("fileglob", move |pattern: &str| file_glob(pattern, &globbed));
    environment.add_filter("merge_strategic", |value: &Value| merge::merge(value));
    environment.add_filter("shuffle", shuffle);
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.into())
}

/// Fails if an indent of JSON would make a small value large.
pub(crate) fn check_indent(indent: Option<usize>) -> Result<(), Error> {
    if indent.is_some_and(|indent| indent > MAX_INDENT) {
        return Err(invalid(format!("the indent is larger than {MAX_INDENT}")));
    }
    Ok(())
}

fn to_json(value: &Value) -> Result<serde_json::Value, Error> {
    serde_json::to_value(value).map_err(|error| invalid(error.to_string()))
}

fn decode(text: &str) -> Result<String, Error> {
    let bytes = STANDARD.decode(text).map_err(|error| invalid(format!("the text is not base64: {error}")))?;
    String::from_utf8(bytes).map_err(|_| invalid("the decoded text is not valid UTF-8"))
}

fn to_yaml(value: &Value) -> Result<String, Error> {
    Ok(write_document(&to_json(value)?, YamlStyle::EMBEDDED))
}

fn to_toml(value: &Value) -> Result<String, Error> {
    match to_json(value)? {
        serde_json::Value::Object(fields) => Ok(write_toml(&fields)),
        _ => Err(invalid("only a mapping can be written as TOML")),
    }
}

fn file_glob(pattern: &str, reads: &Reads) -> Result<Vec<String>, Error> {
    let found = find_files(pattern, reads).map_err(|error| invalid(error.to_string()))?;
    Ok(found.iter().map(|path| path.display().to_string()).collect())
}

fn to_bool(value: Value) -> Value {
    match value.kind() {
        ValueKind::None | ValueKind::Bool => value,
        _ => Value::from(matches!(python::text(&value).to_lowercase().as_str(), "yes" | "on" | "1" | "true")),
    }
}

fn to_date_time(text: &str, format: Option<&str>) -> Result<String, Error> {
    let format = format.unwrap_or(DATE_TIME);
    let time = strtime::parse(format, text).and_then(|parsed| {
        parsed.to_datetime().or_else(|_| parsed.to_date().map(|date| date.at(0, 0, 0, 0)))
    });
    let time: DateTime =
        time.map_err(|error| invalid(format!("`{text}` does not match `{format}`: {error}")))?;
    Ok(time.strftime(DATE_TIME).to_string())
}

fn format_time(format: &str, second: Option<Value>) -> Result<String, Error> {
    let time = match second {
        None => Timestamp::now(),
        Some(second) => python::text(&second)
            .parse()
            .ok()
            .and_then(|second| Timestamp::from_second(second).ok())
            .ok_or_else(|| invalid(format!("Invalid value for epoch value ({second})")))?,
    };
    strtime::format(format, &time.to_zoned(TimeZone::UTC)).map_err(|error| invalid(error.to_string()))
}

fn ternary(value: Value, yes: Value, no: Value, none: Option<Value>) -> Value {
    match none {
        Some(none) if value.is_none() => none,
        _ if value.is_true() => yes,
        _ => no,
    }
}

/// Shuffles a list by a simple generator of numbers.
fn shuffle(list: Value, seed: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let seed = seed.map_or_else(|| options.get::<Option<Value>>("seed"), |seed| Ok(Some(seed)))?;
    options.assert_all_used()?;
    let Ok(items) = list.try_iter() else { return Ok(list) };
    let mut items: Vec<Value> = items.collect();
    let seed = seed.map(|seed| python::text(&seed)).unwrap_or_default();
    let mut state = seed.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for last in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = (state >> 33) as usize % (last + 1);
        items.swap(last, other);
    }
    Ok(Value::from(items))
}
