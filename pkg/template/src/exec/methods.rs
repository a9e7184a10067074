//! The methods of the named types of Helm: `chartutil.Values` and `chartutil.VersionSet`.
//!
//! Source: Helm 3.22 pkg/chartutil.

use std::any::Any;

use crate::value::{Elem, List, Map, Object, Shared, Signature, Type, Value};

/// A value with the methods of its type.
#[derive(Debug)]
struct Receiver(Value);

/// Returns an object with the methods of a value, if its type has a method of this name.
pub(super) fn with_method(value: &Value, name: &[u8]) -> Option<Shared> {
    let has_method = match value {
        Value::Map(map) => {
            map.elem() == Elem::Values && matches!(name, b"AsMap" | b"PathValue" | b"Table" | b"YAML")
        }
        Value::List(list) => list.elem() == Elem::Versions && name == b"Has",
        _ => false,
    };
    has_method.then(|| Shared::new(Receiver(value.clone())))
}

impl Object for Receiver {
    fn type_name(&self) -> &'static str {
        match self.0 {
            Value::Map(_) => "chartutil.Values",
            _ => "chartutil.VersionSet",
        }
    }

    fn method(&self, name: &str) -> Option<Signature> {
        match name {
            "AsMap" | "YAML" => Some(Signature::new(&[])),
            "Has" | "PathValue" | "Table" => Some(Signature::new(&[Type::String])),
            _ => None,
        }
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let text = match args.first() {
            Some(Value::String(text)) => text.to_str(),
            _ => "".into(),
        };
        match (&self.0, name) {
            (Value::Map(map), "AsMap") => Ok(Value::Map(map.with_elem(Elem::Any))),
            (Value::Map(map), "Table") => {
                table(map, &text).map(|map| Value::Map(map.with_elem(Elem::Values)))
            }
            (Value::Map(map), "PathValue") => path_value(map, &text),
            (Value::Map(_), _) => yaml(&self.0),
            (Value::List(list), _) => Ok(has(list, &text).into()),
            _ => Ok(Value::Nil),
        }
    }

    fn equals(&self, _: &dyn Object) -> bool {
        false
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn has(list: &List, version: &str) -> bool {
    list.iter().any(|item| matches!(item, Value::String(text) if *text == *version))
}

fn yaml(value: &Value) -> Result<Value, String> {
    let json = value.to_json().map_err(|error| error.to_string())?;
    let json = json.ok_or("json: unsupported value")?;
    Ok(manifest::yaml::write(&json).into())
}

fn table(map: &Map, path: &str) -> Result<Map, String> {
    let mut table = map.clone();
    for name in path.split('.') {
        let Some(Value::Map(inner)) = table.get(name.as_bytes()) else {
            return Err(format!("{} is not a table", crate::format::quoted(name.as_bytes())));
        };
        table = inner;
    }
    Ok(table)
}

fn path_value(map: &Map, path: &str) -> Result<Value, String> {
    if path.is_empty() {
        return Err("YAML path cannot be empty".to_owned());
    }
    let (tables, key) = path.rsplit_once('.').map_or((None, path), |(tables, key)| (Some(tables), key));
    let table = tables.map_or_else(|| Ok(map.clone()), |tables| table(map, tables));
    match table.ok().and_then(|table| table.get(key.as_bytes())) {
        Some(value) if !matches!(value, Value::Map(_)) => Ok(value),
        _ => Err(format!("{} is not a value", crate::format::quoted(key.as_bytes()))),
    }
}
