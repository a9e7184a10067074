//! The journal of a move, open for writing on both clusters. The leases of both clusters exclude other runs. The
//! revision in every write detects writes that the leases do not prevent.

use api::output::{MovePhase, ProgressEvent};
use inventory::ManagementCluster;
use std::time::Duration;

use super::{
    JournalCopies, JournalError, JournalHolder, JournalStore, MoveJournal, MoveReport,
    copy::{JournalContent, JournalCopy},
};

/// Maximum time for retries of a journal write.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_mins(2);
/// Maximum number of attempts to overwrite a write of an earlier run.
const MAX_ATTEMPTS: usize = 8;

/// A journal that this run writes.
#[derive(Debug)]
pub(crate) struct JournalLease {
    /// The journal as it was last written.
    pub(crate) journal: MoveJournal,
    source: JournalCopy,
    target: JournalCopy,
    store: JournalStore,
}

impl JournalLease {
    /// Writes a new journal to disk, source and target, in this order. If an unfinished journal of the same move
    /// exists, resumes that move in its current phase.
    ///
    /// A `wanted` journal with a write number above 0 comes from the clusters. If that move has ended meanwhile, no new move
    /// starts. A journal in phase `Aborting` takes over a move in any phase. Other journals do not take over an
    /// `Aborting` one.
    /// # Errors
    /// `Conflict`; `TakenOver` if the move has ended meanwhile; `Api`, `Disk`.
    pub(crate) async fn acquire(
        source: &ManagementCluster,
        target: &ManagementCluster,
        wanted: MoveJournal,
        store: &JournalStore,
    ) -> Result<Self, JournalError> {
        let copies = JournalCopies::read(source, target).await?;
        let unfinished = copies.valid_journal().filter(|found| found.is_unfinished()).cloned();
        if unfinished.is_none() && copies.valid_journal().is_some() && wanted.holder.write_number > 0 {
            return Err(JournalError::TakenOver);
        }
        let is_new = unfinished.is_none();
        let mut journal = unfinished.unwrap_or_else(|| wanted.clone());
        journal.check_compatible(&wanted)?;
        if let Some(another) = copies.find_other_move(&journal.run) {
            another.check_compatible(&wanted)?;
        }
        journal.holder = JournalHolder { write_number: copies.next_write_number(), ..store.holder.clone() };
        let JournalCopies { mut source, target } = copies;
        store.store(&journal, &source.cluster, is_new)?;
        source.write(&JournalContent::new(&journal, None), WRITE_TIMEOUT).await?;
        let mut lease = Self { journal, source, target, store: store.clone() };
        lease.acquire_target(is_new).await?;
        Ok(lease)
    }

    /// Changes the journal on both sides and on disk. Each write names the revision that it replaces, so writes of
    /// other runs are detected.
    /// # Errors
    /// `TakenOver` or `Api`: the caller must not act on the change.
    pub(crate) async fn update(&mut self, change: impl FnOnce(&mut MoveJournal)) -> Result<(), JournalError> {
        self.write(change, None).await
    }

    /// Records the end of the move, and stores the outcome of every object.
    /// # Errors
    /// Fails like [`JournalLease::update`].
    pub(crate) async fn finish(&mut self, report: &MoveReport) -> Result<(), JournalError> {
        self.store.store_report(report, &self.source.cluster);
        self.write(|journal| journal.phase = MovePhase::Finished, Some(&report.gzipped())).await
    }

    /// Writes the source first. If the move has ended, writes the source last.
    async fn write(
        &mut self,
        change: impl FnOnce(&mut MoveJournal),
        report: Option<&[u8]>,
    ) -> Result<(), JournalError> {
        let mut next = self.journal.clone();
        change(&mut next);
        // The counter also increases on failure, because a part may have been written.
        self.journal.holder.write_number += 1;
        next.holder = self.journal.holder.clone();
        self.store.store(&next, &self.source.cluster, false)?;
        let content = JournalContent::new(&next, report);
        let order = if next.is_unfinished() {
            [&mut self.source, &mut self.target]
        } else {
            [&mut self.target, &mut self.source]
        };
        for copy in order {
            copy.write(&content, WRITE_TIMEOUT).await?;
        }
        self.journal = next;
        Ok(())
    }

    /// Writes the target copy after the source copy names the holder. A late write of a former holder is overwritten.
    /// The journal of another move is not: a new move gives way to that move.
    async fn acquire_target(&mut self, is_new: bool) -> Result<(), JournalError> {
        for _ in 0..MAX_ATTEMPTS {
            let Self { journal, target, .. } = &mut *self;
            match target.write(&JournalContent::new(journal, None), WRITE_TIMEOUT).await {
                Err(JournalError::TakenOver) => {}
                written => return written,
            }
            let Some(another) = target.journal.as_ref().filter(|found| found.is_unfinished()) else {
                continue;
            };
            if another.run == journal.run {
                continue;
            }
            let refused = another.check_compatible(journal).err().unwrap_or(JournalError::TakenOver);
            if is_new {
                journal.phase = MovePhase::Aborted;
                journal.holder.write_number += 1;
                self.source.write(&JournalContent::new(&self.journal, None), WRITE_TIMEOUT).await?;
            }
            return Err(refused);
        }
        Err(JournalError::TakenOver)
    }
}

fn disk_warning(what: &str, error: &std::io::Error) -> ProgressEvent {
    ProgressEvent::Warning { text: format!("cannot write {what} to disk: {error}") }
}

impl JournalStore {
    /// Stores a report on disk. A failure does not stop the move.
    pub(super) fn store_report(&self, report: &MoveReport, cluster: &ManagementCluster) {
        if let Err(error) = (self.write_report)(report) {
            cluster.events.send(&disk_warning("the report", &error));
        }
    }

    /// Stores a journal on disk. A failure stops only a new move.
    pub(super) fn store(
        &self,
        journal: &MoveJournal,
        cluster: &ManagementCluster,
        is_new: bool,
    ) -> Result<(), JournalError> {
        match (self.write_journal)(journal) {
            Err(error) if is_new => Err(JournalError::Disk(error)),
            Err(error) => {
                cluster.events.send(&disk_warning("the journal", &error));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}
