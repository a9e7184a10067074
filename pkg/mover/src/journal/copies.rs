//! The copies on both clusters, and the choice of the valid copy.

use futures::try_join;
use inventory::ManagementCluster;

use super::{JournalError, MoveJournal, MoveSide, copy::JournalCopy};

/// Both copies, as they were read.
#[derive(Debug)]
pub(super) struct JournalCopies {
    pub(super) source: JournalCopy,
    pub(super) target: JournalCopy,
}

/// Returns the valid journal. Of two copies of one move, the unfinished copy is valid, otherwise the newest write. Of
/// two moves, the unfinished move is valid, otherwise the later one. On a tie, the source copy is valid.
/// The table in the documentation of the module explains the cases.
pub(super) fn valid_journal<'j>(
    source: Option<&'j MoveJournal>,
    target: Option<&'j MoveJournal>,
) -> Option<&'j MoveJournal> {
    let (Some(source), Some(target)) = (source, target) else { return source.or(target) };
    let age = |journal: &'j MoveJournal| {
        let started_at = if journal.is_unfinished() { "" } else { &*journal.begun };
        let writes = if source.run == target.run { journal.holder.write_number } else { 0 };
        (journal.is_unfinished(), started_at, writes)
    };
    Some(if age(target) > age(source) { target } else { source })
}

impl JournalCopies {
    pub(super) async fn read(
        source: &ManagementCluster,
        target: &ManagementCluster,
    ) -> Result<Self, JournalError> {
        let (source, target) = try_join!(
            JournalCopy::read(source, MoveSide::Source),
            JournalCopy::read(target, MoveSide::Target)
        )?;
        Ok(Self { source, target })
    }

    pub(super) fn valid_journal(&self) -> Option<&MoveJournal> {
        valid_journal(self.source.journal.as_ref(), self.target.journal.as_ref())
    }

    /// Returns a number above the write number of every copy.
    pub(super) fn next_write_number(&self) -> u64 {
        let numbers = self.journals().map(|copy| copy.holder.write_number);
        numbers.max().unwrap_or_default().saturating_add(1)
    }

    /// Returns an unfinished copy of another move.
    pub(super) fn find_other_move(&self, run: &str) -> Option<&MoveJournal> {
        self.journals().find(|copy| copy.is_unfinished() && copy.run != run)
    }

    fn journals(&self) -> impl Iterator<Item = &MoveJournal> {
        self.source.journal.iter().chain(&self.target.journal)
    }
}
