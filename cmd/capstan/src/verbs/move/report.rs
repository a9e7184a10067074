use api::output::MoveReport;
use management::{ManagementCluster, MoveError, MoveJournal};

use super::{
    flags::{Ends, TargetFlags},
    journal_file::last_report,
    text,
};
use crate::{
    Failure,
    events::ApiWarnings,
    failure::Kind,
    session::Session,
    settings::{OutputFormat, ServerFlags},
};

/// Show what became of every object of the last move
///
/// The report is read from the cluster that was moved out of, or from the target when one is named. When no cluster has it,
/// or none answers, that of the last move from this machine is shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} move report
  {bin} move report --to-kubeconfig target.yaml -o json")]
pub(super) struct Report {
    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    target: TargetFlags,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &Report, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let report = match args.target.ends(&args.server, ApiWarnings::default(), session) {
        Ok(ends) => session
            .block_on(read(&ends.source, ends.target.as_ref()))
            .or_else(|failure| of_disk(failure, Some(&ends), session)),
        Err(failure) => of_disk(failure, None, session),
    }?;
    session.print(format, &report, text::report)
}

/// Reads the last report on disk, of a move between the clusters where these are known.
/// # Errors
/// The failure that was there, when there is nothing on disk either.
fn of_disk(failure: Failure, ends: Option<&Ends>, session: &Session) -> Result<MoveReport, Failure> {
    let kept =
        last_report(session.environment(), |journal| ends.is_none_or(|ends| is_between(journal, ends)))
            .filter(|_| failure.kind() != Kind::Interrupted);
    let Some((report, journal, path)) = kept else { return Err(failure) };
    session.messages().status(format!("{}; this is from `{}`", failure.message(), path.display()));
    Ok(report.report(journal.as_ref()))
}

/// The clusters may not answer, so they are told by their addresses. Without a target the one that is named may be either
/// end.
fn is_between(journal: Option<&MoveJournal>, ends: &Ends) -> bool {
    let Some(MoveJournal { source, target, .. }) = journal else { return false };
    let here = ends.source.server().address();
    match &ends.target {
        Some(there) => source.address == here && target.address == there.server().address(),
        None => source.address == here || target.address == here,
    }
}

async fn read(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
) -> Result<MoveReport, MoveError> {
    let report = management::move_report(Some(source), target).await?;
    let report = report.ok_or(MoveError::NoMove { verb: "report" })?;
    let journal = management::move_state(Some(source), target).await?;
    Ok(report.report(journal.as_ref()))
}
