use std::collections::BTreeMap;

use api::{ProviderId, similar_names};
use manifest::{Map, Value, YamlLimits, patch::Patch, type_name, yaml};

use super::{Config, ConfigError};
use crate::customise::{ControllerSettings, Customisation, CustomisationChange, CustomisationTarget};

/// The keys of an entry.
const PATCH_KEYS: [&str; 3] = ["target", "patch", "type"];
const SETTINGS_KEYS: [&str; 8] = [
    "target",
    "container",
    "replicas",
    "arguments",
    "featureGates",
    "resources",
    "tolerations",
    "nodeSelector",
];

impl Config {
    /// The configured changes to the components of a provider: `patches` of its entry, in file order.
    ///
    /// Shape: empty for providers without an entry. Keys inside `patches` are case-sensitive, unlike other keys.
    /// # Errors
    /// `Patches` with all errors of all entries.
    pub fn customisations(&self, id: &ProviderId) -> Result<Vec<Customisation>, ConfigError> {
        let Some((index, entry)) = self.provider_entry(id) else { return Ok(Vec::new()) };
        let place = format!("providers[{index}].patches");
        let patches = match entry.get("patches") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(patches)) => patches,
            Some(other) => return Err(self.shape_error(place, "a list of patches", other)),
        };
        let mut customisations = Vec::new();
        let mut problems = Vec::new();
        for (index, patch) in patches.iter().enumerate() {
            match read_customisation(format!("{place}[{index}]"), patch) {
                Ok(customisation) => customisations.push(customisation),
                Err(problem) => problems.push(format!("{place}[{index}]: {problem}")),
            }
        }
        if problems.is_empty() {
            Ok(customisations)
        } else {
            Err(ConfigError::Patches { origin: self.display_origin(), problems })
        }
    }
}

impl Config {
    /// The kustomization over the components of a provider, as a folder or a url.
    ///
    /// Shape: `${NAME}` is replaced by environment variables. A relative path starts at the folder of the configuration
    /// file.
    /// # Errors
    /// `Shape`; `Substitution` if a `${…}` is invalid.
    pub fn kustomization(&self, id: &ProviderId) -> Result<Option<String>, ConfigError> {
        let Some((index, entry)) = self.provider_entry(id) else { return Ok(None) };
        let key = format!("providers[{index}].kustomization");
        match entry.get("kustomization") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => {
                Ok(Some(self.absolute_url(self.substitute(&key, text)?)))
            }
            Some(other) => Err(self.shape_error(key, "the folder or url of a kustomization", other)),
        }
    }

    fn provider_entry(&self, id: &ProviderId) -> Option<(usize, &Value)> {
        let entries = match self.section("providers") {
            Some(Value::Array(entries)) => entries.as_slice(),
            Some(entry @ Value::Object(_)) => std::slice::from_ref(entry),
            _ => &[],
        };
        let is_ours = |entry: &Value| {
            let text = |key| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            text("name") == id.name && text("type") == id.provider_type.as_str()
        };
        // The later of two equal entries counts, as for the url.
        entries.iter().enumerate().rfind(|(_, entry)| is_ours(entry))
    }
}

fn read_customisation(place: String, entry: &Value) -> Result<Customisation, String> {
    let fields = entry
        .as_object()
        .ok_or("an entry must be a mapping with `target` and `patch`, or with settings such as `replicas`")?;
    let target = fields.get("target").map_or(Ok(CustomisationTarget::default()), read_target)?;
    if let Some(patch) = fields.get("patch") {
        check_keys(fields, &PATCH_KEYS)?;
        let patch = read_patch(patch, fields.get("type"))?;
        let target = if target.is_empty() { target_of(&patch)? } else { target };
        return Ok(Customisation { config_path: place, target, change: CustomisationChange::Patch(patch) });
    }
    check_keys(fields, &SETTINGS_KEYS)?;
    let settings = Box::new(read_settings(fields)?);
    Ok(Customisation { config_path: place, target, change: CustomisationChange::Settings(settings) })
}

fn check_keys(fields: &Map<String, Value>, known: &[&'static str]) -> Result<(), String> {
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(match similar_names(key, known.iter().copied()).first() {
            Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
            None => format!("unknown key `{key}`; known keys: {}", known.join(", ")),
        }),
    }
}

