use component::PlanPurpose;
use management::DiffDetail;

use super::{
    hub::Hub,
    inputs::{InputFlags, Inputs, warn_suspended},
    report::{print, report},
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag, OutputFormat, ServerFlags},
};

/// Show the differences between Components in files and the cluster
///
/// Renders Components and shows what `component apply` would change, as the API server would store it. Manual changes of an
/// object are shown once the object is due to be written again, after `spec.reapplyInterval`. Values of Secrets are masked. Nothing
/// is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component diff components/
  {bin} component diff web.yaml --source ./manifests --full

  # In a script: exit status 3 if anything differs
  {bin} component diff components/ --exit-status -o json")]
pub(crate) struct Diff {
    #[command(flatten)]
    inputs: InputFlags,

    /// Show every line instead of a summary
    #[arg(long)]
    full: bool,

    /// Exit with status 3 if anything differs
    #[arg(long = "exit-status")]
    fails_if_different: bool,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &Diff, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let request = args.inputs.request(&args.server.kube, session)?;
    let inputs = Inputs::read(&request, session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let plan = session.block_on(async {
        let hub = Hub::open(&cluster).await?;
        Box::pin(inputs.batch(&hub).plan(PlanPurpose::Show)).await.map_err(Failure::from)
    })?;
    warn_suspended(&plan, session.messages());
    let is_text = format == OutputFormat::Text;
    let diffs = if args.full || !is_text { DiffDetail::Full } else { DiffDetail::Summary };
    let report = report("component diff", plan.plans(), diffs, false);
    print(&report, diffs, format, session)?;
    if args.fails_if_different && report.changes {
        return Err(Failure::new(Kind::Unhealthy, "Components differ from the cluster"));
    }
    Ok(())
}
