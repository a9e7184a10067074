//! The record of a restore, beside the journal of a move: the command that completes the restore.
//!
//! Other runs find the record with the journal, in one request. The marks on Clusters then show if the restore is
//! unfinished, so that a record that was left behind does no harm.

use apply::ApplyRequest;
use inventory::{ManagementCluster, ProviderInventory, config_map_kind};
use serde_json::{Value, json};

use super::{
    JournalError, MoveSide,
    copy::{JournalCopy, NAME, RESTORE_KEY},
};
use crate::mark::restoring_objects;

/// The field manager of the record. The manager of the journal leaves the record as it is.
const MANAGER: &str = "capstan-restore";

/// The record of a restore that runs.
#[derive(Debug)]
pub(crate) struct RestoreRecord(JournalCopy);

impl RestoreRecord {
    /// Records the command of a restore that `creates` objects, or finds the record of an interrupted one. The record of
    /// another restore whose Clusters are still marked stays. None without a record.
    pub(crate) async fn begin(
        target: &ManagementCluster,
        inventory: &ProviderInventory,
        command: &[String],
        creates: bool,
    ) -> Result<Option<Self>, JournalError> {
        let copy = JournalCopy::read_with_inventory(target, MoveSide::Target, inventory).await?;
        let is_recorded = copy.restore_command.is_some();
        if creates && (!is_recorded || Self::is_over(&copy).await?) {
            Self::write(&copy, json!({RESTORE_KEY: json!(command).to_string()})).await?;
        }
        Ok((creates || is_recorded).then_some(Self(copy)))
    }

    /// Deletes the record, unless Clusters of another restore are still marked.
    pub(crate) async fn end(self) -> Result<(), JournalError> {
        let Self(mut copy) = self;
        if !Self::is_over(&copy).await? {
            return Ok(());
        }
        copy.refresh().await?;
        let Some(revision) = &copy.revision else { return Ok(()) };
        if copy.journal.is_some() {
            return Self::write(&copy, json!({})).await;
        }
        // A late request must not delete the journal that a later move writes.
        match copy.cluster.server.delete(&config_map_kind(), &copy.namespace, NAME, Some(revision)).await {
            Err(error) if !error.is_not_found() => Err(copy.api_error(error)),
            _ => Ok(()),
        }
    }

    async fn is_over(copy: &JournalCopy) -> Result<bool, JournalError> {
        let marked = restoring_objects(&copy.cluster).await;
        marked.map(|marked| marked.is_empty()).map_err(|error| copy.api_error(error))
    }

    async fn write(copy: &JournalCopy, data: Value) -> Result<(), JournalError> {
        let object = copy.config_map(&data, &json!({}));
        let how = ApplyRequest::default();
        let written = copy.cluster.server.apply(&config_map_kind(), &object, MANAGER, how).await;
        written.map(drop).map_err(|error| copy.api_error(error))
    }
}
