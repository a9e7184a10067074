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
//! Deliberately absent: Kubernetes clients, files (the caller keeps the journal on disk), printing.

mod abort;
mod archive;
mod blocked;
mod create;
mod journal;
#[cfg(test)]
pub(crate) mod lab;
mod lost;
mod pause;
mod plan;
mod preflight;
mod remove;
mod restore;
mod run;
mod save;
mod target;
mod verify;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    time::Duration,
};

use apply::{ApiError, ObjectKey};

use crate::{ContractError, DiscoverError, ManagementCluster, Problems};

pub use abort::{Aborted, abort_move};
pub use archive::{
    ArchiveError, ArchiveInput, ArchiveKeys, ArchiveLock, ArchiveOutput, ArchiveWriter, Backup, BackupAbout,
    BackupContents, BackupIndex, BackupManifest, BackupObject, BackupProvider, Identity, KeyError,
    KeyFileError, Passphrase, Recipient, Seal, SealedOutput, read_archive, verify_archive,
};
pub use journal::{
    Holder, JournalError, JournalKeeper, JournalStore, MoveJournal, MovePhase, MoveReport, MoveSide,
    PausedObject, move_report, move_state,
};
pub(crate) use journal::{JOURNAL_NAME, unfinished_move};
pub use lost::{abort_without_target, complete_without_source};
pub use plan::{MovePlan, OnTarget, plan_move, plan_restore};
pub use restore::{RestoreOptions, Restored, SavedFile, SavedObjects, restore_objects};
pub use run::{MoveOutcome, carry_out_move};
pub use save::{
    KeepSaved, LeftOut, OpenSave, OpenSaves, SaveInto, SaveRest, Saved, SavedObject, open_saves, plan_save,
    resume_saved, save_objects,
};

/// What a move is asked for.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// Out of these namespaces. A move names at least one; a backup without any takes all.
    pub namespaces: BTreeSet<String>,
    /// Which Clusters.
    pub clusters: ClusterChoice,
    /// Where objects of a namespace go; what is not named keeps its namespace.
    pub namespace_map: BTreeMap<String, String>,
    /// Kinds (lower-case, or `kind.group`) whose status is taken along.
    pub include_status: BTreeSet<String>,
    /// For how long something is waited for that may pass, in all.
    pub timeout: Duration,
    /// Whether objects the target keeps in another way than they were sent stop the move before the first deletion.
    pub on_difference: OnDifference,
    /// Replaces Clusters and Secrets of the target that no move made and that have other content.
    pub overwrite: bool,
    /// Whether every object is tried on the target as a dry run first.
    pub thorough: bool,
}

/// Which Clusters are moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClusterChoice {
    /// All of the namespaces.
    #[default]
    All,
    /// These, by name or `namespace/name`.
    Named(BTreeSet<String>),
    /// Those with these labels: a selector.
    Labelled(String),
}

/// What to do about objects whose content is another on the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// Stop before anything is deleted.
    #[default]
    Stop,
    /// Tell and go on.
    GoOn,
}

