use api::output::{LifecycleReport, UnfinishedUpgrade, UpgradeAborted};
use apply::WriteMode;
use inventory::ManagementCluster;
use management::{LifecyclePlan, NotReady, ResumePlan};

use crate::{
    Failure,
    kustomizations::{KustomizationFlags, RunScope},
    session::Session,
    settings::{self, LeaseFlags, OutputFlag, OutputFormat, ServerFlags, UnfinishedFlags},
    verbs::lifecycle::{
        self, ReleaseSources, ResultWords, ShowFlags, WaitFlags, plan_text, upgrade_versions,
    },
};

const RESUME_HINT: &str = "re-run the same command to complete it";

/// The flags of going on and of going back.
#[derive(clap::Args)]
pub(crate) struct ResumeFlags {
    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    show: ShowFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,

    #[command(flatten)]
    unfinished: UnfinishedFlags,
}

/// The flags of going on.
#[derive(clap::Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    customisation: KustomizationFlags,

    #[command(flatten)]
    flags: ResumeFlags,
}

/// Forget an interrupted upgrade and keep its changes
///
/// Afterwards, the upgrade can be neither completed nor undone.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} upgrade abort --dry-run
  {bin} upgrade abort")]
pub(crate) struct Abort {
    /// Show the upgrade to forget, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(super) fn resume(args: &Resume, session: &mut Session) -> Result<(), Failure> {
    let Resume { customisation, flags: args } = args;
    let (format, wait) = (args.show.format()?, args.wait.wait_for()?);
    let sources = ReleaseSources::with_kustomizations(customisation, RunScope::default(), session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let (unfinished, server_dry_run) = (args.unfinished.on_unfinished(), args.show.is_show_only());
    let end = UpgradeCompletion { args, command: "upgrade resume", format };
    let plan = |cluster: &ManagementCluster, session: &Session| {
        let sources = sources.sources();
        let plan = management::plan_resume(cluster, &sources, wait, unfinished, server_dry_run);
        session.block_on(Box::pin(plan))
    };
    if server_dry_run {
        let plan = plan(&cluster, session)?;
        return end.show(plan.plan(), session);
    }
    args.lease.hold(end.command, &[&cluster], session, |clusters, session| {
        let mut plan = plan(&clusters[0], session)?;
        let sources = sources.sources();
        let resumed = management::resume_upgrade(&clusters[0], &sources, &mut plan, wait);
        let not_ready = session.execute(Box::pin(resumed), RESUME_HINT)?;
        let words = match plan {
            ResumePlan::Upgrade { .. } => {
                ResultWords { past_tense: "completed the upgrade:", no_changes: "completed the upgrade" }
            }
            ResumePlan::Rollback(_) => {
                ResultWords { past_tense: "completed the rollback:", no_changes: "completed the rollback" }
            }
        };
        end.report_execution(plan.plan(), not_ready.as_ref(), words, session)
    })
}

pub(super) fn rollback(args: &ResumeFlags, session: &mut Session) -> Result<(), Failure> {
    let (format, wait) = (args.show.format()?, args.wait.wait_for()?);
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let end = UpgradeCompletion { args, command: "upgrade rollback", format };
    let unfinished = args.unfinished.on_unfinished();
    if args.show.is_show_only() {
        let plan = session.block_on(Box::pin(management::plan_rollback(&cluster, unfinished)))?;
        return end.show(&plan.plan, session);
    }
    args.lease.hold(end.command, &[&cluster], session, |clusters, session| {
        let mut plan = session.block_on(Box::pin(management::start_rollback(&clusters[0], unfinished)))?;
        let rolled_back = management::rollback_upgrade(&clusters[0], &mut plan, wait);
        let not_ready = session.execute(Box::pin(rolled_back), RESUME_HINT)?;
        let words = ResultWords {
            past_tense: "rolled back",
            no_changes: "rolled back the upgrade; no provider had changed",
        };
        end.report_execution(&plan.plan, not_ready.as_ref(), words, session)
    })
}

pub(super) fn abort(args: &Abort, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let forget = |cluster: &ManagementCluster, mode, session: &Session| {
        session.block_on(management::abort_upgrade(cluster, mode))
    };
    if args.dry_run {
        let upgrade = forget(&cluster, WriteMode::DryRun, session)?;
        return print_aborted(&UpgradeAborted { carried_out: false, upgrade }, format, session);
    }
    let upgrade = args.lease.hold("upgrade abort", &[&cluster], session, |clusters, session| {
        forget(&clusters[0], WriteMode::Real, session)
    })?;
    let result = format!("forgot the upgrade started at {}; its changes are kept", upgrade.begun);
    print_aborted(&UpgradeAborted { carried_out: true, upgrade }, format, session)?;
    session.show_cluster_result(args.server.pace.progress, result);
    Ok(())
}

fn print_aborted(
    aborted: &UpgradeAborted,
    format: OutputFormat,
    session: &mut Session,
) -> Result<(), Failure> {
    session.print(format, aborted, |aborted, _| match aborted {
        UpgradeAborted { carried_out: true, .. } => String::new(),
        UpgradeAborted { upgrade, .. } => abort_preview(upgrade),
    })
}

fn abort_preview(upgrade: &UnfinishedUpgrade) -> String {
    let what = upgrade.subject();
    format!("would forget {what} started at {}:\n{}", upgrade.begun, upgrade_versions(upgrade))
}

struct UpgradeCompletion<'a> {
    args: &'a ResumeFlags,
    command: &'static str,
    format: OutputFormat,
}

impl UpgradeCompletion<'_> {
    /// Returns the report of a plan with the name of this verb.
    fn report(&self, plan: &LifecyclePlan) -> LifecycleReport {
        let command = self.command.to_owned();
        LifecycleReport { command, ..plan.report(self.args.show.diffs(self.format)) }
    }

    fn show(&self, plan: &LifecyclePlan, session: &mut Session) -> Result<(), Failure> {
        let report = self.report(plan);
        self.warn(&report.warnings, session);
        let diffs = self.args.show.diffs(self.format);
        session.print(self.format, &report, |report, width| plan_text(report, diffs, width))
    }

    fn report_execution(
        &self,
        plan: &LifecyclePlan,
        not_ready: Option<&NotReady>,
        words: ResultWords,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let mut report = self.report(plan);
        self.warn(&report.warnings, session);
        let pace = &self.args.server.pace;
        lifecycle::print_executed(&mut report, not_ready, (self.format, pace), session)?;
        let result = lifecycle::result_text(words, &report, session.writes());
        session.show_cluster_result(pace.progress, result);
        Ok(())
    }

    fn warn(&self, warnings: &[String], session: &Session) {
        let events = session.cluster_events(self.args.server.pace.progress);
        for warning in warnings {
            events.warning(warning);
        }
    }
}
