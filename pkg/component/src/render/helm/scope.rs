//! Renders a chart and its subcharts with their values.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::LazyLock;

use chart::{Dependency, FilesDialect, Metadata, OutputPieces, files_value};
use serde_json::{Map as Table, Value as Json};
use template::{Delimiters, Map, Record, Session, Templates, Value};

use super::source::ChartSource;
use super::{FileObject, objects, template_name};
use crate::ValueSource;
use crate::render::error::RenderProblem;
use crate::render::files::text;
use crate::render::functions::{self, Host};
use crate::render::provenance::{self, DefaultValues, ValueReads};
use crate::render::request::RenderRequest;
use crate::render::template_set::{MAX_OUTPUT_BYTES, SET, settings};
use crate::render::values::{at, merged};

/// Renders a chart and its subcharts, in the order of their objects.
pub(super) struct ChartRenderer<'a> {
    /// The sources of the values of templates, if provenance is recorded.
    reads: Option<ValueReads<'a>>,
    templates: Templates,
    session: Session,
    release: Value,
    capabilities: Value,
    printed: usize,
    pub(super) objects: Vec<FileObject>,
    pub(super) problems: Vec<RenderProblem>,
}

impl<'a> ChartRenderer<'a> {
    /// Parses the templates of a chart and its subcharts. `root` is the name of its folder in the names of templates.
    pub(super) fn new(
        request: &RenderRequest<'a>,
        chart: &'a ChartSource,
        root: &'a str,
    ) -> Result<Self, RenderProblem> {
        let mut templates = Templates::new(SET, functions::chart());
        parse(chart, &mut templates)?;
        let host = Rc::new(Host::new(request, BTreeMap::new()));
        Ok(Self {
            reads: request.trace.map(|sources| value_reads(chart, root, sources)),
            templates,
            session: Session::new(settings(request)).with_host(host),
            release: release(request),
            capabilities: request.capabilities.to_value(),
            printed: 0,
            objects: Vec::new(),
            problems: Vec::new(),
        })
    }

    /// Renders a chart: its dependencies, its `crds/`, its templates. `alias` is its name as a dependency.
    pub(super) fn render(&mut self, chart: &ChartSource, alias: Option<&str>, values: &Table<String, Json>) {
        let mut values = merged(&chart.values, values);
        for dependency in &chart.dependencies {
            match subchart_values(chart, dependency, &mut values) {
                Ok(Some(inner)) => {
                    let name = effective_name(dependency);
                    self.render(&chart.subcharts[&dependency.name], Some(name), &inner);
                }
                Ok(None) => {}
                Err(problem) => return self.problems.push(problem),
            }
        }
        for crd in &chart.crds {
            let file = template_name(&chart.folder, &crd.path);
            let pieces = self.reads.as_ref().map(|_| OutputPieces::literal());
            self.add_objects(&file, &crd.content, pieces.as_ref());
        }
        let data: Map = [
            ("Chart", metadata(&chart.metadata, alias, &chart.dependencies)),
            ("Capabilities", self.capabilities.clone()),
            ("Release", self.release.clone()),
            ("Values", Value::from_json(&Json::Object(values))),
            ("Files", files_value(&chart.files, FilesDialect::Runtime)),
        ]
        .into_iter()
        .collect();
        for template in &chart.templates {
            let name = template_name(&chart.folder, &template.path);
            data.insert("Template", template_value(&name));
            if self.printed <= MAX_OUTPUT_BYTES {
                self.execute(&name, &data);
            }
        }
    }

    fn execute(&mut self, name: &str, data: &Map) {
        match self.templates.render(name, &Value::Map(data.clone()), &mut self.session) {
            Ok(output) => {
                self.printed = self.printed.saturating_add(output.bytes.len());
                if self.printed > MAX_OUTPUT_BYTES {
                    return self.problems.push(RenderProblem::OutputTooLarge { limit: MAX_OUTPUT_BYTES });
                }
                let pieces = self.reads.as_ref().map(|reads| reads.pieces(name, &output));
                self.add_objects(name, &output.bytes, pieces.as_ref());
            }
            Err(error) => self.problems.push(RenderProblem::template(name, error)),
        }
    }

