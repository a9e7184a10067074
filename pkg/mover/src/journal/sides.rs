//! The copies on both clusters, and the choice of the valid copy.

use futures::try_join;
use inventory::ManagementCluster;

use super::{JournalError, MoveJournal, MoveSide, copy::Copy};

/// Both copies, as they were read.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) source: Copy,
    pub(super) target: Copy,
}

/// Returns the valid journal. Of two copies of one move, the unfinished copy is valid, otherwise the newest write. Of
/// two moves, the unfinished move is valid, otherwise the later one. On a tie, the source copy is valid.
/// The table in the documentation of the module explains the cases.
pub(super) fn standing<'j>(
    source: Option<&'j MoveJournal>,
    target: Option<&'j MoveJournal>,
) -> Option<&'j MoveJournal> {
    let (Some(source), Some(target)) = (source, target) else { return source.or(target) };
    let age = |journal: &'j MoveJournal| {
        let begun = if journal.is_unfinished() { "" } else { &*journal.begun };
        let of_the_run = if source.run == target.run { journal.holder.sign } else { 0 };
        (journal.is_unfinished(), begun, of_the_run)
    };
    Some(if age(target) > age(source) { target } else { source })
}

impl Sides {
    pub(super) async fn read(
        source: &ManagementCluster,
        target: &ManagementCluster,
    ) -> Result<Self, JournalError> {
        let (source, target) =
            try_join!(Copy::read(source, MoveSide::Source), Copy::read(target, MoveSide::Target))?;
        Ok(Self { source, target })
    }

    pub(super) fn standing(&self) -> Option<&MoveJournal> {
        standing(self.source.journal.as_ref(), self.target.journal.as_ref())
    }

    /// Returns a number above the sign of every copy.
    pub(super) fn next_sign(&self) -> u64 {
        let signs = self.copies().map(|copy| copy.holder.sign);
        signs.max().unwrap_or_default().saturating_add(1)
    }

    /// Returns an unfinished copy of another move.
    pub(super) fn another(&self, run: &str) -> Option<&MoveJournal> {
        self.copies().find(|copy| copy.is_unfinished() && copy.run != run)
    }

    fn copies(&self) -> impl Iterator<Item = &MoveJournal> {
        self.source.journal.iter().chain(&self.target.journal)
    }
}
