//! The files of a chart, sorted by their purpose.

use std::collections::BTreeMap;

use chart::{ChartFile, Dependency, Metadata, TreePath};
use manifest::{YamlLimits, type_name, yaml};
use serde_json::{Map, Value};

use crate::render::error::RenderProblem;
use crate::render::files::{SourceFile, has_extension, text};
use crate::render::values;

/// A chart with its subcharts.
pub(super) struct ChartSource {
    pub(super) folder: TreePath,
    pub(super) metadata: Metadata,
    /// The dependencies of `Chart.yaml`, then the folders in `charts/` that it does not name.
    pub(super) dependencies: Vec<Dependency>,
    /// The default values, with those imported from subcharts.
    pub(super) values: Map<String, Value>,
    pub(super) crds: Vec<SourceFile>,
    /// The templates that print objects.
    pub(super) templates: Vec<SourceFile>,
    /// The templates that only define others.
    pub(super) helpers: Vec<SourceFile>,
    /// The files that `.Files` has.
    pub(super) files: Vec<ChartFile>,
    /// The subcharts by the names of their folders.
    pub(super) subcharts: BTreeMap<String, Self>,
}

impl ChartSource {
    /// Sorts the files of a chart. `parent` is the chart around it.
    pub(super) fn load(
        folder: &TreePath,
        files: Vec<SourceFile>,
        parent: Option<&Metadata>,
    ) -> Result<Self, RenderProblem> {
        let find = |path: &str| files.iter().find(|file| file.path == path).map(|file| &*file.content);
        let Some(chart_file) = find("Chart.yaml") else {
            return Err(RenderProblem::PathMissing { path: folder.join("Chart.yaml") });
        };
        let mut metadata = parse_metadata(&folder.join("Chart.yaml"), chart_file)?;
        if let (None, Some(requirements)) = (&metadata.dependencies, find("requirements.yaml")) {
            metadata.dependencies =
                parse_metadata(&folder.join("requirements.yaml"), requirements)?.dependencies;
        }
        let is_application = matches!(metadata.kind.as_str(), "" | "application");
        if is_application && parent.is_some_and(|parent| parent.kind == "library") {
            return Err(RenderProblem::ApplicationInLibrary { folder: folder.clone() });
        }
        let values = find("values.yaml").map(|content| parse_values(folder, content)).transpose()?;
        let mut chart = Self {
            folder: folder.clone(),
            dependencies: metadata.dependencies.clone().unwrap_or_default(),
            metadata,
            values: values.unwrap_or_default(),
            crds: Vec::new(),
            templates: Vec::new(),
            helpers: Vec::new(),
            files: Vec::new(),
            subcharts: BTreeMap::new(),
        };
        let mut subcharts: BTreeMap<String, Vec<SourceFile>> = BTreeMap::new();
        for file in files {
            match file.path.strip_prefix("charts/").and_then(|path| path.split_once('/')) {
                Some((name, path)) => {
                    let file = SourceFile { path: path.to_owned(), content: file.content };
                    subcharts.entry(name.to_owned()).or_default().push(file);
                }
                None => chart.sort(file, is_application),
            }
        }
        for (name, files) in subcharts {
            let subchart = Self::load(&folder.join("charts").join(&name), files, Some(&chart.metadata))?;
            if !chart.dependencies.iter().any(|dependency| dependency.name == name) {
                chart.dependencies.push(Dependency { name: name.clone(), ..Dependency::default() });
            }
            chart.subcharts.insert(name, subchart);
        }
        chart.import_values()?;
        Ok(chart)
    }

    /// Puts a file where it belongs.
    fn sort(&mut self, file: SourceFile, is_application: bool) {
        let path = file.path.as_str();
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_manifest = has_extension(name, "yaml") && is_application;
        if path.starts_with("templates/") {
            if name.starts_with('_') {
                self.helpers.push(file);
            } else if is_manifest {
                self.templates.push(file);
            }
        } else if path.starts_with("crds/") {
            if is_manifest {
                self.crds.push(file);
            }
        } else if !is_hidden(path) {
            self.files.push(ChartFile { path: file.path, content: (&*file.content).into() });
        }
    }

    /// Copies the values that dependencies export over those of the chart.
    fn import_values(&mut self) -> Result<(), RenderProblem> {
        for dependency in &self.dependencies {
            let Some(subchart) = self.subcharts.get(&dependency.name) else {
                let (folder, name) = (self.folder.clone(), dependency.name.clone());
                return Err(RenderProblem::NoSubchart { folder, name });
            };
            for import in &dependency.import_values {
                let (child, parent) = import_paths(import).ok_or_else(|| {
                    let (chart, field) = (self.metadata.name.clone(), "import-values".to_owned());
                    RenderProblem::ChartValues {
                        chart,
                        field,
                        expected: "a list of names, or of `child` and `parent`",
                    }
                })?;
                let Some(Value::Object(table)) = values::at(&subchart.values, &child) else { continue };
                for (key, value) in table {
                    if !values::set(&mut self.values, &parent, key, value.clone()) {
                        let (chart, expected) = (self.metadata.name.clone(), "a table");
                        return Err(RenderProblem::ChartValues { chart, field: parent, expected });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the paths of an entry of `import-values`, in the child and in the parent; the root is empty.
fn import_paths(import: &Value) -> Option<(String, String)> {
    let field = |name: &str| match import.get(name) {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    };
    match import {
        Value::String(name) => Some((format!("exports.{name}"), String::new())),
        Value::Object(_) | Value::Null => Some((field("child")?, field("parent")?)),
        _ => None,
    }
}

/// True for files that `.Files` leaves out.
fn is_hidden(path: &str) -> bool {
    const HIDDEN: [&str; 7] = [
        "Chart.yaml",
        "Chart.lock",
        "LICENSE",
        "README.md",
        "values.yaml",
        "values.schema.json",
        ".helmignore",
    ];
    HIDDEN.contains(&path) || path.starts_with("charts/")
}

fn parse_metadata(path: &TreePath, content: &[u8]) -> Result<Metadata, RenderProblem> {
    let parsed = Metadata::parse(&ChartFile::new(path.name(), content));
    parsed.map_err(|error| RenderProblem::Chart { path: path.folder(), error: Box::new(error) })
}

fn parse_values(folder: &TreePath, content: &[u8]) -> Result<Map<String, Value>, RenderProblem> {
    let error = |reason| RenderProblem::Config { path: folder.join("values.yaml"), reason };
    match yaml::read_value(&text(content), &YamlLimits::default()) {
        Ok(Value::Object(values)) => Ok(values),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(other) => Err(error(format!("expected a mapping, found {}", type_name(&other)))),
        Err(problem) => Err(error(format!("line {}: {}", problem.line, problem.kind))),
    }
}
