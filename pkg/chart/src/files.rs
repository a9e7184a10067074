//! The files of a chart, sorted by their purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use template::Str;

use crate::archive::{self, Budget, MAX_CHART_BYTES};
use crate::error::ChartError;
use crate::metadata::Metadata;
use crate::schema::{CompiledSchema, PlainSchema};
use crate::value_tree::{Table, read_json, read_table};

/// The deepest nesting of charts.
const MAX_DEPTH: usize = 64;

/// A file of a chart.
#[derive(Clone, Debug)]
pub struct ChartFile {
    /// The path in the chart, with `/` between names.
    pub path: String,
    /// The content, without a byte order mark.
    pub content: Str,
}

impl ChartFile {
    /// Creates a file.
    pub fn new(path: impl Into<String>, content: impl Into<Str>) -> Self {
        let content = content.into();
        let without_mark = content.strip_prefix(&[0xEF, 0xBB, 0xBF]).map(Str::from);
        Self { path: path.into(), content: without_mark.unwrap_or(content) }
    }
}

/// A chart as its files define it, before values decide about its subcharts.
#[derive(Debug)]
pub(crate) struct LoadedChart {
    pub(crate) metadata: Metadata,
    /// `values.yaml`, as written.
    pub(crate) values_text: Option<Str>,
    pub(crate) values: Table,
    pub(crate) schema: Option<Str>,
    pub(crate) templates: Vec<ChartFile>,
    pub(crate) files: Vec<ChartFile>,
    pub(crate) subcharts: Vec<Arc<Self>>,
    /// The path of the chart in its parents: `web/charts/db`.
    pub(crate) path: String,
    plain_schema: OnceLock<Option<PlainSchema>>,
    compiled_schema: OnceLock<Result<CompiledSchema, String>>,
}

impl LoadedChart {
    /// Returns a subchart.
    pub(crate) fn subchart(&self, name: &str) -> Option<&Self> {
        self.subcharts.iter().map(|subchart| &**subchart).find(|subchart| subchart.metadata.name == name)
    }

    /// True if the chart has a plain schema that the values fit, so that it need not be compiled.
    pub(crate) fn accepts(&self, values: &serde_json::Value) -> bool {
        let Some(text) = &self.schema else { return false };
        let plain = self.plain_schema.get_or_init(|| PlainSchema::parse(text));
        plain.as_ref().is_some_and(|plain| plain.accepts(values))
    }

    /// Returns the schema of the values, compiled once; the error is the reason why it cannot be used.
    pub(crate) fn compiled_schema(&self) -> Option<&Result<CompiledSchema, String>> {
        let text = self.schema.as_ref()?;
        Some(self.compiled_schema.get_or_init(|| CompiledSchema::new(text)))
    }
}

/// Loads a chart from its files.
pub(crate) fn load(files: Vec<ChartFile>) -> Result<LoadedChart, ChartError> {
    load_in(files, "", &mut Budget(MAX_CHART_BYTES), 0)
}

/// Loads a chart from an archive.
pub(crate) fn load_archive(bytes: &[u8]) -> Result<LoadedChart, ChartError> {
    let mut budget = Budget(MAX_CHART_BYTES);
    let files = archive::read(bytes, &mut budget).map_err(ChartError::Archive)?;
    load_in(files, "", &mut budget, 0)
}

fn load_in(
    files: Vec<ChartFile>,
    parent: &str,
    budget: &mut Budget,
    depth: usize,
) -> Result<LoadedChart, ChartError> {
    if depth > MAX_DEPTH {
        return Err(ChartError::TooDeep { limit: MAX_DEPTH });
    }
    let mut reader = Reader::default();
    reader.read_chart_file(&files)?;
    let names: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    for file in files {
        reader.sort(file)?;
    }
    let Reader { metadata, null_entry, values_text, values, schema, templates, files, subcharts } = reader;
    let Some(mut metadata) = metadata else { return Err(ChartError::NoChartFile { near: similar(names) }) };
    if let Some(error) = metadata.validate().err().or(null_entry) {
        return Err(ChartError::Metadata(error));
    }
    let path =
        if parent.is_empty() { metadata.name.clone() } else { format!("{parent}/charts/{}", metadata.name) };
    let subcharts = load_subcharts(subcharts, &metadata.name, &path, budget, depth)?;
    Ok(LoadedChart {
        metadata,
        values_text,
        values,
        schema,
        templates,
        files,
        subcharts,
        path,
        plain_schema: OnceLock::new(),
        compiled_schema: OnceLock::new(),
    })
}

/// Returns files whose name differs from `Chart.yaml` in case, ending or folder only.
fn similar(names: Vec<String>) -> Vec<String> {
    let is_similar = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        matches!(name.as_str(), "chart.yaml" | "chart.yml") && path.matches('/').count() < 2
    };
    names.into_iter().filter(is_similar).take(3).collect()
}

