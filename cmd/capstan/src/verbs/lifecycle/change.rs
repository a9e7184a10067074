use std::{future::Future, rc::Rc};

use api::{
    ErrorChain, ProviderId, error_chain,
    output::{CertManagerAction, LifecycleReport, ProviderReport},
    plan::{SavedPlan, SavedRequest},
};
use inventory::ManagementCluster;
use management::{LifecyclePlan, NotReady, PlanDifference, Sources, plan_origin};
use manifest::provenance::Trace;
use provider::config::Config;
use repository::{Overrides, RepositoryContext};

use super::{PlanFlags, text};
use crate::{
    Failure,
    events::{ClusterEvents, Writes},
    failure::Kind,
    kustomizations::{KustomizationFlags, RunOverlays, RunScope},
    session::Session,
    settings::{self, KubeFlags, LeaseFlags, OutputFormat, PaceFlags},
    ui::format_count,
};

/// A change of a management cluster that is planned first.
pub(crate) trait LifecycleChange {
    /// Plans the change. Writes nothing.
    fn plan(&self, cluster: &ManagementCluster) -> impl Future<Output = Result<LifecyclePlan, Failure>>;

    fn execute(
        &self,
        cluster: &ManagementCluster,
        plan: &mut LifecyclePlan,
    ) -> impl Future<Output = Result<ChangeResult, Failure>>;

    /// The command, such as `upgrade apply`.
    fn command(&self) -> &'static str;

    fn request(&self, plan: &LifecyclePlan) -> SavedRequest;

    fn resume_hint(&self) -> String;

    fn result_words(&self) -> ResultWords;
}

#[derive(Clone, Copy)]
pub(crate) struct ResultWords {
    /// The verb before the providers, such as `upgraded`.
    pub(crate) past_tense: &'static str,
    /// The text without changes, such as `nothing to upgrade`.
    pub(crate) no_changes: &'static str,
}

#[derive(Default)]
pub(crate) struct ChangeResult {
    /// The objects that are not ready in time, if that is no failure.
    pub(crate) not_ready: Option<NotReady>,
    /// The infrastructure providers of a first installation.
    pub(crate) first_infrastructure: Option<Vec<ProviderId>>,
    /// The result for the last line. `None` if the plan was only shown.
    pub(crate) result: Option<String>,
}

/// Returns the result of a change: providers, cert-manager, and the number of changed objects.
pub(crate) fn result_text(words: ResultWords, report: &LifecycleReport, writes: &Writes) -> String {
    let is_change = |provider: &&ProviderReport| {
        provider.from != provider.to || provider.steps.iter().any(|step| step.action.is_change())
    };
    let providers = report.providers.iter().filter(is_change).count();
    let providers = (providers > 0).then(|| format_count(providers, "provider"));
    let cert_manager = match (report.cert_manager.plan.action, &report.cert_manager.plan.to) {
        (CertManagerAction::Install | CertManagerAction::Upgrade, Some(version)) => {
            Some(format!("cert-manager {version}"))
        }
        _ => None,
    };
    let parts: Vec<String> = cert_manager.into_iter().chain(providers).collect();
    if parts.is_empty() {
        return words.no_changes.to_owned();
    }
    format!("{} {}{}", words.past_tense, parts.join(" and "), writes.suffix())
}

/// Plans a change, then shows, saves or executes the plan, depending on the flags.
pub(crate) fn run(
    change: &impl LifecycleChange,
    saved: Option<&SavedPlan>,
    flags: &PlanFlags,
    (kube, pace): (&KubeFlags, &PaceFlags),
    lease: &LeaseFlags,
    session: &mut Session,
) -> Result<ChangeResult, Failure> {
    let format = flags.show.format()?;
    let cluster = settings::management_cluster(kube, pace, session)?;
    let run = ChangeRun { change, saved, flags, format, pace };
    if flags.is_plan_only() {
        return run.show(&cluster, session).map(|()| ChangeResult::default());
    }
    // Planning happens under the lease, so that the plan includes changes by the previous run.
    lease.hold(change.command(), &[&cluster], session, |clusters, session| run.execute(&clusters[0], session))
}

struct ChangeRun<'a, C> {
    change: &'a C,
    saved: Option<&'a SavedPlan>,
    flags: &'a PlanFlags,
    format: OutputFormat,
    pace: &'a PaceFlags,
}

