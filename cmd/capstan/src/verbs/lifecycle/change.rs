use std::future::Future;

use api::{
    ProviderId,
    output::LifecycleReport,
    plan::{SavedPlan, SavedRequest},
};
use management::{Difference, LifecyclePlan, ManagementCluster, NotReady};

use super::{PlanFlags, text};
use crate::{
    Failure,
    events::ClusterEvents,
    failure::Kind,
    hints,
    session::Session,
    settings::{self, KubeFlags, LeaseFlags, OutputFormat, PaceFlags},
};

/// A change of a management cluster that is planned first.
pub(crate) trait Change {
    /// Finds out what is to be done. Writes nothing.
    fn plan(&self, cluster: &ManagementCluster) -> impl Future<Output = Result<LifecyclePlan, Failure>>;

    /// Does it.
    fn carry_out(
        &self,
        cluster: &ManagementCluster,
        plan: LifecyclePlan,
    ) -> impl Future<Output = Result<Done, Failure>>;

    /// The command, such as `upgrade apply`.
    fn command(&self) -> &'static str;

    /// Refuses the change at once while another run holds the lease. By default it waits.
    async fn check_before_waiting(&self, _cluster: &ManagementCluster) -> Result<(), Failure> {
        Ok(())
    }

    /// What was asked for, with the versions of the plan.
    fn request(&self, plan: &LifecyclePlan) -> SavedRequest;

    /// What to do when it ends half-way.
    fn goes_on(&self) -> String;
}

/// How a change ended.
#[derive(Default)]
pub(crate) struct Done {
    /// What was not ready in time, where that is no failure.
    pub(crate) not_ready: Option<NotReady>,
    /// The infrastructure providers that came with Cluster API when it was installed for the first time.
    pub(crate) first: Option<Vec<ProviderId>>,
}

/// Plans a change; shows, saves or carries it out, as the flags say.
/// # Errors
/// Whatever stands in the way; nothing was written unless the failure says how much.
pub(crate) fn run(
    change: &impl Change,
    saved: Option<&SavedPlan>,
    flags: &PlanFlags,
    (kube, pace): (&KubeFlags, &PaceFlags),
    lease: &LeaseFlags,
    session: &mut Session,
) -> Result<Done, Failure> {
    let format = flags.format()?;
    let cluster = settings::management_cluster(kube, pace, session)?;
    let run = Run { change, saved, flags, format, pace };
    if flags.only_plans() {
        return run.show(&cluster, session).map(|()| Done::default());
    }
    let refuse = |session: &Session| session.block_on(change.check_before_waiting(&cluster));
    // Also the plan: what another run has just changed is part of it.
    lease.hold_unless(change.command(), &[&cluster], refuse, session, |clusters, session| {
        run.carry_out(&clusters[0], session)
    })
}

/// A change with the flags of its verb.
struct Run<'a, C> {
    change: &'a C,
    saved: Option<&'a SavedPlan>,
    flags: &'a PlanFlags,
    format: OutputFormat,
    pace: &'a PaceFlags,
}

impl<C: Change> Run<'_, C> {
    /// Plans, checks that a saved plan still holds, and tells of warnings.
    fn plan(
        &self,
        cluster: &ManagementCluster,
        session: &Session,
    ) -> Result<(LifecyclePlan, LifecycleReport), Failure> {
        let plan = session.block_on(self.change.plan(cluster))?;
        if let Some(saved) = self.saved {
            let origin = session.block_on(cluster.plan_origin())?;
            let mut now = plan.save_like(saved, self.change.request(&plan), origin);
            if self.flags.takes_any_user() {
                now.user.clone_from(&saved.user);
            }
            still_holds(saved, &now)?;
        }
        let report = plan.report(self.flags.diffs());
        let events = session.cluster_events(self.pace.progress);
        report.warnings.iter().for_each(|warning| events.warning(warning));
        Ok((plan, report))
    }

    fn show(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<(), Failure> {
        let (plan, report) = self.plan(cluster, session)?;
        self.flags.save(|| save(self.change, &plan, cluster, session), session)?;
        let text = self.format.render(&report, text::plan)?;
        session.printer().data(text)
    }

    fn carry_out(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<Done, Failure> {
        let (plan, mut report) = self.plan(cluster, session)?;
        let done = session.carry_out(self.change.carry_out(cluster, plan), &self.change.goes_on())?;
        if let Some(not_ready) = &done.not_ready {
            warn(not_ready, &session.cluster_events(self.pace.progress));
            report.not_ready = management::waiting_for(&not_ready.blockers);
        }
        report.carried_out = true;
        // The peer prints nothing here.
        let text = self.format.render(&report, |_| String::new())?;
        session.printer().data(text)?;
        Ok(done)
    }
}

fn save(
    change: &impl Change,
    plan: &LifecyclePlan,
    cluster: &ManagementCluster,
    session: &Session,
) -> Result<SavedPlan, Failure> {
    let origin = session.block_on(cluster.plan_origin())?;
    Ok(plan.save(change.request(plan), origin)?)
}

/// A plan that was reviewed is carried out as it was, or not at all.
fn still_holds(saved: &SavedPlan, now: &SavedPlan) -> Result<(), Failure> {
    /// So many differences are told; the rest is counted.
    const SHOWN: usize = 20;
    let differences = management::differences(saved, now);
    if differences.is_empty() {
        return Ok(());
    }
    let failure = Failure::new(Kind::Conflict, "the plan no longer holds, nothing was written");
    let told = differences.iter().take(SHOWN).map(Difference::to_string);
    let failure = told.fold(failure, Failure::cause);
    let failure = match differences.len().saturating_sub(SHOWN) {
        0 => failure,
        more => failure.cause(format!("and {more} more")),
    };
    let is_of_another_user = differences.iter().any(|one| matches!(one, Difference::User { .. }));
    let failure = failure.hint("make a new one with `--out`, and look at it before it is carried out");
    Err(if is_of_another_user {
        failure.hint("to carry out a plan that another user made, add `--any-user`")
    } else {
        failure
    })
}

/// Not being ready in time is a warning unless `--wait-providers` makes it a failure.
pub(crate) fn warn(not_ready: &NotReady, events: &ClusterEvents) {
    let lines = [vec![not_ready.to_string()], hints::members(not_ready), hints::for_error(not_ready)];
    events.warning(lines.concat().join("\n"));
}
