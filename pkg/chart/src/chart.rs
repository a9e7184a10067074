//! A loaded chart, and its rendering.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use manifest::provenance::Trace;
use manifest::yaml::YamlError;
use template::{Elem, Map, Output, Session, Settings, Span, Templates, TooDeep, Value};

use crate::coalesce::{Coalescing, Nulls};
use crate::compile::{Cache, Job, Jobs};
use crate::error::{ChartError, TemplatePosition};
use crate::file_object::FilesDialect;
use crate::files::{ChartFile, LoadedChart, is_crd, load, load_archive};
use crate::instance::{Instance, table};
use crate::manifest::{Manifest, Sorted};
use crate::metadata::{Dependency, Metadata};
use crate::options::RenderOptions;
use crate::provenance::{OutputPieces, ValueOrigins, ValuePaths};
use crate::value_tree::to_map;
use crate::values::Values;
use crate::{file_object, objects, schema};

/// The most bytes that all templates of a chart may print.
const MAX_OUTPUT_BYTES: usize = 256 << 20;

/// The file with the notes of a chart.
const NOTES: &str = "NOTES.txt";

/// A chart with its subcharts. It can be shared between threads and rendered many times.
#[derive(Debug)]
pub struct Chart {
    pub(crate) loaded: Arc<LoadedChart>,
    cache: Cache,
}

/// A rendered chart.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The manifests in the order of installation.
    pub manifests: Vec<Manifest>,
    /// The hooks in the order in which Helm prints them.
    pub hooks: Vec<Manifest>,
    /// The notes for the user.
    pub notes: String,
    /// The files in `crds/` of the chart and its subcharts, with the paths of their charts.
    pub crds: Vec<ChartFile>,
    /// The warnings of Helm, such as ignored values.
    pub warnings: Vec<String>,
    /// The pieces of the outputs by their templates, if provenance is recorded.
    pub(crate) pieces: BTreeMap<String, OutputPieces>,
}

impl Chart {
    /// Loads a chart from its files.
    ///
    /// # Errors
    /// A missing or invalid `Chart.yaml`, values that are not a mapping, a subchart that cannot be loaded.
    pub fn from_files(files: impl IntoIterator<Item = ChartFile>) -> Result<Self, ChartError> {
        Ok(Self { loaded: Arc::new(load(files.into_iter().collect())?), cache: Cache::default() })
    }

