//! What belongs to saved objects and is not saved.

use std::collections::BTreeMap;

use apply::ObjectKey;
use manifest::Object;
use serde::{Deserialize, Serialize};
use workload::{DELETE_FOR_MOVE, Going, NodeId};

use super::Save;

/// An object that was not saved, although it belongs to what was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which one.
    pub object: ObjectKey,
    /// Why, in words: `it is being deleted`.
    pub why: String,
}

/// Objects that were to be read and are left out, each with the reason.
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
    /// Whether an object is left out that has begun to go since the plan was made.
    pub(super) fn leaves_out(&self, object: &Object) -> bool {
        self.plan.going == Going::LeftOut
            && object.get(&["metadata", "deletionTimestamp"]).is_some()
            && object.annotation(DELETE_FOR_MOVE).is_none()
    }

    /// Takes out of a group what has an owner that is left out: it would be nobody's where it is restored.
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

    /// What the plan leaves out, and what was lost since.
    pub(super) fn left_out(&self, lost: Lost) -> Vec<LeftOut> {
        let told = |(node, why): (NodeId, String)| LeftOut { object: self.plan.facts(node).key.clone(), why };
        let mut left_out = self.plan.left_out();
        left_out.extend(lost.0.into_iter().map(told));
        left_out
    }
}
