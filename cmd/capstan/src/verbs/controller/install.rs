use api::output::ControllerRunReport;
use apply::PlannedSet;
use controller::Installation;
use inventory::ManagementCluster;
use management::{DiffDetail, WaitOptions};

use super::deployment::DeploymentFlags;
use crate::{
    Failure,
    session::Session,
    settings::{self, LeaseFlags, OutputFormat, ServerFlags, WAITING},
    verbs::lifecycle::{ShowFlags, steps_text, wait_until_done},
};

const COMMAND: &str = "controller install";

/// Install the controller of Components on a cluster, or upgrade it
///
/// Applies the objects that `controller manifests` prints, and deletes those that are no longer among them. Run it again with
/// another image or other flags to upgrade. A record in the namespace of the controller lists the installed objects.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} controller install --image example.org/capstan:v1 --dry-run
  {bin} controller install --image example.org/capstan:v1 --replicas 2")]
pub(crate) struct Install {
    #[command(flatten)]
    deployment: DeploymentFlags,

    #[command(flatten)]
    show: ShowFlags,

    /// Maximum time to wait until the controller is ready, such as 90s or 10m [default: 5m]
    #[arg(long, value_name = "DURATION", help_heading = WAITING)]
    timeout: Option<String>,

    /// Do not wait until the controller is ready
    #[arg(long, help_heading = WAITING)]
    no_wait: bool,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(super) fn run(args: &Install, session: &mut Session) -> Result<(), Failure> {
    let format = args.show.format()?;
    let wait = wait_until_done(args.timeout.as_deref(), args.no_wait)?;
    args.deployment.settings()?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    if args.show.is_show_only() {
        let (_, plan) = args.plan(&cluster, session)?;
        let diffs = args.show.diffs(format);
        return print(&report(COMMAND, &plan, diffs, false), diffs, format, session);
    }
    // Planning happens under the lease, so that the plan includes changes by the previous run.
    let result = args.lease.hold(COMMAND, &[&cluster], session, |clusters, session| {
        args.execute(&clusters[0], wait, format, session)
    })?;
    session.show_cluster_result(args.server.pace.progress, result);
    Ok(())
}

impl Install {
    fn plan(
        &self,
        cluster: &ManagementCluster,
        session: &Session,
    ) -> Result<(Installation, PlannedSet), Failure> {
        let settings = self.deployment.settings()?;
        let installation = Installation::new(cluster.server().clone(), &settings.namespace);
        let plan = session.block_on(async {
            Box::pin(installation.plan(controller::manifests(&settings))).await.map_err(Failure::from)
        })?;
        Ok((installation, plan))
    }

    fn execute(
        &self,
        cluster: &ManagementCluster,
        wait: WaitOptions,
        format: OutputFormat,
        session: &mut Session,
    ) -> Result<String, Failure> {
        let (installation, mut plan) = self.plan(cluster, session)?;
        let report = report(COMMAND, &plan, DiffDetail::Hidden, true);
        let installed = async { installation.install(&mut plan, wait.timeout).await.map_err(Failure::from) };
        session.execute(installed, "re-run the same command to resume")?;
        session.print(format, &report, |_, _| String::new())?;
        let writes = session.writes().suffix();
        Ok(if report.changes {
            format!("installed the controller{writes}")
        } else {
            "nothing to change".to_owned()
        })
    }
}

/// Returns a plan in its printed form.
pub(super) fn report(
    command: &str,
    plan: &PlannedSet,
    diffs: DiffDetail,
    carried_out: bool,
) -> ControllerRunReport {
    let steps = management::report_steps(plan, diffs);
    let changes = steps.iter().any(|step| step.action.is_change());
    ControllerRunReport { command: command.to_owned(), carried_out, changes, steps }
}

/// Prints a plan.
pub(super) fn print(
    report: &ControllerRunReport,
    diffs: DiffDetail,
    format: OutputFormat,
    session: &mut Session,
) -> Result<(), Failure> {
    session.print(format, report, |report, width| {
        let steps = steps_text(&report.steps, diffs, width);
        let rest = if report.changes { "" } else { "\nnothing would change" };
        format!("{}{rest}\n", steps.trim_end())
    })
}
