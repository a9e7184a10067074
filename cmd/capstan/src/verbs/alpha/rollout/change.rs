use api::output::{ObjectName, RolloutChangeReport};
use apply::WriteMode;
use management::{ManagementCluster, RolloutChange, RolloutResource, object_name};

use super::target::Target;
use crate::{
    Failure, Within as _,
    failure::Kind,
    session::Session,
    settings::{LeaseFlags, OutputFormat},
    ui::count_of,
};

/// The flags of verbs that change rollouts.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ChangeFlags {
    #[command(flatten)]
    target: Target,

    /// Show what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    lease: LeaseFlags,
}

/// Changes resources one after the other; the first that cannot be changed ends it. Says of each what was done.
pub(super) fn change_all(
    change: RolloutChange,
    flags: &ChangeFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    let format = OutputFormat::parse(&flags.output)?;
    let (verb, done) = match change {
        RolloutChange::Restart => ("restart", "restarted"),
        RolloutChange::Pause => ("pause", "paused"),
        RolloutChange::Resume => ("resume", "resumed"),
    };
    let (cluster, resources) = flags.target.resources(session)?;
    let report = RolloutChangeReport {
        command: format!("alpha rollout {verb}"),
        carried_out: !flags.dry_run,
        rollouts: resources.iter().map(|resource| object_name(&resource.key())).collect(),
    };
    let run = Run { change, verb, done };
    if flags.dry_run {
        run.each(&cluster, &resources, WriteMode::DryRun, session)?;
    } else {
        flags.lease.hold(&report.command, &[&cluster], session, |clusters, session| {
            run.each(&clusters[0], &resources, WriteMode::Real, session)
        })?;
    }
    session.print(format, &report, |report, _| run.text(report))?;
    if report.carried_out {
        let result = format!("{done} {}", count_of(resources.len(), "rollout"));
        session.done_on_cluster(flags.target.progress(), result);
    }
    Ok(())
}

/// A change with its words.
#[derive(Clone, Copy)]
struct Run {
    change: RolloutChange,
    verb: &'static str,
    done: &'static str,
}

impl Run {
    fn each(
        self,
        cluster: &ManagementCluster,
        resources: &[RolloutResource],
        mode: WriteMode,
        session: &Session,
    ) -> Result<(), Failure> {
        let Self { change, verb, done } = self;
        for resource in resources {
            let changed = session.block_on(management::change_rollout(cluster, resource, change, mode));
            let changed = changed.map_err(|failure| match failure.kind() {
                Kind::Interrupted if mode == WriteMode::Real => failure.half_way(
                    "while rollouts were being changed",
                    "name those that were not told as done again",
                ),
                _ => failure,
            });
            changed.within(|| format!("cannot {verb} the rollout of {}", resource.key()))?;
            if mode == WriteMode::Real {
                session.messages().status(format!("{done} the rollout of {}", resource.key()));
            }
        }
        Ok(())
    }

    /// A plan in words; results are told one by one.
    fn text(self, report: &RolloutChangeReport) -> String {
        if report.carried_out {
            return String::new();
        }
        let line = |object: &ObjectName| format!("would {} the rollout of {object}\n", self.verb);
        report.rollouts.iter().map(line).collect()
    }
}
