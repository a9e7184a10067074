//! Verifies the target before deletions: every object exists, is the created one, and has the same owners as on the
//! source.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use api::output::MovePhase;
use apply::{ClockReading, ObjectKey};
use workload::{Node, NodeId};

use crate::{
    DifferencePolicy, MoveError, MoveSide,
    error::api_error,
    run::{Created, KnownCopies, MoveContext, PhasedMove, TargetCopy, Verified},
    target::{TargetObject, TargetView},
};

/// The time for which a verification allows deletions. Meanwhile others may delete copies, for example while this process
/// is stopped.
const VALIDITY: Duration = Duration::from_secs(15);
/// The time after a slow verification. Deletions must not mostly wait for verifications.
const MAX_VALIDITY: Duration = Duration::from_mins(2);

/// The start of a verification, and the time for which it is valid since then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verification {
    began: ClockReading,
    validity: Duration,
}

impl Verification {
    pub(super) fn begin() -> Self {
        Self { began: ClockReading::now(SystemTime::now), validity: VALIDITY }
    }

    pub(super) fn end(self) -> Self {
        Self { validity: (self.age().unwrap_or_default() * 4).clamp(VALIDITY, MAX_VALIDITY), ..self }
    }

    pub(super) fn is_valid(self) -> bool {
        self.age().is_some_and(|age| age < self.validity)
    }

    fn age(self) -> Option<Duration> {
        self.began.age(SystemTime::now)
    }
}

impl<'a> PhasedMove<'a, Created> {
    /// Compares the target with the objects that were sent.
    pub(super) async fn verify(mut self) -> Result<PhasedMove<'a, Verified>, MoveError> {
        self.work.enter_phase(MovePhase::Verifying, |_| {}).await?;
        let Self { work, copies, .. } = &self;
        let verification = Verification::begin();
        let mut wrong = work.copy_problems(copies, work.plan.selection.moving()).await?;
        let is_stopped = work.request.on_difference == DifferencePolicy::Stop;
        if is_stopped {
            let other = copies.differences.iter().map(|(key, path)| (key.clone(), path.clone()));
            wrong.extend(other);
        }
        if !wrong.is_empty() {
            return Err(MoveError::TargetDiffers { differences: wrong });
        }
        let count = work.plan.selection.moving().count();
        work.report_progress(MovePhase::Verifying, count, count);
        self.work.verification = Some(verification.end());
        Ok(self.into_phase())
    }
}

impl MoveContext<'_> {
    /// Compares the copies of objects on the target with what was sent. Returns the problems in words, by keys on the target.
    pub(super) async fn copy_problems(
        &self,
        copies: &KnownCopies,
        nodes: impl Iterator<Item = NodeId>,
    ) -> Result<Vec<(ObjectKey, String)>, MoveError> {
        let keys: BTreeMap<NodeId, ObjectKey> =
            nodes.map(|node| (node, self.plan.key_on_target(node, self.request))).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let view = TargetView::read(&self.target, &keys).await.map_err(api_error(MoveSide::Target))?;
        let problems = keys.iter().filter_map(|(node, key)| {
            let object = self.plan.discovered.graph.node(*node);
            let owners = object.owners.iter().map(|(owner, _)| copies.get(&owner.uid));
            let is_left_alone =
                self.plan.is_cluster_scoped(*node) && self.journal_lease.journal.existed.contains(key);
            let owners = owners.filter(|_| !is_left_alone);
            let what = copy_problem(object, copies.get(&object.facts.uid), view.objects.get(key), owners)?;
            Some((key.clone(), what))
        });
        Ok(problems.collect())
    }
}

/// Returns the problem of a copy in words; none if the copy is right.
pub(super) fn copy_problem<'c>(
    object: &Node,
    copied: Option<&TargetCopy>,
    there: Option<&TargetObject>,
    owners: impl Iterator<Item = Option<&'c TargetCopy>>,
) -> Option<String> {
    let (Some(copied), Some(there)) = (copied, there) else { return Some("does not exist".to_owned()) };
    if there.uid != copied.uid {
        return Some("is a different object with the same name".to_owned());
    }
    if there.is_terminating {
        return Some("is being deleted".to_owned());
    }
    let is_owned = |uid: &str| there.owners.iter().any(|(_, _, owner)| owner == uid);
    let mut names = object.owners.iter().map(|(owner, _)| format!("{} {}", owner.kind, owner.name));
    for owner in owners {
        let name = names.next().unwrap_or_default();
        if !owner.is_some_and(|owner| is_owned(&owner.uid)) {
            return Some(format!("is not owned by `{name}`"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_verification_is_valid_for_longer() {
        for (seconds, valid_for) in [(1, 15), (10, 40), (3600, 120)] {
            let verification = Verification::begin();
            advance(Duration::from_secs(seconds)).await;
            assert_eq!(verification.end().validity, Duration::from_secs(valid_for));
        }
        let verification = Verification::begin().end();
        assert!(verification.is_valid());
        advance(VALIDITY).await;
        assert!(!verification.is_valid());
    }
}
