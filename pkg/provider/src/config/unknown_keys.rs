use api::similar_names;
use manifest::{Map, Value};

/// A key of the configuration that probably has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key, with its parents.
    pub key: String,
    /// Similar known keys.
    pub suggestions: Vec<&'static str>,
}

/// Top-level keys with a meaning. Any other top-level key is a template variable.
const TOP_LEVEL_KEYS: [&str; 12] = [
    "providers",
    "overridesFolder",
    "cert-manager",
    "images",
    "imagesInArguments",
    "registryMap",
    "github-token",
    "github-enterprise-tokens",
    "gitlab-access-token",
    "gitlab-tokens",
    "cache",
    HOSTS,
];
const HOSTS: &str = "hosts";
const PROVIDER_KEYS: [&str; 7] = ["name", "type", "url", "kind", "patches", "kustomization", "verify"];
const CERT_MANAGER_KEYS: [&str; 5] = ["url", "version", "timeout", "mode", "externallyProvisioned"];
const CACHE_KEYS: [&str; 2] = ["folder", "maxSize"];
const IMAGE_KEYS: [&str; 4] = ["repository", "name", "tag", "digest"];
const HOST_KEYS: [&str; 9] = [
    "token",
    "username",
    "password",
    "caBundle",
    "clientCertificate",
    "clientKey",
    "proxy",
    "kind",
    "plainHttp",
];

/// Finds keys that are probably typing errors.
///
/// Shape: an unknown top-level key is reported if its value is a list or mapping, which no variable can use. An unknown
/// top-level key is also reported if it is one or two letters away from a known key. Inside known sections, every
/// unknown key is reported.
pub(super) fn find(tree: &Map<String, Value>) -> Vec<UnknownKey> {
    let mut found = Vec::new();
    for (key, value) in tree {
        if TOP_LEVEL_KEYS.iter().any(|known| known.eq_ignore_ascii_case(key)) {
            continue;
        }
        let is_section = value.is_array() || value.is_object();
        let mut near = similar_names(key, TOP_LEVEL_KEYS);
        // `HOST_KEYS` is a plausible variable name.
        near.retain(|name| is_section || *name != HOSTS);
        if is_section || !near.is_empty() {
            found.push(UnknownKey { key: key.clone(), suggestions: near });
        }
    }
    for (index, entry) in tree.get("providers").and_then(Value::as_array).into_iter().flatten().enumerate() {
        check_section(&format!("providers[{index}]"), entry, &PROVIDER_KEYS, &mut found);
    }
    if let Some(section) = tree.get("cert-manager") {
        check_section("cert-manager", section, &CERT_MANAGER_KEYS, &mut found);
    }
    if let Some(section) = tree.get("cache") {
        check_section("cache", section, &CACHE_KEYS, &mut found);
    }
    for (component, rule) in tree.get("images").and_then(Value::as_object).into_iter().flatten() {
        check_section(&format!("images.{component}"), rule, &IMAGE_KEYS, &mut found);
    }
    for (host, settings) in tree.get(HOSTS).and_then(Value::as_object).into_iter().flatten() {
        check_section(&format!("{HOSTS}.{host}"), settings, &HOST_KEYS, &mut found);
    }
    found
}

fn check_section(parent: &str, section: &Value, known: &[&'static str], found: &mut Vec<UnknownKey>) {
    for key in section.as_object().into_iter().flat_map(Map::keys) {
        if !known.iter().any(|name| name.eq_ignore_ascii_case(key)) {
            let near = similar_names(key, known.iter().copied());
            found.push(UnknownKey { key: format!("{parent}.{key}"), suggestions: near });
        }
    }
}
