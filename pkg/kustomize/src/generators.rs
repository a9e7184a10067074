//! `configMapGenerator` and `secretGenerator`: objects from literals, files and environment files.
//!
//! ```text
//! envs, literals, files ─► sources: keys and values ─► an object ─► merge: a new object, or into an existing one
//! ```
//! Source: kustomize v5.8.1 api/internal/generators, api/kv, api/resmap (appendReplaceOrMerge), as observed.

mod merge;
mod sources;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use manifest::{Map, Object, Value};
use serde_json::json;

use crate::ResId;
use crate::accumulator::Accumulator;
use crate::kustomization::generators::{Generator, GeneratorOptions};
use crate::resource::{ObjectOrigin, Plugin, Resource};
use crate::scope::Scope;

/// The kind of a generated object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneratedKind {
    ConfigMap,
    Secret,
}

/// An object that cannot be generated. `InvalidKey` and `UnknownBehavior` are warnings; an unknown behavior counts as
/// `create`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GeneratorError {
    #[error("`name` is missing")]
    Nameless,
    #[error("expected `key=value`")]
    NotAPair,
    #[error("`{0}` must have the form `path` or `key=path`")]
    NotAFileSource(String),
    #[error("line {line} of `{file}` is not UTF-8")]
    NotText { file: String, line: usize },
    #[error("duplicate key `{key}`: from {first} and from {second}")]
    RepeatedKey { key: String, first: String, second: String },
    #[error("Kubernetes rejects the key `{0}`: use at most 253 letters, digits, `-`, `_` and `.`")]
    InvalidKey(String),
    #[error("unknown behavior `{0}` is treated as `create`: use `create`, `merge` or `replace`")]
    UnknownBehavior(String),
    #[error("cannot {behavior} `{id}`: the object does not exist; remove `behavior` to create it")]
    NoExistingObject { id: Box<ResId>, behavior: &'static str },
    #[error("`{id}` already exists, from {first}: set `behavior` to `merge` or `replace`")]
    Exists { id: Box<ResId>, first: String },
    #[error("`{id}` matches several objects: {}", candidates.join(", "))]
    Ambiguous { id: Box<ResId>, candidates: Vec<String> },
}

impl GeneratedKind {
    fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    fn plugin(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMapGenerator",
            Self::Secret => "SecretGenerator",
        }
    }
}

/// Generates or merges the ConfigMaps.
pub(crate) fn run_config_maps(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let generators = &scope.kustomization.config_map_generator;
    run(scope, GeneratedKind::ConfigMap, generators, objects);
}

/// Generates or merges the Secrets.
pub(crate) fn run_secrets(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let generators = &scope.kustomization.secret_generator;
    run(scope, GeneratedKind::Secret, generators, objects);
}

fn run(scope: &mut Scope<'_, '_>, kind: GeneratedKind, generators: &[Generator], objects: &mut Accumulator) {
    let list = match kind {
        GeneratedKind::ConfigMap => "configMapGenerator",
        GeneratedKind::Secret => "secretGenerator",
    };
    for (index, generator) in generators.iter().enumerate() {
        let field = format!("{list}[{index}]");
        let options = merge_options(&generator.options, &scope.kustomization.generator_options);
        let by = Plugin::of_field(kind.plugin());
        let origin = ObjectOrigin::Field { file: scope.root.file.clone(), field: field.clone(), plugin: by };
        generate(scope, &field, kind, &Generator { options, ..generator.clone() }, origin, objects);
        scope.record_provenance(&field, objects);
    }
}

/// Generates one object, and appends it or merges it into an existing one.
pub(crate) fn generate(
    scope: &mut Scope<'_, '_>,
    field: &str,
    kind: GeneratedKind,
    generator: &Generator,
    origin: ObjectOrigin,
    objects: &mut Accumulator,
) {
    if generator.name.is_empty() {
        scope.report(field, GeneratorError::Nameless);
        return;
    }
    let pairs = sources::read(scope, field, generator);
    let mut resource = Resource::new(object(kind, generator, pairs), Arc::new(origin));
    resource.needs_hash = !generator.options.disable_name_suffix_hash;
    let behavior = merge::Behavior::parse(&generator.behavior).unwrap_or_else(|| {
        scope.warn(field, GeneratorError::UnknownBehavior(generator.behavior.clone()));
        merge::Behavior::Create
    });
    let added = merge::add(behavior, resource, objects);
    scope.ok(field, added);
}

/// Merges the options of one generator with those of all generators. Its own labels and annotations win; a flag is on
/// if either side sets it.
fn merge_options(own: &GeneratorOptions, all: &GeneratorOptions) -> GeneratorOptions {
    let mut options = all.clone();
    options.labels.extend(own.labels.clone());
    options.annotations.extend(own.annotations.clone());
    options.disable_name_suffix_hash |= own.disable_name_suffix_hash;
    options.immutable |= own.immutable;
    options
}

fn object(kind: GeneratedKind, generator: &Generator, pairs: Vec<sources::Pair>) -> Object {
    let mut object = Object::default();
    let fields = object.as_map_mut();
    fields.insert("apiVersion".to_owned(), "v1".into());
    fields.insert("kind".to_owned(), kind.kind().into());
    if kind == GeneratedKind::Secret {
        let written = generator.secret_type.as_str();
        fields.insert("type".to_owned(), if written.is_empty() { "Opaque" } else { written }.into());
        // A Secret without keys has `data` too.
        fields.insert("data".to_owned(), json!({}));
    }
    for pair in pairs {
        let (field, text) = match (kind, String::from_utf8(pair.value)) {
            (GeneratedKind::ConfigMap, Ok(text)) => ("data", text),
            (GeneratedKind::ConfigMap, Err(bytes)) => ("binaryData", wrapped_base64(bytes.as_bytes())),
            (GeneratedKind::Secret, Ok(text)) => ("data", wrapped_base64(text.as_bytes())),
            (GeneratedKind::Secret, Err(bytes)) => ("data", wrapped_base64(bytes.as_bytes())),
        };
        let values = fields.entry(field).or_insert_with(|| Value::Object(Map::new()));
        if let Some(values) = values.as_object_mut() {
            values.insert(pair.key, text.into());
        }
    }
    if generator.options.immutable {
        fields.insert("immutable".to_owned(), true.into());
    }
    object.set_name(&generator.name);
    if !generator.namespace.is_empty() {
        object.set_namespace(&generator.namespace);
    }
    for (key, value) in &generator.options.labels {
        object.set_label(key, value);
    }
    for (key, value) in &generator.options.annotations {
        object.set_annotation(key, value);
    }
    object
}

/// Encodes bytes as base64. A long text is split into lines of 70 characters, each with a line feed.
fn wrapped_base64(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let text = STANDARD.encode(bytes);
    if text.len() < LINE {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + text.len() / LINE + 1);
    for (index, character) in text.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            lines.push('\n');
        }
        lines.push(character);
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests;
