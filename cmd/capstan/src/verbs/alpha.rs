//! `alpha`: rollouts of machine deployments, machine pools and control planes.

use std::time::Duration;

use api::output::{RolloutChangeReport, RolloutReport, RolloutStatus};
use apply::{ObjectKey, WriteMode};
use inventory::ManagementCluster;
use workload::{ResourceRef, RolloutChange, RolloutResource, rollout_progress, watch_rollouts};

use crate::{
    Failure, WithContext as _,
    events::ProgressFormat,
    failure::Kind,
    session::Session,
    settings::{self, LeaseFlags, OutputFlag, ServerFlags},
    ui::{NarrowingStep, format_count, table, wait_for_quit},
    verbs::lifecycle::parse_duration,
};

/// Experimental commands
#[derive(clap::Subcommand)]
pub(crate) enum Alpha {
    #[command(subcommand)]
    Rollout(Rollout),
}

impl Alpha {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Rollout(verb) => verb.run(session),
        }
    }
}

/// Manage rollouts of MachineDeployments, MachinePools and control planes
///
/// A resource is TYPE/NAME. Types are machinedeployment (md), kubeadmcontrolplane (kcp), machinepool (mp), and control plane
/// types of other providers, such as rke2controlplane.
#[derive(clap::Subcommand)]
pub(crate) enum Rollout {
    /// Replace all machines one after the other, even without changes
    ///
    /// The command refuses resources that are paused or have a scheduled rollout.
    #[command(after_help = "Examples:
  {bin} alpha rollout restart machinedeployment/demo-workers
  {bin} alpha rollout restart kcp/demo-control-plane md/demo-workers")]
    Restart(ChangeFlags),

    /// Pause rollouts
    #[command(after_help = "Examples:
  {bin} alpha rollout pause machinedeployment/demo-workers
  {bin} alpha rollout pause kcp/demo-control-plane md/demo-workers")]
    Pause(ChangeFlags),

    /// Resume paused rollouts
    #[command(after_help = "Examples:
  {bin} alpha rollout resume machinedeployment/demo-workers
  {bin} alpha rollout resume kcp/demo-control-plane md/demo-workers")]
    Resume(ChangeFlags),

    Status(Status),
}

impl Rollout {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Restart(flags) => change_all(RolloutChange::Restart, &flags, session),
            Self::Pause(flags) => change_all(RolloutChange::Pause, &flags, session),
            Self::Resume(flags) => change_all(RolloutChange::Resume, &flags, session),
            Self::Status(args) => status(&args, session),
        }
    }
}

/// What the verbs of `rollout` work on.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RolloutTargetFlags {
    /// Resources, such as md/demo-workers or kcp/demo-control-plane
    #[arg(id = "rollouts", value_name = "RESOURCE")]
    resources: Vec<String>,

    /// Namespace of the resources [default: the namespace of the context]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    #[command(flatten)]
    server: ServerFlags,
}

impl RolloutTargetFlags {
    fn progress(&self) -> ProgressFormat {
        self.server.pace.progress
    }

    /// Connects and resolves the named resources. Checks every word before any change.
    fn resources(&self, session: &Session) -> Result<(ManagementCluster, Vec<RolloutResource>), Failure> {
        if self.resources.is_empty() {
            return Err(Failure::user("the resource is missing")
                .hint("add a resource as TYPE/NAME, such as md/demo-workers"));
        }
        let refs: Result<Vec<_>, _> = self.resources.iter().map(|word| ResourceRef::parse(word)).collect();
        let refs = refs?;
        let namespace = self.server.kube.namespace(self.namespace.as_deref(), session.environment())?;
        let cluster = settings::management_cluster(&self.server.kube, &self.server.pace, session)?;
        let resources = session.block_on(workload::rollout_resources(&cluster, &namespace, &refs))?;
        Ok((cluster, resources))
    }
}

/// The flags of verbs that change rollouts.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ChangeFlags {
    #[command(flatten)]
    target: RolloutTargetFlags,

    /// Show the changes, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    lease: LeaseFlags,
}

