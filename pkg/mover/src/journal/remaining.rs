//! The journal of a move on the only cluster that still exists.

use super::{
    Holder, JournalError, JournalKeeper, MoveJournal, MoveReport, MoveSide,
    copy::{Content, Copy},
    held::PATIENCE,
};
use api::output::MovePhase;
use inventory::ManagementCluster;

/// An unfinished journal, open for writing on one cluster only.
#[derive(Debug)]
pub(crate) struct RemainingJournal {
    /// The journal as it is on the cluster.
    pub(crate) journal: MoveJournal,
    copy: Copy,
    keeper: JournalKeeper,
}

impl RemainingJournal {
    /// Reads the journal of an unfinished move of which a cluster is this side; none if there is no such move.
    /// # Errors
    /// `Another` if the cluster is not this side of the move; `Unusable`, `Place`, `NotKept`.
    pub(crate) async fn read(
        cluster: &ManagementCluster,
        side: MoveSide,
        keeper: &JournalKeeper,
    ) -> Result<Option<Self>, JournalError> {
        let identity = cluster.identity().await;
        let identity = identity.map_err(|source| JournalError::NotKept { side, source: Box::new(source) })?;
        let copy = Box::pin(Copy::read(cluster, side)).await?;
        let Some(journal) = copy.journal.clone().filter(MoveJournal::is_unfinished) else { return Ok(None) };
        journal.check_end(side, &identity)?;
        Ok(Some(Self { journal, copy, keeper: keeper.clone() }))
    }

    /// Writes the last phase, with the report of every object.
    /// # Errors
    /// `TakenOver`, `NotKept`.
    pub(crate) async fn end(
        mut self,
        phase: MovePhase,
        report: &MoveReport,
    ) -> Result<MoveJournal, JournalError> {
        self.journal.phase = phase;
        self.journal.holder =
            Holder { sign: self.journal.holder.sign.saturating_add(1), ..self.keeper.holder.clone() };
        self.keeper.store_report(report, &self.copy.cluster);
        self.keeper.store(&self.journal, &self.copy.cluster, false)?;
        self.copy.write(&Content::of(&self.journal, Some(&report.packed())), PATIENCE).await?;
        Ok(self.journal)
    }
}
