//! `helmCharts`: charts that the caller renders.
//!
//! ```text
//! chart in the tree, else ChartPull ─► its values merged with those of the kustomization ─► ChartTemplate
//! ```
//! Source: kustomize v5.8.1 HelmChartInflationGenerator, api/types/helmchartargs.go.

mod values;

use std::sync::Arc;

use manifest::{YamlLimits, read_resources};

use crate::accumulator::Accumulator;
use crate::kustomization::generators::{HelmChart, HelmGlobals};
use crate::request::{ChartPull, ChartTemplate, ChartValues, FetchRequest, FetchedContent};
use crate::resource::{ObjectOrigin, Plugin, Resource};
use crate::scope::{LoadError, Scope};
use crate::{HelmPermission, ResolvedPath, TreePath};

/// The plugin behind `helmCharts`.
const PLUGIN: &str = "HelmChartInflationGenerator";

/// Marks objects rendered by Helm during the build: they already have the namespace given to Helm.
pub(crate) const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";

/// The default folder of charts.
const CHART_HOME: &str = "charts";

/// A chart that cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelmError {
    #[error("cannot render chart `{0}` with `helm`: must specify --enable-helm")]
    Disabled(String),
    #[error("`name` of the chart is missing")]
    Nameless,
    #[error("no chart at `{0}`, and no `repo` to pull the chart from")]
    NoChart(TreePath),
    #[error("`valuesMerge` must be `override`, `merge` or `replace`, not `{0}`")]
    UnknownMerge(String),
    #[error("cannot read values from `{file}`: {reason}")]
    InvalidValues { file: TreePath, reason: String },
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
    let checked = check(scope, chart);
    if scope.ok(field, checked).is_none() {
        return;
    }
    let Some(folder) = find(scope, field, chart, globals) else { return };
    let Some(values) = values_of(scope, field, chart, &folder) else { return };
    let request = FetchRequest::ChartTemplate(Box::new(template(chart, globals, folder, values)));
    let Some(FetchedContent::Bytes(printed)) = scope.fetch(field, &chart.name, request) else { return };
    let file = TreePath::new(&chart.name);
    let Some(rendered) = scope.parse_objects(field, &file, without_messages(&printed)) else { return };
    let origin = Arc::new(origin);
    for mut read in rendered {
        read.object.set_annotation(HELM_GENERATED, "true");
        let added = objects.append(Resource::read(read, Arc::clone(&origin)));
        scope.ok(field, added);
    }
}

fn check(scope: &Scope<'_, '_>, chart: &HelmChart) -> Result<(), HelmError> {
    if scope.session.options.helm == HelmPermission::Off {
        return Err(HelmError::Disabled(chart.name.clone()));
    }
    if chart.name.is_empty() {
        return Err(HelmError::Nameless);
    }
    values::ValuesMerge::parse(&chart.values_merge).map(drop)
}

/// Finds the folder of a chart in the tree, else requests the chart.
fn find(
    scope: &mut Scope<'_, '_>,
    field: &str,
    chart: &HelmChart,
    globals: &HelmGlobals,
) -> Option<TreePath> {
    let home = if globals.chart_home.is_empty() { CHART_HOME } else { &globals.chart_home };
    let home = scope.root.folder.join(home);
    let into = if chart.version.is_empty() || chart.repo.is_empty() {
        home
    } else {
        home.join(&format!("{}-{}", chart.name, chart.version))
    };
    let folder = into.join(&chart.name);
    match scope.resolve(field, folder.as_str())? {
        ResolvedPath::Folder(folder) => return Some(folder),
        ResolvedPath::File(_) | ResolvedPath::Missing if chart.repo.is_empty() => {
            scope.report(field, HelmError::NoChart(folder));
            return None;
        }
        ResolvedPath::File(_) | ResolvedPath::Missing => {}
    }
    let HelmChart { name, repo, version, devel, .. } = chart.clone();
    let pull =
        ChartPull { name, repo, version, devel, destination: into, config_home: globals.config_home.clone() };
    match scope.fetch(field, &chart.name, FetchRequest::ChartPull(pull))? {
        FetchedContent::Folder { root, .. } => Some(root),
        FetchedContent::Bytes(_) => {
            let (entry, reason) = (chart.name.clone(), "helm returned no folder".to_owned());
            scope.report(field, LoadError::FetchFailed { entry, verb: "fetch", reason });
            None
        }
    }
}

/// Merges the values of a chart with those of the kustomization, then adds the additional files.
fn values_of(
    scope: &mut Scope<'_, '_>,
    field: &str,
    chart: &HelmChart,
    folder: &TreePath,
) -> Option<Vec<ChartValues>> {
    let file = if chart.values_file.is_empty() {
        // The load restrictions do not apply: the file belongs to the chart, and a requested chart can be in any
        // folder.
        let file = folder.join("values.yaml");
        let read = scope.session.tree.read(&file).unwrap_or_default();
        (file, read)
    } else {
        scope.load(&format!("{field}.valuesFile"), &chart.values_file)?
    };
    let first = if chart.values_inline.is_empty() {
        // Values are optional for a chart.
        Some(file).filter(|(_, bytes)| !bytes.is_empty()).map(|(file, _)| ChartValues::File(file))
    } else {
        let merge = values::ValuesMerge::parse(&chart.values_merge).unwrap_or_default();
        let merged = values::merge_values(merge, &file.0, &file.1, &chart.values_inline);
        Some(ChartValues::Text(scope.ok(field, merged)?))
    };
    let mut all: Vec<ChartValues> = first.into_iter().collect();
    for (index, path) in chart.additional_values_files.iter().enumerate() {
        let (file, _) = scope.load(&format!("{field}.additionalValuesFiles[{index}]"), path)?;
        all.push(ChartValues::File(file));
    }
    Some(all)
}

fn template(
    chart: &HelmChart,
    globals: &HelmGlobals,
    folder: TreePath,
    values: Vec<ChartValues>,
) -> ChartTemplate {
    let mut flags = Vec::new();
    if !chart.name_template.is_empty() {
        flags.extend(["--name-template".to_owned(), chart.name_template.clone()]);
    }
    let switches = [
        (chart.include_crds, "--include-crds"),
        (chart.skip_tests, "--skip-tests"),
        (chart.skip_hooks, "--no-hooks"),
        (chart.debug, "--debug"),
        (chart.devel, "--devel"),
    ];
    flags.extend(switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag.to_owned()));
    ChartTemplate {
        chart: folder,
        release: chart.release_name.clone(),
        namespace: chart.namespace.clone(),
        kube_version: chart.kube_version.clone(),
        api_versions: chart.api_versions.clone(),
        flags,
        values,
        config_home: globals.config_home.clone(),
    }
}

/// Drops the messages that Helm may print before the first document.
fn without_messages(printed: &[u8]) -> &[u8] {
    if read_resources(printed, &YamlLimits::default()).is_ok() {
        return printed;
    }
    let start = printed.windows(5).position(|window| window == b"\n---\n");
    start.map_or(printed, |start| &printed[start + 1..])
}

#[cfg(test)]
mod tests;