/// A move that cannot be planned, carried out or undone.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The Cluster API on one of the clusters does not fit.
    #[error("the {side} cluster does not fit")]
    Contract {
        /// Which one.
        side: MoveSide,
        /// Why.
        #[source]
        source: ContractError,
    },
    /// Objects cannot be looked at.
    #[error("cannot find out what there is on the {side} cluster")]
    Discover {
        /// Which one.
        side: MoveSide,
        /// Why.
        #[source]
        source: Box<DiscoverError>,
    },
    /// Both sides are one cluster.
    #[error("source and target are the same cluster")]
    SameCluster,
    /// Problems found before anything was written; all of them.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What holds the move up did not go away in time.
    #[error("{} still holds the move up after {}", held(objects), crate::mover::seconds(*after))]
    Blocked {
        /// Objects that carry the annotation.
        objects: Vec<ObjectKey>,
        /// For how long was waited.
        after: Duration,
    },
    /// Objects that could not be written; the first of each kind of reason comes first.
    #[error("{} could not be {action}", several(failures.len()))]
    Objects {
        /// `created`, `paused`, `deleted`, `resumed`.
        action: &'static str,
        /// Each with the reason.
        failures: Vec<(ObjectKey, ApiError)>,
    },
    /// The target does not hold what it was given.
    #[error("the target does not hold {} as sent; nothing was deleted", several(differences.len()))]
    Differs {
        /// Each with what is another, as a path, or `is not there`.
        differences: Vec<(ObjectKey, String)>,
    },
    /// Whatever is moved, more comes, or changes before it is.
    #[error("{} on the source keeps appearing or changing", held(objects))]
    Unsettled {
        /// What is still there.
        objects: Vec<ObjectKey>,
    },
    /// The saved objects cannot be written.
    #[error("cannot write the saved objects")]
    Keep(#[source] io::Error),
    /// Another run saves the same.
    #[error("a save is under way: process {process} works on it")]
    Saving {
        /// Which one.
        process: String,
    },
    /// Somebody has resumed what was to rest while it was saved.
    #[error("{} did not rest all the time while it was saved", held(objects))]
    Awake {
        /// Which ones.
        objects: Vec<ObjectKey>,
    },
    /// Something was deleted already: there is no way back.
    #[error("the move has begun to delete on the source and can only be gone on with")]
    TooLate,
    /// A cluster of the move no longer exists, and the other one does not have every object.
    #[error("cannot resume {} on the {side} cluster: {}", any_of(clusters), why_incomplete(*side))]
    Incomplete {
        /// The cluster that is left.
        side: MoveSide,
        /// The Clusters of the move, by their keys there.
        clusters: Vec<ObjectKey>,
    },
    /// Nothing is left to move, and objects of the target are paused by a move out of another cluster.
    #[error("a move out of another cluster has paused {} on the target", preflight::listed(objects))]
    Orphaned {
        /// Which ones.
        objects: Vec<ObjectKey>,
    },
    /// There is no move to undo or to tell of.
    #[error("there is no move to {verb}")]
    NoMove {
        /// `abort`, `complete`, `report`.
        verb: &'static str,
    },
    /// The server.
    #[error("cannot work on the {side} cluster")]
    Api {
        /// Which one.
        side: MoveSide,
        /// Why.
        #[source]
        source: ApiError,
    },
}

/// Both ends of a move.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// Where objects are.
    pub source: &'a ManagementCluster,
    /// Where they go.
    pub target: &'a ManagementCluster,
}

/// The key of an object on the target: its namespace may be another there.
fn on_target(key: &ObjectKey, namespace_map: &BTreeMap<String, String>) -> ObjectKey {
    let namespace = namespace_map.get(&key.namespace).unwrap_or(&key.namespace);
    ObjectKey { namespace: namespace.clone(), ..key.clone() }
}

impl MovePhase {
    /// The word for people and scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pausing => "pausing",
            Self::Creating => "creating",
            Self::Verifying => "verifying",
            Self::Deleting => "deleting",
            Self::Resuming => "resuming",
            Self::Finished => "finished",
            Self::Aborting => "aborting",
            Self::Aborted => "aborted",
        }
    }
}

impl MoveError {
    fn discover(side: MoveSide, source: impl Into<DiscoverError>) -> Self {
        Self::Discover { side, source: Box::new(source.into()) }
    }
}

fn several(objects: usize) -> String {
    if objects == 1 { "an object".to_owned() } else { format!("{objects} objects") }
}

fn held(objects: &[ObjectKey]) -> String {
    match objects {
        [only] => format!("`{only}`"),
        several => format!("{} objects", several.len()),
    }
}

fn any_of(clusters: &[ObjectKey]) -> String {
    if clusters.is_empty() { "any Cluster".to_owned() } else { preflight::listed(clusters) }
}

fn why_incomplete(side: MoveSide) -> &'static str {
    match side {
        MoveSide::Source => "the move has already deleted some of their objects there",
        MoveSide::Target => "the move has not verified all of their objects there",
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

/// The annotation on what a move paused: its value is the run. Taken off when it is resumed.
pub(crate) const MARK: &str = "capstan.dev/move";
/// Source: Cluster API v1.14, clusterv1.PausedAnnotation.
pub(crate) const PAUSED: &str = "cluster.x-k8s.io/paused";
/// Source: clusterctl v1.14, clusterctlv1.DeleteForMoveAnnotation; webhooks let such deletions pass.
pub(crate) const DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
/// Source: clusterctl v1.14, clusterctlv1.BlockMoveAnnotation; any value.
pub(crate) const BLOCK_MOVE: &str = "clusterctl.cluster.x-k8s.io/block-move";
