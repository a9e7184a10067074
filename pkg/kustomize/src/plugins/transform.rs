//! Transformers with settings of their own. Their field specs replace the default ones.

mod value_add;

use std::collections::BTreeMap;

use crate::accumulator::Accumulator;
use crate::hash;
use crate::kustomization::entries::{FieldSpecEntry, Patch};
use crate::patches::{self, Found, PatchProblem, Writes};
use crate::scope::Scope;
use crate::transform::name::{self, End};
use crate::transform::namespace::{self, Overwrite, Subjects};
use crate::transform::{images, labels, replacements, replicas};

use super::config::{Config, PluginProblem};
use super::settings::{
    Annotations, Ends, Images, JsonPatch, Labels, MergePatches, Namespace, Replacements, Replicas, Text,
    table,
};

/// Runs a transformer; its kind is already checked.
pub(super) fn run(scope: &mut Scope<'_, '_>, config: &Config, objects: &mut Accumulator) {
    match config.object.kind() {
        "PrefixTransformer" => extend(scope, config, &[End::Prefix], objects),
        "SuffixTransformer" => extend(scope, config, &[End::Suffix], objects),
        "PrefixSuffixTransformer" => extend(scope, config, &[End::Prefix, End::Suffix], objects),
        "ImageTagTransformer" => {
            let Some(Images { image, fields }) = config.read(scope) else { return };
            if let Some(rule) = scope.ok(&config.field, images::Rule::new(&image)) {
                images::set(&[rule], &table(fields), objects);
            }
        }
        "ReplicaCountTransformer" => {
            let Some(Replicas { replica, fields }) = config.read(scope) else { return };
            replicas::set(scope, &config.field, &replica, &table(fields), objects);
        }
        "LabelTransformer" => {
            let Some(Labels { labels, fields }) = config.read(scope) else { return };
            set_pairs(scope, config, labels, fields, objects);
        }
        "AnnotationsTransformer" => {
            let Some(Annotations { annotations, fields }) = config.read(scope) else { return };
            set_pairs(scope, config, annotations, fields, objects);
        }
        "NamespaceTransformer" => set_namespace(scope, config, objects),
        "HashTransformer" => hash::append(objects),
        "PatchTransformer" => {
            let Some(patch) = config.read::<Patch>(scope) else { return };
            patches::apply(scope, &config.field, &patch, objects, &mut Writes::of(scope));
        }
        "PatchJson6902Transformer" => {
            let Some(JsonPatch { target, path, text }) = config.read(scope) else { return };
            let patch = Patch { path, text, target, ..Patch::default() };
            patches::apply_json6902(scope, &config.field, &patch, objects, &mut Writes::of(scope));
        }
        "PatchStrategicMergeTransformer" => merge_patches(scope, config, objects),
        "ReplacementTransformer" => {
            let Some(Replacements { entries }) = config.read(scope) else { return };
            replacements::run_entries(scope, &format!("{}.replacements", config.field), &entries, objects);
        }
        _ => value_add::run(scope, config, objects),
    }
}

fn extend(scope: &mut Scope<'_, '_>, config: &Config, ends: &[End], objects: &mut Accumulator) {
    let Some(Ends { prefix, suffix, fields }) = config.read(scope) else { return };
    if fields.is_empty() {
        scope.problem(&config.field, config.needs("fieldSpecs"));
        return;
    }
    let fields = table(fields);
    for end in ends {
        let text = match end {
            End::Prefix => &prefix,
            End::Suffix => &suffix,
        };
        name::extend(*end, text, &fields, objects);
    }
}

fn set_pairs(
    scope: &mut Scope<'_, '_>,
    config: &Config,
    pairs: BTreeMap<String, Text>,
    fields: Vec<FieldSpecEntry>,
    objects: &mut Accumulator,
) {
    let pairs = pairs.into_iter().map(|(key, text)| (key, text.0)).collect();
    scope.problems(&config.field, labels::set(&pairs, &table(fields), objects));
}

fn set_namespace(scope: &mut Scope<'_, '_>, config: &Config, objects: &mut Accumulator) {
    let Some(Namespace { fields, unset_only, subjects }) = config.read(scope) else { return };
    let subjects = match subjects.as_str() {
        "" | "defaultOnly" => Subjects::DefaultOnly,
        "allServiceAccounts" => Subjects::AllServiceAccounts,
        "none" => Subjects::None,
        _ => {
            let (field, choice) = ("setRoleBindingSubjects", "`defaultOnly`, `allServiceAccounts` or `none`");
            let (kind, file) = (config.kind(), config.file.clone());
            let problem = PluginProblem::NoChoice { kind, file, field, choice, found: subjects };
            scope.problem(&config.field, problem);
            return;
        }
    };
    let settings = namespace::Settings {
        namespace: config.object.namespace(),
        fields: &table(fields),
        overwrite: if unset_only { Overwrite::Unset } else { Overwrite::All },
        subjects,
        schema: &scope.session.schema,
    };
    let problems = namespace::apply(&settings, objects);
    scope.problems(&config.field, problems);
}

fn merge_patches(scope: &mut Scope<'_, '_>, config: &Config, objects: &mut Accumulator) {
    let Some(MergePatches { mut paths, text }) = config.read(scope) else { return };
    paths.extend(Some(text).filter(|text| !text.is_empty()));
    if paths.is_empty() {
        scope.problem(&config.field, config.needs("paths"));
    }
    let mut writes = Writes::of(scope);
    let mut found = Found::Nothing;
    for entry in &paths {
        found = found.max(patches::apply_strategic(scope, &config.field, entry, objects, &mut writes));
    }
    if found == Found::Nothing && !paths.is_empty() {
        scope.problem(&config.field, PatchProblem::Empty);
    }
}
