//! The leases of all clusters that a verb writes to. A verb holds them while it works and always releases them.

use std::sync::Arc;

use apply::{ApiError, HeldLeasePolicy, Lease, LeaseError, LeaseHolder, LeaseName, LeaseRequest};
use clap::ArgGroup;
use futures::future::join_all;
use inventory::ManagementCluster;
use management::UnfinishedPolicy;
use mover::MoveError;

use crate::{Environment, Failure, failure::Kind, process, session::Session};

/// The flags of verbs that write to a cluster.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = super::OTHER_RUNS, group = ArgGroup::new(Self::CONFIRMED).multiple(true))]
pub(crate) struct LeaseFlags {
    /// If another run is writing to the cluster, fail instead of waiting
    #[arg(long)]
    no_wait_lock: bool,

    /// Stop another run that is writing to the cluster, after confirmation
    #[arg(long, conflicts_with = "no_wait_lock", group = Self::CONFIRMED)]
    take_over: bool,

    /// Skip the confirmation
    #[arg(long, requires = Self::CONFIRMED)]
    yes: bool,
}

/// The flag of verbs that can make it impossible to complete an interrupted run.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = super::OTHER_RUNS)]
pub(crate) struct UnfinishedFlags {
    /// Proceed despite an unfinished run, which may make it impossible to complete
    #[arg(long)]
    abandon: bool,
}

impl UnfinishedFlags {
    pub(crate) fn on_unfinished(self) -> UnfinishedPolicy {
        if self.abandon { UnfinishedPolicy::Abandon } else { UnfinishedPolicy::Refuse }
    }
}

impl LeaseFlags {
    /// The arguments that need a confirmation, unless `--yes` is given.
    pub(crate) const CONFIRMED: &str = "confirmed";

    /// True if the user needs no question.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.yes
    }

    /// Runs work under the leases of all given clusters. The order of acquisition does not depend on the roles of the
    /// clusters.
    /// The work receives cluster handles in the given order.
    pub(crate) fn hold<T>(
        &self,
        verb: &str,
        clusters: &[&ManagementCluster],
        session: &mut Session,
        work: impl FnOnce(&[ManagementCluster], &mut Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // A Ctrl-C between two waits must not leave the leases behind.
        session.defer_interrupts();
        let mut leases = Vec::new();
        let result = self.acquire_all(verb, clusters, &mut leases, session).and_then(|()| {
            let guarded: Vec<_> = clusters
                .iter()
                .map(|cluster| {
                    leases.iter().fold((*cluster).clone(), |cluster, lease| cluster.with_lease(lease))
                })
                .collect();
            work(&guarded, session)
        });
        let lost = leases.iter().find_map(Lease::loss_error);
        release(leases, session);
        match (result, lost) {
            (Err(_), Some(lost)) => Err(superseded(&lost)),
            (result, _) => result,
        }
    }

    fn acquire_all(
        &self,
        verb: &str,
        clusters: &[&ManagementCluster],
        leases: &mut Vec<Lease>,
        session: &Session,
    ) -> Result<(), Failure> {
        for cluster in lock_order(clusters, session)? {
            leases.push(self.acquire(verb, cluster, session)?);
        }
        Ok(())
    }

    fn acquire(&self, verb: &str, cluster: &ManagementCluster, session: &Session) -> Result<Lease, Failure> {
        let request = LeaseRequest {
            when_held: HeldLeasePolicy::Fail,
            ..lease_request(ManagementCluster::lease_name(), verb, session.environment())
        };
        let acquire = |request: LeaseRequest| {
            session
                .block_on(async move { Ok::<_, Failure>(Lease::acquire(cluster.server(), &request).await) })
        };
        let held = match acquire(request.clone())? {
            Err(LeaseError::Held { holder }) => holder,
            acquired => return Ok(acquired?),
        };
        if self.no_wait_lock {
            return Err(Failure::from(LeaseError::Held { holder: held }).with_kind(Kind::Conflict));
        }
        let when_held = if self.take_over {
            self.confirm_takeover(&held, session)?;
            HeldLeasePolicy::TakeOver
        } else {
            HeldLeasePolicy::Wait
        };
        Ok(acquire(LeaseRequest { when_held, ..request })??)
    }

    fn confirm_takeover(&self, holder: &LeaseHolder, session: &Session) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        let question = format!("{holder} is writing to this cluster. Stop it and take over?");
        let unanswerable = Failure::new(Kind::Conflict, format!("cannot take over from {holder}"))
            .hint("add `--yes` to take over without confirmation");
        if session.confirm(&question, unanswerable)? {
            return Ok(());
        }
        Err(Failure::new(Kind::Conflict, format!("{holder} is writing to this cluster; nothing was written")))
    }
}

/// Releases leases, also after a Ctrl-C.
pub(crate) fn release(leases: impl IntoIterator<Item = Lease>, session: &Session) {
    let released = session.block_on_to_end(async |_| {
        join_all(leases.into_iter().map(Lease::release)).await;
        Ok::<_, Failure>(())
    });
    // A lease that was not released expires.
    drop(released);
}

/// Returns the request of this process for a lease, which waits for other holders.
pub(crate) fn lease_request(name: LeaseName, verb: &str, environment: &Environment) -> LeaseRequest {
    let holder = LeaseHolder {
        host: process::host_name(environment),
        process: process::process_id(),
        verb: verb.to_owned(),
        since: None,
    };
    let has_ended = Arc::new(|holder: &LeaseHolder| process::has_ended(&holder.process));
    LeaseRequest { has_ended, ..LeaseRequest::new(name, holder) }
}

/// Returns the clusters in a fixed order, so that two runs on the same two clusters cannot deadlock.
fn lock_order<'c>(
    clusters: &[&'c ManagementCluster],
    session: &Session,
) -> Result<Vec<&'c ManagementCluster>, Failure> {
    if let [_] = clusters {
        return Ok(clusters.to_vec());
    }
    let mut known = Vec::new();
    for cluster in clusters {
        known.push((session.block_on(cluster.identity())?.uid, *cluster));
    }
    known.sort_by(|a, b| a.0.cmp(&b.0));
    if known.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(MoveError::SameCluster.into());
    }
    Ok(known.into_iter().map(|(_, cluster)| cluster).collect())
}

/// Returns the failure of a superseded run, which replaces any later failure.
fn superseded(lost: &ApiError) -> Failure {
    Failure::new(Kind::Conflict, "another run has superseded this one, which has stopped writing")
        .because(lost)
}