    /// Loads a chart from a `.tgz` archive.
    ///
    /// # Errors
    /// As [`Chart::from_files`], and an archive that is not accepted.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, ChartError> {
        Ok(Self { loaded: Arc::new(load_archive(bytes)?), cache: Cache::default() })
    }

    /// The content of `Chart.yaml`.
    pub fn metadata(&self) -> &Metadata {
        &self.loaded.metadata
    }

    /// Returns the dependencies in `Chart.yaml` that are not in `charts/`.
    pub fn missing_dependencies(&self) -> impl Iterator<Item = &Dependency> {
        let is_present = |name: &str| self.loaded.subcharts.iter().any(|chart| chart.metadata.name == name);
        let dependencies = self.loaded.metadata.dependencies.iter().flatten();
        dependencies.filter(move |dependency| !is_present(&dependency.name))
    }

    /// Renders the chart.
    ///
    /// # Errors
    /// The first problem, as Helm words it.
    pub fn render(&self, values: &Values, options: &RenderOptions) -> Result<Rendered, ChartError> {
        self.check_installable()?;
        options.release.check_name().map_err(ChartError::ReleaseName)?;
        let mut warnings = Vec::new();
        let user_values = values;
        let user = to_map(&values.table);
        let mut root = Instance::new(&self.loaded);
        root.process(&user, &mut warnings)?;
        let mut coalescing = Coalescing { nulls: Nulls::Remove, warnings: &mut warnings };
        let values = coalescing.values(&root, &user)?;
        if !options.skips_schema {
            check_schemas(&root, &values, &mut warnings)?;
        }
        self.check_kube_version(options)?;
        let outputs = self.execute(&root, &values, options, user_values)?;
        let Outputs { files, notes, pieces } = outputs;
        let Sorted { manifests, hooks, unknown } = Sorted::read(files)?;
        warnings.extend(unknown);
        let mut crds = Vec::new();
        add_crds(&root, &root.name, &mut crds);
        Ok(Rendered { manifests, hooks, notes, crds, warnings, pieces })
    }

    /// Renders the templates for `lint`, without the checks of an installation. Returns the outputs with their templates.
    /// `None` if values and subcharts do not fit together, where `helm lint` reports nothing.
    pub(crate) fn render_for_lint(
        &self,
        values: &Values,
        options: &RenderOptions,
    ) -> Result<Option<Vec<(String, String)>>, ChartError> {
        let mut warnings = Vec::new();
        let user_values = values;
        let user = to_map(&values.table);
        let mut root = Instance::new(&self.loaded);
        if root.process(&user, &mut warnings).is_err() {
            return Ok(None);
        }
        let mut coalescing = Coalescing { nulls: Nulls::Remove, warnings: &mut warnings };
        // As in `helm lint`, the second time removes values that are still null.
        let Ok(values) = coalescing.values(&root, &user) else { return Ok(None) };
        let Ok(values) = coalescing.values(&root, &values) else { return Ok(None) };
        if !options.skips_schema {
            check_schemas(&root, &values, &mut warnings)?;
        }
        let options = RenderOptions { lint: true, ..options.clone() };
        Ok(Some(self.execute(&root, &values, &options, user_values)?.files))
    }

    fn check_installable(&self) -> Result<(), ChartError> {
        let Metadata { kind, .. } = &self.loaded.metadata;
        if !matches!(kind.as_str(), "" | "application") {
            return Err(ChartError::NotInstallable { kind: kind.clone() });
        }
        let missing: Vec<String> = self.missing_dependencies().map(|missing| missing.name.clone()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let present = self.loaded.subcharts.iter().map(|chart| chart.metadata.name.clone()).collect();
        Err(ChartError::MissingDependencies { names: missing, present })
    }

    fn check_kube_version(&self, options: &RenderOptions) -> Result<(), ChartError> {
        let required = &self.loaded.metadata.kube_version;
        let found = &options.capabilities.kube_version.version;
        if required.is_empty() || template::version_matches(required, found) {
            return Ok(());
        }
        Err(ChartError::KubeVersion { required: required.clone(), found: found.clone() })
    }

    /// Executes the templates of all charts.
    fn execute(
        &self,
        root: &Instance,
        values: &Map,
        options: &RenderOptions,
        user_values: &Values,
    ) -> Result<Outputs, ChartError> {
        let mut jobs = Jobs::default();
        let shared =
            Shared { release: release(options), capabilities: objects::capabilities(&options.capabilities) };
        let data = shared.data(root, values.with_elem(Elem::Values), true);
        shared.add_jobs(root, &data, &root.name, true, &mut jobs);
        let templates = self.cache.templates(&jobs).map_err(|error| jobs.first_error(error))?;
        let mut session = session(options, settings(options));
        let paths = (options.trace == Trace::On).then(|| ValuePaths::new(values));
        let mut outputs = Outputs::default();
        let mut total = 0_usize;
        for job in jobs.iter().filter(|job| !job.is_partial()) {
            let output = job.render(&templates, &mut session);
            let output = output.map_err(|error| with_required(error, &templates, &jobs, options));
            let (output, spans) =
                output.and_then(|output| text(&job.name, output)).map_err(|error| jobs.first_error(error))?;
            if let Some(paths) = &paths {
                let origins = ValueOrigins { chart: &self.loaded, values: user_values, jobs: &jobs, paths };
                let pieces = OutputPieces::new(&job.name, &output, &spans, &origins);
                outputs.pieces.insert(job.name.clone(), pieces);
            }
            total = total.saturating_add(output.len());
            if total > MAX_OUTPUT_BYTES {
                return Err(jobs.first_error(ChartError::OutputTooLarge { limit: MAX_OUTPUT_BYTES }));
            }
            outputs.add(job, output, root);
        }
        Ok(outputs)
    }
}

/// Returns the output of a template as text, and its spans. Notes may have bytes that are not UTF-8, which become U+FFFD.
fn text(template: &str, mut output: Output) -> Result<(String, Vec<Span>), ChartError> {
    let spans = std::mem::take(&mut output.spans);
    let output = output.into_text().or_else(|error| {
        let (bytes, error) = (error.as_bytes(), error.utf8_error());
        let output = String::from_utf8_lossy(bytes).into_owned();
        if template.ends_with(NOTES) {
            return Ok(output);
        }
        let error = YamlError::invalid_utf8(bytes, error);
        Err(ChartError::ManifestYaml { template: template.to_owned(), error, output })
    });
    Ok((output?, spans))
}

/// Adds all values that templates require, if the error is about one of them.
///
/// Templates are rendered again with empty values in their place; other errors of this attempt do not count.
fn with_required(
    mut error: ChartError,
    templates: &Templates,
    jobs: &Jobs,
    options: &RenderOptions,
) -> ChartError {
    if let ChartError::Template { position: Some(position), required, .. } = &mut error
        && position.message().is_some()
    {
        let mut session = session(options, Settings { collects_required: true, ..settings(options) });
        for job in jobs.iter().filter(|job| !job.is_partial()) {
            let _ = job.render(templates, &mut session);
        }
        for error in session.take_required() {
            let position = TemplatePosition::of(&error);
            if !required.contains(&position) {
                required.push(position);
            }
        }
        if !required.iter().any(|one| one.message() == position.message()) {
            required.clear();
        }
    }
    error
}

