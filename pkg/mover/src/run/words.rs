//! The outcome of each object in words.

use workload::{Excluded, Graph, KeptBecause, MoveDecision};

use super::Work;

impl Work<'_> {
    /// Records the outcome of every discovered object. Objects that were recorded before and are gone now were moved.
    pub(super) fn note_words(&mut self) {
        for (node, object) in self.plan.discovered.graph.iter() {
            let words = words(&self.plan.discovered.graph, self.plan.selection.fate(node));
            self.words.insert(object.facts.key.clone(), words);
        }
    }
}

fn words(graph: &Graph, fate: &MoveDecision) -> String {
    let name = |node| &graph.node(node).facts.key;
    match fate {
        MoveDecision::Moves { kept: None, .. } => "moved".to_owned(),
        MoveDecision::Moves { kept: Some(KeptBecause::Global), .. } => {
            "copied if it was not there, and kept: it is of the whole cluster, or belongs to what is"
                .to_owned()
        }
        MoveDecision::Moves { kept: Some(KeptBecause::StillUsed), .. } => {
            "copied, and kept: Clusters that stay use it".to_owned()
        }
        MoveDecision::Stays(Excluded::NotLinked) => "stayed: nothing links it to what moves".to_owned(),
        MoveDecision::Stays(Excluded::OtherNamespace) => "stayed: it is of another namespace".to_owned(),
        MoveDecision::Stays(Excluded::NotChosen(cluster)) => {
            format!("stayed: it belongs to `{}`, which was not chosen", name(*cluster))
        }
        MoveDecision::Stays(Excluded::OwnerStays(owner)) => {
            format!("stayed: its owner `{}` stays", name(*owner))
        }
        MoveDecision::Stays(Excluded::OwnerMissing(owner)) => {
            format!("stayed: its owner `{owner}` is not there or of a kind that is not moved")
        }
        MoveDecision::Stays(Excluded::Going) => "stayed: it was being deleted".to_owned(),
        MoveDecision::Stays(Excluded::Cycle) => "stayed: it or an owner of it owns itself".to_owned(),
    }
}
