//! Objects that belong to saved objects and are not saved.

use std::collections::BTreeMap;

use apply::ObjectKey;
use manifest::Object;
use serde::{Deserialize, Serialize};
use workload::{DELETE_FOR_MOVE, NodeId, TerminatingPolicy};

use super::SaveContext;

/// An object that was not saved, although it belongs to saved objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutObject {
    /// Object key on the source.
    pub object: ObjectKey,
    /// Reason in words: `it is being deleted`.
    pub why: String,
}

/// Objects of the plan that are left out, each with the reason.
#[derive(Debug, Default)]
pub(super) struct SkippedObjects(BTreeMap<NodeId, String>);

impl SkippedObjects {
    pub(super) fn add_terminating(&mut self, node: NodeId) {
        self.0.insert(node, "it is being deleted".to_owned());
    }

    pub(super) fn add_deleted(&mut self, node: NodeId) {
        self.0.insert(node, "it was deleted while it was read".to_owned());
    }
}

impl SaveContext<'_> {
    /// True if an object is left out because its deletion started after the planning.
    pub(super) fn must_skip(&self, object: &Object) -> bool {
        self.plan.terminating == TerminatingPolicy::Exclude
            && object.get(&["metadata", "deletionTimestamp"]).is_some()
            && object.annotation(DELETE_FOR_MOVE).is_none()
    }

    /// Removes objects from a group whose owner is left out, because a restore could not give them this owner.
    pub(super) fn without_orphans(&self, group: &[NodeId], skipped: &mut SkippedObjects) -> Vec<NodeId> {
        let mut remaining = Vec::new();
        for node in group {
            let mut owners = self.plan.discovered.graph.node(*node).all_owners();
            match owners.find(|owner| skipped.0.contains_key(owner)) {
                Some(owner) if self.plan.terminating == TerminatingPolicy::Exclude => {
                    let why = format!("its owner {} is excluded", self.plan.facts(owner).key);
                    skipped.0.insert(*node, why);
                }
                _ => remaining.push(*node),
            }
        }
        remaining
    }

    /// Returns the objects that the plan leaves out, and the objects that were lost since.
    pub(super) fn left_out(&self, skipped: SkippedObjects) -> Vec<LeftOutObject> {
        let reported =
            |(node, why): (NodeId, String)| LeftOutObject { object: self.plan.facts(node).key.clone(), why };
        let mut left_out = self.plan.left_out();
        left_out.extend(skipped.0.into_iter().map(reported));
        left_out
    }
}
