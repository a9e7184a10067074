use std::{collections::BTreeSet, fmt::Write as _, path::Path};

use api::output::{ChartFinding, ChartFindingSeverity, ChartFindings, ChartLint};
use chart::{Capabilities, ChartFile, Finding, Release, RenderOptions, Severity, Values, read_archive};
use jiff::Timestamp;
use manifest::provenance::Trace;

use super::{
    folder::{read_files, read_packed},
    helm_flags::HelmFlags,
    values::ValueFlags,
};
use crate::{Environment, Failure, WithContext as _, session::Session, settings::OutputFlag};

/// The name of the release that templates see, as in Helm.
const RELEASE: &str = "test-release";

/// Check charts for errors and likely mistakes
///
/// Reports the findings of `helm lint` in its words. Also reports values in `values.yaml` that no template reads, and
/// values that templates require but `values.yaml` does not contain. Exits with status 1 if a chart has an error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} chart lint ./web
  {bin} chart lint charts/* --strict
  {bin} chart lint web-1.2.3.tgz -f production.yaml -o json")]
pub(crate) struct Lint {
    /// Folders or `.tgz` archives of charts [default: the current folder]
    #[arg(value_name = "CHART")]
    charts: Vec<String>,

    /// Fail on warnings too
    #[arg(long)]
    strict: bool,

    /// Check the charts in `charts/` too
    #[arg(long)]
    with_subcharts: bool,

    /// Print only warnings and errors
    #[arg(long)]
    quiet: bool,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    values: ValueFlags,

    /// Namespace of the release [default: $HELM_NAMESPACE, else default]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Version of Kubernetes that templates see; the command reports API versions that are deprecated in it
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    kube_version: String,

    /// Skip the check of the rendered values against `values.schema.json`
    #[arg(long)]
    skip_schema_validation: bool,

    #[command(flatten)]
    helm: HelmFlags,

    #[arg(long, hide = true, aliases = ["kubeconfig", "kube-context"])]
    registry_config: Option<String>,
}

pub(super) fn run(args: &Lint, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let options = args.options(session.environment())?;
    let values = args.values.read(Trace::Off, session)?;
    let mut charts: Vec<(String, Result<Vec<ChartFile>, Failure>)> = Vec::new();
    for place in args.places() {
        charts.push((place.clone(), read_chart(&place, session.environment())));
    }
    if args.with_subcharts {
        let subcharts: Vec<_> = charts
            .iter()
            .filter_map(|(place, files)| Some(subcharts(place, files.as_ref().ok()?)))
            .flatten()
            .collect();
        charts.extend(subcharts);
    }
    let linted = charts.into_iter().map(|(place, files)| args.check(place, files, &values, &options));
    let report = ChartLint { charts: linted.collect() };
    let failed = report.charts.iter().filter(|chart| chart.failed).count();
    let summary = format!("{} chart(s) linted, {failed} chart(s) failed", report.charts.len());
    session.print(format, &report, |report, _| text(report, &summary, args.quiet))?;
    if failed == 0 { Ok(()) } else { Err(Failure::user(summary)) }
}

impl Lint {
    fn places(&self) -> Vec<String> {
        if self.charts.is_empty() { vec![".".to_owned()] } else { self.charts.clone() }
    }

    fn options(&self, environment: &Environment) -> Result<RenderOptions, Failure> {
        let namespace = self.namespace.as_deref().or_else(|| environment.text("HELM_NAMESPACE"));
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        Ok(RenderOptions {
            capabilities: Capabilities::new(&self.kube_version, &[])?,
            skips_schema: self.skip_schema_validation,
            now: Timestamp::now(),
            ..RenderOptions::new(Release { revision: 0, ..Release::new(RELEASE, namespace) })
        })
    }

    fn check(
        &self,
        place: String,
        files: Result<Vec<ChartFile>, Failure>,
        values: &Values,
        options: &RenderOptions,
    ) -> ChartFindings {
        let findings = match files {
            Ok(files) => chart::lint(&files, values, options),
            Err(failure) => vec![Finding {
                severity: Severity::Error,
                path: String::new(),
                line: None,
                message: failure.one_line(),
            }],
        };
        let fails = |severity| severity == Severity::Error || self.strict && severity == Severity::Warning;
        let failed = findings.iter().any(|finding| fails(finding.severity));
        let is_shown = |finding: &Finding| !self.quiet || finding.severity > Severity::Info;
        let findings = findings.into_iter().filter(is_shown).map(finding).collect();
        ChartFindings { place, failed, findings }
    }
}

/// Reads the files of a folder or an archive.
fn read_chart(place: &str, environment: &Environment) -> Result<Vec<ChartFile>, Failure> {
    let path = environment.resolve(place);
    let context = || format!("cannot load chart `{place}`");
    if path.is_dir() {
        return read_files(&path).with_context(context);
    }
    let archive = read_packed(place, &path)?;
    read_archive(&archive).with_context(context)
}

/// Returns the charts in `charts/`, with the charts inside them, and their files.
fn subcharts(place: &str, files: &[ChartFile]) -> Vec<(String, Result<Vec<ChartFile>, Failure>)> {
    let inside = files.iter().filter(|file| file.path.starts_with("charts/"));
    let paths: BTreeSet<&str> = inside
        .map(|file| file.path.strip_suffix("/Chart.yaml").unwrap_or(&file.path))
        .filter(|path| is_archive(path) || files.iter().any(|file| is_chart_file(&file.path, path)))
        .collect();
    let read = |path: &str| {
        if let Some(archive) = files.iter().find(|file| file.path == path) {
            return Ok(read_archive(&archive.content)?);
        }
        let folder = format!("{path}/");
        let below = files.iter().filter_map(|file| Some((file.path.strip_prefix(&folder)?, file)));
        Ok(below.map(|(path, file)| ChartFile { path: path.to_owned(), ..file.clone() }).collect())
    };
    paths.into_iter().map(|path| (format!("{}/{path}", place.trim_end_matches('/')), read(path))).collect()
}

fn is_archive(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "tgz")
}

fn is_chart_file(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder) == Some("/Chart.yaml")
}

fn finding(finding: Finding) -> ChartFinding {
    ChartFinding {
        severity: match finding.severity {
            Severity::Info => ChartFindingSeverity::Info,
            Severity::Warning => ChartFindingSeverity::Warning,
            Severity::Error => ChartFindingSeverity::Error,
        },
        file: Some(finding.path).filter(|path| !path.is_empty()),
        line: finding.line,
        message: finding.message,
    }
}

/// Returns the text that `helm lint` prints. A failed run prints the summary as its error.
fn text(report: &ChartLint, summary: &str, is_quiet: bool) -> String {
    let mut out = String::new();
    let mut failed = false;
    for ChartFindings { place, failed: chart_failed, findings } in &report.charts {
        failed |= chart_failed;
        if is_quiet && findings.is_empty() {
            continue;
        }
        let _ = writeln!(out, "==> Linting {place}");
        for ChartFinding { severity, file, line, message } in findings {
            let severity = match severity {
                ChartFindingSeverity::Error => "ERROR",
                ChartFindingSeverity::Warning => "WARNING",
                ChartFindingSeverity::Info => "INFO",
            };
            let file = file.as_deref().unwrap_or(place);
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let _ = writeln!(out, "[{severity}] {file}{line}: {message}");
        }
        out.push('\n');
    }
    let is_silent = failed || is_quiet && out.is_empty();
    if !is_silent {
        let _ = writeln!(out, "{summary}");
    }
    out
}
