//! The words of Helm's library for problems that boon finds.

use std::collections::HashMap;

use boon::ErrorKind;
use serde_json::{Number, Value};

/// Returns the text of a problem.
pub(super) fn of(kind: &ErrorKind<'_, '_>, patterns: &HashMap<String, String>) -> String {
    match kind {
        ErrorKind::Type { got, want } => {
            let want: Vec<String> = want.iter().map(|want| want.to_string()).collect();
            format!("got {got}, want {}", want.join(" or "))
        }
        ErrorKind::Enum { want } if want.iter().any(is_container) => "'enum' failed".to_owned(),
        ErrorKind::Enum { want } => match want.as_slice() {
            [one] => format!("value must be {}", shown(one)),
            several => {
                let several: Vec<String> = several.iter().map(shown).collect();
                format!("value must be one of {}", several.join(", "))
            }
        },
        ErrorKind::Const { want } if is_container(want) => "'const' failed".to_owned(),
        ErrorKind::Const { want } => format!("value must be {}", shown(want)),
        ErrorKind::Format { got, want, err } => format!("{} is not valid {want}: {err}", shown(got)),
        ErrorKind::AdditionalProperties { got } => {
            format!("additional properties {} not allowed", list(got.iter()))
        }
        ErrorKind::Required { want } => match want.as_slice() {
            [one] => format!("missing property {}", quoted(one)),
            several => format!("missing properties {}", list(several.iter())),
        },
        ErrorKind::Dependency { prop, missing } | ErrorKind::DependentRequired { prop, missing } => {
            format!("properties {} required, if {} exists", list(missing.iter()), quoted(prop))
        }
        ErrorKind::PropertyName { prop } => format!("invalid propertyName {}", quoted(prop)),
        ErrorKind::Pattern { got, want } => {
            let want = patterns.get(*want).map_or(*want, String::as_str);
            format!("{} does not match pattern {}", quoted(got), quoted(want))
        }
        ErrorKind::AdditionalItems { got } => format!("last {got} additionalItem(s) not allowed"),
        ErrorKind::Not => "'not' failed".to_owned(),
        ErrorKind::AllOf => "'allOf' failed".to_owned(),
        ErrorKind::AnyOf => "'anyOf' failed".to_owned(),
        ErrorKind::OneOf(None) => "'oneOf' failed, none matched".to_owned(),
        ErrorKind::OneOf(Some((one, other))) => format!("'oneOf' failed, subschemas {one}, {other} matched"),
        other => of_limit(other).unwrap_or_else(|| other.to_string()),
    }
}

/// Returns the text of a problem with a limit.
fn of_limit(kind: &ErrorKind<'_, '_>) -> Option<String> {
    let (name, got, want) = match kind {
        ErrorKind::MinProperties { got, want } => ("minProperties", grouped(*got), grouped(*want)),
        ErrorKind::MaxProperties { got, want } => ("maxProperties", grouped(*got), grouped(*want)),
        ErrorKind::MinItems { got, want } => ("minItems", grouped(*got), grouped(*want)),
        ErrorKind::MaxItems { got, want } => ("maxItems", grouped(*got), grouped(*want)),
        ErrorKind::MinLength { got, want } => ("minLength", grouped(*got), grouped(*want)),
        ErrorKind::MaxLength { got, want } => ("maxLength", grouped(*got), grouped(*want)),
        ErrorKind::Minimum { got, want } => ("minimum", number(got), number(want)),
        ErrorKind::Maximum { got, want } => ("maximum", number(got), number(want)),
        ErrorKind::ExclusiveMinimum { got, want } => ("exclusiveMinimum", number(got), number(want)),
        ErrorKind::ExclusiveMaximum { got, want } => ("exclusiveMaximum", number(got), number(want)),
        ErrorKind::MultipleOf { got, want } => ("multipleOf", number(got), number(want)),
        _ => return None,
    };
    Some(format!("{name}: got {got}, want {want}"))
}

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => "value".to_owned(),
        other => other.to_string(),
    }
}

fn list<T: AsRef<str>>(names: impl Iterator<Item = T>) -> String {
    names.map(|name| quoted(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Returns a text in single quotes, with Go's escapes.
pub(super) fn quoted(text: &str) -> String {
    let quoted = template::Value::string(text).quoted().replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &quoted[1..quoted.len() - 1])
}

/// Returns a number with `,` between groups of three digits.
fn grouped(number: usize) -> String {
    group(&number.to_string())
}

fn number(number: &Number) -> String {
    let text = number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string());
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", group(whole)),
        None => group(&text),
    }
}

fn group(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
