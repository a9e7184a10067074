//! Custom resources: the columns of their definition.

use std::borrow::Cow;

use serde_json::Value;

use super::{cells, definition, view::ObjectView};
use crate::{
    jsonpath::JsonPath,
    kinds::{CustomResource, PrinterColumn},
};

/// The parsed columns of one version.
pub(super) struct Columns<'a> {
    columns: Vec<(Cow<'a, PrinterColumn>, JsonPath)>,
}

impl<'a> Columns<'a> {
    /// Returns the columns of a version, or only the age if the version defines none. Like the real server, omits all
    /// columns from the first invalid path on.
    pub(super) fn of(custom: &'a CustomResource) -> Self {
        let mut columns: Vec<_> = custom.columns.iter().map(Cow::Borrowed).collect();
        if columns.is_empty() {
            columns.push(Cow::Owned(age_column()));
        }
        let readable = columns.into_iter().map_while(|column| {
            let path = JsonPath::parse(&column.json_path)?;
            Some((column, path))
        });
        Self { columns: readable.collect() }
    }

    pub(super) fn definitions(&self) -> Value {
        let others = self.columns.iter().map(|(column, _)| {
            let stand_in;
            let description = if column.description.is_empty() {
                stand_in =
                    format!("Custom resource definition column (in JSONPath format): {}", column.json_path);
                &*stand_in
            } else {
                &*column.description
            };
            definition(&column.name, &column.kind, &column.format, description, column.priority)
        });
        [definition("Name", "string", "name", "", 0)].into_iter().chain(others).collect()
    }

    pub(super) fn cells(&self, view: ObjectView<'_>) -> Vec<Value> {
        let others = self.columns.iter().map(|(column, path)| {
            let found = path.find(view.object).and_then(|found| found.first().copied());
            found.map_or(Value::Null, |value| cell(&column.kind, value, view.now))
        });
        [view.str("/metadata/name").into()].into_iter().chain(others).collect()
    }
}

fn age_column() -> PrinterColumn {
    PrinterColumn {
        name: "Age".into(),
        kind: "date".into(),
        format: "".into(),
        description: "".into(),
        priority: 0,
        json_path: ".metadata.creationTimestamp".into(),
    }
}

/// Formats a value for a column of this type; null if the value does not fit.
fn cell(kind: &str, value: &Value, now: i64) -> Value {
    match (kind, value) {
        ("string", value) => printed(value).into(),
        ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => number.into(),
            #[expect(clippy::cast_possible_truncation, reason = "the real server cuts the fraction off, too")]
            (None, Some(number)) => (number as i64).into(),
            (None, None) => Value::Null,
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) => match cells::seconds(text) {
            Some(time) => cells::human(now.saturating_sub(time)).into(),
            None if text.is_empty() || text == "null" => "<unknown>".into(),
            None => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}

/// Formats a value like Go: text unchanged, objects and lists as JSON with `<`, `>` and `&` escaped.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => go_float(float),
            _ => number.to_string(),
        },
        Value::Array(_) | Value::Object(_) => {
            value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
        }
    }
}

/// Formats a float like Go's `%v`: with an exponent below 0.0001 and from a million on.
fn go_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
