//! The Secrets that a Component refers to: values, variables, decryption keys and kubeconfigs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use apply::{ApiError, GroupKind, ObjectKey, Server, key_of};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::{FutureExt as _, future::BoxFuture};
use manifest::{Object, Value, YamlLimits, yaml};
use serde_json::Map;

use crate::{Component, SecretKeyReference};

/// The keys of values in a Secret, in the order of preference.
const VALUES_KEYS: [&str; 3] = ["values", "values.yaml", "values.yml"];
/// The keys of a kubeconfig in a Secret, in the order of preference.
const KUBECONFIG_KEYS: [&str; 3] = ["value", "value.yaml", "value.yml"];

/// Reads the objects that Components refer to.
pub trait ObjectReader: Sync {
    /// Reads one object. `None` if the object or its kind does not exist.
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Option<Object>, ApiError>>;
}

impl ObjectReader for Server {
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Option<Object>, ApiError>> {
        async move {
            match self.kind(&key.group_kind()).await {
                Ok(kind) => self.get(&kind, &key.namespace, &key.name).await,
                Err(ApiError::UnknownKind { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        }
        .boxed()
    }
}

/// Objects from files, for runs without a cluster. Clones share the objects.
#[derive(Clone, Debug, Default)]
pub struct LocalObjects(Arc<BTreeMap<ObjectKey, Object>>);

impl LocalObjects {
    /// Takes objects. Objects without a namespace are in `namespace`.
    pub fn new(objects: impl IntoIterator<Item = Object>, namespace: &str) -> Self {
        let entry = |mut object: Object| {
            if object.namespace().is_empty() {
                object.set_namespace(namespace);
            }
            (key_of(&object), object)
        };
        Self(Arc::new(objects.into_iter().map(entry).collect()))
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.0.get(key)
    }
}

impl ObjectReader for LocalObjects {
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Option<Object>, ApiError>> {
        async move { Ok(self.0.get(key).cloned()) }.boxed()
    }
}

/// The contents of all Secrets that a Component refers to.
#[derive(Clone, Default, PartialEq)]
pub struct References {
    /// The kubeconfig of the target cluster.
    pub kubeconfig: Option<Vec<u8>>,
    /// The merged values: those of Secrets, then those of the Component.
    pub values: Map<String, Value>,
    /// The files of decryption keys by name.
    pub decryption_keys: Option<BTreeMap<String, Vec<u8>>>,
    /// The sources of values, in the order in which they are merged.
    pub value_sources: Vec<ValueSource>,
    /// The variables for substitution: those of Secrets, then those of the Component.
    pub variables: BTreeMap<String, String>,
    /// The sources of variables by name.
    pub variable_sources: BTreeMap<String, String>,
}

/// The values of one source.
#[derive(Clone, Default, PartialEq)]
pub struct ValueSource {
    /// The source, such as `spec.values` or `Secret shop/web`.
    pub name: String,
    /// The values of this source.
    pub values: Map<String, Value>,
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("References")
    }
}

impl References {
    /// Merges the values of a source over those before it.
    pub(crate) fn add_values(&mut self, source: impl Into<String>, values: Map<String, Value>) {
        merge(&mut self.values, values.clone());
        self.value_sources.push(ValueSource { name: source.into(), values });
    }
}

/// A reference that cannot be resolved now. A later run may succeed.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct ReferenceError {
    /// The field of the Component, such as `spec.valuesFrom[0]`.
    pub field: String,
    /// The problem in the words of component-operator.
    pub problem: String,
    /// The failure of the server, if there is one.
    #[source]
    pub source: Option<Box<ApiError>>,
}

impl ReferenceError {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into(), source: None }
    }
}