/// Checks the values of all charts that have a schema.
fn check_schemas(root: &Instance, values: &Map, warnings: &mut Vec<String>) -> Result<(), ChartError> {
    if !root.has_schema() {
        return Ok(());
    }
    let json = Value::Map(values.clone()).to_json().map_err(|TooDeep| ChartError::ValuesTooDeep)?;
    let reports = schema::check(root, &json.unwrap_or_default(), warnings);
    if reports.is_empty() { Ok(()) } else { Err(ChartError::Schema { reports }) }
}

/// The outputs of templates by their files.
#[derive(Default)]
struct Outputs {
    files: Vec<(String, String)>,
    notes: String,
    pieces: BTreeMap<String, OutputPieces>,
}

impl Outputs {
    fn add(&mut self, job: &Job, output: String, root: &Instance) {
        if !job.name.ends_with(NOTES) {
            return self.files.push((job.name.clone(), output));
        }
        // The notes of subcharts are not shown.
        if job.name.strip_prefix(root.name.as_str()) == Some("/templates/NOTES.txt") {
            self.notes = output;
        }
    }
}

/// The data that all charts see alike.
struct Shared {
    release: Value,
    capabilities: Value,
}

impl Shared {
    /// Creates the data of a chart.
    fn data(&self, instance: &Instance, values: Map, is_root: bool) -> Map {
        let entries = [
            ("Chart", objects::chart(instance, is_root)),
            ("Files", file_object::files_value(&instance.chart.files, FilesDialect::Helm)),
            ("Release", self.release.clone()),
            ("Capabilities", self.capabilities.clone()),
            ("Values", Value::Map(values)),
            ("Subcharts", Value::Map(Map::default())),
        ];
        entries.into_iter().collect::<Map>().with_elem(Elem::Values)
    }

    /// Adds the templates of a chart and its subcharts. `path` is the path of the chart in its parents.
    fn add_jobs(&self, instance: &Instance, data: &Map, path: &str, is_root: bool, jobs: &mut Jobs) {
        let inner_path = if instance.is_selected || is_root { path } else { &instance.chart.path };
        for subchart in &instance.subcharts {
            let values = match data.get(b"Values") {
                Some(Value::Map(values)) => table(&values, &subchart.name).unwrap_or_default(),
                _ => Map::default(),
            };
            let inner = self.data(subchart, values.with_elem(Elem::Values), false);
            if let Some(Value::Map(subcharts)) = data.get(b"Subcharts") {
                subcharts.insert(subchart.name.as_str(), Value::Map(inner.with_elem(Elem::Any)));
            }
            self.add_jobs(subchart, &inner, &format!("{inner_path}/charts/{}", subchart.name), false, jobs);
        }
        let is_library = instance.chart.metadata.kind.eq_ignore_ascii_case("library");
        for (index, file) in instance.chart.templates.iter().enumerate() {
            let job = Job {
                name: format!("{path}/{}", file.path),
                chart: instance.chart.clone(),
                index,
                data: data.clone(),
                base_path: format!("{path}/templates"),
            };
            if !is_library || job.is_partial() {
                jobs.add(job);
            }
        }
    }
}

fn release(options: &RenderOptions) -> Value {
    let release = &options.release;
    Value::map([
        ("Name", release.name.as_str().into()),
        ("Namespace", release.namespace.as_str().into()),
        ("IsUpgrade", release.is_upgrade.into()),
        ("IsInstall", (release.revision > 0 && !release.is_upgrade).into()),
        ("Revision", Value::Int(release.revision)),
        ("Service", "Helm".into()),
    ])
}

fn session(options: &RenderOptions, settings: Settings) -> Session {
    let session = Session::new(settings);
    match &options.lookup {
        Some(cluster) => session.with_host(Rc::new(cluster.clone())),
        None => session,
    }
}

fn settings(options: &RenderOptions) -> Settings {
    Settings {
        lint: options.lint,
        enable_dns: options.enable_dns,
        trace: options.trace == Trace::On,
        seed: options.seed,
        now: options.now,
        ..Settings::helm()
    }
}

/// Adds the files in `crds/` of a chart and its subcharts.
fn add_crds(instance: &Instance, path: &str, crds: &mut Vec<ChartFile>) {
    for file in instance.chart.files.iter().filter(|file| is_crd(&file.path)) {
        crds.push(ChartFile { path: format!("{path}/{}", file.path), content: file.content.clone() });
    }
    let inner_path = if instance.is_selected { path } else { &instance.chart.path };
    for subchart in &instance.subcharts {
        add_crds(subchart, &format!("{inner_path}/charts/{}", subchart.name), crds);
    }
}
