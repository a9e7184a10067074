//! `move`: Clusters and all objects that belong to them, from one management cluster to another, as a transaction.
//!
//! ```text
//!            source                                 target
//! plan       discover, preflight ◄──────────────► existing objects, dry runs, permissions, versions
//! Pausing    pause, mark, discover again            journal
//!            wait for controllers
//! Creating   read group by group ────────────────► create, with the owner uids of the target
//! Verifying                                        all there? owners right? content kept?
//! Deleting   children first, finalizers removed
//! Resuming   resume remaining objects ───────────► resume copies
//! Finished   journal                               journal
//! ```
//!
//! - After an interruption at any request, the same command resumes the move. The journal on both clusters holds the
//!   phase. Paused objects carry the mark `capstan.dev/move`, and objects in deletion carry `delete-for-move`. Even
//!   without a journal, no object is lost or moved twice.
//! - Until the first deletion, [`abort_move`] can undo the move. Afterwards the move can only be completed.
//! - Only objects that were verified on the target are deleted on the source.
//! - Objects that the user paused stay paused.
//!
//! May touch both clusters through `apply`. Deliberately absent: Kubernetes clients, files (the caller stores the
//! journal on disk), the environment, printing.

mod abort;
mod archive;
mod blocked;
mod create;
mod error;
mod hints;
mod journal;
mod lost;
mod mark;
mod pause;
mod plan;
mod preflight;
mod remove;
mod request;
mod restore;
mod run;
mod save;
mod side_by_side;
mod target;
#[cfg(test)]
mod tests;
mod verify;

pub use abort::{Aborted, abort_move};
pub use archive::{
    ArchiveError, ArchiveInput, ArchiveKeys, ArchiveLock, ArchiveOutput, ArchiveWriter, Backup, BackupAbout,
    BackupContents, BackupIndex, BackupManifest, BackupObject, BackupProvider, Identity, KeyError,
    KeyFileError, Passphrase, Recipient, Seal, SealedOutput, read_archive, verify_archive,
};
pub use error::MoveError;
pub(crate) use error::seconds;
pub use journal::{
    Holder, JOURNAL_NAME, JournalError, JournalKeeper, JournalStore, MoveJournal, MoveReport, MoveSide,
    PausedObject, move_report, move_state, unfinished_move,
};
pub use lost::{abort_without_target, complete_without_source};
pub use plan::{MovePlan, OnTarget, plan_move, plan_restore};
pub(crate) use request::on_target;
pub use request::{ClusterChoice, MoveRequest, OnDifference, Route};
pub use restore::{RestoreOptions, Restored, SavedFile, SavedObjects, restore_objects};
pub use run::{MoveOutcome, carry_out_move};
pub use save::{
    KeepSaved, LeftOut, OpenSave, OpenSaves, SaveInto, SaveRest, Saved, SavedObject, open_saves, plan_save,
    resume_saved, save_objects,
};
