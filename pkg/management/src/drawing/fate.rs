use api::output::GraphFate;

use crate::{Excluded, Fate, Graph, Included, KeptBecause, NodeId};

/// What a move would do with an object, in words.
pub(super) fn fate(graph: &Graph, fate: &Fate) -> GraphFate {
    let name = |node: NodeId| &graph.node(node).facts.key;
    match fate {
        Fate::Moves { why, kept } => {
            let why = match why {
                Included::Root => "moves by itself".to_owned(),
                Included::BelongsTo(root) => format!("belongs to {}", name(*root)),
                Included::Labelled => "labelled to move".to_owned(),
                Included::KindLabelled => "its kind is labelled to move".to_owned(),
            };
            GraphFate { moves: true, why, kept: kept.map(|kept| kept_because(kept).to_owned()) }
        }
        Fate::Stays(why) => {
            let why = match why {
                Excluded::NotLinked => "nothing links it to what moves".to_owned(),
                Excluded::OtherNamespace => "it is of another namespace".to_owned(),
                Excluded::NotChosen(cluster) => {
                    format!("it belongs to {}, which was not chosen", name(*cluster))
                }
                Excluded::OwnerStays(owner) => format!("its owner {} stays", name(*owner)),
                Excluded::OwnerMissing(owner) => {
                    format!("its owner {owner} is not there, or of a kind that is not moved")
                }
                Excluded::Cycle => "it, or an owner of it, owns itself".to_owned(),
            };
            GraphFate { moves: false, why, kept: None }
        }
    }
}

fn kept_because(kept: KeptBecause) -> &'static str {
    match kept {
        KeptBecause::Global => "it is of the whole cluster",
        KeptBecause::StillUsed => "Clusters that stay use it",
    }
}
