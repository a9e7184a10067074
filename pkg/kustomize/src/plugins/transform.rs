//! Transformers with settings of their own. Their field specs replace the default ones.

mod value_add;

use std::collections::BTreeMap;

use crate::accumulator::Accumulator;
use crate::hash;
use crate::kustomization::entries::{FieldSpecEntry, Patch};
use crate::patches::{self, EntryContent, PatchError, WrittenFields};
use crate::scope::Scope;
use crate::transform::name::{self, Affix};
use crate::transform::namespace::{self, NamespaceOverwrite, SubjectSelection};
use crate::transform::{images, labels, replacements, replicas};

use super::config::{PluginConfig, PluginError};
use super::settings::{
    Annotations, Ends, Images, JsonPatch, Labels, MergePatches, Namespace, Replacements, Replicas,
    ScalarText, table,
};

/// Runs a transformer; its kind is already checked.
pub(super) fn run(scope: &mut Scope<'_, '_>, config: &PluginConfig, objects: &mut Accumulator) {
    match config.object.kind() {
        "PrefixTransformer" => extend(scope, config, &[Affix::Prefix], objects),
        "SuffixTransformer" => extend(scope, config, &[Affix::Suffix], objects),
        "PrefixSuffixTransformer" => extend(scope, config, &[Affix::Prefix, Affix::Suffix], objects),
        "ImageTagTransformer" => {
            let Some(Images { image, fields }) = config.read(scope) else { return };
            if let Some(rule) = scope.ok(&config.field, images::ImageRule::new(&image)) {
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
            patches::apply(scope, &config.field, &patch, objects, &mut WrittenFields::new(scope));
        }
        "PatchJson6902Transformer" => {
            let Some(JsonPatch { target, path, text }) = config.read(scope) else { return };
            let patch = Patch { path, text, target, ..Patch::default() };
            patches::apply_json6902(scope, &config.field, &patch, objects, &mut WrittenFields::new(scope));
        }
        "PatchStrategicMergeTransformer" => merge_patches(scope, config, objects),
        "ReplacementTransformer" => {
            let Some(Replacements { entries }) = config.read(scope) else { return };
            replacements::run_entries(scope, &format!("{}.replacements", config.field), &entries, objects);
        }
        _ => value_add::run(scope, config, objects),
    }
}

fn extend(scope: &mut Scope<'_, '_>, config: &PluginConfig, ends: &[Affix], objects: &mut Accumulator) {
    let Some(Ends { prefix, suffix, fields }) = config.read(scope) else { return };
    if fields.is_empty() {
        scope.report(&config.field, config.missing_field("fieldSpecs"));
        return;
    }
    let fields = table(fields);
    for end in ends {
        let text = match end {
            Affix::Prefix => &prefix,
            Affix::Suffix => &suffix,
        };
        name::extend(*end, text, &fields, objects);
    }
}

fn set_pairs(
    scope: &mut Scope<'_, '_>,
    config: &PluginConfig,
    pairs: BTreeMap<String, ScalarText>,
    fields: Vec<FieldSpecEntry>,
    objects: &mut Accumulator,
) {
    let pairs = pairs.into_iter().map(|(key, text)| (key, text.0)).collect();
    scope.report_all(&config.field, labels::set(&pairs, &table(fields), objects));
}

fn set_namespace(scope: &mut Scope<'_, '_>, config: &PluginConfig, objects: &mut Accumulator) {
    let Some(Namespace { fields, unset_only, subjects }) = config.read(scope) else { return };
    let subjects = match subjects.as_str() {
        "" | "defaultOnly" => SubjectSelection::DefaultOnly,
        "allServiceAccounts" => SubjectSelection::AllServiceAccounts,
        "none" => SubjectSelection::None,
        _ => {
            let (field, choice) = ("setRoleBindingSubjects", "`defaultOnly`, `allServiceAccounts` or `none`");
            let (kind, file) = (config.kind(), config.file.clone());
            let problem = PluginError::InvalidChoice { kind, file, field, choice, found: subjects };
            scope.report(&config.field, problem);
            return;
        }
    };
    let settings = namespace::NamespaceSettings {
        namespace: config.object.namespace(),
        fields: &table(fields),
        overwrite: if unset_only { NamespaceOverwrite::Unset } else { NamespaceOverwrite::All },
        subjects,
        schema: &scope.session.schema,
    };
    let problems = namespace::apply(&settings, objects);
    scope.report_all(&config.field, problems);
}

fn merge_patches(scope: &mut Scope<'_, '_>, config: &PluginConfig, objects: &mut Accumulator) {
    let Some(MergePatches { mut paths, text }) = config.read(scope) else { return };
    paths.extend(Some(text).filter(|text| !text.is_empty()));
    if paths.is_empty() {
        scope.report(&config.field, config.missing_field("paths"));
    }
    let mut writes = WrittenFields::new(scope);
    let mut found = EntryContent::Empty;
    for entry in &paths {
        found = found.max(patches::apply_strategic(scope, &config.field, entry, objects, &mut writes));
    }
    if found == EntryContent::Empty && !paths.is_empty() {
        scope.report(&config.field, PatchError::Empty);
    }
}
