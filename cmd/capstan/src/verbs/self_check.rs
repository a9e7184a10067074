//! `self`: the installation of capstan on this machine.

mod files;
mod installation;

use std::fmt::Write as _;

use api::output::{SelfCheck, SelfCheckEntry, SelfCheckState};

use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::OutputFlag,
    ui::{NarrowingStep, table},
};

/// Check the installation of capstan
#[derive(clap::Subcommand)]
pub(crate) enum SelfVerb {
    Check(Check),
}

impl SelfVerb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Check(args) => run(&args, session),
        }
    }
}

/// Check the installation, settings and folders on this machine
///
/// Shows which programs the names capstan, clusterctl and kubectl-capi run, and if completion is installed. Checks the
/// configuration, the cache, proxies and certificates. Sends no request. Exits with status 1 if a check finds an error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} self check
  {bin} self check -o json")]
pub(crate) struct Check {
    #[command(flatten)]
    output: OutputFlag,
}

fn run(args: &Check, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let mut checks = installation::checks(session);
    checks.extend(files::checks(session));
    let errors = checks.iter().filter(|entry| entry.state == SelfCheckState::Error).count();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let report = SelfCheck { version, usable: errors == 0, checks };
    session.print(format, &report, report_text)?;
    match errors {
        0 => Ok(()),
        1 => Err(Failure::new(Kind::Environment, "one check found an error")),
        several => Err(Failure::new(Kind::Environment, format!("{several} checks found errors"))),
    }
}

fn report_text(report: &SelfCheck, width: Option<usize>) -> String {
    let row =
        |entry: &SelfCheckEntry| [entry.name.clone(), state_text(entry.state).to_owned(), entry.fact.clone()];
    let rows: Vec<[String; 3]> = report.checks.iter().map(row).collect();
    let mut text = table(width, &[NarrowingStep::Shorten("FACT", 40)], ["CHECK", "STATE", "FACT"], &rows);
    let advice = report.checks.iter().filter_map(|entry| Some((&entry.name, entry.advice.as_ref()?)));
    for (at, (name, advice)) in advice.enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{name}: {advice}");
    }
    text
}

fn state_text(state: SelfCheckState) -> &'static str {
    match state {
        SelfCheckState::Ok => "ok",
        SelfCheckState::Note => "note",
        SelfCheckState::Warning => "warning",
        SelfCheckState::Error => "error",
    }
}

/// Creates an entry without advice.
fn entry(name: &str, state: SelfCheckState, fact: impl Into<String>) -> SelfCheckEntry {
    SelfCheckEntry { name: name.to_owned(), state, fact: fact.into(), advice: None }
}

/// Creates an entry with advice.
fn entry_with_advice(
    name: &str,
    state: SelfCheckState,
    fact: impl Into<String>,
    advice: impl Into<String>,
) -> SelfCheckEntry {
    SelfCheckEntry { advice: Some(advice.into()), ..entry(name, state, fact) }
}