/// Changes resources one after the other and reports each change. Stops at the first failure.
fn change_all(change: RolloutChange, flags: &ChangeFlags, session: &mut Session) -> Result<(), Failure> {
    let format = flags.output.format()?;
    let (verb, done) = match change {
        RolloutChange::Restart => ("restart", "restarted"),
        RolloutChange::Pause => ("pause", "paused"),
        RolloutChange::Resume => ("resume", "resumed"),
    };
    let (cluster, resources) = flags.target.resources(session)?;
    let report = RolloutChangeReport {
        command: format!("alpha rollout {verb}"),
        carried_out: !flags.dry_run,
        rollouts: resources.iter().map(RolloutResource::key).collect(),
    };
    let run = RolloutVerb { rollout: change, verb, past_tense: done };
    if flags.dry_run {
        run.apply_to(&cluster, &resources, WriteMode::DryRun, session)?;
    } else {
        flags.lease.hold(&report.command, &[&cluster], session, |clusters, session| {
            run.apply_to(&clusters[0], &resources, WriteMode::Real, session)
        })?;
    }
    session.print(format, &report, |report, _| run.text(report))?;
    if report.carried_out {
        let result = format!("{done} {}", format_count(resources.len(), "rollout"));
        session.show_cluster_result(flags.target.progress(), result);
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct RolloutVerb {
    rollout: RolloutChange,
    verb: &'static str,
    past_tense: &'static str,
}

impl RolloutVerb {
    fn apply_to(
        self,
        cluster: &ManagementCluster,
        resources: &[RolloutResource],
        mode: WriteMode,
        session: &Session,
    ) -> Result<(), Failure> {
        let Self { rollout, verb, past_tense: done } = self;
        for resource in resources {
            let changed = session.block_on(workload::change_rollout(cluster, resource, rollout, mode));
            let changed = changed.map_err(|failure| match failure.kind() {
                Kind::Interrupted if mode == WriteMode::Real => failure.with_resume_hint(
                    "while changing rollouts",
                    "re-run the command with the resources that were not reported",
                ),
                _ => failure,
            });
            changed.with_context(|| format!("cannot {verb} the rollout of {}", resource.key()))?;
            if mode == WriteMode::Real {
                session.messages().status(format!("{done} the rollout of {}", resource.key()));
            }
        }
        Ok(())
    }

    /// Returns the text of a plan. Empty after the changes, which are reported one by one.
    fn text(self, report: &RolloutChangeReport) -> String {
        if report.carried_out {
            return String::new();
        }
        let line = |object: &ObjectKey| format!("would {} the rollout of {object}\n", self.verb);
        report.rollouts.iter().map(line).collect()
    }
}

/// Show the progress of rollouts
///
/// With `--watch`, the command waits until all rollouts are complete, and fails at the timeout. Press `q` or Ctrl-C to end.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} alpha rollout status kcp/demo-control-plane md/demo-workers
  {bin} alpha rollout status md/demo-workers --watch --timeout 30m")]
pub(crate) struct Status {
    #[command(flatten)]
    target: RolloutTargetFlags,

    /// Wait until the rollouts are complete
    #[arg(short, long)]
    watch: bool,

    /// Maximum time to wait [default: unlimited]
    #[arg(long, value_name = "DURATION", requires = "watch")]
    timeout: Option<String>,

    #[command(flatten)]
    output: OutputFlag,
}

fn status(args: &Status, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let timeout = args.timeout.as_deref().map(parse_duration).transpose()?;
    let (cluster, resources) = args.target.resources(session)?;
    let progress = if args.watch {
        let messages = session.messages().clone();
        let tell = |one: &RolloutStatus| messages.status(line(one));
        let mut keyboard = session.keyboard()?;
        session.block_on(async {
            tokio::select! {
                biased;
                progress = watch_rollouts(&cluster, &resources, timeout, tell) => progress.map_err(Failure::from),
                () = wait_for_quit(keyboard.as_mut()) => Err(Failure::interrupted()),
            }
        })?
    } else {
        session.block_on(rollout_progress(&cluster, &resources))?
    };
    let report = RolloutReport { rollouts: progress };
    session.print(format, &report, text)?;
    match timeout {
        Some(timeout) if !report.rollouts.iter().all(RolloutStatus::is_complete) => {
            Err(timeout_failure(timeout))
        }
        _ => Ok(()),
    }
}

fn timeout_failure(timeout: Duration) -> Failure {
    Failure::new(Kind::Environment, format!("the rollouts are not complete after {}s", timeout.as_secs()))
        .hint("increase `--timeout`, or find the cause with `kubectl describe`")
}

fn line(one: &RolloutStatus) -> String {
    let state = one.state.as_str();
    let message = if one.message.is_empty() { String::new() } else { format!(", {}", one.message) };
    format!("{}: {state}{message}", one.object)
}

const NARROW: [NarrowingStep; 4] = [
    NarrowingStep::Shorten("NAME", 24),
    NarrowingStep::Drop("AVAILABLE"),
    NarrowingStep::Drop("REPLICAS"),
    NarrowingStep::Drop("DESIRED"),
];

fn text(report: &RolloutReport, width: Option<usize>) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let cells: Vec<_> = report
        .rollouts
        .iter()
        .map(|one| {
            let name = format!("{}/{}", one.object.kind, one.object.name);
            let counts = [one.desired, one.replicas, one.up_to_date, one.available].map(count);
            (name, counts, one)
        })
        .collect();
    let rows: Vec<[&str; 7]> = cells
        .iter()
        .map(|(name, [desired, replicas, up_to_date, available], one)| {
            [&**name, one.state.as_str(), &**desired, &**replicas, &**up_to_date, &**available, &*one.message]
        })
        .collect();
    let head = ["NAME", "STATE", "DESIRED", "REPLICAS", "UP TO DATE", "AVAILABLE", "MESSAGE"];
    table(width, &NARROW, head, &rows)
}