impl<C: LifecycleChange> ChangeRun<'_, C> {
    /// Plans, checks that a saved plan is still valid, and shows warnings.
    fn plan(&self, cluster: &ManagementCluster, session: &Session) -> Result<LifecyclePlan, Failure> {
        let plan = session.block_on(self.change.plan(cluster))?;
        if let Some(saved) = self.saved {
            let origin = session.block_on(plan_origin(cluster))?;
            let mut now = plan.save_with_salt_of(saved, self.change.request(&plan), origin);
            if self.flags.allows_any_user() {
                now.user.clone_from(&saved.user);
            }
            check_unchanged(saved, &now)?;
        }
        let events = session.cluster_events(self.pace.progress);
        plan.warnings().iter().for_each(|warning| events.warning(warning));
        Ok(plan)
    }

    fn report(&self, plan: &LifecyclePlan) -> LifecycleReport {
        plan.report(self.flags.show.diffs(self.format))
    }

    fn show(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<(), Failure> {
        let plan = self.plan(cluster, session)?;
        self.flags.write_plan(|| save(self.change, &plan, cluster, session), session)?;
        let diffs = self.flags.show.diffs(self.format);
        session.print(self.format, &self.report(&plan), |report, width| text::plan(report, diffs, width))
    }

    fn execute(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<ChangeResult, Failure> {
        let mut plan = self.plan(cluster, session)?;
        let done = session.execute(self.change.execute(cluster, &mut plan), &self.change.resume_hint())?;
        let mut report = self.report(&plan);
        print_executed(&mut report, done.not_ready.as_ref(), (self.format, self.pace), session)?;
        let result = result_text(self.change.result_words(), &report, session.writes());
        Ok(ChangeResult { result: Some(result), ..done })
    }
}

/// Prints the report of an executed plan, and warns about objects that are not ready.
pub(crate) fn print_executed(
    report: &mut LifecycleReport,
    not_ready: Option<&NotReady>,
    (format, pace): (OutputFormat, &PaceFlags),
    session: &mut Session,
) -> Result<(), Failure> {
    if let Some(not_ready) = not_ready {
        warn_not_ready(not_ready, &session.cluster_events(pace.progress));
        report.not_ready = apply::waiting_for(&not_ready.blockers);
    }
    report.carried_out = true;
    // clusterctl prints nothing here.
    session.print(format, report, |_, _| String::new())
}

fn save(
    change: &impl LifecycleChange,
    plan: &LifecyclePlan,
    cluster: &ManagementCluster,
    session: &Session,
) -> Result<SavedPlan, Failure> {
    let origin = session.block_on(plan_origin(cluster))?;
    Ok(plan.save(change.request(plan), origin)?)
}

/// Fails if a reviewed plan is no longer valid. Such a plan is executed unchanged or not at all.
pub(crate) fn check_unchanged(saved: &SavedPlan, now: &SavedPlan) -> Result<(), Failure> {
    /// The limit of differences that are shown. The others are counted.
    const MAX_SHOWN: usize = 20;
    let differences = management::plan_differences(saved, now);
    if differences.is_empty() {
        return Ok(());
    }
    let failure = Failure::new(Kind::Conflict, "the plan is outdated; nothing was written");
    let shown = differences.iter().take(MAX_SHOWN).map(PlanDifference::to_string);
    let failure = shown.fold(failure, Failure::cause);
    let failure = match differences.len().saturating_sub(MAX_SHOWN) {
        0 => failure,
        more => failure.cause(format!("and {more} more")),
    };
    let is_of_another_user = differences.iter().any(|one| matches!(one, PlanDifference::User { .. }));
    let failure = failure.hint("create a new plan with `--out FILE`, and review it before you execute it");
    Err(if is_of_another_user {
        failure.hint("add `--any-user` to execute a plan of another user")
    } else {
        failure
    })
}

/// Warns about objects that are not ready in time. `--wait-providers` makes them a failure instead.
fn warn_not_ready(not_ready: &NotReady, events: &ClusterEvents) {
    let ErrorChain { lines, hints, .. } = error_chain(not_ready);
    events.warning([lines, hints].concat().join("\n"));
}

/// The configuration, overrides and repositories of a run, owned here so that libraries can borrow them.
pub(crate) struct ReleaseSources {
    config: Rc<Config>,
    overrides: Overrides,
    repositories: RepositoryContext,
    overlays: RunOverlays,
}

impl ReleaseSources {
    pub(crate) fn new(session: &Session) -> Result<Self, Failure> {
        Self::with_kustomizations(&KustomizationFlags::default(), RunScope::default(), session)
    }

    /// Returns sources with the kustomizations of a command line and of its saved plan.
    pub(crate) fn with_kustomizations(
        flags: &KustomizationFlags,
        scope: RunScope<'_>,
        session: &Session,
    ) -> Result<Self, Failure> {
        let config = session.config()?;
        let overrides = settings::overrides(&config, session.environment())?;
        let layers = RunOverlays::read(flags, scope, session)?;
        Ok(Self { overrides, repositories: session.repositories()?, config, overlays: layers })
    }

    pub(crate) fn overlays(&self) -> &RunOverlays {
        &self.overlays
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
            config: &self.config,
            overrides: &self.overrides,
            repositories: &self.repositories,
            overlays: self.overlays.overlays(),
            trace: Trace::Off,
        }
    }
}
