use std::fmt::Write as _;

use api::output::{FindingSeverity, KustomizationFinding, KustomizationFindings, KustomizationLint};
use kustomize::{Conflicts, Problem};

use super::{HERE, flags::LoadFlags};
use crate::{
    Failure,
    failure::Kind,
    kustomizations::{self, Built, FileNames, distinct},
    session::Session,
    settings::OutputFormat,
};

/// Find what is wrong with kustomizations, and what may not be meant
///
/// Builds each, and tells all errors and warnings: what is missing or there twice, patches that match nothing, variables
/// that nothing uses, fields that are deprecated. Ends with status 1 when one cannot be built.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} kustomize lint config/default overlays/prod
  {bin} kustomize lint -o json --exit-status")]
pub(crate) struct Lint {
    /// Folders with a kustomization, or urls of repositories with the folder in it; the current folder without
    #[arg(value_name = "DIR|URL")]
    places: Vec<String>,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// End with status 3 when there are warnings
    #[arg(long)]
    exit_status: bool,

    #[command(flatten)]
    load: LoadFlags,
}

pub(super) fn run(args: &Lint, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let mut how = args.load.how()?;
    how.options.conflicts = Conflicts::Told;
    let here = [HERE.to_owned()];
    let places = if args.places.is_empty() { &here[..] } else { &args.places };
    let (mut kustomizations, mut hints) = (Vec::new(), Vec::new());
    for place in places {
        let built = kustomizations::build(place, &how, session)?;
        hints.extend(built.hints.iter().cloned());
        let place = repository::shown_text(place);
        kustomizations.push(KustomizationFindings { place, findings: findings(&built) });
    }
    let report = KustomizationLint { kustomizations };
    let text = format.render(&report, text)?;
    session.printer().data(text)?;
    verdict(&report, args).map_err(|failure| hints.into_iter().fold(failure, Failure::hint))
}

fn findings(built: &Built) -> Vec<KustomizationFinding> {
    let (errors, warnings) = match &built.result {
        Ok(output) => (&[][..], &output.warnings[..]),
        Err(errors) => (&errors.problems[..], &errors.warnings[..]),
    };
    let errors = distinct(errors).into_iter().map(|it| finding(it, FindingSeverity::Error, &built.names));
    let warnings =
        distinct(warnings).into_iter().map(|it| finding(it, FindingSeverity::Warning, &built.names));
    errors.chain(warnings).collect()
}

fn finding(problem: &Problem, severity: FindingSeverity, names: &FileNames) -> KustomizationFinding {
    let mut by_way_of = names.of_problem(problem);
    KustomizationFinding {
        severity,
        file: by_way_of.pop().unwrap_or_default(),
        field: Some(problem.place.field.clone()).filter(|field| !field.is_empty()),
        message: problem.message(),
        by_way_of,
    }
}

/// A line for each finding, as compilers write it; nothing where nothing was found.
fn text(report: &KustomizationLint) -> String {
    let mut text = String::new();
    for it in report.kustomizations.iter().flat_map(|it| &it.findings) {
        let severity = match it.severity {
            FindingSeverity::Error => "error",
            FindingSeverity::Warning => "warning",
        };
        let field = it.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}: {severity}: {field}{}", it.file, it.message);
    }
    text
}

fn verdict(report: &KustomizationLint, args: &Lint) -> Result<(), Failure> {
    let count = |severity| {
        let all = report.kustomizations.iter().flat_map(|it| &it.findings);
        all.filter(|it| it.severity == severity).count()
    };
    match (count(FindingSeverity::Error), count(FindingSeverity::Warning)) {
        (0, 0) => Ok(()),
        (0, warnings) if args.exit_status => {
            Err(Failure::new(Kind::Unhealthy, format!("{}, no error", counted(warnings, "warning"))))
        }
        (0, _) => Ok(()),
        (errors, warnings) => {
            let told = format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
            Err(Failure::user(told))
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}"),
        1 => format!("one {what}"),
        count => format!("{count} {what}s"),
    }
}
