//! The variables of a template: its defaults, replaced by chosen values, and rendered in their order.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::engine::Engine;
use super::files::MAX_BYTES;
use super::{CookiecutterError, OrderedMap};

/// Reads `cookiecutter.json` of a template. A chosen value replaces the default of the same name; other chosen values have
/// no effect.
pub(crate) fn variables(
    folder: &Path,
    chosen: &BTreeMap<String, String>,
) -> Result<OrderedMap, CookiecutterError> {
    let path = folder.join("cookiecutter.json");
    let disk = |source| CookiecutterError::Disk { path: path.clone(), source };
    if !path.is_file() {
        return Err(CookiecutterError::NoVariables);
    }
    if fs::metadata(&path).map_err(disk)?.len() > MAX_BYTES {
        return Err(CookiecutterError::TooLarge { limit_mib: MAX_BYTES >> 20 });
    }
    let mut defaults: OrderedMap =
        serde_json::from_slice(&fs::read(&path).map_err(disk)?).map_err(CookiecutterError::Parse)?;
    for (name, value) in chosen {
        if let Some(default) = defaults.get_mut(name) {
            choose(name, default, value)?;
        }
    }
    let engine = Engine::new(&defaults, Vec::new())?;
    render_all(&engine, &defaults)
}

/// Replaces a default: a list has the choices, whose first one is the default.
fn choose(name: &str, default: &mut Value, value: &str) -> Result<(), CookiecutterError> {
    match default {
        Value::Array(choices) => {
            let Some(at) = choices.iter().position(|choice| choice == value) else {
                let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
                let choices = choices.join(", ");
                return Err(CookiecutterError::Choice {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    choices,
                });
            };
            choices[..=at].rotate_right(1);
        }
        Value::Bool(switch) => {
            *switch = match value.trim().to_ascii_lowercase().as_str() {
                "1" | "true" | "t" | "yes" | "y" | "on" => true,
                "0" | "false" | "f" | "no" | "n" | "off" => false,
                _ => {
                    return Err(CookiecutterError::Switch { name: name.to_owned(), value: value.to_owned() });
                }
            };
        }
        other => *other = Value::from(value),
    }
    Ok(())
}

/// Renders the variables in their order. Mappings are the last ones, because they may refer to all others.
fn render_all(engine: &Engine, defaults: &OrderedMap) -> Result<OrderedMap, CookiecutterError> {
    let mut rendered = OrderedMap::default();
    let is_private = |name: &str| name.starts_with('_') && !name.starts_with("__");
    for (name, value) in defaults.iter().filter(|(name, _)| *name != "__prompts__") {
        let value = match value {
            value if is_private(name) => value.clone(),
            Value::Object(_) if !name.starts_with("__") => continue,
            Value::Array(choices) if !name.starts_with("__") => {
                let first = choices.first().cloned().unwrap_or_default();
                render_value(engine, name, &first, &rendered.to_value())?
            }
            value => render_value(engine, name, value, &rendered.to_value())?,
        };
        rendered.set(name, value);
    }
    for (name, value) in defaults.iter() {
        if value.is_object() && !name.starts_with('_') {
            let value = render_value(engine, name, value, &rendered.to_value())?;
            rendered.set(name, value);
        }
    }
    Ok(rendered)
}

fn render_value(
    engine: &Engine,
    name: &str,
    value: &Value,
    known: &Value,
) -> Result<Value, CookiecutterError> {
    let text = |text: &str| {
        engine
            .render(name, text, known)
            .map_err(|reason| CookiecutterError::Variable { name: name.to_owned(), reason })
    };
    Ok(match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(value) => text(value)?.into(),
        Value::Number(number) => number.to_string().into(),
        Value::Array(items) => Value::Array(
            items.iter().map(|item| render_value(engine, name, item, known)).collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => {
            let field =
                |(key, value): (&String, &Value)| Ok((text(key)?, render_value(engine, name, value, known)?));
            Value::Object(fields.iter().map(field).collect::<Result<_, CookiecutterError>>()?)
        }
    })
}
