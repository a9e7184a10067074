//! `values.schema.json`: all values that a schema rejects, in Helm's words.
//!
//! Source: Helm 3.22 pkg/chartutil/jsonschema.go; santhosh-tekuri/jsonschema 6.0.3, whose author wrote boon too.
//! Differs: a schema of another host is not fetched, and accepts all values.

mod foreign;
mod message;
mod patterns;
mod plain;
mod walk;

pub(crate) use plain::PlainSchema;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use boon::{CompileError, Compiler, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;

use crate::instance::Instance;

/// The name of a schema, by which it refers to itself.
const URL: &str = "file:///values.schema.json";

/// Values of one chart that its schema rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaReport {
    /// The chart, by its alias.
    pub chart: String,
    /// The problems, or the reason why the schema cannot be used.
    pub problems: Result<Vec<SchemaProblem>, String>,
}

/// A value that a schema rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The value as a JSON pointer; empty for all values.
    pub pointer: String,
    /// The problem in the words of Helm's library.
    pub message: String,
    /// The nesting: the problems below explain why none of several schemas matches.
    pub depth: usize,
}

impl fmt::Display for SchemaReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.chart)?;
        match &self.problems {
            Err(reason) => f.write_str(reason),
            Ok(problems) => problems.iter().try_for_each(|problem| writeln!(f, "{problem}")),
        }
    }
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, message, depth } = self;
        write!(f, "{:indent$}- at {}: {message}", "", message::quoted(pointer), indent = depth * 2)
    }
}

/// A schema, ready for use.
pub(crate) struct CompiledSchema {
    schemas: Schemas,
    root: SchemaIndex,
    /// The original texts of patterns.
    patterns: HashMap<String, String>,
    /// The addresses of schemas that are not fetched.
    foreign: Vec<String>,
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompiledSchema")
    }
}

/// Returns the reports of a chart and its subcharts whose values do not fit. `values` are those of the chart.
pub(crate) fn check(instance: &Instance, values: &Value, warnings: &mut Vec<String>) -> Vec<SchemaReport> {
    let mut reports = Vec::new();
    check_into(instance, values, &mut reports, warnings);
    reports
}

fn check_into(
    instance: &Instance,
    values: &Value,
    reports: &mut Vec<SchemaReport>,
    warnings: &mut Vec<String>,
) {
    let report = |problems| SchemaReport { chart: instance.name.clone(), problems };
    if !instance.chart.accepts(values) {
        match instance.chart.compiled_schema() {
            None => {}
            Some(Err(reason)) => reports.push(report(Err(reason.clone()))),
            Some(Ok(schema)) => {
                let chart = &instance.name;
                warnings.extend(schema.foreign.iter().map(|address| {
                    format!(
                        "the values of `{chart}` are not checked against `{address}`, which is not fetched"
                    )
                }));
                let problems = schema.problems(values);
                if !problems.is_empty() {
                    reports.push(report(Ok(problems)));
                }
            }
        }
    }
    for subchart in &instance.subcharts {
        match values.get(&subchart.name) {
            None | Some(Value::Null) => {}
            Some(values) => check_into(subchart, values, reports, warnings),
        }
    }
}

impl CompiledSchema {
    /// Compiles a schema. The error is a text.
    pub(crate) fn new(text: &[u8]) -> Result<Self, String> {
        let mut json: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let foreign = foreign::remove(&mut json);
        let patterns = patterns::translate(&mut json);
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(NoLoader));
        let mut schemas = Schemas::new();
        let failed = |error: CompileError| format!("{error:#}");
        compiler.add_resource(URL, json).map_err(failed)?;
        let root = compiler.compile(URL, &mut schemas).map_err(failed)?;
        Ok(Self { schemas, root, patterns, foreign })
    }

    /// Returns the problems of values.
    pub(crate) fn problems(&self, values: &Value) -> Vec<SchemaProblem> {
        let mut problems = Vec::new();
        if let Err(error) = self.schemas.validate(values, self.root) {
            for cause in &error.causes {
                self.collect(cause, 0, &mut problems);
            }
        }
        problems
    }

    /// Adds an error and the errors inside.
    fn collect(&self, error: &ValidationError<'_, '_>, depth: usize, problems: &mut Vec<SchemaProblem>) {
        let is_shown = !(matches!(error.kind, ErrorKind::Reference { .. }) && error.causes.len() == 1);
        if is_shown {
            problems.push(SchemaProblem {
                pointer: error.instance_location.to_string(),
                message: message::of(&error.kind, &self.patterns),
                depth,
            });
        }
        for cause in &error.causes {
            self.collect(cause, depth + usize::from(is_shown), problems);
        }
    }
}

/// Loads nothing. A name without an address accepts everything, as in Helm.
struct NoLoader;

impl UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        if url.starts_with("urn:") {
            return Ok(Value::Bool(true));
        }
        Err("schemas of other places are not fetched".into())
    }
}
