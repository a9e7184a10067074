use std::{io, time::Duration};

use apply::{ApiError, ObjectKey};
use inventory::{ContractError, Problems};
use workload::DiscoverError;

use crate::{JournalError, MoveSide, preflight::listed};

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
    #[error("{} still holds the move up after {}", held(objects), seconds(*after))]
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
    #[error("a move out of another cluster has paused {} on the target", listed(objects))]
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

impl MoveError {
    pub(crate) fn discover(side: MoveSide, source: impl Into<DiscoverError>) -> Self {
        Self::Discover { side, source: Box::new(source.into()) }
    }
}

/// A failure of one end.
pub(crate) fn at(side: MoveSide) -> impl Fn(ApiError) -> MoveError {
    move |source| MoveError::Api { side, source }
}

/// Everything that went wrong with single objects, if something did.
pub(crate) fn no_failures(
    action: &'static str,
    failures: Vec<(ObjectKey, ApiError)>,
) -> Result<(), MoveError> {
    if failures.is_empty() { Ok(()) } else { Err(MoveError::Objects { action, failures }) }
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
    if clusters.is_empty() { "any Cluster".to_owned() } else { listed(clusters) }
}

fn why_incomplete(side: MoveSide) -> &'static str {
    match side {
        MoveSide::Source => "the move has already deleted some of their objects there",
        MoveSide::Target => "the move has not verified all of their objects there",
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}
