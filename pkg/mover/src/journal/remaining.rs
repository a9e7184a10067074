//! The journal of a move on the only cluster that still exists.

use super::{
    JournalError, JournalHolder, JournalStore, MoveJournal, MoveReport, MoveSide,
    copy::{JournalContent, JournalCopy},
    lease::WRITE_TIMEOUT,
};
use api::output::MovePhase;
use inventory::ManagementCluster;

/// An unfinished journal, open for writing on one cluster only.
#[derive(Debug)]
pub(crate) struct RemainingJournal {
    /// The journal as it is on the cluster.
    pub(crate) journal: MoveJournal,
    copy: JournalCopy,
    store: JournalStore,
}

impl RemainingJournal {
    /// Reads the journal of an unfinished move of which a cluster is this side; none if there is no such move.
    /// # Errors
    /// `Conflict` if the cluster is not this side of the move; `Unusable`, `Place`, `Api`.
    pub(crate) async fn read(
        cluster: &ManagementCluster,
        side: MoveSide,
        store: &JournalStore,
    ) -> Result<Option<Self>, JournalError> {
        let identity = cluster.identity().await;
        let identity = identity.map_err(|source| JournalError::Api { side, source: Box::new(source) })?;
        let copy = Box::pin(JournalCopy::read(cluster, side)).await?;
        let Some(journal) = copy.journal.clone().filter(MoveJournal::is_unfinished) else { return Ok(None) };
        journal.check_cluster(side, &identity)?;
        Ok(Some(Self { journal, copy, store: store.clone() }))
    }

    /// Writes the last phase, with the report of every object.
    /// # Errors
    /// `TakenOver`, `Api`.
    pub(crate) async fn end(
        mut self,
        phase: MovePhase,
        report: &MoveReport,
    ) -> Result<MoveJournal, JournalError> {
        self.journal.phase = phase;
        self.journal.holder = JournalHolder {
            write_number: self.journal.holder.write_number.saturating_add(1),
            ..self.store.holder.clone()
        };
        self.store.store_report(report, &self.copy.cluster);
        self.store.store(&self.journal, &self.copy.cluster, false)?;
        self.copy.write(&JournalContent::new(&self.journal, Some(&report.gzipped())), WRITE_TIMEOUT).await?;
        Ok(self.journal)
    }
}
