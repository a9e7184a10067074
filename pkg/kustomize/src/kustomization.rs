//! Parses a `kustomization.yaml` strictly.
//!
//! ```text
//! text ─► YAML 1.1 ─► decode (every fault) ─► fix (old spellings into new ones, warnings) ─► Kustomization
//! ```
//! The types hold the content of the file, in its order. The module of each step documents the effect of its field.

pub(crate) mod decode;
pub(crate) mod entries;
mod fix;
pub(crate) mod generators;
pub(crate) mod replacements;

use std::collections::BTreeMap;

use manifest::yaml::{self, YamlLimits};

use decode::decode;
use entries::{Image, Label, Patch, Replica, SortOptions, Var};
use generators::{Generator, GeneratorOptions, HelmChart, HelmGlobals};
use replacements::ReplacementEntry;

use crate::report::StepError;
use crate::{TreeError, TreePath};

/// The file names of a kustomization; a folder holds exactly one.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The kind of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KustomizationKind {
    /// Builds objects of its own.
    #[default]
    Kustomization,
    /// Changes the objects of the kustomization that lists it.
    Component,
}

/// A kustomization or a component, with every field that either may have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kustomization {
    pub(crate) kind: KustomizationKind,
    pub(crate) resources: Vec<String>,
    pub(crate) components: Vec<String>,
    pub(crate) crds: Vec<String>,
    pub(crate) configurations: Vec<String>,
    pub(crate) openapi: BTreeMap<String, String>,
    pub(crate) config_map_generator: Vec<Generator>,
    pub(crate) secret_generator: Vec<Generator>,
    pub(crate) generator_options: GeneratorOptions,
    pub(crate) helm_charts: Vec<HelmChart>,
    pub(crate) helm_globals: HelmGlobals,
    pub(crate) generators: Vec<String>,
    pub(crate) transformers: Vec<String>,
    pub(crate) validators: Vec<String>,
    pub(crate) patches_strategic_merge: Vec<String>,
    pub(crate) patches_json6902: Vec<Patch>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) namespace: String,
    pub(crate) name_prefix: String,
    pub(crate) name_suffix: String,
    pub(crate) labels: Vec<Label>,
    pub(crate) common_labels: BTreeMap<String, String>,
    pub(crate) common_annotations: BTreeMap<String, String>,
    pub(crate) images: Vec<Image>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) replacements: Vec<ReplacementEntry>,
    pub(crate) vars: Vec<Var>,
    pub(crate) sort_options: Option<SortOptions>,
    pub(crate) build_metadata: Vec<String>,
}

impl Kustomization {
    /// Parses a kustomization. Returns it with its warnings.
    /// # Errors
    /// Every fault of the file.
    /// Source: kustomize v5.8.1 api/types/kustomization.go; differs: kustomize stops at the first fault.
    pub(crate) fn read(file: &TreePath, bytes: &[u8]) -> Result<(Self, Vec<StepError>), Vec<StepError>> {
        let unreadable = |reason: String| vec![TreeError { path: file.clone(), reason }.into()];
        let value = yaml::decode(bytes).and_then(|text| yaml::read_value(&text, &YamlLimits::default()));
        let value = value.map_err(|error| unreadable(error.to_string()))?;
        if value.is_null() {
            return Err(unreadable("the file is empty".to_owned()));
        }
        let mut faults = Vec::new();
        let (kustomization, warnings) =
            decode::<fix::RawKustomization>(&value, "", &mut faults).fix(&mut faults);
        if faults.is_empty() {
            Ok((kustomization, warnings))
        } else {
            Err(faults.into_iter().map(Into::into).collect())
        }
    }
}

#[cfg(test)]
mod tests;
