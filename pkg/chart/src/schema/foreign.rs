//! References of a schema to other hosts, which are not fetched.

use serde_json::Value;

use super::walk::for_each_schema;

/// Schemas that the library contains.
const KNOWN_HOSTS: [&str; 2] = ["http://json-schema.org/", "https://json-schema.org/"];

/// Removes the references to other hosts, so that they accept all values. Returns their addresses.
pub(super) fn remove(schema: &mut Value) -> Vec<String> {
    // The addresses by which schemas refer to themselves.
    let mut own = Vec::new();
    for_each_schema(schema, &mut |keywords| {
        let names = ["$id", "id"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_str());
        own.extend(names.map(|name| without_fragment(name).to_owned()));
    });
    // Until draft 7, a schema with a reference has no other keywords.
    let is_old = schema["$schema"].as_str().is_some_and(|name| name.contains("/draft-0"));
    let mut removed = Vec::new();
    for_each_schema(schema, &mut |keywords| {
        let address = keywords.get("$ref").and_then(Value::as_str).map(without_fragment);
        if let Some(address) = address.filter(|address| is_foreign(address, &own)) {
            removed.push(address.to_owned());
            keywords.remove("$ref");
            if is_old {
                keywords.retain(|keyword, _| matches!(keyword.as_str(), "$schema" | "$id" | "definitions"));
            }
        }
    });
    removed.sort_unstable();
    removed.dedup();
    removed
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
