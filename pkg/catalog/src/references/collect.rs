//! The references in the parameters of targets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::{Value, json};

use super::error::ReferenceError;
use crate::yaml::{YamlStyle, write_document};

/// The only supported type.
const VAULT: &str = "vaultkv";

/// A reference in a text. Kapitan accepts more than the form that it replaces.
static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\?\{([^}]+)\}").expect("invariant: the pattern is constant and valid"));

/// A file in the folder `refs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceFile {
    /// The path in the folder, with slashes.
    pub path: String,
    /// The content as YAML.
    pub content: String,
}

/// Collects the references of a cluster.
///
/// `parameters` has the parameters of each target. `instances` maps the names of instances to their components. The
/// parameters of a component are those of its instances; all others are those of the target `cluster`.
///
/// # Errors
/// A reference of an unsupported type, and parameters that do not tell how to reach Vault.
pub(crate) fn collect(
    parameters: &BTreeMap<String, &Value>,
    instances: &BTreeMap<String, String>,
    cluster: &str,
) -> Result<Vec<ReferenceFile>, ReferenceError> {
    let key = |component: &String| component.replace('-', "_");
    let component_keys: Vec<String> = instances.values().map(key).collect();
    let mut references = Vec::new();
    if let Some(Value::Object(fields)) = parameters.get(cluster) {
        for (_, value) in fields.iter().filter(|(name, _)| !component_keys.contains(name)) {
            find(value, &mut references);
        }
    }
    for (instance, component) in instances {
        let key = key(component);
        let own = parameters
            .get(instance)
            .and_then(|all| all.get(&key))
            .ok_or_else(|| ReferenceError::NoParameters { target: instance.clone(), key: key.clone() })?;
        find(own, &mut references);
    }
    references.sort();
    references.dedup();
    let vault = || {
        let all = parameters.get(cluster).and_then(|all| all.pointer("/kapitan/secrets/vaultkv"));
        all.ok_or_else(|| ReferenceError::NoVault { target: cluster.to_owned() })
    };
    references.iter().map(|reference| file(reference, vault()?)).collect()
}

/// Adds the references in all texts of a value, without the brackets.
fn find(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            references.extend(REFERENCE.captures_iter(text).map(|found| found[1].to_owned()));
        }
        Value::Array(items) => items.iter().for_each(|item| find(item, references)),
        Value::Object(fields) => fields.values().for_each(|field| find(field, references)),
        _ => {}
    }
}

fn file(reference: &str, vault: &Value) -> Result<ReferenceFile, ReferenceError> {
    let invalid = |reason| ReferenceError::Invalid { reference: reference.to_owned(), reason };
    let (kind, rest) = reference.split_once(':').ok_or_else(|| invalid("the type is missing"))?;
    if kind != VAULT {
        return Err(ReferenceError::UnsupportedType {
            reference: reference.to_owned(),
            kind: kind.to_owned(),
        });
    }
    let path = rest.split(':').next().unwrap_or_default();
    let (secret, key) = path.rsplit_once('/').ok_or_else(|| invalid("a secret and a key are needed"))?;
    if path.starts_with('/') || path.split('/').any(|step| matches!(step, "" | "." | "..")) {
        return Err(invalid("the path leaves the folder of references"));
    }
    let content = json!({
        "data": STANDARD.encode(format!("{secret}:{key}")),
        "encoding": "original",
        "type": VAULT,
        "vault_params": vault,
    });
    let style = YamlStyle { whole_floats_as_integers: false, ..YamlStyle::CATALOG };
    Ok(ReferenceFile { path: path.to_owned(), content: write_document(&content, style) })
}
