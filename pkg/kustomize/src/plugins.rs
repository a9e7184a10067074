//! `generators`, `transformers` and `validators`: built-in plugins with settings of their own.
//!
//! ```text
//! entry: YAML, a file, a folder ─► Config: settings of one plugin ─► generate or transform, as the matching field does
//! ```
//! Deliberately absent: plugins that are programs or containers.
//! Source: kustomize v5.8.1 api/internal/target (configureExternalGenerators), api/internal/builtins, as observed.

mod config;
mod generate;
mod settings;
mod transform;

use std::sync::Arc;

use manifest::{Object, read_resources};

use crate::TreePath;
use crate::accumulator::Accumulator;
use crate::build::entries::add_resource;
use crate::output::metadata;
use crate::resource::{ObjectOrigin, ParsedObject, Resource};
use crate::scope::Scope;

use config::{PluginConfig, PluginError};

const GENERATORS: [&str; 4] =
    ["ConfigMapGenerator", "SecretGenerator", "HelmChartInflationGenerator", "IAMPolicyGenerator"];

const TRANSFORMERS: [&str; 14] = [
    "AnnotationsTransformer",
    "HashTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "SuffixTransformer",
    "ValueAddTransformer",
];

/// Adds the objects of the generators.
pub(crate) fn run_generators(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for config in configs(scope, "generators", &scope.kustomization.generators) {
        if is_runnable(scope, &config, "generator") {
            generate::run(scope, &config, objects);
            config.record_provenance(scope, objects);
        }
    }
}

/// Applies the transformers.
pub(crate) fn run_transformers(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for config in configs(scope, "transformers", &scope.kustomization.transformers) {
        if is_runnable(scope, &config, "transformer") {
            transform::run(scope, &config, objects);
            config.record_provenance(scope, objects);
            metadata::record_transformation(scope, &config.file, &config.plugin(), objects);
        }
    }
}

/// Runs the validators. Reports a validator that changes an object.
pub(crate) fn run_validators(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for config in configs(scope, "validators", &scope.kustomization.validators) {
        if !is_runnable(scope, &config, "transformer") {
            continue;
        }
        // An unchanged object shares its memory with the snapshot, so a snapshot costs one pointer per object.
        let snapshot = |objects: &Accumulator| -> Vec<Object> {
            objects.iter().map(|(_, resource)| resource.object.clone()).collect()
        };
        let before = snapshot(objects);
        transform::run(scope, &config, objects);
        if before != snapshot(objects) {
            let PluginConfig { field, file, object } = config;
            let kind = object.kind().to_owned();
            scope.report(&field, PluginError::ValidatorChangesObject { kind, file });
        }
    }
}

/// Reads the settings of all entries; inline settings come first.
fn configs(scope: &mut Scope<'_, '_>, list: &str, entries: &[String]) -> Vec<PluginConfig> {
    let mut inline = Vec::new();
    let mut others = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let field = format!("{list}[{index}]");
        if is_inline(entry) {
            let file = scope.root.file.clone();
            let read = scope.parse_objects(&field, &file, entry.as_bytes()).unwrap_or_default();
            let config = |ParsedObject { object, .. }| PluginConfig {
                field: field.clone(),
                file: file.clone(),
                object,
            };
            inline.extend(read.into_iter().map(config));
        } else {
            let mut gathered = Accumulator::default();
            add_resource(scope, &field, entry, &mut gathered);
            let config = |Resource { object, origin, .. }| PluginConfig {
                field: field.clone(),
                file: file_of(&origin),
                object,
            };
            others.extend(gathered.into_resources().into_iter().map(config));
        }
    }
    inline.extend(others);
    inline
}

fn is_inline(entry: &str) -> bool {
    let holds_objects = || read_resources(entry.as_bytes()).is_ok_and(|stream| !stream.objects.is_empty());
    entry.contains('\n') || holds_objects()
}

fn file_of(origin: &Arc<ObjectOrigin>) -> TreePath {
    match &**origin {
        ObjectOrigin::Base(name) => TreePath::new(name),
        ObjectOrigin::File(file) | ObjectOrigin::Field { file, .. } => file.clone(),
    }
}

/// True if a plugin is built in and belongs to its list; reports any other plugin.
fn is_runnable(scope: &mut Scope<'_, '_>, config: &PluginConfig, wanted: &'static str) -> bool {
    let kind = config.object.kind();
    let (is_generator, is_transformer) = (GENERATORS.contains(&kind), TRANSFORMERS.contains(&kind));
    let problem = if config.object.api_version() != "builtin" {
        let api_version = config.object.api_version().to_owned();
        PluginError::External { api_version, kind: kind.to_owned(), what: describe_program(&config.object) }
    } else if wanted == "generator" && is_transformer {
        PluginError::WrongList { kind: kind.to_owned(), wanted, list: "transformers" }
    } else if wanted == "transformer" && is_generator {
        PluginError::WrongList { kind: kind.to_owned(), wanted, list: "generators" }
    } else if !is_generator && !is_transformer {
        let near = api::similar_names(kind, GENERATORS.into_iter().chain(TRANSFORMERS));
        PluginError::Unknown { kind: kind.to_owned(), suggestions: near }
    } else {
        return true;
    };
    scope.report(&config.field, problem);
    false
}

/// Describes the program behind a plugin that is not built in.
fn describe_program(config: &Object) -> &'static str {
    let function = ["config.kubernetes.io/function", "config.k8s.io/function"];
    match function.iter().find_map(|key| config.annotation(key)) {
        Some(text) if text.contains("container") => "a container function",
        Some(text) if text.contains("starlark") => "a Starlark function",
        Some(_) | None => "a program",
    }
}

#[cfg(test)]
mod tests;
