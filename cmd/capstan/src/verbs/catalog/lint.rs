use std::path::PathBuf;

use catalog::lint::{LintRule, lint};

use crate::{Failure, session::Session, ui::format_count};

/// Find removed references and unusable entries of dependencies in a hierarchy
///
/// Checks all YAML files of folders, except for hidden ones. Exits with status 1 if there are findings.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog lint inventory/classes/global
  {bin} catalog lint . --linter components --linter packages")]
pub(crate) struct Lint {
    /// Files or folders [default: the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check to run: components, packages or deprecated-parameters; repeatable [default: all]
    #[arg(short, long, value_name = "NAME")]
    linter: Vec<String>,
}

pub(super) fn run(args: &Lint, session: &mut Session) -> Result<(), Failure> {
    let rules = args.linter.iter().map(|name| rule(name)).collect::<Result<Vec<_>, _>>()?;
    let all = [LintRule::Components, LintRule::DeprecatedParameters, LintRule::Packages];
    let rules = if rules.is_empty() { &all[..] } else { &rules };
    let environment = session.environment();
    let mut paths: Vec<PathBuf> = args.paths.iter().map(|path| environment.resolve(path)).collect();
    if paths.is_empty() {
        paths.push(environment.current_dir().to_owned());
    }
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(Failure::user(format!("cannot check `{}`: it does not exist", missing.display())));
    }
    let findings = lint(&paths, rules);
    if findings.is_empty() {
        return session.printer().write("No errors 🎉 ✨\n");
    }
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    session.printer().write(lines.join("\n") + "\n")?;
    Err(Failure::user(format!("found {}", format_count(findings.len(), "error"))))
}

fn rule(name: &str) -> Result<LintRule, Failure> {
    match name {
        "components" => Ok(LintRule::Components),
        "packages" => Ok(LintRule::Packages),
        "deprecated-parameters" => Ok(LintRule::DeprecatedParameters),
        other => Err(Failure::user(format!("invalid value `{other}` for `--linter`"))
            .hint("use components, packages or deprecated-parameters")),
    }
}
