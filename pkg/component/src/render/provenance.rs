//! The provenance of rendered fields: the lines of templates, and the sources of the values that they read.
//!
//! ```text
//! template ─► output in pieces ─► objects with the line and the values of each field ─► transformers add their steps
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use chart::{MemoryTree, OutputPieces, ResolvedPath, TemplateSources, Tree, TreeError, TreePath};
use manifest::provenance::FieldOrigin;
use manifest::{Object, YamlLimits, read_stream};
use regex::Regex;
use serde_json::{Map, Value};
use template::{Delimiters, Output, Span};

use super::files::text;
use crate::ValueSource;

/// A value in an action, such as `.web.port` and `$.web.port`.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^\w.)$])(\$?)\.(\w+(?:\.\w+)*)").expect("invariant: a valid pattern")
});
/// A text in an action.
static TEXT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*"|`[^`]*`"#).expect("invariant: a valid pattern"));

/// Default values, which all other sources override.
pub(super) struct DefaultValues<'a> {
    /// The file with the values.
    pub(super) file: String,
    /// The path of the values in those of the whole source, such as the names of subcharts.
    pub(super) path: Vec<&'a str>,
    pub(super) values: &'a Map<String, Value>,
}

/// The templates of one rendering, with the sources of their values.
pub(super) struct ValueReads<'a> {
    /// The texts of templates by name.
    pub(super) texts: BTreeMap<String, &'a [u8]>,
    /// The sources of values, in the order in which they are merged.
    pub(super) sources: &'a [ValueSource],
    /// The default values, the strongest first.
    pub(super) defaults: Vec<DefaultValues<'a>>,
    pub(super) delimiters: &'a Delimiters,
    /// The start of the names of the templates of a chart. `None` for a kustomization, whose templates read values without
    /// `.Values`.
    pub(super) chart: Option<&'a str>,
}

impl TemplateSources for ValueReads<'_> {
    fn text(&self, file: &str) -> Option<Cow<'_, str>> {
        self.texts.get(file).map(|content| String::from_utf8_lossy(content))
    }

    fn values(&self, span: &Span, text: &str, offset: usize) -> String {
        let (before, rest) = text.split_at_checked(offset).unwrap_or_default();
        let action = TEXT.replace_all(rest.split(self.delimiters.right()).next().unwrap_or_default(), "");
        let scope = Scope::at(before, self.delimiters);
        let mut sources: Vec<String> = Vec::new();
        for found in VALUE.captures_iter(&action) {
            let mut names: Vec<&str> = found[2].split('.').collect();
            let is_value = match self.chart {
                Some(_) => names.remove(0) == "Values",
                None => scope == Scope::Root || scope == Scope::Block && &found[1] == "$",
            };
            if let Some(source) = self.source_of(&span.file, &names).filter(|_| is_value && !names.is_empty())
            {
                let text = format!("{source}: {}", names.join("."));
                if !sources.contains(&text) {
                    sources.push(text);
                }
            }
        }
        sources.join(", ")
    }
}

impl ValueReads<'_> {
    /// Returns the pieces of the output of a template.
    pub(super) fn pieces(&self, template: &str, output: &Output) -> OutputPieces {
        OutputPieces::new(template, &text(&output.bytes), &output.spans, self)
    }

    /// Returns the source of a value that a template reads.
    fn source_of(&self, file: &str, names: &[&str]) -> Option<&str> {
        let inside = self.chart.map_or("", |chart| file.strip_prefix(chart).unwrap_or(file));
        let folder = inside.split_once("/templates/").map_or("", |(folder, _)| folder);
        let path: Vec<&str> = folder.split("/charts/").skip(1).chain(names.iter().copied()).collect();
        let has = |values: &Map<String, Value>, path: &[&str]| {
            contains(values, path) || names.first() == Some(&"global") && contains(values, names)
        };
        let given = self.sources.iter().rev().find(|source| has(&source.values, &path));
        given.map(|source| source.name.as_str()).or_else(|| {
            let default = self.defaults.iter().find(|default| {
                path.strip_prefix(default.path.as_slice()).is_some_and(|rest| has(default.values, rest))
            });
            default.map(|default| default.file.as_str())
        })
    }
}

/// True if a mapping has a value at a path, or a list or scalar on the way.
fn contains(values: &Map<String, Value>, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match values.get(*first) {
        None => false,
        Some(Value::Object(inner)) => contains(inner, rest),
        Some(_) => true,
    }
}

