//! The provenance of rendered fields: the action of a template that wrote a field, and the file or flag that set the values
//! in this action.
//!
//! ```text
//! spans of an output ─► pieces with their origins ─► ranges of YAML values ─► origins of fields
//! ```

use std::sync::{Arc, LazyLock};

use manifest::provenance::FieldOrigin;
use manifest::{Object, yaml};
use regex::Regex;
use template::Span;

use crate::chart::Rendered;
use crate::compile::Jobs;
use crate::error::ChartError;
use crate::files::LoadedChart;
use crate::print::{NoSuchTemplate, PrintOptions, RenderedDocument};
use crate::value_tree::{Table, ValueTree};
use crate::values::Values;

/// The names of a value in an action.
static VALUE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\.Values((?:\.\w+)+)").expect("invariant: a valid pattern"));

/// A piece of the output of a template.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The first byte that is not blank.
    start: usize,
    /// `None` for a literal text of the template itself.
    origin: Option<Arc<FieldOrigin>>,
}

/// The origins of values in one render.
pub(crate) struct ValueOrigins<'a> {
    pub(crate) chart: &'a LoadedChart,
    pub(crate) values: &'a Values,
}

impl ValueOrigins<'_> {
    /// Returns the pieces of an output, given the spans of its template.
    pub(crate) fn pieces(&self, template: &str, output: &str, spans: &[Span], jobs: &Jobs) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for span in spans {
            let text = output.get(span.output.clone()).unwrap_or_default();
            let content = text.trim_start();
            if content.is_empty() {
                continue;
            }
            let start = span.output.end - content.len();
            let source = jobs.source(&span.file);
            let rest = source.as_deref().map_or("", |source| text_at(source, span));
            let is_literal = rest.trim_start().starts_with(content);
            if is_literal && span.file == template {
                pieces.push(Piece { start, origin: None });
                continue;
            }
            let action = if is_literal { "" } else { rest.split("}}").next().unwrap_or_default() };
            let origin = FieldOrigin {
                file: span.file.clone(),
                field: format!("line {}", span.line),
                content: self.sources_of(&span.file, action),
            };
            pieces.push(Piece { start, origin: Some(Arc::new(origin)) });
        }
        pieces
    }

    /// Returns the files and flags that set the values in an action: `production.yaml: image.tag`.
    fn sources_of(&self, file: &str, action: &str) -> String {
        let mut sources: Vec<String> = Vec::new();
        for found in VALUE.captures_iter(action) {
            let names: Vec<&str> = found[1].split('.').skip(1).collect();
            if let Some(source) = self.source_of(file, &names) {
                let text = format!("{source}: {}", names.join("."));
                if !sources.contains(&text) {
                    sources.push(text);
                }
            }
        }
        sources.join(", ")
    }

    /// Returns the file or flag that set a value, which a template of the chart or of a subchart reads.
    fn source_of(&self, file: &str, names: &[&str]) -> Option<String> {
        let folder = file.split_once("/templates/").map_or(file, |(folder, _)| folder);
        let charts: Vec<&str> = folder.split("/charts/").skip(1).collect();
        let is_global = names.first() == Some(&"global");
        let path: Vec<&str> = charts.iter().chain(names).copied().collect();
        for (source, table) in self.values.sources.iter().flatten().rev() {
            if contains(table, &path) || is_global && contains(table, names) {
                return Some(source.clone());
            }
        }
        let mut chart = self.chart;
        let mut file = chart.metadata.name.clone();
        for depth in 0..=charts.len() {
            if contains(&chart.values, &path[depth..]) || is_global && contains(&chart.values, names) {
                return Some(format!("{file}/values.yaml"));
            }
            let name = charts.get(depth)?;
            chart = chart.subcharts.iter().find(|subchart| subchart.metadata.name == *name)?;
            file = format!("{file}/charts/{name}");
        }
        None
    }
}

/// Returns the source text from the start of a span.
fn text_at<'s>(source: &'s str, span: &Span) -> &'s str {
    let line = source.split_inclusive('\n').take(span.line.saturating_sub(1)).map(str::len).sum::<usize>();
    source.get(line + span.column..).unwrap_or_default()
}

/// True if a table has a value at a path, or a list or scalar on the way.
fn contains(table: &Table, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match table.get(first.as_bytes()) {
        None => false,
        Some(ValueTree::Table(inner)) => contains(inner, rest),
        Some(_) => true,
    }
}

impl Rendered {
    /// Returns the objects that the options select. They have provenance if the render recorded it.
    ///
    /// # Errors
    /// A pattern of `show_only` that matches no template, or a file in `crds/` that is not YAML.
    pub fn objects(&self, options: &PrintOptions) -> Result<Vec<Object>, ObjectsError> {
        let mut objects = Vec::new();
        for document in self.documents(options)? {
            let found = document.objects()?.into_iter().filter_map(|object| match object {
                serde_json::Value::Object(fields) => Some(Object::from_map(fields)),
                _ => None,
            });
            let found = found.map(|mut object| {
                self.record(&document, &mut object);
                object
            });
            objects.extend(found);
        }
        Ok(objects)
    }

    /// Records the provenance of an object.
    fn record(&self, document: &RenderedDocument<'_>, object: &mut Object) {
        if self.pieces.is_empty() {
            return;
        }
        let file = document.source.to_owned();
        object.start_provenance(&Arc::new(FieldOrigin { file, ..FieldOrigin::default() }));
        let Some(pieces) = self.pieces.get(document.source) else { return };
        if let Some(serde_json::Value::Object(ranges)) = yaml::value_ranges(&document.content) {
            let ranges = Object::from_map(ranges);
            object.record_marked_provenance(&ranges, &|range| origin(pieces, range, document.offset));
        }
    }
}

/// Returns the origin of a range `START-END` of a document that starts at an offset of the output.
fn origin(pieces: &[Piece], range: &str, offset: usize) -> Option<Arc<FieldOrigin>> {
    let (start, end) = range.split_once('-')?;
    let (start, end) = (start.parse::<usize>().ok()? + offset, end.parse::<usize>().ok()? + offset);
    let first = pieces.partition_point(|piece| piece.start <= start).saturating_sub(1);
    let mut inside = pieces[first..].iter().take_while(|piece| piece.start < end);
    let origin = inside.find_map(|piece| piece.origin.clone())?;
    // Several actions may write one value.
    let others: Vec<&str> = inside
        .filter_map(|piece| piece.origin.as_ref())
        .map(|other| other.content.as_str())
        .filter(|content| !content.is_empty() && *content != origin.content)
        .collect();
    if others.is_empty() {
        return Some(origin);
    }
    let contents: Vec<&str> =
        [origin.content.as_str()].into_iter().filter(|content| !content.is_empty()).collect();
    let content = [contents, others].concat().join(", ");
    Some(Arc::new(FieldOrigin { content, ..(*origin).clone() }))
}

/// Objects that cannot be read from a rendered chart.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ObjectsError {
    #[error(transparent)]
    NoSuchTemplate(#[from] NoSuchTemplate),
    #[error(transparent)]
    Chart(#[from] ChartError),
}
