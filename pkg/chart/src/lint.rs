//! Checks of a chart: the findings of `helm lint` in its words, values that no template reads, and required values
//! without documentation.
//!
//! ```text
//! files ─┬─► Chart.yaml, values.yaml ──────────────────► findings
//!        └─► Chart ─► templates, rendered without the errors of `required` and `fail` ─► findings
//! ```
//!
//! Source: Helm 3.22 pkg/lint, as observed.

mod address;
mod chart_file;
mod deprecation;
mod object_name;
mod templates;
mod value_reads;
mod values;

use crate::chart::Chart;
use crate::files::ChartFile;
use crate::options::RenderOptions;
use crate::values::Values;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A recommendation.
    Info,
    /// A break with a convention; the chart can be installed.
    Warning,
    /// A problem that prevents an installation.
    Error,
}

/// A finding in a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity of the finding.
    pub severity: Severity,
    /// The file or folder in the chart; empty for the whole chart.
    pub path: String,
    /// The line in the file, from 1, if it is known.
    pub line: Option<usize>,
    /// The text of the finding, which may have several lines.
    pub message: String,
}

/// Checks a chart.
///
/// The release of the options is the one that templates see. The files are those of [`read_folder`](crate::read_folder)
/// or [`read_archive`](crate::read_archive).
///
/// ```
/// use chart::{ChartFile, Release, RenderOptions, Values, lint};
///
/// let files = [
///     ChartFile::new("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nicon: https://example.org/i.svg\n"),
///     ChartFile::new("values.yaml", "replicas: 1\n"),
/// ];
/// let options = RenderOptions::new(Release::new("test-release", "default"));
/// let findings = lint(&files, &Values::default(), &options);
/// assert_eq!(findings[0].message, "no template reads `replicas`");
/// ```
pub fn lint(files: &[ChartFile], values: &Values, options: &RenderOptions) -> Vec<Finding> {
    let mut findings = Findings::default();
    chart_file::check(files, &mut findings);
    values::check_file(files, values, &mut findings);
    match Chart::from_files(files.iter().cloned()) {
        Ok(chart) => {
            templates::check(&chart, values, options, &mut findings);
            check_dependencies(&chart, &mut findings);
            values::check_reads(&chart, &mut findings);
        }
        Err(error) => {
            findings.error("templates/", error.to_string());
            findings.error("", format!("unable to load chart\n\t{error}"));
        }
    }
    findings.0
}

/// Checks that `Chart.yaml` and `charts/` have the same dependencies.
fn check_dependencies(chart: &Chart, findings: &mut Findings) {
    let listed: Vec<&str> =
        chart.metadata().dependencies.iter().flatten().map(|dependency| dependency.name.as_str()).collect();
    let present = chart.loaded.subcharts.iter().map(|subchart| subchart.metadata.name.as_str());
    let unlisted: Vec<&str> = present.filter(|name| !listed.contains(name)).collect();
    if !unlisted.is_empty() {
        findings.error("", format!("chart metadata is missing these dependencies: {}", unlisted.join(",")));
    }
    let missing: Vec<&str> = chart.missing_dependencies().map(|missing| missing.name.as_str()).collect();
    if !missing.is_empty() {
        findings.warning("", format!("chart directory is missing these dependencies: {}", missing.join(",")));
    }
}

/// The findings so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, severity: Severity, path: &str, line: Option<usize>, message: impl Into<String>) {
        let mut message = message.into();
        // The report of a schema ends with an empty line.
        message.truncate(message.trim_end().len());
        self.0.push(Finding { severity, path: path.to_owned(), line, message });
    }

    fn info(&mut self, path: &str, message: impl Into<String>) {
        self.add(Severity::Info, path, None, message);
    }

    fn warning(&mut self, path: &str, message: impl Into<String>) {
        self.add(Severity::Warning, path, None, message);
    }

    fn error(&mut self, path: &str, message: impl Into<String>) {
        self.add(Severity::Error, path, None, message);
    }
}

fn file<'f>(files: &'f [ChartFile], path: &str) -> Option<&'f ChartFile> {
    files.iter().find(|file| file.path == path)
}
