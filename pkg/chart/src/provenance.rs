//! The provenance of rendered fields: the action of a template that wrote a field, and the file or flag that set the values
//! in this action.
//!
//! ```text
//! spans of an output ─► pieces with their origins ─► ranges of YAML values ─► origins of fields
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use manifest::provenance::FieldOrigin;
use manifest::{Object, yaml};
use template::{Map, MapId, Span, Value};

use crate::chart::Rendered;
use crate::compile::Jobs;
use crate::error::ChartError;
use crate::files::LoadedChart;
use crate::print::{NoSuchTemplate, PrintOptions, RenderedDocument};
use crate::value_tree::{Table, ValueTree};
use crate::values::Values;

/// The texts behind the output of a template.
pub trait TemplateSources {
    /// Returns the text of a template file.
    fn text(&self, file: &str) -> Option<Cow<'_, str>>;

    /// Returns the sources of the values that an action reads, such as `values.yaml: image.tag`. `text` is its file, and
    /// `offset` its position there.
    fn values(&self, span: &Span, text: &str, offset: usize) -> String;
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
    pub(crate) paths: &'a ValuePaths,
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
            let content = if is_literal { String::new() } else { sources.values(span, source, offset) };
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

    fn values(&self, span: &Span, _text: &str, _offset: usize) -> String {
        let mut sources: Vec<String> = Vec::new();
        for read in &span.reads {
            let path = self
                .paths
                .0
                .get(&read.map)
                .map(|path| [path.as_slice(), &[read.key.to_str().into()]].concat());
            if let Some(source) =
                path.and_then(|path| self.source_of(&path)).filter(|source| !sources.contains(source))
            {
                sources.push(source);
            }
        }
        sources.join(", ")
    }
}

impl ValueOrigins<'_> {
    /// Returns the file or flag that set a value, with the path of the value there: `production.yaml: image.tag`.
    fn source_of(&self, path: &[String]) -> Option<String> {
        let mut charts = vec![self.chart];
        while let Some(name) = path.get(charts.len() - 1)
            && let Some(subchart) = charts[charts.len() - 1].subchart(name)
        {
            charts.push(subchart);
        }
        let names = &path[charts.len() - 1..];
        let is_global = names.first().is_some_and(|name| name == "global");
        let path_in = |table: &Table, path| {
            [Some(path), is_global.then_some(names)].into_iter().flatten().find(|path| contains(table, path))
        };
        for (source, table) in self.values.sources.iter().flatten().rev() {
            if let Some(path) = path_in(table, path) {
                return Some(format!("{source}: {}", shown(path)));
            }
        }
        charts.iter().enumerate().find_map(|(depth, chart)| {
            let path = path_in(&chart.values, &path[depth..])?;
            Some(format!("{}/values.yaml: {}", chart.path, shown(path)))
        })
    }
}

/// Returns a path as `--set` has it: `hosts[0].name`.
fn shown(path: &[String]) -> String {
    path.join(".").replace(".[", "[")
}

/// The paths of the maps in the values of all charts.
#[derive(Debug, Default)]
pub(crate) struct ValuePaths(HashMap<MapId, Vec<String>>);

impl ValuePaths {
    pub(crate) fn new(values: &Map) -> Self {
        let mut paths = Self::default();
        let mut pending = vec![(Vec::new(), Value::Map(values.clone()))];
        while let Some((path, value)) = pending.pop() {
            let below = |name: String| [path.as_slice(), &[name]].concat();
            match value {
                Value::Map(map) if !paths.0.contains_key(&map.id()) => {
                    let entries = map.to_vec().into_iter().rev();
                    pending.extend(entries.map(|(key, value)| (below(key.to_str().into()), value)));
                    paths.0.insert(map.id(), path);
                }
                Value::List(items) => {
                    let items = items.iter().enumerate();
                    pending.extend(items.map(|(index, item)| (below(format!("[{index}]")), item.clone())));
                }
                _ => {}
            }
        }
        paths
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
fn contains(table: &Table, path: &[String]) -> bool {
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
