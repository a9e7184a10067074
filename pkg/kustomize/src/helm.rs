//! `helmCharts`: charts in the tree or in chart repositories, rendered as `helm template` does.
//!
//! ```text
//! chart in the tree, else ChartPull ─► Chart ─► its values merged with those of the kustomization ─► objects
//! ```
//! Source: kustomize v5.8.1 HelmChartInflationGenerator, api/types/helmchartargs.go.

mod values;

use std::sync::Arc;

use api::{Explain, error_chain};
use chart::{
    Capabilities, Chart, ChartError, FolderError, KubeVersionError, NoSuchTemplate, PrintOptions, Release,
    ReleaseNameError, RenderOptions, Values, ValuesError, read_folder,
};

use crate::accumulator::Accumulator;
use crate::kustomization::generators::{HelmChart, HelmGlobals};
use crate::report::BuildProblem;
use crate::request::{ChartPull, FetchRequest, FetchedContent};
use crate::resource::{ObjectOrigin, Plugin, Resource};
use crate::scope::{LoadError, Scope};
use crate::{ChartOptions, ResolvedPath, TreePath};

/// The plugin behind `helmCharts`.
const PLUGIN: &str = "HelmChartInflationGenerator";

/// Marks objects rendered from a chart during the build: they already have the namespace of the release.
pub(crate) const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";

/// The default folder of charts.
const CHART_HOME: &str = "charts";

/// The namespace of a release without one.
const DEFAULT_NAMESPACE: &str = "default";

