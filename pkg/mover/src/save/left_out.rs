//! Objects that belong to saved objects and are not saved.

use std::collections::BTreeMap;

use apply::ObjectKey;
use manifest::Object;
use serde::{Deserialize, Serialize};
use workload::{DELETE_FOR_MOVE, Going, NodeId};

use super::Save;

/// An object that was not saved, although it belongs to saved objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Object key.
    pub object: ObjectKey,
    /// Reason in words: `it is being deleted`.
    pub why: String,
}

/// Objects of the plan that are left out, each with the reason.
#[derive(Debug, Default)]
pub(super) struct Lost(BTreeMap<NodeId, String>);

impl Lost {
    pub(super) fn is_going(&mut self, node: NodeId) {
        self.0.insert(node, "it is being deleted".to_owned());
    }

    pub(super) fn is_gone(&mut self, node: NodeId) {
        self.0.insert(node, "it went while it was read".to_owned());
    }
}

impl Save<'_> {
    /// True if an object is left out because its deletion started after the planning.
    pub(super) fn leaves_out(&self, object: &Object) -> bool {
        self.plan.going == Going::LeftOut
            && object.get(&["metadata", "deletionTimestamp"]).is_some()
            && object.annotation(DELETE_FOR_MOVE).is_none()
    }

    /// Removes objects from a group whose owner is left out, because a restore could not give them this owner.
    pub(super) fn with_owners(&self, group: &[NodeId], lost: &mut Lost) -> Vec<NodeId> {
        let mut kept = Vec::new();
        for node in group {
            let mut owners = self.plan.discovered.graph.node(*node).all_owners();
            match owners.find(|owner| lost.0.contains_key(owner)) {
                Some(owner) if self.plan.going == Going::LeftOut => {
                    let why = format!("its owner {} is left out", self.plan.facts(owner).key);
                    lost.0.insert(*node, why);
                }
                _ => kept.push(*node),
            }
        }
        kept
    }

    /// Returns the objects that the plan leaves out, and the objects that were lost since.
    pub(super) fn left_out(&self, lost: Lost) -> Vec<LeftOut> {
        let told = |(node, why): (NodeId, String)| LeftOut { object: self.plan.facts(node).key.clone(), why };
        let mut left_out = self.plan.left_out();
        left_out.extend(lost.0.into_iter().map(told));
        left_out
    }
}
