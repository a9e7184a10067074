//! The provenance of rendered fields: the action of a template that wrote a field, and the file or flag that set the values
//! in this action.
//!
//! ```text
//! spans of an output ─► pieces with their origins ─► ranges of YAML values ─► origins of fields
//! ```

use std::borrow::Cow;
use std::ops::Range;
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

/// The texts behind the output of a template.
pub trait TemplateSources {
    /// Returns the text of a template file.
    fn text(&self, file: &str) -> Option<Cow<'_, str>>;

    /// Returns the sources of the values that an action reads, such as `values.yaml: image.tag`. `offset` is the position
    /// of the action in its file.
    fn values(&self, file: &str, text: &str, offset: usize) -> String;
}

/// The output of a template in pieces, with the origin of each piece.
#[derive(Clone, Debug, Default)]
pub struct OutputPieces(Vec<Piece>);

/// A piece of the output of a template.
#[derive(Clone, Debug)]
struct Piece {
    /// The first byte that is not blank.
    start: usize,
    /// The line of the first byte in the template, from 1.
    line: usize,
    /// `None` for a literal text of the template itself.
    origin: Option<Arc<FieldOrigin>>,
}

/// The origins of values in one render.
pub(crate) struct ValueOrigins<'a> {
    pub(crate) chart: &'a LoadedChart,
    pub(crate) values: &'a Values,
    pub(crate) jobs: &'a Jobs,
}

impl OutputPieces {
    /// Returns the pieces of an output, given the spans of its template.
    pub fn new(template: &str, output: &str, spans: &[Span], sources: &dyn TemplateSources) -> Self {
        let mut pieces = Vec::new();
        for span in spans {
            let text = output.get(span.output.clone()).unwrap_or_default();
            let content = text.trim_start();
            if content.is_empty() {
                continue;
            }
            let start = span.output.end - content.len();
            let source = sources.text(&span.file);
            let source = source.as_deref().unwrap_or_default();
            let offset = offset_of(source, span);
            let rest = source.get(offset..).unwrap_or_default();
            let is_literal = rest.trim_start().starts_with(content);
            if is_literal && span.file == template {
                let line = span.line + line_breaks(&rest[..rest.len() - rest.trim_start().len()]);
                pieces.push(Piece { start, line, origin: None });
                continue;
            }
            let content = if is_literal { String::new() } else { sources.values(&span.file, source, offset) };
            let origin =
                FieldOrigin { file: span.file.clone(), field: format!("line {}", span.line), content };
            pieces.push(Piece { start, line: span.line, origin: Some(Arc::new(origin)) });
        }
        Self(pieces)
    }

    /// Returns a text that no template wrote as one piece.
    pub fn literal() -> Self {
        Self(vec![Piece { start: 0, line: 1, origin: None }])
    }

    /// Records the origins of the fields of an object, whose document is a range of the output. Fields that the template
    /// has literally are those of `file`, with their lines.
    pub fn record(&self, file: &str, output: &str, document: Range<usize>, object: &mut Object) {
        object.start_provenance(&Arc::new(FieldOrigin { file: file.to_owned(), ..FieldOrigin::default() }));
        let Some(text) = output.get(document.clone()) else { return };
        let Some(serde_json::Value::Object(ranges)) = yaml::value_ranges(text) else { return };
        object.record_marked_provenance(&Object::from_map(ranges), &|range| {
            let range = absolute(range, document.start)?;
            let literal = || {
                let piece = self.0.get(self.first(range.start))?;
                let between = output.get(piece.start..range.start).unwrap_or_default();
                let field = format!("line {}", piece.line + line_breaks(between));
                Some(Arc::new(FieldOrigin { file: file.to_owned(), field, content: String::new() }))
            };
            self.origin(&range).or_else(literal)
        });
    }

    /// Returns the number of the piece with a byte.
    fn first(&self, start: usize) -> usize {
        self.0.partition_point(|piece| piece.start <= start).saturating_sub(1)
    }

    /// Returns the origin of a range. `None` if the template has it literally.
    fn origin(&self, range: &Range<usize>) -> Option<Arc<FieldOrigin>> {
        let first = self.first(range.start);
        let mut inside = self.0.get(first..)?.iter().take_while(|piece| piece.start < range.end);
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
}

impl TemplateSources for ValueOrigins<'_> {
    fn text(&self, file: &str) -> Option<Cow<'_, str>> {
        self.jobs.source(file)
    }

    fn values(&self, file: &str, text: &str, offset: usize) -> String {
        self.sources_of(file, text[offset..].split("}}").next().unwrap_or_default())
    }
}

impl ValueOrigins<'_> {
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

/// Returns the position of a span in its source.
fn offset_of(source: &str, span: &Span) -> usize {
    let lines = source.split_inclusive('\n').take(span.line.saturating_sub(1));
    lines.map(str::len).sum::<usize>() + span.column
}

fn line_breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Returns the range `START-END` of a document that starts at an offset of the output.
fn absolute(range: &str, offset: usize) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    Some(start.parse::<usize>().ok()? + offset..end.parse::<usize>().ok()? + offset)
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
            let range = |range: &str| absolute(range, document.offset);
            object.record_marked_provenance(&ranges, &|text| pieces.origin(&range(text)?));
        }
    }
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
