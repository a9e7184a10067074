//! The walk through a schema and the schemas inside it.

use serde_json::{Map, Value};

/// Keywords with data instead of schemas.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Calls a function with the keywords of each schema, from the outside in.
pub(super) fn for_each_schema(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| for_each_schema(schema, change)),
        Value::Object(keywords) => {
            change(keywords);
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("patternProperties", Value::Object(properties)) => {
                        properties.values_mut().for_each(|schema| for_each_schema(schema, change));
                    }
                    (keyword, _) if DATA.contains(&keyword) => {}
                    (_, value) => for_each_schema(value, change),
                }
            }
        }
        _ => {}
    }
}