/// A chart that cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelmError {
    #[error("`name` of the chart is missing")]
    Nameless,
    #[error("no chart at `{0}`, and no `repo` to pull the chart from")]
    NoChart(TreePath),
    #[error("`valuesMerge` must be `override`, `merge` or `replace`, not `{0}`")]
    UnknownMerge(String),
    #[error("cannot read values from `{file}`: {reason}")]
    InvalidValues { file: TreePath, reason: String },
    #[error("cannot load chart `{name}`: {error}")]
    Load { name: String, error: Box<ChartError> },
    #[error("cannot render `{name}`: {error}")]
    Render { name: String, error: Box<ChartError> },
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Values(#[from] ValuesError),
    #[error(transparent)]
    KubeVersion(#[from] KubeVersionError),
    #[error(transparent)]
    ReleaseName(#[from] ReleaseNameError),
    #[error("`releaseName` and `nameTemplate` cannot be combined")]
    TwoReleaseNames,
    #[error(transparent)]
    Print(#[from] NoSuchTemplate),
}

impl BuildProblem {
    /// Returns the next steps after a chart that cannot be loaded or rendered; empty for other problems.
    pub fn hints(&self) -> Vec<String> {
        let Some(error) = self.error.downcast_ref::<HelmError>() else { return Vec::new() };
        let explained: &dyn Explain = match error {
            HelmError::Load { error, .. } | HelmError::Render { error, .. } => match &**error {
                // The hints for these errors name flags of `chart template`.
                ChartError::MissingDependencies { .. } => {
                    return vec![
                        "fetch the missing charts into `charts/` with `helm dependency build`".to_owned(),
                    ];
                }
                ChartError::Schema { .. } => return vec!["correct the values".to_owned()],
                ChartError::KubeVersion { .. } => {
                    return vec!["set `kubeVersion` in the entry of the chart".to_owned()];
                }
                error => error,
            },
            HelmError::Folder(error) => error,
            HelmError::Values(error) => error,
            HelmError::KubeVersion(error) => error,
            _ => return Vec::new(),
        };
        error_chain(explained).hints
    }
}

/// Adds the objects of the rendered charts.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for (index, chart) in scope.kustomization.helm_charts.iter().enumerate() {
        let field = format!("helmCharts[{index}]");
        let mut chart = chart.clone();
        if chart.namespace.is_empty() {
            chart.namespace = scope.root.namespace().to_owned();
        }
        let origin = ObjectOrigin::Field {
            file: scope.root.file.clone(),
            field: field.clone(),
            plugin: Plugin::of_field(PLUGIN),
        };
        inflate(scope, &field, &chart, &scope.kustomization.helm_globals, origin, objects);
    }
}

/// Renders one chart and adds its objects.
pub(crate) fn inflate(
    scope: &mut Scope<'_, '_>,
    field: &str,
    chart: &HelmChart,
    globals: &HelmGlobals,
    origin: ObjectOrigin,
    objects: &mut Accumulator,
) {
    if scope.ok(field, check(chart)).is_none() {
        return;
    }
    let Some(loaded) = load(scope, field, chart, globals) else { return };
    let Some(values) = values_of(scope, field, chart, &loaded) else { return };
    let printed = render(chart, &loaded, &values, &scope.session.options.charts);
    let Some(printed) = scope.ok(field, printed) else { return };
    let file = TreePath::new(&chart.name);
    let Some(rendered) = scope.parse_objects(field, &file, printed.as_bytes()) else { return };
    let origin = Arc::new(origin);
    for mut read in rendered {
        read.object.set_annotation(HELM_GENERATED, "true");
        let added = objects.append(Resource::read(read, Arc::clone(&origin)));
        scope.ok(field, added);
    }
}

fn check(chart: &HelmChart) -> Result<(), HelmError> {
    if chart.name.is_empty() {
        return Err(HelmError::Nameless);
    }
    values::ValuesMerge::parse(&chart.values_merge).map(drop)
}

/// Loads a chart from its folder in the tree, else from the requested archive.
fn load(scope: &mut Scope<'_, '_>, field: &str, chart: &HelmChart, globals: &HelmGlobals) -> Option<Chart> {
    let home = if globals.chart_home.is_empty() { CHART_HOME } else { &globals.chart_home };
    let home = scope.root.folder.join(home);
    let parent = if chart.version.is_empty() || chart.repo.is_empty() {
        home
    } else {
        home.join(&format!("{}-{}", chart.name, chart.version))
    };
    let folder = parent.join(&chart.name);
    let of_name = |error| HelmError::Load { name: chart.name.clone(), error: Box::new(error) };
    match scope.resolve(field, folder.as_str())? {
        ResolvedPath::Folder(folder) => {
            let files = read_folder(scope.session.tree, &folder, scope.root.copy_top());
            let files = scope.ok(field, files.map_err(HelmError::from))?;
            return scope.ok(field, Chart::from_files(files).map_err(of_name));
        }
        ResolvedPath::File(_) | ResolvedPath::Missing if chart.repo.is_empty() => {
            scope.report(field, HelmError::NoChart(folder));
            return None;
        }
        ResolvedPath::File(_) | ResolvedPath::Missing => {}
    }
    let HelmChart { name, repo, version, devel, .. } = chart.clone();
    match scope.fetch(field, &chart.name, FetchRequest::Chart(ChartPull { name, repo, version, devel }))? {
        FetchedContent::Bytes(archive) => scope.ok(field, Chart::from_archive(&archive).map_err(of_name)),
        FetchedContent::Folder { .. } => {
            let (entry, reason) = (chart.name.clone(), "the result is not an archive".to_owned());
            scope.report(field, LoadError::FetchFailed { entry, reason });
            None
        }
    }
}

/// Merges the values of a chart with those of the kustomization, then adds the additional files.
fn values_of(scope: &mut Scope<'_, '_>, field: &str, chart: &HelmChart, loaded: &Chart) -> Option<Values> {
    let (file, bytes) = if chart.values_file.is_empty() {
        let own = loaded.show_values();
        (TreePath::new(&chart.name).join("values.yaml"), Arc::from(own.as_bytes()))
    } else {
        scope.load(&format!("{field}.valuesFile"), &chart.values_file)?
    };
    let mut values = Values::default();
    let mut add =
        |file: &TreePath, bytes: &[u8]| values.merge_file(file.as_str(), bytes).map_err(HelmError::from);
    if chart.values_inline.is_empty() {
        let added = add(&file, &bytes);
        scope.ok(field, added)?;
    } else {
        let merge = values::ValuesMerge::parse(&chart.values_merge).unwrap_or_default();
        let merged = values::merge_values(merge, &file, &bytes, &chart.values_inline);
        let added = add(&file, scope.ok(field, merged)?.as_bytes());
        scope.ok(field, added)?;
    }
    for (index, path) in chart.additional_values_files.iter().enumerate() {
        let (file, bytes) = scope.load(&format!("{field}.additionalValuesFiles[{index}]"), path)?;
        let added = add(&file, &bytes);
        scope.ok(field, added)?;
    }
    Some(values)
}

/// Returns the text that `helm template` prints for a chart.
fn render(
    chart: &HelmChart,
    loaded: &Chart,
    values: &Values,
    options: &ChartOptions,
) -> Result<String, HelmError> {
    let namespace = if chart.namespace.is_empty() { DEFAULT_NAMESPACE } else { &chart.namespace };
    let release = Release::new(&release_name(chart, options)?, namespace);
    let own = Some(&chart.kube_version).filter(|version| !version.is_empty());
    let kube_version = own.unwrap_or(&options.kube_version);
    let own = Some(&chart.api_versions).filter(|versions| !versions.is_empty());
    let api_versions = own.unwrap_or(&options.api_versions);
    let capabilities = Capabilities::new(kube_version, api_versions)?;
    let options = RenderOptions { capabilities, now: options.now, ..RenderOptions::new(release) };
    let rendered = loaded.render(values, &options);
    let rendered =
        rendered.map_err(|error| HelmError::Render { name: chart.name.clone(), error: Box::new(error) })?;
    Ok(rendered.print(&PrintOptions {
        include_crds: chart.include_crds,
        no_hooks: chart.skip_hooks,
        skip_tests: chart.skip_tests,
        show_only: Vec::new(),
    })?)
}

/// Returns the name of the release. Helm makes up a name from the chart and the time if there is none.
fn release_name(chart: &HelmChart, options: &ChartOptions) -> Result<String, HelmError> {
    match (&*chart.release_name, &*chart.name_template) {
        ("", "") => Ok(Release::generated_name(&chart.name, options.now)),
        ("", pattern) => Ok(Release::name_of_template(pattern)?),
        (name, "") => Ok(name.to_owned()),
        (_, _) => Err(HelmError::TwoReleaseNames),
    }
}

#[cfg(test)]
mod tests;
