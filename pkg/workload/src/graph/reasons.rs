//! Texts for the reasons of moves.

use super::{ExcludeReason, Graph, IncludeReason, KeepReason};

impl Graph {
    /// Returns the reason why an object moves.
    pub fn include_text(&self, why: &IncludeReason) -> String {
        match why {
            IncludeReason::Root => "moves by itself".to_owned(),
            IncludeReason::BelongsTo(root) => format!("belongs to {}", self.node(*root).facts.key),
            IncludeReason::Labelled => "labelled to move".to_owned(),
            IncludeReason::KindLabelled => "its kind is labelled to move".to_owned(),
        }
    }

    /// Returns the reason why an object stays.
    pub fn exclude_text(&self, why: &ExcludeReason) -> String {
        match why {
            ExcludeReason::NotLinked => "nothing links it to what moves".to_owned(),
            ExcludeReason::OtherNamespace => "it is of another namespace".to_owned(),
            ExcludeReason::NotChosen(cluster) => {
                format!("it belongs to {}, which was not chosen", self.node(*cluster).facts.key)
            }
            ExcludeReason::OwnerStays(owner) => format!("its owner {} stays", self.node(*owner).facts.key),
            ExcludeReason::OwnerMissing(owner) => {
                format!("its owner {owner} is not there, or of a kind that is not moved")
            }
            ExcludeReason::Cycle => "it, or an owner of it, owns itself".to_owned(),
            ExcludeReason::Terminating => "it is being deleted".to_owned(),
        }
    }
}

impl KeepReason {
    /// Returns the reason why a moved object is not deleted on the source.
    pub fn describe(self) -> String {
        match self {
            Self::ClusterScoped => "it is of the whole cluster".to_owned(),
            Self::StillUsed => "Clusters that stay use it".to_owned(),
        }
    }
}
