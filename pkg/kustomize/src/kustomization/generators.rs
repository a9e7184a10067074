//! What makes objects: ConfigMaps and Secrets from files and literals, Helm charts.

use std::collections::BTreeMap;

use manifest::{Map, Value};

use super::decode::{Fields, FromFields};

/// An entry of `configMapGenerator` or `secretGenerator`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generator {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) behavior: String,
    pub(crate) literals: Vec<String>,
    pub(crate) files: Vec<String>,
    /// With the deprecated `env` at the end.
    pub(crate) envs: Vec<String>,
    pub(crate) options: GeneratorOptions,
    /// The type of a Secret.
    pub(crate) secret_type: String,
}

/// What holds for the generated objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}

/// Where Helm finds things.
#[derive(Clone, Debug, Default)]
pub(crate) struct HelmGlobals {
    pub(crate) chart_home: String,
    pub(crate) config_home: String,
}

/// An entry of `helmCharts`.
#[derive(Clone, Debug, Default)]
pub(crate) struct HelmChart {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) repo: String,
    pub(crate) release_name: String,
    pub(crate) namespace: String,
    pub(crate) name_template: String,
    pub(crate) values_file: String,
    pub(crate) additional_values_files: Vec<String>,
    pub(crate) values_inline: Map<String, Value>,
    pub(crate) values_merge: String,
    pub(crate) api_versions: Vec<String>,
    pub(crate) kube_version: String,
    pub(crate) include_crds: bool,
    pub(crate) skip_hooks: bool,
    pub(crate) skip_tests: bool,
    pub(crate) debug: bool,
    pub(crate) devel: bool,
}

/// An entry of the old `helmChartInflationGenerator`.
#[derive(Clone, Debug, Default)]
pub(super) struct OldHelmChart {
    pub(super) chart: HelmChart,
    pub(super) globals: HelmGlobals,
}

impl Generator {
    /// Takes what both kinds of generators have.
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

/// An entry of `secretGenerator`, which has a type too.
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

impl FromFields for GeneratorOptions {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            labels: fields.take("labels"),
            annotations: fields.take("annotations"),
            disable_name_suffix_hash: fields.take("disableNameSuffixHash"),
            immutable: fields.take("immutable"),
        }
    }
}

impl FromFields for HelmGlobals {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self { chart_home: fields.take("chartHome"), config_home: fields.take("configHome") }
    }
}

impl FromFields for HelmChart {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            name: fields.take("name"),
            version: fields.take("version"),
            repo: fields.take("repo"),
            release_name: fields.take("releaseName"),
            namespace: fields.take("namespace"),
            name_template: fields.take("nameTemplate"),
            values_file: fields.take("valuesFile"),
            additional_values_files: fields.take("additionalValuesFiles"),
            values_inline: fields.take("valuesInline"),
            values_merge: fields.take("valuesMerge"),
            api_versions: fields.take("apiVersions"),
            kube_version: fields.take("kubeVersion"),
            include_crds: fields.take("includeCRDs"),
            skip_hooks: fields.take("skipHooks"),
            skip_tests: fields.take("skipTests"),
            debug: fields.take("debug"),
            devel: fields.take("devel"),
        }
    }
}

impl FromFields for OldHelmChart {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        let globals =
            HelmGlobals { chart_home: fields.take("chartHome"), config_home: fields.take("helmHome") };
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
        // Known, and without effect in the peer as well.
        for ignored in ["chartRepoName", "helmBin", "releaseNamespace"] {
            let _: String = fields.take(ignored);
        }
        let _: Vec<String> = fields.take("extraArgs");
        Self { chart, globals }
    }
}
