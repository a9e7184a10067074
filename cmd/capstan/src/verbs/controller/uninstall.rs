use apply::PlannedSet;
use controller::Installation;
use inventory::ManagementCluster;
use management::DiffDetail;

use super::{
    deployment::NamespaceFlag,
    install::{print, report},
};
use crate::{
    Failure,
    session::Session,
    settings::{self, OutputFormat},
    verbs::lifecycle::RemovalFlags,
};

const COMMAND: &str = "controller uninstall";

/// Delete the controller of Components from a cluster
///
/// Deletes all objects that `controller install` applied, also the definitions of Components and Blueprints. The namespace stays.
/// Deletes nothing while a Component or a Blueprint exists.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} controller uninstall --dry-run
  {bin} controller uninstall")]
pub(crate) struct Uninstall {
    #[command(flatten)]
    namespace: NamespaceFlag,

    #[command(flatten)]
    removal: RemovalFlags,
}

pub(super) fn run(args: &Uninstall, session: &mut Session) -> Result<(), Failure> {
    let format = args.removal.output.format()?;
    args.namespace.name()?;
    let cluster =
        settings::management_cluster(&args.removal.server.kube, &args.removal.server.pace, session)?;
    if args.removal.dry_run {
        let (_, plan) = args.plan(&cluster, session)?;
        let diffs = DiffDetail::Hidden;
        return print(&report(COMMAND, &plan, diffs, false), diffs, format, session);
    }
    let result = args.removal.lease.hold(COMMAND, &[&cluster], session, |clusters, session| {
        args.execute(&clusters[0], format, session)
    })?;
    session.show_cluster_result(args.removal.server.pace.progress, result);
    Ok(())
}

impl Uninstall {
    fn plan(
        &self,
        cluster: &ManagementCluster,
        session: &Session,
    ) -> Result<(Installation, PlannedSet), Failure> {
        let namespace = self.namespace.name()?;
        let installation = Installation::new(cluster.server().clone(), namespace);
        let plan = session
            .block_on(async { installation.plan_removal().await.map_err(Failure::from) })?
            .ok_or_else(|| {
                Failure::user(format!("no controller is installed in namespace `{namespace}`")).hint(
                    "name its namespace with `--namespace`; only objects of `controller install` are deleted",
                )
            })?;
        Ok((installation, plan))
    }

    fn execute(
        &self,
        cluster: &ManagementCluster,
        format: OutputFormat,
        session: &mut Session,
    ) -> Result<String, Failure> {
        let timeout = self.removal.timeout()?;
        let (installation, mut plan) = self.plan(cluster, session)?;
        let report = report(COMMAND, &plan, DiffDetail::Hidden, true);
        let removed = async { installation.remove(&mut plan, timeout).await.map_err(Failure::from) };
        session.execute(removed, "re-run the same command to resume")?;
        session.print(format, &report, |_, _| String::new())?;
        let writes = session.writes().suffix();
        Ok(format!("uninstalled the controller{writes}"))
    }
}
