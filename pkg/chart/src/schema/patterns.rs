//! The patterns of a schema. Helm's library reads them as Go does, and boon as JavaScript does.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::walk::for_each_schema;

/// Translates all patterns of a schema for boon. Returns the original texts of the changed ones. A pattern that cannot be
/// translated stays for the error of boon.
pub(super) fn translate(schema: &mut Value) -> HashMap<String, String> {
    let mut originals = HashMap::new();
    for_each_schema(schema, &mut |keywords| {
        if let Some(Value::String(pattern)) = keywords.get_mut("pattern") {
            *pattern = translated(pattern, &mut originals);
        }
        if let Some(Value::Object(properties)) = keywords.get_mut("patternProperties") {
            let all = std::mem::take(properties).into_iter();
            let renamed = all.map(|(pattern, schema)| (translated(&pattern, &mut originals), schema));
            *properties = renamed.collect::<Map<_, _>>();
        }
    });
    originals
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
