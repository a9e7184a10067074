//! Texts with values, such as `"%s-%03d" % (name, 7)`, as Python formats them.

use std::sync::LazyLock;

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};
use regex::{Captures, Regex};

use super::python;

/// The filter that takes the place of the operator.
pub(super) const FILTER: &str = "__percent";
/// The maximum width and precision of a value.
const MAX_WIDTH: usize = 100_000;

/// A place of a value: key, flags, width, precision and conversion.
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?s)%(?:\(([^)]*)\))?([-+ #0]*)(\*|[0-9]*)(?:\.(\*|[0-9]*))?[hlL]?(.)").ok()
});

/// Formats a text with a value, the items of a tuple, or the fields of a mapping.
pub(super) fn percent(text: &str, operand: &Value) -> Result<String, Error> {
    let is_map = operand.kind() == ValueKind::Map;
    let mut values = Values {
        queue: if operand.is_tuple() { operand.try_iter()?.collect() } else { vec![operand.clone()] },
        used: 0,
    };
    let (mut out, mut end) = (String::new(), 0);
    let places = PLACE.iter().flat_map(|place| place.captures_iter(text));
    for place in places {
        let (start, next) = place.get(0).map_or((end, end), |found| (found.start(), found.end()));
        out.push_str(&text[end..start]);
        end = next;
        if &place[5] == "%" {
            out.push('%');
            continue;
        }
        let spec = spec(&place, &mut values)?;
        let value = match place.get(1) {
            Some(key) if is_map => operand.get_item(&Value::from(key.as_str()))?,
            Some(_) => return Err(invalid("format requires a mapping")),
            None => values.take()?,
        };
        if value.is_undefined() {
            return Err(invalid("a value of the text is undefined"));
        }
        out.push_str(&formatted(&spec, &place[5], &value)?);
    }
    if text[end..].contains('%') {
        return Err(invalid("incomplete format"));
    }
    if values.used < values.queue.len() && !is_map {
        return Err(invalid("not all arguments converted during string formatting"));
    }
    out.push_str(&text[end..]);
    Ok(out)
}

/// The values of a text in order.
struct Values {
    queue: Vec<Value>,
    used: usize,
}

impl Values {
    fn take(&mut self) -> Result<Value, Error> {
        self.used += 1;
        let value = self.queue.get(self.used - 1).cloned();
        value.ok_or_else(|| invalid("not enough arguments for format string"))
    }
}

/// Returns flags, width and precision of a place.
fn spec(place: &Captures<'_>, values: &mut Values) -> Result<String, Error> {
    let mut spec = format!("%{}", &place[2]);
    for (group, prefix) in [(3, ""), (4, ".")] {
        let Some(number) = place.get(group).map(|number| number.as_str()) else { continue };
        let number = match number {
            "*" => values.take()?.to_string(),
            number => number.to_owned(),
        };
        if !number.is_empty() && !number.parse().is_ok_and(|number: usize| number <= MAX_WIDTH) {
            return Err(invalid(format!("`{number}` is no width up to {MAX_WIDTH}")));
        }
        spec.extend([prefix, &number]);
    }
    Ok(spec)
}

fn formatted(spec: &str, conversion: &str, value: &Value) -> Result<String, Error> {
    let one = |conversion: &str, value: Value| {
        format(FormatStyle::Printf, &format!("{spec}{conversion}"), &[value])
    };
    match conversion {
        "s" => one("s", Value::from(python::text(value))),
        "r" | "a" => one("s", Value::from(python::literal(value))),
        "d" | "i" | "u" => one("d", integer(value)?),
        "x" | "X" | "o" if value.kind() == ValueKind::Bool => one(conversion, integer(value)?),
        "x" | "X" | "o" | "e" | "E" | "f" | "F" | "g" | "G" | "c" => one(conversion, value.clone()),
        other => Err(invalid(format!("unsupported format character '{other}'"))),
    }
}

/// Returns the whole part of a number.
fn integer(value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Bool => Ok(Value::from(i64::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => Ok(value.clone()),
        ValueKind::Number => {
            let float = f64::try_from(value.clone())?.trunc();
            #[expect(clippy::cast_possible_truncation, reason = "a text of a number has no more digits")]
            let whole = float as i128;
            Ok(Value::from(whole))
        }
        kind => Err(invalid(format!("%d format: a real number is required, not {kind}"))),
    }
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.into())
}
