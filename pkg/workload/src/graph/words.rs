//! Texts for the reasons of moves.

use super::{Excluded, Graph, Included, KeptBecause};

impl Graph {
    /// Returns the reason why an object moves.
    pub fn why_included(&self, why: &Included) -> String {
        match why {
            Included::Root => "moves by itself".to_owned(),
            Included::BelongsTo(root) => format!("belongs to {}", self.node(*root).facts.key),
            Included::Labelled => "labelled to move".to_owned(),
            Included::KindLabelled => "its kind is labelled to move".to_owned(),
        }
    }

    /// Returns the reason why an object stays.
    pub fn why_excluded(&self, why: &Excluded) -> String {
        match why {
            Excluded::NotLinked => "nothing links it to what moves".to_owned(),
            Excluded::OtherNamespace => "it is of another namespace".to_owned(),
            Excluded::NotChosen(cluster) => {
                format!("it belongs to {}, which was not chosen", self.node(*cluster).facts.key)
            }
            Excluded::OwnerStays(owner) => format!("its owner {} stays", self.node(*owner).facts.key),
            Excluded::OwnerMissing(owner) => {
                format!("its owner {owner} is not there, or of a kind that is not moved")
            }
            Excluded::Cycle => "it, or an owner of it, owns itself".to_owned(),
            Excluded::Going => "it is being deleted".to_owned(),
        }
    }
}

impl KeptBecause {
    /// Returns the reason why a moved object is not deleted on the source.
    pub fn in_words(self) -> String {
        match self {
            Self::Global => "it is of the whole cluster".to_owned(),
            Self::StillUsed => "Clusters that stay use it".to_owned(),
        }
    }
}
