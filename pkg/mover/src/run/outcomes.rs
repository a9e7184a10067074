//! The outcome of each object in words.

use workload::{ExcludeReason, Graph, KeepReason, MoveDecision};

use super::MoveContext;

impl MoveContext<'_> {
    /// Records the outcome of every discovered object. Objects that were recorded before and are gone now were moved.
    pub(super) fn record_outcomes(&mut self) {
        for (node, object) in self.plan.discovered.graph.iter() {
            let words = outcome_text(&self.plan.discovered.graph, self.plan.selection.decision(node));
            self.outcomes.insert(object.facts.key.clone(), words);
        }
    }
}

fn outcome_text(graph: &Graph, fate: &MoveDecision) -> String {
    let name = |node| &graph.node(node).facts.key;
    match fate {
        MoveDecision::Moves { kept: None, .. } => "moved".to_owned(),
        MoveDecision::Moves { kept: Some(KeepReason::ClusterScoped), .. } => {
            "copied if missing, and kept: it is cluster-scoped or belongs to a cluster-scoped object"
                .to_owned()
        }
        MoveDecision::Moves { kept: Some(KeepReason::StillUsed), .. } => {
            "copied, and kept: remaining Clusters use it".to_owned()
        }
        MoveDecision::Stays(ExcludeReason::NotLinked) => {
            "stayed: it is not linked to a moving object".to_owned()
        }
        MoveDecision::Stays(ExcludeReason::OtherNamespace) => "stayed: it is in another namespace".to_owned(),
        MoveDecision::Stays(ExcludeReason::NotChosen(cluster)) => {
            format!("stayed: it belongs to `{}`, which was not selected", name(*cluster))
        }
        MoveDecision::Stays(ExcludeReason::OwnerStays(owner)) => {
            format!("stayed: its owner `{}` stays", name(*owner))
        }
        MoveDecision::Stays(ExcludeReason::OwnerMissing(owner)) => {
            format!("stayed: its owner `{owner}` does not exist or has a kind that does not move")
        }
        MoveDecision::Stays(ExcludeReason::Terminating) => "stayed: it was being deleted".to_owned(),
        MoveDecision::Stays(ExcludeReason::Cycle) => "stayed: its owner references form a cycle".to_owned(),
    }
}
