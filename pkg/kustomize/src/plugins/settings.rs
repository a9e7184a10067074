//! The settings of the built-in plugins.

use std::collections::BTreeMap;

use manifest::{Map, Value};

use crate::fields::FieldTable;
use crate::kustomization::decode::{DecodeError, Fields, FromFields, FromValue, mappings};
use crate::kustomization::entries::{FieldSpecEntry, Image, Replica, Selector};
use crate::kustomization::generators::{
    ConfigMapGenerator, Generator, HelmChart, HelmGlobals, SecretGenerator,
};
use crate::kustomization::replacements::ReplacementEntry;

/// Settings, apart from the fields of every object.
#[derive(Default)]
pub(super) struct PluginSettings<T> {
    pub(super) settings: T,
}

mappings! {
    /// `PrefixTransformer`, `SuffixTransformer`, and the older plugin with both roles.
    Ends { prefix: String = "prefix", suffix: String = "suffix", fields: Vec<FieldSpecEntry> = "fieldSpecs" }
    /// `ImageTagTransformer`.
    Images { image: Image = "imageTag", fields: Vec<FieldSpecEntry> = "fieldSpecs" }
    /// `ReplicaCountTransformer`.
    Replicas { replica: Replica = "replica", fields: Vec<FieldSpecEntry> = "fieldSpecs" }
    /// `NamespaceTransformer`; the namespace is the one of the settings object.
    Namespace {
        fields: Vec<FieldSpecEntry> = "fieldSpecs",
        unset_only: bool = "unsetOnly",
        subjects: String = "setRoleBindingSubjects"
    }
    /// `PatchJson6902Transformer`.
    JsonPatch { target: Option<Selector> = "target", path: String = "path", text: String = "jsonOp" }
    /// `PatchStrategicMergeTransformer`.
    MergePatches { paths: Vec<String> = "paths", text: String = "patches" }
    /// `ReplacementTransformer`.
    Replacements { entries: Vec<ReplacementEntry> = "replacements" }
    /// `ValueAddTransformer`.
    ValueAdd { value: String = "value", targets: Vec<ValueTarget> = "targets", file: String = "targetFilePath" }
    /// The file of targets of a `ValueAddTransformer`.
    ValueTargets { targets: Vec<ValueTarget> = "targets" }
    /// A field that receives the value.
    ValueTarget {
        selector: Option<Selector> = "selector",
        path: String = "fieldPath",
        position: i64 = "filePathPosition"
    }
    /// `LabelTransformer`.
    Labels { labels: BTreeMap<String, ScalarText> = "labels", fields: Vec<FieldSpecEntry> = "fieldSpecs" }
    /// `AnnotationsTransformer`.
    Annotations { annotations: BTreeMap<String, ScalarText> = "annotations", fields: Vec<FieldSpecEntry> = "fieldSpecs" }
    /// `IAMPolicyGenerator`.
    IamPolicy {
        cloud: String = "cloud",
        service: KubernetesService = "kubernetesService",
        account: ServiceAccount = "serviceAccount"
    }
    /// The account in the cluster.
    KubernetesService { name: String = "name", namespace: String = "namespace" }
    /// The account in the cloud.
    ServiceAccount { name: String = "name", project: String = "projectId" }
}

/// A string; numbers and booleans are converted.
/// Source: sigs.k8s.io/yaml; kustomize v5.8.1 uses it for the settings of plugins, but not for kustomizations.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarText(pub(super) String);

impl FromValue for ScalarText {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: &Value, _: &str, _: &mut Vec<DecodeError>) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self(text.clone())),
            Value::Number(_) | Value::Bool(_) => Some(Self(value.to_string())),
            _ => None,
        }
    }
}

/// `ConfigMapGenerator`.
#[derive(Default)]
pub(super) struct ConfigMapSettings(pub(super) Generator);

/// `SecretGenerator`.
#[derive(Default)]
pub(super) struct SecretSettings(pub(super) Generator);

/// `HelmChartInflationGenerator`.
#[derive(Default)]
pub(super) struct HelmSettings {
    pub(super) chart: HelmChart,
    pub(super) globals: HelmGlobals,
}

impl<T: FromFields> FromFields for PluginSettings<T> {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        for known in ["apiVersion", "kind"] {
            let _: String = fields.take(known);
        }
        let _: Map<String, Value> = fields.take("metadata");
        Self { settings: T::from_fields(fields) }
    }
}

impl FromFields for ConfigMapSettings {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self(ConfigMapGenerator::from_fields(fields).0)
    }
}

impl FromFields for SecretSettings {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self(SecretGenerator::from_fields(fields).0)
    }
}

impl FromFields for HelmSettings {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { chart: HelmChart::from_fields(fields), globals: HelmGlobals::from_fields(fields) }
    }
}

pub(super) fn table(fields: Vec<FieldSpecEntry>) -> FieldTable {
    fields.into_iter().map(Into::into).collect()
}