/// The meaning of `.` and `$` at a position of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Both are the values.
    Root,
    /// Inside `with` and `range`, only `$` is the values.
    Block,
    /// Inside `define`, both are arguments.
    Definition,
}

impl Scope {
    /// Returns the scope after the start of a template.
    fn at(before: &str, delimiters: &Delimiters) -> Self {
        let mut open = Vec::new();
        for action in before.split(delimiters.left()).skip(1) {
            match action.trim_start_matches('-').split_whitespace().next().unwrap_or_default() {
                "define" | "block" => open.push(Self::Definition),
                "with" | "range" => open.push(Self::Block),
                "if" => open.push(Self::Root),
                word if word.starts_with("end") => drop(open.pop()),
                _ => {}
            }
        }
        let is = |scope| open.contains(&scope);
        match () {
            () if is(Self::Definition) => Self::Definition,
            () if is(Self::Block) => Self::Block,
            () => Self::Root,
        }
    }
}

/// Records the provenance of the objects of an output, if each document is one object.
pub(super) fn record(pieces: &OutputPieces, file: &str, content: &[u8], objects: &mut [&mut Object]) {
    let Ok(stream) = read_stream(content, &YamlLimits::default()) else { return };
    if stream.objects.len() != objects.len() {
        return;
    }
    let text = text(content);
    for (object, line) in objects.iter_mut().zip(stream.lines) {
        let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let end = text[start..].find("\n---").map_or(text.len(), |length| start + length);
        pieces.record(file, &text, start..end, object);
    }
}

/// A rendered file with the template that wrote it.
pub(super) struct TracedFile {
    /// The folder of the kustomization.
    pub(super) folder: TreePath,
    pub(super) template: String,
    pub(super) pieces: OutputPieces,
}

/// Rendered files with their templates.
pub(super) struct TracedTree<'a> {
    pub(super) tree: &'a MemoryTree,
    pub(super) files: &'a BTreeMap<TreePath, TracedFile>,
}

impl Tree for TracedTree<'_> {
    fn resolve(&self, path: &TreePath) -> Result<ResolvedPath, TreeError> {
        self.tree.resolve(path)
    }

    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError> {
        self.tree.read(path)
    }

    fn list(&self, folder: &TreePath) -> Result<Vec<String>, TreeError> {
        self.tree.list(folder)
    }

    fn start_provenance(&self, file: &TreePath, objects: &mut [&mut Object]) {
        let (Some(traced), Ok(content)) = (self.files.get(file), self.tree.read(file)) else { return };
        record(&traced.pieces, &traced.template, &content, objects);
        for object in objects {
            object.map_origins(|origin| {
                let file = traced.folder.join(&origin.file).to_string();
                FieldOrigin { file, ..origin.clone() }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_only_where_the_dot_is_the_root() {
        let values = serde_json::json!({"a": {"b": 1}, "c": 2});
        let sources = [ValueSource { name: "given".to_owned(), values: values.as_object().unwrap().clone() }];
        let delimiters = Delimiters::default();
        let reads = |text: &str| {
            let reads = ValueReads {
                texts: BTreeMap::new(),
                sources: &sources,
                defaults: Vec::new(),
                delimiters: &delimiters,
                chart: None,
            };
            let name = || "x".to_owned();
            let span =
                Span { output: 0..0, file: name(), template: name(), line: 1, column: 0, reads: Vec::new() };
            reads.values(&span, text, text.rfind("{{").unwrap())
        };
        assert_eq!(reads("{{ .a.b }}"), "given: a.b");
        assert_eq!(reads("{{ printf \".c\" .a.b (.c | int) .none }}"), "given: a.b, given: c");
        assert_eq!(reads("{{ if .a }}{{ .c }}"), "given: c");
        assert_eq!(reads("{{- with .a }}{{ .c }} {{ $.c }}"), "given: c");
        assert_eq!(reads("{{- with .a }}{{ .c }}"), "");
        assert_eq!(reads("{{ range .a }}{{- end }}{{ .c }}"), "given: c");
        assert_eq!(reads("{{ define \"x\" }}{{ $.c }}"), "");
        assert_eq!(reads("{{ (foo).c $x.c }}"), "");
    }
}
