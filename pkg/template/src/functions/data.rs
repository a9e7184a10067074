//! YAML, JSON and TOML.

mod json;
mod pretty;
mod toml;

use manifest::yaml;

use super::table::made;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::value::{Elem, List, Value};

/// Adds the functions of sprig.
pub(super) fn add_sprig(functions: &mut Functions) {
    super::table::add(functions, json::SPRIG);
}

/// Adds the functions of Helm, two of which replace those of sprig.
pub(super) fn add_helm(functions: &mut Functions) {
    super::table::add(functions, ROWS);
    super::table::add(functions, json::HELM);
    super::table::add(functions, toml::ROWS);
}

/// Adds the functions of the component runtime, which fail on bad input.
pub(super) fn add_strict(functions: &mut Functions) {
    super::table::add(functions, STRICT);
    super::table::add(functions, json::STRICT);
}

const STRICT: &[Row] = &[
    ("toYaml", "a", strict_to_yaml),
    ("mustToYaml", "a", strict_to_yaml),
    ("fromYaml", "s", strict_from_yaml),
    ("mustFromYaml", "s", strict_from_yaml),
    ("fromYamlArray", "s", strict_from_yaml_array),
    ("mustFromYamlArray", "s", strict_from_yaml_array),
];

const ROWS: &[Row] = &[
    ("toYaml", "a", to_yaml),
    ("toYamlPretty", "a", |run, args| {
        let text = pretty::write(args.value(0))?;
        made(run, text)
    }),
    ("fromYaml", "s", |run, args| from_yaml(run, args, false)),
    ("fromYamlArray", "s", |run, args| from_yaml(run, args, true)),
];

fn to_yaml(run: &mut dyn Engine, args: &[Value]) -> Result {
    let json = args.value(0).to_json()?.filter(yaml::is_printable);
    json.map_or_else(|| Ok("".into()), |json| print(run, &json))
}

fn print(run: &mut dyn Engine, json: &serde_json::Value) -> Result {
    let mut out = String::new();
    yaml::write_into(&mut out, json);
    if out.ends_with('\n') {
        out.pop();
    }
    made(run, out)
}

fn strict_to_yaml(run: &mut dyn Engine, args: &[Value]) -> Result {
    let Some(json) = args.value(0).to_json()? else {
        return Err(
            "error marshaling into JSON: json: unsupported value: a number that JSON does not have".into()
        );
    };
    if !yaml::is_printable(&json) {
        return Err("error converting JSON to YAML: yaml: control characters are not allowed".into());
    }
    print(run, &json)
}

fn strict_from_yaml(run: &mut dyn Engine, args: &[Value]) -> Result {
    let text = args.utf8(0);
    run.session().create(text.len())?;
    match yaml::read_value(&text, &manifest::YamlLimits::default()) {
        Ok(value) => Ok(Value::from_json(&value)),
        Err(error) => Err(yaml_message(&error).into()),
    }
}

fn strict_from_yaml_array(run: &mut dyn Engine, args: &[Value]) -> Result {
    list_or_fault(strict_from_yaml(run, args)?)
}

/// Returns a value that is a list; nil is an empty one.
fn list_or_fault(value: Value) -> Result {
    match value {
        Value::List(_) => Ok(value),
        Value::Nil => Ok(Value::List(List::nil(Elem::Any))),
        other => {
            let found = other.kind().name();
            Err(format!("json: cannot unmarshal {found} into Go value of type []interface {{}}").into())
        }
    }
}

fn yaml_message(error: &yaml::YamlError) -> String {
    format!("error converting YAML to JSON: yaml: line {}: {}", error.line, error.kind)
}

/// The parts of a document that count: map or list, and the text of an error.
fn from_yaml(run: &mut dyn Engine, args: &[Value], is_list: bool) -> Result {
    let text = args.utf8(0);
    run.session().create(text.len())?;
    let limits = manifest::YamlLimits::default();
    let result = match yaml::read_value(&text, &limits) {
        Ok(value) => as_collection(&value, is_list).ok_or_else(|| {
            let found = manifest::type_name(&value);
            let found = match found.trim_start_matches("a ") {
                "list" => "array",
                "mapping" => "object",
                "boolean" => "bool",
                found => found,
            };
            let wanted = if is_list { "[]interface {}" } else { "map[string]interface {}" };
            format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type {wanted}")
        }),
        Err(error) => Err(yaml_message(&error)),
    };
    Ok(result.unwrap_or_else(|message| error_value(message, is_list)))
}

/// Returns a JSON tree if it has the wanted form; null is empty.
fn as_collection(value: &serde_json::Value, is_list: bool) -> Option<Value> {
    match value {
        serde_json::Value::Null if is_list => Some(Value::list(Vec::new())),
        serde_json::Value::Null => Some(Value::map::<&str>([])),
        serde_json::Value::Array(_) if is_list => Some(Value::from_json(value)),
        serde_json::Value::Object(_) if !is_list => Some(Value::from_json(value)),
        _ => None,
    }
}

/// Returns an error as Helm's readers do: as the key `Error` or the only item.
fn error_value(message: String, is_list: bool) -> Value {
    if is_list { Value::list(vec![message.into()]) } else { Value::map([("Error", message.into())]) }
}
