use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use api::output::{FindingSeverity, KustomizationFinding, KustomizationFindings, KustomizationLint};
use kustomize::{BuildProblem, ConflictDetection};
use manifest::yaml::{self, YamlLimits};

use super::{CURRENT_FOLDER, build::LoadFlags};
use crate::{
    Environment, Failure, WithContext as _,
    failure::Kind,
    kustomizations::{self, FileNames, KustomizationBuild, distinct_problems},
    session::Session,
    settings::OutputFlag,
};

/// Check kustomizations for errors and likely mistakes
///
/// Builds each kustomization and reports errors and warnings with file and line: missing or duplicate objects, patches without
/// a match, unused variables and deprecated fields. Exits with status 1 if a build fails.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} kustomize lint config/default overlays/prod
  {bin} kustomize lint --recursive
  {bin} kustomize lint -o json --exit-status")]
pub(crate) struct Lint {
    /// Folders with a kustomization, or URLs of repositories [default: the current folder]
    #[arg(value_name = "DIR|URL")]
    places: Vec<String>,

    /// Check all kustomizations below these folders, without components and symbolic links
    #[arg(short, long)]
    recursive: bool,

    #[command(flatten)]
    output: OutputFlag,

    /// Exit with status 3 if there are warnings
    #[arg(long)]
    exit_status: bool,

    #[command(flatten)]
    load: LoadFlags,
}

pub(super) fn run(args: &Lint, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let mut options = args.load.options()?;
    options.conflicts = ConflictDetection::Reported;
    let here = [CURRENT_FOLDER.to_owned()];
    let mut places = if args.places.is_empty() { here.to_vec() } else { args.places.clone() };
    if args.recursive {
        let below = places.iter().map(|place| find_kustomizations(place, session.environment()));
        places = below.collect::<Result<Vec<_>, Failure>>()?.concat();
    }
    let (mut kustomizations, mut hints) = (Vec::new(), Vec::new());
    for place in &places {
        let built = kustomizations::build(place, &options, session)?;
        hints.extend(built.hints.iter().cloned());
        let place = transport::address::redact_text(place);
        kustomizations.push(KustomizationFindings { place, findings: findings(&built) });
    }
    let report = KustomizationLint { kustomizations };
    session.print(format, &report, |result, _| text(result))?;
    check_findings(&report, args).map_err(|failure| hints.into_iter().fold(failure, Failure::hint))
}

fn findings(built: &KustomizationBuild) -> Vec<KustomizationFinding> {
    let (errors, warnings) = match &built.result {
        Ok(output) => (&[][..], &output.warnings[..]),
        Err(report) => (&report.errors[..], &report.warnings[..]),
    };
    let errors =
        distinct_problems(errors).into_iter().map(|it| finding(it, FindingSeverity::Error, &built.names));
    let warnings =
        distinct_problems(warnings).into_iter().map(|it| finding(it, FindingSeverity::Warning, &built.names));
    errors.chain(warnings).collect()
}

fn finding(problem: &BuildProblem, severity: FindingSeverity, names: &FileNames) -> KustomizationFinding {
    let mut by_way_of = names.problem_files(problem);
    let field = Some(problem.location.field.clone()).filter(|field| !field.is_empty());
    KustomizationFinding {
        severity,
        file: by_way_of.pop().unwrap_or_default(),
        line: field.as_deref().and_then(|field| line(problem, field)),
        field,
        message: problem.message(),
        by_way_of,
    }
}

/// Returns the line of a field if the file is local.
fn line(problem: &BuildProblem, field: &str) -> Option<usize> {
    let path = PathBuf::from(problem.location.files.last()?.to_string());
    yaml::line_of(&fs::read_to_string(path).ok()?, field)
}

/// Returns the findings, with those of a shared base only once.
fn distinct_findings(report: &KustomizationLint) -> Vec<&KustomizationFinding> {
    let mut reported = BTreeSet::new();
    let all = report.kustomizations.iter().flat_map(|it| &it.findings);
    all.filter(|it| reported.insert((&it.file, &it.field, &it.message))).collect()
}

/// Returns a line per finding in the format of compilers. Empty without findings.
fn text(report: &KustomizationLint) -> String {
    let mut text = String::new();
    for it in distinct_findings(report) {
        let severity = match it.severity {
            FindingSeverity::Error => "error",
            FindingSeverity::Warning => "warning",
        };
        let field = it.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        let line = it.line.map(|line| format!(":{line}")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}{line}: {severity}: {field}{}", it.file, it.message);
    }
    text
}

fn check_findings(report: &KustomizationLint, args: &Lint) -> Result<(), Failure> {
    let findings = distinct_findings(report);
    let count = |severity| findings.iter().filter(|it| it.severity == severity).count();
    match (count(FindingSeverity::Error), count(FindingSeverity::Warning)) {
        (0, 0) => Ok(()),
        (0, warnings) if args.exit_status => {
            Err(Failure::new(Kind::Unhealthy, format!("{}, no errors", count_text(warnings, "warning"))))
        }
        (0, _) => Ok(()),
        (errors, warnings) => {
            let reported = format!("{}, {}", count_text(errors, "error"), count_text(warnings, "warning"));
            Err(Failure::user(reported))
        }
    }
}

fn count_text(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}"),
        1 => format!("one {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Returns the sorted kustomization folders in a folder and below, relative to the given name.
/// Skips hidden folders, and components, which can only be built as part of another kustomization.
pub(super) fn find_kustomizations(place: &str, environment: &Environment) -> Result<Vec<String>, Failure> {
    let top = environment.resolve(place);
    let (mut found, mut open) = (Vec::new(), vec![(top, PathBuf::from(place))]);
    while let Some((path, name)) = open.pop() {
        if is_buildable(&path) {
            found.push(name.display().to_string());
        }
        let cannot = || format!("cannot read the folder `{}`", name.display());
        for entry in fs::read_dir(&path).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let is_folder = entry.file_type().with_context(cannot)?.is_dir();
            if is_folder && !entry.file_name().to_string_lossy().starts_with('.') {
                open.push((entry.path(), name.join(entry.file_name())));
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::user(format!("`{place}` and its subfolders contain no kustomization")));
    }
    found.sort();
    Ok(found)
}

fn is_buildable(folder: &Path) -> bool {
    let Some(path) = kustomize::FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    else {
        return false;
    };
    // The build reports a file that cannot be read.
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = yaml::read_settings(&text, &YamlLimits::default()).unwrap_or_default();
    value.get("kind").is_none_or(|kind| kind != "Component")
}
