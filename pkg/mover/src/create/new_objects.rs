//! Objects that appear on the source after planning, and may exist on the target already.

use std::collections::BTreeMap;

use apply::ObjectKey;
use workload::NodeId;

use super::{ExistingObjects, conflict_error};
use crate::{MoveError, MoveSide, error::api_error, run::MoveContext, target::TargetView};

impl ExistingObjects {
    /// Looks up new objects on the target, as planning did for all others. Objects found there existed before the move:
    /// an abort keeps them, and nobody has checked that they may be overwritten.
    /// # Errors
    /// `Objects` with the existing objects that the move would overwrite. The same command checks these objects
    /// together with all others.
    pub(super) async fn check_new_objects(&mut self, work: &mut MoveContext<'_>) -> Result<(), MoveError> {
        let moving = work.plan.selection.moving();
        let keys = moving.map(|node| (node, work.plan.key_on_target(node, work.request)));
        let new: BTreeMap<NodeId, ObjectKey> = keys.filter(|(_, key)| !self.checked.contains(key)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let view = TargetView::read(&work.target, &new).await.map_err(api_error(MoveSide::Target))?;
        self.checked.extend(new.values().cloned());
        if view.objects.is_empty() {
            return Ok(());
        }
        let there: Vec<ObjectKey> = view.objects.into_keys().collect();
        let overwritten =
            new.iter().filter(|(node, key)| there.contains(key) && !work.plan.is_cluster_scoped(**node));
        let why = "it appeared on the source after the preflight checks and already exists on the target";
        let failures: Vec<_> =
            overwritten.map(|(_, key)| (key.clone(), conflict_error("create", key, why))).collect();
        self.existed.extend(there.iter().cloned());
        work.journal_lease.update(|journal| journal.existed.extend(there)).await?;
        if failures.is_empty() {
            Ok(())
        } else {
            Err(MoveError::ObjectFailures { action: "create", failures })
        }
    }
}
