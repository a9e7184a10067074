//! Replaces deprecated fields of a kustomization with their successors.

use manifest::{Map, Value};

use super::decode::{DecodeError, Fields, FromFields};
use super::entries::Image;
use super::generators::{ConfigMapGenerator, OldHelmChart, SecretGenerator};
use super::{Kustomization, KustomizationKind};
use crate::report::StepError;

/// The content of a file, with the deprecated fields apart.
#[derive(Default)]
pub(super) struct RawKustomization {
    api_version: String,
    kind: String,
    bases: Vec<String>,
    image_tags: Vec<Image>,
    old_helm_charts: Vec<OldHelmChart>,
    kustomization: Kustomization,
}

/// A warning about a deprecated field.
#[derive(Debug, thiserror::Error)]
#[error("`{field}` is deprecated: use `{instead}`")]
struct DeprecatedField {
    field: &'static str,
    instead: &'static str,
}

/// Returns true if the file uses a field.
type IsUsed = fn(&RawKustomization) -> bool;

/// The deprecated fields with their successors, in the order of their warnings.
const DEPRECATED: [(&str, &str, IsUsed); 6] = [
    ("bases", "resources", |written| !written.bases.is_empty()),
    ("commonLabels", "labels", |written| !written.kustomization.common_labels.is_empty()),
    ("imageTags", "images", |written| !written.image_tags.is_empty()),
    ("patchesJson6902", "patches", |written| !written.kustomization.patches_json6902.is_empty()),
    ("patchesStrategicMerge", "patches", |written| !written.kustomization.patches_strategic_merge.is_empty()),
    ("vars", "replacements", |written| !written.kustomization.vars.is_empty()),
];

impl RawKustomization {
    /// Checks the kind and version, and moves deprecated fields to their successors.
    pub(super) fn fix(self, faults: &mut Vec<DecodeError>) -> (Kustomization, Vec<StepError>) {
        let kind = self.check_kind(faults);
        let warned = DEPRECATED.iter().filter(|(_, _, is_used)| is_used(&self));
        let warnings = warned.map(|&(field, instead, _)| DeprecatedField { field, instead }.into()).collect();
        let mut new = Kustomization { kind, ..self.kustomization };
        new.resources.extend(self.bases);
        new.images.extend(self.image_tags);
        for old in self.old_helm_charts {
            new.helm_charts.push(old.chart);
            new.helm_globals = old.globals;
        }
        (new, warnings)
    }

    fn check_kind(&self, faults: &mut Vec<DecodeError>) -> KustomizationKind {
        let (kind, name, version) = match self.kind.as_str() {
            "" | "Kustomization" => {
                (KustomizationKind::Kustomization, "Kustomization", "kustomize.config.k8s.io/v1beta1")
            }
            "Component" => (KustomizationKind::Component, "Component", "kustomize.config.k8s.io/v1alpha1"),
            other => {
                faults.push(DecodeError::WrongType {
                    field: "kind".to_owned(),
                    expected: "`Kustomization` or `Component`",
                    found: format!("`{other}`"),
                });
                return KustomizationKind::default();
            }
        };
        if !self.api_version.is_empty() && self.api_version != version {
            let found = self.api_version.clone();
            faults.push(DecodeError::WrongVersion { kind: name, expected: version, found });
        }
        kind
    }
}

impl FromFields for RawKustomization {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        // `metadata` is accepted and has no effect.
        let _: Map<String, Value> = fields.take("metadata");
        Self {
            api_version: fields.take("apiVersion"),
            kind: fields.take("kind"),
            bases: fields.take("bases"),
            image_tags: fields.take("imageTags"),
            old_helm_charts: fields.take("helmChartInflationGenerator"),
            kustomization: Kustomization::from_fields(fields),
        }
    }
}

impl FromFields for Kustomization {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        let config_maps: Vec<ConfigMapGenerator> = fields.take("configMapGenerator");
        let secrets: Vec<SecretGenerator> = fields.take("secretGenerator");
        Self {
            kind: KustomizationKind::default(),
            resources: fields.take("resources"),
            components: fields.take("components"),
            crds: fields.take("crds"),
            configurations: fields.take("configurations"),
            openapi: fields.take("openapi"),
            config_map_generator: config_maps.into_iter().map(|entry| entry.0).collect(),
            secret_generator: secrets.into_iter().map(|entry| entry.0).collect(),
            generator_options: fields.take("generatorOptions"),
            helm_charts: fields.take("helmCharts"),
            helm_globals: fields.take("helmGlobals"),
            generators: fields.take("generators"),
            transformers: fields.take("transformers"),
            validators: fields.take("validators"),
            patches_strategic_merge: fields.take("patchesStrategicMerge"),
            patches_json6902: fields.take("patchesJson6902"),
            patches: fields.take("patches"),
            namespace: fields.take("namespace"),
            name_prefix: fields.take("namePrefix"),
            name_suffix: fields.take("nameSuffix"),
            labels: fields.take("labels"),
            common_labels: fields.take("commonLabels"),
            common_annotations: fields.take("commonAnnotations"),
            images: fields.take("images"),
            replicas: fields.take("replicas"),
            replacements: fields.take("replacements"),
            vars: fields.take("vars"),
            sort_options: fields.take("sortOptions"),
            build_metadata: fields.take("buildMetadata"),
        }
    }
}
