//! The patterns of a schema. Helm's library reads them as Go does, and boon as JavaScript does.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Keywords with data instead of schemas.
pub(super) const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Translates all patterns of a schema for boon. Returns the original texts of the changed ones. A pattern that cannot be
/// translated stays for the error of boon.
pub(super) fn translate(schema: &mut Value) -> HashMap<String, String> {
    let mut originals = HashMap::new();
    translate_in(schema, &mut originals);
    originals
}

fn translate_in(schema: &mut Value, originals: &mut HashMap<String, String>) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| translate_in(schema, originals)),
        Value::Object(keywords) => {
            for (keyword, value) in keywords.iter_mut() {
                match (keyword.as_str(), value) {
                    ("pattern", Value::String(pattern)) => *pattern = translated(pattern, originals),
                    ("patternProperties", Value::Object(properties)) => {
                        let all = std::mem::take(properties).into_iter();
                        let renamed = all.map(|(pattern, schema)| (translated(&pattern, originals), schema));
                        *properties = renamed.collect::<Map<_, _>>();
                        properties.values_mut().for_each(|schema| translate_in(schema, originals));
                    }
                    (keyword, _) if DATA.contains(&keyword) => {}
                    (_, value) => translate_in(value, originals),
                }
            }
        }
        _ => {}
    }
}

fn translated(pattern: &str, originals: &mut HashMap<String, String>) -> String {
    match template::translate_pattern(pattern) {
        Ok(translated) if translated != pattern => {
            originals.insert(translated.clone(), pattern.to_owned());
            translated
        }
        _ => pattern.to_owned(),
    }
}
