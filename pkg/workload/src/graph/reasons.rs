//! Texts for the reasons of moves.

use super::{ExcludeReason, Graph, IncludeReason, KeepReason};

impl Graph {
    /// Returns the reason why an object moves.
    pub fn include_text(&self, why: &IncludeReason) -> String {
        match why {
            IncludeReason::Root => "is a root object".to_owned(),
            IncludeReason::BelongsTo(root) => format!("belongs to {}", self.node(*root).facts.key),
            IncludeReason::Labelled => "labelled to move".to_owned(),
            IncludeReason::KindLabelled => "its kind is labelled to move".to_owned(),
        }
    }

    /// Returns the reason why an object stays.
    pub fn exclude_text(&self, why: &ExcludeReason) -> String {
        match why {
            ExcludeReason::NotLinked => "it is not linked to a moving object".to_owned(),
            ExcludeReason::OtherNamespace => "it is in another namespace".to_owned(),
            ExcludeReason::NotChosen(cluster) => {
                format!("it belongs to {}, which is not selected", self.node(*cluster).facts.key)
            }
            ExcludeReason::OwnerStays(owner) => format!("its owner {} stays", self.node(*owner).facts.key),
            ExcludeReason::OwnerMissing(owner) => {
                format!("its owner {owner} does not exist or has a kind that does not move")
            }
            ExcludeReason::Cycle => "its owner references form a cycle".to_owned(),
            ExcludeReason::Terminating => "it is being deleted".to_owned(),
        }
    }
}

impl KeepReason {
    /// Returns the reason why a moved object is not deleted on the source.
    pub fn describe(self) -> String {
        match self {
            Self::ClusterScoped => "it is cluster-scoped".to_owned(),
            Self::StillUsed => "remaining Clusters use it".to_owned(),
        }
    }
}
