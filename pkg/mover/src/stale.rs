//! Copies on the target whose source objects no longer exist, because somebody deleted them while the move was interrupted.
//! The end of the move would bring them back to life.

use std::collections::{BTreeSet, HashMap, HashSet};

use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::{MoveChoice, NodeId, Scope, discover};

use crate::{MoveError, MoveJournal, MoveSide};

/// The stale copies of an interrupted move.
#[derive(Debug, Default)]
pub(super) struct StaleCopies {
    /// Copies of Clusters that the source no longer has, with everything they own. They may be the only ones.
    pub(super) only_on_target: Vec<ObjectKey>,
    /// Copies that belong to objects of the source, with their uids on the target. Owners are in a group before owned objects.
    pub(super) owned_by_source: Vec<Vec<(ObjectKey, String)>>,
}

impl StaleCopies {
    /// Finds the stale copies of a move that has deleted nothing. `on_source` has the target keys of all moving objects that
    /// exist on the source.
    ///
    /// A Cluster or ClusterClass is a copy if it has the mark of the move. Other objects are copies if a copy owns them by an
    /// owner reference: only the move knows the uids on the target.
    pub(super) async fn find(
        target: &ManagementCluster,
        journal: &MoveJournal,
        on_source: &BTreeSet<&ObjectKey>,
    ) -> Result<Self, MoveError> {
        if journal.is_recovered {
            return Ok(Self::default());
        }
        let mapped = |name| journal.namespace_map.get(name).unwrap_or(name).clone();
        let namespaces: BTreeSet<String> = journal.namespaces.iter().map(mapped).collect();
        let discovered = Box::pin(discover(target, &Scope { namespaces: namespaces.clone() })).await;
        let graph = discovered.map_err(|source| MoveError::discover(MoveSide::Target, source))?.graph;
        let selection = graph.select(&MoveChoice::from_names(&namespaces, None));
        let existed: HashSet<&ObjectKey> = journal.existed.iter().collect();
        // True for copies of source objects, and for what they own.
        let mut copies: HashMap<NodeId, bool> = HashMap::new();
        let mut stale = Self::default();
        for group in graph.groups(&selection) {
            let mut owned_by_source = Vec::new();
            for id in group {
                let node = graph.node(id);
                let key = &node.facts.key;
                if existed.contains(key) {
                    continue;
                }
                let is_on_source = on_source.contains(key);
                let owners = node.owners.iter().filter_map(|(_, owner)| copies.get(&(*owner)?).copied());
                let of_owners = owners.reduce(|one, other| one || other);
                let is_marked = node.facts.paused_by.as_ref() == Some(&journal.run);
                let belongs_to_source = match (is_on_source, of_owners) {
                    (true, _) => true,
                    (false, Some(of_owners)) => of_owners,
                    (false, None) if is_marked => false,
                    (false, None) => continue,
                };
                copies.insert(id, belongs_to_source);
                match (is_on_source, belongs_to_source) {
                    (true, _) => {}
                    (false, true) => owned_by_source.push((key.clone(), node.facts.uid.clone())),
                    (false, false) => stale.only_on_target.push(key.clone()),
                }
            }
            stale.owned_by_source.push(owned_by_source);
        }
        Ok(stale)
    }

    /// Returns the keys of all stale copies.
    pub(super) fn into_keys(self) -> Vec<ObjectKey> {
        let owned = self.owned_by_source.into_iter().flatten().map(|(key, _)| key);
        self.only_on_target.into_iter().chain(owned).collect()
    }
}
