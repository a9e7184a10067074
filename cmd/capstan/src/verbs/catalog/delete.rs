use api::output::{AppliedCatalogs, StepAction};
use apply::{PlannedSet, RecordedSet};
use inventory::ManagementCluster;
use management::DiffDetail;

use super::applied_catalog::{RECORD_NAMESPACE, applied_catalogs, applied_set, plan_text, report};
use crate::{
    Failure,
    session::Session,
    settings::{self, LeaseFlags, OutputFormat},
    ui::format_count,
    verbs::lifecycle::RemovalFlags,
};

const COMMAND: &str = "catalog delete";

/// Delete an applied catalog from a cluster
///
/// Deletes all objects that `catalog apply` has applied, in reverse order, after a confirmation. Namespaces stay, because they
/// may have other objects. Nothing is deleted while objects of other owners use a definition of the catalog. Re-run the
/// command to resume an interrupted deletion.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog list --applied --sandbox lab
  {bin} catalog delete c-green-1 --dry-run --sandbox lab
  {bin} catalog delete c-green-1 --yes")]
pub(crate) struct Delete {
    /// Id of the cluster, or name of the catalog; `catalog` for a folder without a name
    #[arg(value_name = "CATALOG", group = LeaseFlags::CONFIRMED)]
    name: String,

    #[command(flatten)]
    removal: RemovalFlags,
}

pub(super) fn run(args: &Delete, session: &mut Session) -> Result<(), Failure> {
    let format = args.removal.output.format()?;
    let timeout = args.removal.timeout()?;
    let cluster =
        settings::management_cluster(&args.removal.server.kube, &args.removal.server.pace, session)?;
    let (_, plan) = args.plan(&cluster, session)?;
    if args.removal.dry_run {
        return args.print(&plan, format, session);
    }
    if !args.removal.lease.is_confirmed() {
        args.confirm(&plan, session)?;
    }
    // Planned again under the lease, so that the plan includes changes by another run.
    let result = args.removal.lease.hold(COMMAND, &[&cluster], session, |clusters, session| {
        let (set, mut plan) = args.plan(&clusters[0], session)?;
        let report = report(COMMAND, &args.name, &plan, &[], DiffDetail::Hidden, true);
        let removed = async { set.remove(&mut plan, timeout).await.map_err(Failure::from) };
        session.execute(removed, "re-run the same command to resume")?;
        session.print(format, &report, |_, _| String::new())?;
        let writes = session.writes().suffix();
        Ok(format!("deleted catalog `{}`{writes}", args.name))
    })?;
    session.show_cluster_result(args.removal.server.pace.progress, result);
    Ok(())
}

impl Delete {
    fn plan(
        &self,
        cluster: &ManagementCluster,
        session: &Session,
    ) -> Result<(RecordedSet, PlannedSet), Failure> {
        // The recorded objects have their namespaces.
        let mut set = applied_set(cluster, &self.name, RECORD_NAMESPACE);
        let plan = session.block_on(async {
            // The record of an interrupted deletion keeps its source.
            set.source = set.recorded_source().await?.filter(|source| !source.is_empty());
            set.plan_removal().await.map_err(Failure::from)
        })?;
        let plan = plan.ok_or_else(|| self.unknown(cluster, session))?;
        Ok((set, plan))
    }

    fn unknown(&self, cluster: &ManagementCluster, session: &Session) -> Failure {
        let failure =
            Failure::user(format!("cannot delete catalog `{}`: it is not on the cluster", self.name));
        let Ok(AppliedCatalogs { catalogs }) = applied_catalogs(cluster, session) else { return failure };
        let names: Vec<&str> = catalogs.iter().map(|catalog| catalog.name.as_str()).collect();
        failure.hint(match names.as_slice() {
            [] => "the cluster has no applied catalog".to_owned(),
            names => format!("the cluster has {}", api::one_of(names)),
        })
    }

    fn print(&self, plan: &PlannedSet, format: OutputFormat, session: &mut Session) -> Result<(), Failure> {
        let report = report(COMMAND, &self.name, plan, &[], DiffDetail::Hidden, false);
        session.print(format, &report, |report, width| plan_text(report, &[], DiffDetail::Hidden, width))
    }

    /// Asks whether to delete the objects.
    fn confirm(&self, plan: &PlannedSet, session: &Session) -> Result<(), Failure> {
        let steps = management::report_steps(plan, DiffDetail::Hidden);
        let count = steps.iter().filter(|step| step.action == StepAction::Delete).count();
        let question = format!("Delete {} of catalog `{}`?", format_count(count, "object"), self.name);
        let unanswerable = Failure::user(format!("cannot ask whether to delete catalog `{}`", self.name))
            .hint("show the plan with `--dry-run`, and delete without a question with `--yes`");
        if session.confirm(&question, unanswerable)? {
            Ok(())
        } else {
            Err(Failure::user("the deletion was not confirmed; nothing was deleted"))
        }
    }
}
