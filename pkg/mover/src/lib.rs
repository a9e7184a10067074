//! `move`: Clusters and all that belongs to them, from one management cluster to another, as a transaction.
//!
//! ```text
//!            source                                 target
//! plan       discover, preflight ◄──────────────► what is there, dry runs, rights, versions
//! Pausing    pause, mark, discover again            journal
//!            wait until controllers saw it
//! Creating   read group by group ────────────────► create, with the target's uids of owners
//! Verifying                                        all there? owners right? content kept?
//! Deleting   children first, finalizers taken off
//! Resuming   resume what stays ──────────────────► resume what came
//! Finished   journal                               journal
//! ```
//!
//! - Killed at any request, the same command goes on: the journal on both sides says how far it is, and each object says for
//!   itself (the mark `capstan.dev/move` on what was paused, `delete-for-move` on what goes), so that even without a
//!   journal nothing is lost or done twice.
//! - Until the first deletion everything can be undone ([`abort_move`]); afterwards only gone on with.
//! - Only what was verified on the target is deleted on the source.
//! - What the user had paused stays paused.
//!
//! May touch both clusters through `apply`. Deliberately absent: Kubernetes clients, files (the caller keeps the journal on disk), the
//! environment, printing.

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