fn read_target(target: &Value) -> Result<CustomisationTarget, String> {
    let fields =
        target.as_object().ok_or("`target` must be a mapping with keys such as `kind` and `name`")?;
    fields.iter().try_fold(CustomisationTarget::default(), |target, (field, value)| {
        let text = value
            .as_str()
            .ok_or_else(|| format!("`target.{field}` must be a string, not {}", type_name(value)))?;
        target.with(field, text).map_err(|error| error.to_string())
    })
}

/// The target given by the kind and name inside a patch.
fn target_of(patch: &Patch) -> Result<CustomisationTarget, String> {
    let (Patch::Strategic(fields) | Patch::Merge(fields)) = patch else {
        return Err("a list of operations requires a `target`".to_owned());
    };
    let kind = fields.get("kind").and_then(Value::as_str);
    let name = fields.pointer("/metadata/name").and_then(Value::as_str);
    match (kind, name) {
        (Some(kind), Some(name)) => Ok(CustomisationTarget::of(kind, name)),
        _ => Err("a patch without `target` must have `kind` and `metadata.name`".to_owned()),
    }
}

fn read_patch(patch: &Value, form: Option<&Value>) -> Result<Patch, String> {
    let patch = match patch {
        Value::String(text) => yaml::read_value(text, &YamlLimits::default())
            .map_err(|error| format!("`patch` is not valid YAML: {error}"))?,
        other => other.clone(),
    };
    match (form.map(Value::as_str), &patch) {
        (None, _) => Patch::from_value(patch).map_err(|error| error.to_string()),
        (Some(Some("strategic")), Value::Object(_)) => Ok(Patch::Strategic(patch)),
        (Some(Some("merge")), Value::Object(_)) => Ok(Patch::Merge(patch)),
        (Some(Some("json")), Value::Array(_)) => Ok(Patch::Json(patch)),
        (Some(Some(form @ ("strategic" | "merge" | "json"))), other) => {
            Err(format!("a patch of type {form} cannot be {}", type_name(other)))
        }
        _ => Err("`type` must be strategic, merge or json".to_owned()),
    }
}

fn read_settings(fields: &Map<String, Value>) -> Result<ControllerSettings, String> {
    let settings = ControllerSettings {
        container: match fields.get("container") {
            None => ControllerSettings::CONTAINER.to_owned(),
            Some(name) => name.as_str().ok_or("`container` must be a string")?.to_owned(),
        },
        replicas: match fields.get("replicas") {
            None => None,
            Some(number) => Some(number.as_u64().ok_or("`replicas` must be an integer, 0 or more")?),
        },
        arguments: texts(fields, "arguments")?,
        feature_gates: gates(fields)?,
        resources: mapping(fields, "resources")?,
        tolerations: list(fields, "tolerations")?.to_vec(),
        node_selector: mapping(fields, "nodeSelector")?,
    };
    let nothing =
        ControllerSettings { container: settings.container.clone(), ..ControllerSettings::default() };
    if settings == nothing {
        return Err(format!(
            "the entry changes nothing; add `patch` or one of {}",
            SETTINGS_KEYS[2..].join(", ")
        ));
    }
    Ok(settings)
}

fn list<'f>(fields: &'f Map<String, Value>, key: &str) -> Result<&'f [Value], String> {
    match fields.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(format!("`{key}` must be a list, not {}", type_name(other))),
    }
}

fn texts(fields: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    let text = |item: &Value| {
        item.as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("`{key}` must be a list of strings; one item is {}", type_name(item)))
    };
    list(fields, key)?.iter().map(text).collect()
}

fn mapping(fields: &Map<String, Value>, key: &str) -> Result<Option<Value>, String> {
    match fields.get(key) {
        None => Ok(None),
        Some(value @ Value::Object(_)) => Ok(Some(value.clone())),
        Some(other) => Err(format!("`{key}` must be a mapping, not {}", type_name(other))),
    }
}

fn gates(fields: &Map<String, Value>) -> Result<BTreeMap<String, bool>, String> {
    let Some(Value::Object(gates)) = mapping(fields, "featureGates")? else { return Ok(BTreeMap::new()) };
    let gate = |(name, value): (String, Value)| match value {
        Value::Bool(on) => Ok((name, on)),
        _ => Err(format!("`featureGates.{name}` must be true or false")),
    };
    gates.into_iter().map(gate).collect()
}
