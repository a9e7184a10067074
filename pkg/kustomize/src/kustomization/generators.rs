//! The entries that generate objects: ConfigMaps, Secrets and Helm charts.

use std::collections::BTreeMap;

use manifest::{Map, Value};

use super::decode::{Fields, FromFields, mappings};

/// An entry of `configMapGenerator` or `secretGenerator`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generator {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) behavior: String,
    pub(crate) literals: Vec<String>,
    pub(crate) files: Vec<String>,
    /// The environment files; the deprecated `env` comes last.
    pub(crate) envs: Vec<String>,
    pub(crate) options: GeneratorOptions,
    pub(crate) secret_type: String,
}

/// An entry of the old `helmChartInflationGenerator`.
#[derive(Clone, Debug, Default)]
pub(super) struct OldHelmChart {
    pub(super) chart: HelmChart,
    pub(super) globals: HelmGlobals,
}

impl Generator {
    /// Decodes the fields that both kinds of generators share.
    fn common(fields: &mut Fields<'_>) -> Self {
        let mut envs: Vec<String> = fields.take("envs");
        envs.extend(fields.take::<Option<String>>("env").filter(|env| !env.is_empty()));
        Self {
            name: fields.take("name"),
            namespace: fields.take("namespace"),
            behavior: fields.take("behavior"),
            literals: fields.take("literals"),
            files: fields.take("files"),
            envs,
            options: fields.take("options"),
            secret_type: String::new(),
        }
    }
}

/// An entry of `configMapGenerator`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigMapGenerator(pub(crate) Generator);

/// An entry of `secretGenerator`, which also has a type.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretGenerator(pub(crate) Generator);

impl FromFields for ConfigMapGenerator {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self(Generator::common(fields))
    }
}

impl FromFields for SecretGenerator {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self(Generator { secret_type: fields.take("type"), ..Generator::common(fields) })
    }
}

impl FromFields for OldHelmChart {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        let globals = HelmGlobals { chart_home: fields.take("chartHome") };
        let chart = HelmChart {
            name: fields.take("chartName"),
            version: fields.take("chartVersion"),
            repo: fields.take("chartRepoUrl"),
            release_name: fields.take("releaseName"),
            values_file: fields.take("values"),
            values_inline: fields.take("valuesLocal"),
            values_merge: fields.take("valuesMerge"),
            ..HelmChart::default()
        };
        // Accepted without effect, as in kustomize.
        for ignored in ["chartRepoName", "helmBin", "helmHome", "releaseNamespace"] {
            let _: String = fields.take(ignored);
        }
        let _: Vec<String> = fields.take("extraArgs");
        Self { chart, globals }
    }
}

mappings! {
    /// The options of generated objects.
    GeneratorOptions {
        labels: BTreeMap<String, String> = "labels",
        annotations: BTreeMap<String, String> = "annotations",
        disable_name_suffix_hash: bool = "disableNameSuffixHash",
        immutable: bool = "immutable",
    }
    /// The folders of Helm.
    HelmGlobals {
        chart_home: String = "chartHome",
        ; ignored "configHome": String
    }
    /// An entry of `helmCharts`.
    HelmChart {
        name: String = "name",
        version: String = "version",
        repo: String = "repo",
        release_name: String = "releaseName",
        namespace: String = "namespace",
        name_template: String = "nameTemplate",
        values_file: String = "valuesFile",
        additional_values_files: Vec<String> = "additionalValuesFiles",
        values_inline: Map<String, Value> = "valuesInline",
        values_merge: String = "valuesMerge",
        api_versions: Vec<String> = "apiVersions",
        kube_version: String = "kubeVersion",
        include_crds: bool = "includeCRDs",
        skip_hooks: bool = "skipHooks",
        skip_tests: bool = "skipTests",
        devel: bool = "devel",
    }
}
