use std::{fmt::Write as _, path::PathBuf};

use api::output::{CatalogFinding, CatalogLint};
use catalog::lint::{LintFinding, LintRule, lint};

use crate::{Failure, session::Session, settings::OutputFlag, ui::format_count};

/// Find mistakes in a hierarchy before a compilation
///
/// Checks all YAML files of folders, except for hidden ones: removed references, unusable entries of dependencies, and values
/// that look like secrets. In a working folder, also finds references without a value, dependencies that no application
/// includes, and parameters that nothing reads. Exits with status 1 if there are findings.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog lint inventory/classes/global
  {bin} catalog lint . --linter components --linter packages
  {bin} catalog lint work -o json")]
pub(crate) struct Lint {
    /// Files or folders [default: the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check to run: components, packages, deprecated-parameters, secrets, unknown-references,
    /// unused-dependencies or unused-parameters; repeatable [default: all]
    #[arg(short, long, value_name = "NAME")]
    linter: Vec<String>,

    #[command(flatten)]
    output: OutputFlag,
}

pub(super) fn run(args: &Lint, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let rules = args.linter.iter().map(|name| rule(name)).collect::<Result<Vec<_>, _>>()?;
    let rules = if rules.is_empty() { &LintRule::ALL[..] } else { &rules };
    let environment = session.environment();
    let mut paths: Vec<PathBuf> = args.paths.iter().map(|path| environment.resolve(path)).collect();
    if paths.is_empty() {
        paths.push(environment.current_dir().to_owned());
    }
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(Failure::user(format!("cannot check `{}`: it does not exist", missing.display())));
    }
    let found = lint(&paths, rules);
    for text in &found.skipped {
        // A check that the user selects must not be skipped in silence.
        if args.linter.is_empty() {
            session.messages().log(1, format!("skipped {text}"));
        } else {
            session.messages().warning(format!("skipped {text}"));
        }
    }
    let report = CatalogLint { findings: found.findings.iter().map(finding).collect() };
    session.print(format, &report, |_, _| text(&found.findings))?;
    match report.findings.len() {
        0 => Ok(()),
        count => Err(Failure::user(format!("found {}", format_count(count, "error")))),
    }
}

fn finding(finding: &LintFinding) -> CatalogFinding {
    CatalogFinding {
        code: finding.code.as_str().to_owned(),
        file: finding.file.display().to_string(),
        line: finding.line,
        message: finding.message.clone(),
        advice: finding.code.advice().to_owned(),
    }
}

/// Returns the lines of Commodore, and the next step after other findings.
fn text(findings: &[LintFinding]) -> String {
    if findings.is_empty() {
        return "No errors 🎉 ✨\n".to_owned();
    }
    let mut out = String::new();
    for finding in findings {
        let _ = writeln!(out, "{finding}");
        if !finding.code.is_of_commodore() {
            let _ = writeln!(out, "  {}", finding.code.advice());
        }
    }
    out
}

fn rule(name: &str) -> Result<LintRule, Failure> {
    let known = LintRule::ALL.map(LintRule::name);
    LintRule::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(|| {
        Failure::user(format!("invalid value `{name}` for `--linter`"))
            .hint(format!("use {}", known.join(", ")))
    })
}
