//! Objects that appear on the source after planning, and may exist on the target already.

use std::collections::BTreeMap;

use apply::ObjectKey;
use workload::NodeId;

use super::{Existing, refused};
use crate::{MoveError, MoveSide, error::at, run::Work, target::TargetView};

impl Existing {
    /// Looks up new objects on the target, as planning did for all others. Objects found there existed before the move:
    /// an abort keeps them, and nobody has checked that they may be overwritten.
    /// # Errors
    /// `Objects` with the existing objects that the move would overwrite. The same command checks these objects
    /// together with all others.
    pub(super) async fn note_newcomers(&mut self, work: &mut Work<'_>) -> Result<(), MoveError> {
        let moving = work.plan.selection.moving();
        let keys = moving.map(|node| (node, work.plan.key_on_target(node, work.request)));
        let new: BTreeMap<NodeId, ObjectKey> = keys.filter(|(_, key)| !self.known.contains(key)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let view = TargetView::look(&work.target, &new).await.map_err(at(MoveSide::Target))?;
        self.known.extend(new.values().cloned());
        if view.there.is_empty() {
            return Ok(());
        }
        let there: Vec<ObjectKey> = view.there.into_keys().collect();
        let overwritten =
            new.iter().filter(|(node, key)| there.contains(key) && !work.plan.is_global(**node));
        let why = "it came to the source after everything was checked, and is on the target already";
        let failures: Vec<_> =
            overwritten.map(|(_, key)| (key.clone(), refused("create", key, why))).collect();
        self.existed.extend(there.iter().cloned());
        work.held.update(|journal| journal.existed.extend(there)).await?;
        if failures.is_empty() { Ok(()) } else { Err(MoveError::Objects { action: "created", failures }) }
    }
}