    fn add_objects(&mut self, file: &str, content: &[u8], pieces: Option<&OutputPieces>) {
        match objects(file, content) {
            Ok(mut objects) => {
                if let Some(pieces) = pieces {
                    let mut traced: Vec<_> = objects.iter_mut().map(|found| &mut found.object).collect();
                    provenance::record(pieces, file, content, &mut traced);
                }
                self.objects.append(&mut objects);
            }
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Returns the templates of a chart and its subcharts, with the sources of their values.
fn value_reads<'a>(chart: &'a ChartSource, root: &'a str, sources: &'a [ValueSource]) -> ValueReads<'a> {
    static DELIMITERS: LazyLock<Delimiters> = LazyLock::new(Delimiters::default);
    let (mut texts, mut defaults) = (BTreeMap::new(), Vec::new());
    let mut pending = vec![(chart, Vec::new())];
    while let Some((chart, path)) = pending.pop() {
        for file in chart.templates.iter().chain(&chart.helpers) {
            texts.insert(template_name(&chart.folder, &file.path), &*file.content);
        }
        let file = template_name(&chart.folder, "values.yaml");
        let inner = chart.subcharts.iter().map(|(name, subchart)| {
            (subchart, path.iter().copied().chain([name.as_str()]).collect::<Vec<_>>())
        });
        pending.extend(inner);
        defaults.push(DefaultValues { file, path, values: &chart.values });
    }
    // The values of a chart are stronger than those of its subcharts.
    defaults.sort_by_key(|default| default.path.len());
    ValueReads { texts, sources, defaults, delimiters: &DELIMITERS, chart: Some(root) }
}

/// Returns the values of a dependency with those that all charts share, or `None` if it is disabled.
fn subchart_values(
    chart: &ChartSource,
    dependency: &Dependency,
    values: &mut Table<String, Json>,
) -> Result<Option<Table<String, Json>>, RenderProblem> {
    let wrong = |field: &str, expected| {
        let chart = chart.metadata.name.clone();
        RenderProblem::ChartValues { chart, field: field.to_owned(), expected }
    };
    if !is_enabled(dependency, values).map_err(|field| wrong(&field, "a boolean"))? {
        return Ok(None);
    }
    let name = effective_name(dependency);
    let mut shared = Table::new();
    for key in ["global", "tags"] {
        match values.get(key) {
            None => {}
            Some(Json::Object(table)) => drop(shared.insert(key.to_owned(), table.clone().into())),
            Some(_) => return Err(wrong(key, "a table")),
        }
    }
    let inner = match values.get_mut(name) {
        Some(Json::Object(inner)) => inner,
        _ => &mut Table::new(),
    };
    for key in shared.keys() {
        if inner.get(key).is_some_and(|value| !value.is_object()) {
            return Err(wrong(&format!("{name}.{key}"), "a table"));
        }
    }
    crate::merge(inner, shared);
    Ok(Some(inner.clone()))
}

/// Parses the templates of a chart, then those of its subcharts.
fn parse(chart: &ChartSource, templates: &mut Templates) -> Result<(), RenderProblem> {
    for file in chart.templates.iter().chain(&chart.helpers) {
        let name = template_name(&chart.folder, &file.path);
        let parsed = templates.parse(&name, &text(&file.content));
        parsed.map_err(|error| RenderProblem::template(&name, error))?;
    }
    chart.subcharts.values().try_for_each(|subchart| parse(subchart, templates))
}

/// Decides by tags and conditions. The first condition with a value decides, otherwise any tag that is true.
fn is_enabled(dependency: &Dependency, values: &Table<String, Json>) -> Result<bool, String> {
    let switch = |path: &str| match at(values, path) {
        None => Ok(None),
        Some(Json::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(path.to_owned()),
    };
    let conditions = dependency.condition.split(',').filter(|condition| !condition.is_empty());
    for condition in conditions {
        if let Some(value) = switch(condition)? {
            return Ok(value);
        }
    }
    let mut tags = Vec::new();
    for tag in &dependency.tags {
        tags.extend(switch(&format!("tags.{tag}"))?);
    }
    Ok(tags.is_empty() || tags.contains(&true))
}

fn effective_name(dependency: &Dependency) -> &str {
    if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias }
}

/// Creates `.Chart`.
fn metadata(metadata: &Metadata, alias: Option<&str>, dependencies: &[Dependency]) -> Value {
    let text = |text: &str| Value::from(text);
    let kind = if metadata.kind.is_empty() { "application" } else { &metadata.kind };
    let dependencies = dependencies.iter().map(|dependency| {
        let fields = vec![
            ("Name", text(&dependency.name)),
            ("Alias", text(effective_name(dependency))),
            ("Condition", text(&dependency.condition)),
            ("Tags", Value::strings(dependency.tags.iter().map(String::as_str))),
        ];
        struct_value("helm.ChartDependency", &["name", "alias", "condition", "tags"], fields)
    });
    let fields = vec![
        ("Name", text(alias.unwrap_or(&metadata.name))),
        ("Version", text(&metadata.version)),
        ("Type", text(kind)),
        ("AppVersion", text(&metadata.app_version)),
        ("Dependencies", Value::list(dependencies.collect())),
    ];
    struct_value("*helm.ChartMetadata", &["name", "version", "type", "appVersion", "dependencies"], fields)
}

/// Creates `.Release`.
fn release(request: &RenderRequest<'_>) -> Value {
    let fields = vec![
        ("Namespace", request.namespace.into()),
        ("Name", request.name.into()),
        ("Service", crate::RECONCILER.into()),
        ("IsInstall", request.is_install().into()),
        ("IsUpgrade", (!request.is_install()).into()),
        ("Revision", Value::Int64(request.revision)),
    ];
    let keys = ["namespace", "name", "service", "isInstall", "isUpgrade", "revision"];
    struct_value("*helm.Release", &keys, fields)
}

/// Creates `.Template`.
fn template_value(name: &str) -> Value {
    // The innermost folder called `templates`.
    let base = name.rfind("/templates/").map_or("templates", |at| &name[..at + "/templates".len()]);
    let fields = vec![("Name", name.into()), ("BasePath", base.into())];
    struct_value("*helm.Template", &["name", "basePath"], fields)
}

/// Creates a struct. Fields that are empty are left out of JSON.
fn struct_value(type_name: &'static str, keys: &[&'static str], fields: Vec<(&'static str, Value)>) -> Value {
    let json = keys.iter().zip(&fields).filter(|(_, (_, value))| value.is_true());
    let json = json.map(|(key, (_, value))| (*key, value.clone())).collect();
    Record { type_name, fields, json, ..Record::default() }.share()
}
