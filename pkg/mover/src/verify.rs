//! Verifies the target before the first deletion: every object exists, is the created one, and has the same owners as
//! on the source.

use std::collections::BTreeMap;

use api::output::MovePhase;
use apply::ObjectKey;
use workload::{Node, NodeId};

use crate::{
    DifferencePolicy, MoveError, MoveSide,
    error::api_error,
    run::{Created, PhasedMove, TargetCopy, Verified},
    target::{TargetObject, TargetView},
};

impl<'a> PhasedMove<'a, Created> {
    /// Compares the target with the objects that were sent.
    pub(super) async fn verify(mut self) -> Result<PhasedMove<'a, Verified>, MoveError> {
        self.work.enter_phase(MovePhase::Verifying, |_| {}).await?;
        let Self { work, copies, .. } = &self;
        let moving = work.plan.selection.moving();
        let keys: BTreeMap<NodeId, ObjectKey> =
            moving.map(|node| (node, work.plan.key_on_target(node, work.request))).collect();
        let view = if keys.is_empty() {
            TargetView::default()
        } else {
            TargetView::read(&work.target, &keys).await.map_err(api_error(MoveSide::Target))?
        };
        let wrong = keys.iter().filter_map(|(node, key)| {
            let object = work.plan.discovered.graph.node(*node);
            let owners = object.owners.iter().map(|(owner, _)| copies.get(&owner.uid));
            let is_left_alone =
                work.plan.is_cluster_scoped(*node) && work.journal_lease.journal.existed.contains(key);
            let owners = owners.filter(|_| !is_left_alone);
            let what = copy_problem(object, copies.get(&object.facts.uid), view.objects.get(key), owners)?;
            Some((key.clone(), what))
        });
        let mut wrong: Vec<(ObjectKey, String)> = wrong.collect();
        let is_stopped = work.request.on_difference == DifferencePolicy::Stop;
        if is_stopped {
            let other = copies.differences.iter().map(|(key, path)| (key.clone(), path.clone()));
            wrong.extend(other);
        }
        if !wrong.is_empty() {
            return Err(MoveError::TargetDiffers { differences: wrong });
        }
        work.report_progress(MovePhase::Verifying, keys.len(), keys.len());
        Ok(self.into_phase())
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
