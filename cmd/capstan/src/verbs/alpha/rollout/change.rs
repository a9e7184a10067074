use management::{ManagementCluster, RolloutChange, RolloutResource};

use super::target::Target;
use crate::{Failure, Within as _, failure::Kind, session::Session, settings::LeaseFlags};

/// Changes resources one after the other; the first that cannot be changed ends it. Says of each what was done.
pub(super) fn change_all(
    change: RolloutChange,
    target: &Target,
    lease: &LeaseFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    let (verb, done) = match change {
        RolloutChange::Restart => ("restart", "restarted"),
        RolloutChange::Pause => ("pause", "paused"),
        RolloutChange::Resume => ("resume", "resumed"),
    };
    let (cluster, resources) = target.resources(session)?;
    let command = format!("alpha rollout {verb}");
    lease.hold(&command, &[&cluster], session, |clusters, session| {
        change_each(change, (verb, done), &clusters[0], &resources, session)
    })
}

fn change_each(
    change: RolloutChange,
    (verb, done): (&str, &str),
    cluster: &ManagementCluster,
    resources: &[RolloutResource],
    session: &Session,
) -> Result<(), Failure> {
    for resource in resources {
        let changed = session.block_on(management::change_rollout(cluster, resource, change));
        let changed = changed.map_err(|failure| match failure.kind() {
            Kind::Interrupted => failure
                .half_way("while rollouts were being changed", "name those that were not told as done again"),
            _ => failure,
        });
        changed.within(|| format!("cannot {verb} the rollout of {}", resource.key()))?;
        session.messages().status(format!("{done} the rollout of {}", resource.key()));
    }
    Ok(())
}
