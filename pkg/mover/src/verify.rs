//! The last look at the target before something is deleted: everything is there, is what was created, and is owned by what
//! owns it on the source.

use std::collections::BTreeMap;

use api::output::MovePhase;
use apply::ObjectKey;
use workload::{Fate, KeptBecause, Node, NodeId};

use crate::{
    MoveError, MoveSide, OnDifference,
    error::at,
    run::{Copied, Work},
    target::{TargetView, There},
};

impl Work<'_> {
    pub(super) async fn verify(&mut self) -> Result<(), MoveError> {
        let moving = self.plan.selection.moving();
        let keys: BTreeMap<NodeId, ObjectKey> =
            moving.map(|node| (node, self.plan.key_on_target(node, self.request))).collect();
        let view = if keys.is_empty() {
            TargetView::default()
        } else {
            TargetView::look(&self.target, &keys).await.map_err(at(MoveSide::Target))?
        };
        let wrong = keys.iter().filter_map(|(node, key)| {
            let object = self.plan.discovered.graph.node(*node);
            let owners = object.owners.iter().map(|(owner, _)| self.copies.get(&owner.uid));
            let is_global = matches!(
                self.plan.selection.fate(*node),
                Fate::Moves { kept: Some(KeptBecause::Global), .. }
            );
            let is_left_alone = is_global && self.held.journal.existed.contains(key);
            let owners = owners.filter(|_| !is_left_alone);
            let what =
                what_is_wrong(object, self.copies.get(&object.facts.uid), view.there.get(key), owners)?;
            Some((key.clone(), what))
        });
        let mut wrong: Vec<(ObjectKey, String)> = wrong.collect();
        let is_stopped = self.request.on_difference == OnDifference::Stop;
        if is_stopped {
            let other = self.copies.differences.iter().map(|(key, path)| (key.clone(), path.clone()));
            wrong.extend(other);
        }
        if !wrong.is_empty() {
            return Err(MoveError::Differs { differences: wrong });
        }
        self.tell(MovePhase::Verifying, keys.len(), keys.len());
        Ok(())
    }
}

/// What is wrong with a copy, in words.
pub(super) fn what_is_wrong<'c>(
    object: &Node,
    copied: Option<&Copied>,
    there: Option<&There>,
    owners: impl Iterator<Item = Option<&'c Copied>>,
) -> Option<String> {
    let (Some(copied), Some(there)) = (copied, there) else { return Some("is not there".to_owned()) };
    if there.uid != copied.uid {
        return Some("is another object of this name".to_owned());
    }
    if there.is_going {
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
