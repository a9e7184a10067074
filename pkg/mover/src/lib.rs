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
//! ```
//! use mover::{ClusterChoice, DifferencePolicy, MoveRequest, plan_move};
//! # use std::{collections::{BTreeMap, BTreeSet}, time::Duration};
//! # use support::{cluster_api, fixture::Fixture, small_providers::{NEW_VERSION, core}};
//! # use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
//! # use inventory::ManagementCluster;
//! # async fn connect(sandbox: &support::fixture::Fixture) -> ManagementCluster {
//! #     let connection = ConnectionOptions::of_client(sandbox.client(), "example/1.0");
//! #     ManagementCluster::new(Server::connect(connection, ServerOptions::default()).await.unwrap(), EventSink::none())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let sandbox = Fixture::start().await;
//! # cluster_api::install(&sandbox).await;
//! # sandbox.create([cluster_api::provider(&core(), NEW_VERSION)]).await;
//! # sandbox.create(cluster_api::cluster("team/demo").control_plane(1)).await;
//! let source = connect(&sandbox).await;
//! let request = MoveRequest {
//!     namespaces: BTreeSet::from(["team".to_owned()]),
//!     clusters: ClusterChoice::All,
//!     namespace_map: BTreeMap::new(),
//!     include_status: BTreeSet::new(),
//!     timeout: Duration::from_secs(60),
//!     on_difference: DifferencePolicy::Stop,
//!     overwrite: false,
//!     server_dry_run: true,
//! };
//! let plan = plan_move(&source, None, &request).await.unwrap();
//! assert!(!plan.groups.is_empty());
//! # });
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
mod blocking;
mod concurrency;
mod create;
mod delete;
mod error;
mod hints;
mod journal;
mod lost_cluster;
mod mark;
mod pause;
mod plan;
mod preflight;
mod request;
mod restore;
mod run;
mod save;
mod stale;
mod target;
#[cfg(test)]
mod testing;
mod verify;

pub use abort::abort_move;
pub use archive::{
    ArchiveError, ArchiveInput, ArchiveKeys, ArchiveOutput, ArchiveWriter, Backup, BackupContents,
    BackupIndex, BackupManifest, BackupObject, BackupOrigin, BackupProvider, EncryptedOutput, Encryption,
    Identity, KeyError, KeyFileError, Passphrase, Recipient, RequiredKey, read_archive, verify_archive,
};
pub use error::MoveError;
pub(crate) use error::seconds;
pub use journal::{
    JOURNAL_NAME, JournalError, JournalHolder, JournalStore, JournalWriteFn, MoveJournal, MoveReport,
    MoveSide, PausedObject, RecordedRuns, find_move_journal, find_move_report, recorded_runs,
};
pub use lost_cluster::{abort_without_target, complete_without_source};
pub use mark::restoring_objects;
pub use plan::{MovePlan, TargetEffect, plan_move, plan_restore};
pub use preflight::listed;
pub(crate) use request::target_key;
pub use request::{ClusterChoice, DifferencePolicy, MoveRequest, MoveRoute};
pub use restore::{RestoreOptions, RestoreOutcome, SavedFile, SavedObjects, restore_objects};
pub use run::{MoveOutcome, execute_move};
pub use save::{
    LeftOutObject, SaveFormat, SaveMode, SaveOutcome, SavedObject, StoreSavedFn, UnfinishedSave,
    UnfinishedSaves, find_unfinished_saves, plan_save, resume_interrupted_save, save_objects,
};