#[derive(Default)]
struct Reader {
    metadata: Option<Metadata>,
    null_entry: Option<crate::metadata::MetadataError>,
    values_text: Option<Str>,
    values: Table,
    schema: Option<Str>,
    templates: Vec<ChartFile>,
    files: Vec<ChartFile>,
    subcharts: BTreeMap<String, Vec<ChartFile>>,
}

impl Reader {
    /// Reads `Chart.yaml`, wherever it is among the files.
    fn read_chart_file(&mut self, files: &[ChartFile]) -> Result<(), ChartError> {
        for file in files.iter().filter(|file| file.path == "Chart.yaml") {
            self.read_metadata(file)?;
            let metadata = self.metadata.get_or_insert_default();
            if metadata.api_version.is_empty() {
                "v1".clone_into(&mut metadata.api_version);
            }
        }
        Ok(())
    }

    fn read_metadata(&mut self, file: &ChartFile) -> Result<(), ChartError> {
        let json = yaml_of(file)?;
        let read = self.metadata.get_or_insert_default().read(&json);
        let null = read.map_err(|error| ChartError::Field { file: file.path.clone(), error })?;
        self.null_entry = self.null_entry.take().or(null);
        Ok(())
    }

    fn is_v1(&self) -> bool {
        self.metadata.as_ref().is_some_and(|metadata| metadata.api_version == "v1")
    }

    /// Puts a file where it belongs.
    fn sort(&mut self, file: ChartFile) -> Result<(), ChartError> {
        match file.path.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => drop(yaml_of(&file)?),
            "values.yaml" => {
                self.values = read_table(&file.content).map_err(ChartError::Values)?;
                self.values_text = Some(file.content);
            }
            "values.schema.json" => self.schema = Some(file.content),
            "requirements.yaml" => {
                self.read_metadata(&file)?;
                if self.is_v1() {
                    self.files.push(file);
                }
            }
            "requirements.lock" => {
                yaml_of(&file)?;
                if self.is_v1() {
                    self.files.push(file);
                }
            }
            path if path.starts_with("templates/") => self.templates.push(file),
            path => match path.strip_prefix("charts/") {
                Some(inner) if extension(inner) != ".prov" => {
                    let name = inner.split('/').next().unwrap_or_default().to_owned();
                    let file = ChartFile { path: inner.to_owned(), content: file.content };
                    self.subcharts.entry(name).or_default().push(file);
                }
                _ => self.files.push(file),
            },
        }
        Ok(())
    }
}

fn load_subcharts(
    subcharts: BTreeMap<String, Vec<ChartFile>>,
    parent: &str,
    path: &str,
    budget: &mut Budget,
    depth: usize,
) -> Result<Vec<Arc<LoadedChart>>, ChartError> {
    let mut loaded = Vec::new();
    for (name, files) in subcharts {
        if name.starts_with(['_', '.']) {
            continue;
        }
        let chart = if extension(&name) == ".tgz" {
            let file = &files[0];
            if file.path != name {
                let (parent, found) = (parent.to_owned(), file.path.clone());
                return Err(ChartError::ArchiveIsFolder { name, parent, found });
            }
            archive::read(&file.content, budget)
                .map_err(ChartError::Archive)
                .and_then(|files| load_in(files, path, budget, depth + 1))
        } else {
            let inside = |file: ChartFile| {
                let (_, inner) = file.path.split_once('/')?;
                Some(ChartFile { path: inner.to_owned(), content: file.content })
            };
            load_in(files.into_iter().filter_map(inside).collect(), path, budget, depth + 1)
        };
        let wrap = |error| ChartError::Subchart {
            name: name.clone(),
            parent: parent.to_owned(),
            error: Box::new(error),
        };
        loaded.push(Arc::new(chart.map_err(wrap)?));
    }
    Ok(loaded)
}

fn yaml_of(file: &ChartFile) -> Result<serde_json::Value, ChartError> {
    read_json(&file.content).map_err(|error| ChartError::Yaml { file: file.path.clone(), error })
}

impl Metadata {
    /// Parses a `Chart.yaml` or a `requirements.yaml`. Required fields may be missing.
    ///
    /// # Errors
    /// A text that is no YAML, or a field of another type.
    pub fn parse(file: &ChartFile) -> Result<Self, ChartError> {
        let mut metadata = Self::default();
        let read = metadata.read(&yaml_of(file)?);
        read.map_err(|error| ChartError::Field { file: file.path.clone(), error })?;
        Ok(metadata)
    }
}

/// True for a file in `crds/` that is a manifest.
pub(crate) fn is_crd(path: &str) -> bool {
    let extension = extension(path).to_ascii_lowercase();
    path.starts_with("crds/") && matches!(extension.as_str(), ".yaml" | ".yml" | ".json")
}

/// Returns the ending of a path with its dot, as Go's `filepath.Ext`.
pub(crate) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').map_or("", |at| &name[at..])
}
