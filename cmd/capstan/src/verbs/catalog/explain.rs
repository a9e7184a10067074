use std::fmt::Write as _;

use api::output::{ParameterChange, ParameterExplanation};

use super::inventory::InventoryFolder;
use crate::{Failure, session::Session, settings::OutputFlag};

/// List the classes that set a parameter of a target
///
/// Lists them in the order in which they are merged, with file, line and the value as written. Then prints the merged
/// value.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog explain cluster components:argocd:version
  {bin} catalog explain argocd argocd -o json")]
pub(crate) struct Explain {
    /// Target with the parameter
    #[arg(value_name = "TARGET")]
    target: String,

    /// Path of the parameter, with colons as in references: a:b
    #[arg(value_name = "PARAMETER")]
    parameter: String,

    #[command(flatten)]
    folder: InventoryFolder,

    #[command(flatten)]
    output: OutputFlag,
}

pub(super) fn run(args: &Explain, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let explanation = args.folder.read(session)?.explain(&args.target, &args.parameter)?;
    if explanation.value.is_none() {
        return Err(Failure::user(format!(
            "cannot explain parameter `{}`: target `{}` has no such parameter",
            args.parameter, args.target
        ))
        .hint(format!("list the parameters with `capstan catalog inventory {}`", args.target)));
    }
    session.print(format, &explanation, |explanation, _| text(explanation))
}

fn text(explanation: &ParameterExplanation) -> String {
    let mut out = String::new();
    for source in &explanation.sources {
        let change = match source.change {
            ParameterChange::Sets => "sets",
            ParameterChange::Merges => "merges",
            ParameterChange::Replaces => "replaces",
            ParameterChange::Refers => "refers",
        };
        let _ = writeln!(out, "{}:{} {change} {}: {}", source.file, source.line, source.path, source.value);
    }
    if let Some(value) = &explanation.value {
        let _ = writeln!(out, "{}: {value}", explanation.parameter);
    }
    out
}
