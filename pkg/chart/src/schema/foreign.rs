//! References of a schema to other hosts, which are not fetched.

use serde_json::Value;

use super::patterns::DATA;

/// Schemas that the library contains.
const KNOWN_HOSTS: [&str; 2] = ["http://json-schema.org/", "https://json-schema.org/"];

/// Removes the references to other hosts, so that they accept all values. Returns their addresses.
pub(super) fn remove(schema: &mut Value) -> Vec<String> {
    let mut own = Vec::new();
    collect_names(schema, &mut own);
    // Until draft 7, a schema with a reference has no other keywords.
    let is_old = schema["$schema"].as_str().is_some_and(|name| name.contains("/draft-0"));
    let mut removed = Vec::new();
    remove_in(schema, &own, is_old, &mut removed);
    removed.sort_unstable();
    removed.dedup();
    removed
}

/// Collects the addresses by which schemas refer to themselves.
fn collect_names(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Array(schemas) => schemas.iter().for_each(|schema| collect_names(schema, names)),
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("$id" | "id", Value::String(name)) => names.push(without_fragment(name).to_owned()),
                    (keyword, value) if !DATA.contains(&keyword) => collect_names(value, names),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn remove_in(schema: &mut Value, own: &[String], is_old: bool, removed: &mut Vec<String>) {
    match schema {
        Value::Array(schemas) => {
            for schema in schemas {
                remove_in(schema, own, is_old, removed);
            }
        }
        Value::Object(keywords) => {
            let address = keywords.get("$ref").and_then(Value::as_str).map(without_fragment);
            if let Some(address) = address.filter(|address| is_foreign(address, own)) {
                removed.push(address.to_owned());
                keywords.remove("$ref");
                if is_old {
                    keywords
                        .retain(|keyword, _| matches!(keyword.as_str(), "$schema" | "$id" | "definitions"));
                }
            }
            for (_, value) in keywords.iter_mut().filter(|(keyword, _)| !DATA.contains(&keyword.as_str())) {
                remove_in(value, own, is_old, removed);
            }
        }
        _ => {}
    }
}

fn is_foreign(address: &str, own: &[String]) -> bool {
    let is_remote = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    is_remote
        && !KNOWN_HOSTS.iter().any(|known| address.starts_with(known))
        && !own.iter().any(|name| name == address)
}

fn without_fragment(address: &str) -> &str {
    address.split('#').next().unwrap_or_default()
}