/// Reads all Secrets of a Component and merges their contents.
/// Source: component-operator 0.3 (`loadReferences`), whose texts these are. Differs: a mapping that is replaced by
/// another value yields this value instead of null.
/// # Errors
/// All references that cannot be resolved.
pub async fn load_references(
    component: &Component,
    hub: &dyn ObjectReader,
) -> Result<References, Vec<ReferenceError>> {
    let mut loader = Loader { hub, namespace: component.namespace(), problems: Vec::new() };
    let spec = &component.spec;
    let mut references =
        References { kubeconfig: loader.kubeconfig(component).await, ..References::default() };
    for (at, reference) in spec.values_from.iter().enumerate() {
        let field = format!("spec.valuesFrom[{at}]");
        let Some(content) = loader.key(reference, &VALUES_KEYS, &field).await else { continue };
        match parse_values(&content) {
            Ok(values) => {
                references.add_values(format!("Secret {}/{}", loader.namespace, reference.name), values);
            }
            Err(problem) => {
                let secret = format!("{}/{}", loader.namespace, reference.name);
                loader.problems.push(ReferenceError::new(field, format!("secret {secret}: {problem}")));
            }
        }
    }
    match &spec.values {
        Some(Value::Object(values)) => references.add_values("spec.values", values.clone()),
        None | Some(Value::Null) => {}
        Some(other) => {
            let problem = format!("values must be a mapping, not {}", manifest::type_name(other));
            loader.problems.push(ReferenceError::new("spec.values", problem));
        }
    }
    if let Some(decryption) = &spec.decryption {
        match decryption.provider.as_deref().unwrap_or_default() {
            "" | "sops" => {
                let field = "spec.decryption.secretRef";
                references.decryption_keys = loader.secret(&decryption.secret_ref.name, field).await;
            }
            other => loader.problems.push(ReferenceError::new(
                "spec.decryption.provider",
                format!("invalid decryption provider: {other}"),
            )),
        }
    }
    if let Some(post_build) = &spec.post_build {
        for (at, reference) in post_build.substitute_from.iter().enumerate() {
            let field = format!("spec.postBuild.substituteFrom[{at}]");
            let variables = loader.secret(&reference.name, &field).await.unwrap_or_default();
            for (name, value) in variables {
                match String::from_utf8(value) {
                    Ok(value) => {
                        let source = format!("Secret {}/{}", loader.namespace, reference.name);
                        references.variable_sources.insert(name.clone(), source);
                        references.variables.insert(name, value);
                    }
                    Err(_) => loader.problems.push(ReferenceError::new(
                        &field,
                        format!("key {name} of secret {}/{} is not text", loader.namespace, reference.name),
                    )),
                }
            }
        }
        for (name, value) in &post_build.substitute {
            references.variable_sources.insert(name.clone(), "spec.postBuild.substitute".to_owned());
            references.variables.insert(name.clone(), value.clone());
        }
    }
    if loader.problems.is_empty() { Ok(references) } else { Err(loader.problems) }
}

/// Returns the Secrets that a Component refers to.
pub(crate) fn referenced_secrets(component: &Component) -> BTreeSet<ObjectKey> {
    let spec = &component.spec;
    let post_build = spec.post_build.iter().flat_map(|change| &change.substitute_from);
    let names = spec
        .values_from
        .iter()
        .map(|reference| &reference.name)
        .chain(spec.kube_config.iter().map(|config| &config.secret_ref.name))
        .chain(spec.decryption.iter().map(|decryption| &decryption.secret_ref.name))
        .chain(post_build.map(|reference| &reference.name));
    names.map(|name| secret_key(component.namespace(), name)).collect()
}

fn secret_key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey {
        group: String::new(),
        kind: "Secret".to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

/// Reads the kubeconfig of the target cluster of a Component. `None` if the target is the hub.
/// # Errors
/// The Secret, or its key, does not exist.
pub async fn load_kubeconfig(
    component: &Component,
    hub: &dyn ObjectReader,
) -> Result<Option<Vec<u8>>, ReferenceError> {
    let mut loader = Loader { hub, namespace: component.namespace(), problems: Vec::new() };
    let kubeconfig = loader.kubeconfig(component).await;
    loader.problems.pop().map_or(Ok(kubeconfig), Err)
}

struct Loader<'a> {
    hub: &'a dyn ObjectReader,
    namespace: &'a str,
    problems: Vec<ReferenceError>,
}

impl Loader<'_> {
    /// Returns the decoded content of a Secret.
    async fn secret(&mut self, name: &str, field: &str) -> Option<BTreeMap<String, Vec<u8>>> {
        let key = secret_key(self.namespace, name);
        let shown = format!("{}/{name}", self.namespace);
        let problem = match self.hub.read(&key).await {
            Ok(Some(secret)) => match secret_data(&secret) {
                Ok(data) => return Some(data),
                Err(problem) => {
                    ReferenceError::new(field, format!("error loading secret {shown}: {problem}"))
                }
            },
            Ok(None) => {
                let problem = format!("error loading secret {shown}: secrets \"{name}\" not found");
                ReferenceError::new(field, problem)
            }
            Err(error) => ReferenceError {
                source: Some(Box::new(error)),
                ..ReferenceError::new(field, format!("error loading secret {shown}"))
            },
        };
        self.problems.push(problem);
        None
    }

    /// Returns the kubeconfig of the target cluster.
    async fn kubeconfig(&mut self, component: &Component) -> Option<Vec<u8>> {
        let reference = &component.spec.kube_config.as_ref()?.secret_ref;
        self.key(reference, &KUBECONFIG_KEYS, "spec.kubeConfig.secretRef").await
    }

    /// Returns the content of one key of a Secret.
    async fn key(&mut self, of: &SecretKeyReference, defaults: &[&str], field: &str) -> Option<Vec<u8>> {
        let mut data = self.secret(&of.name, field).await?;
        let shown = format!("{}/{}", self.namespace, of.name);
        let (found, problem) = match of.key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => (data.remove(key), format!("key {key} not found in secret {shown}")),
            None => (
                defaults.iter().find_map(|key| data.remove(*key)),
                format!("no matching key found in secret {shown} (tried {})", defaults.join(", ")),
            ),
        };
        if found.is_none() {
            self.problems.push(ReferenceError::new(field, problem));
        }
        found
    }
}

/// Returns the decoded `data` of a Secret, overridden by `stringData`.
pub(crate) fn secret_data(secret: &Object) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut decoded = BTreeMap::new();
    let fields = |name: &'static str| secret.get(&[name]).and_then(Value::as_object).into_iter().flatten();
    for (key, value) in fields("data") {
        let bytes = value.as_str().and_then(|text| BASE64_STANDARD.decode(text.trim()).ok());
        decoded.insert(key.clone(), bytes.ok_or_else(|| format!("data.{key} is not base64"))?);
    }
    for (key, value) in fields("stringData") {
        let text = value.as_str().ok_or_else(|| format!("stringData.{key} is not text"))?;
        decoded.insert(key.clone(), text.as_bytes().to_vec());
    }
    Ok(decoded)
}

/// Parses values. The error contains no values.
fn parse_values(content: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(content).map_err(|_| "the values are not UTF-8".to_owned())?;
    let value = yaml::read_value(text, &YamlLimits::default())
        .map_err(|error| format!("the values are no YAML: line {}", error.line))?;
    match value {
        Value::Object(values) => Ok(values),
        Value::Null => Ok(Map::new()),
        other => Err(format!("the values must be a mapping, not {}", manifest::type_name(&other))),
    }
}

/// Merges mappings deeply. Everything else is replaced.
pub fn merge(onto: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (onto.get_mut(&key), value) {
            (Some(Value::Object(onto)), Value::Object(from)) => merge(onto, from),
            (_, value) => drop(onto.insert(key, value)),
        }
    }
}

/// Returns a kind and name as kubectl prints them: `GitRepository.source.toolkit.fluxcd.io "gone"`.
pub(crate) fn named(kind: &GroupKind, name: &str) -> String {
    let dot = if kind.group.is_empty() { "" } else { "." };
    format!("{}{dot}{} \"{name}\"", kind.kind, kind.group)
}

#[cfg(test)]
mod tests;
