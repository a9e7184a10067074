use std::{io, time::Duration};

use apply::{ApiError, ObjectKey};
use inventory::{ContractError, PreflightProblems};
use workload::DiscoverError;

use crate::{JournalError, MoveJournal, MoveSide, preflight::listed};

/// A move that cannot be planned, executed or aborted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum MoveError {
    /// The Cluster API contract of a cluster is not supported.
    #[error("cannot use the {side} cluster")]
    Contract {
        side: MoveSide,
        #[source]
        source: ContractError,
    },
    /// The objects of a cluster cannot be discovered.
    #[error("cannot discover objects on the {side} cluster")]
    Discover {
        side: MoveSide,
        #[source]
        source: Box<DiscoverError>,
    },
    /// Source and target are the same cluster.
    #[error("source and target are the same cluster")]
    SameCluster,
    /// All problems that were found before the first write.
    #[error(transparent)]
    Problems(#[from] PreflightProblems),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Objects still block the move after the timeout.
    #[error("cannot move {}: still blocked after {}", held(objects), seconds(*after))]
    Blocked {
        /// Objects with the annotation that blocks a move.
        objects: Vec<ObjectKey>,
        after: Duration,
    },
    /// Objects that could not be read or written.
    #[error("cannot {action} {}", several(failures.len()))]
    ObjectFailures {
        /// The failed action: `create`, `pause`, `delete`, `resume` and others.
        action: &'static str,
        failures: Vec<(ObjectKey, ApiError)>,
    },
    /// The target does not hold the objects as sent.
    #[error("cannot verify {} on the target", several(differences.len()))]
    TargetDiffers {
        /// Each object with its first different path, or with a problem in words such as `does not exist`.
        differences: Vec<(ObjectKey, String)>,
    },
    /// The target has copies of an interrupted move whose source objects were deleted meanwhile.
    #[error(
        "cannot complete the move: the source no longer has {}, but the target has copies",
        held(objects)
    )]
    StaleCopies {
        /// The copies, by their keys on the target.
        objects: Vec<ObjectKey>,
    },
    /// Objects on the source keep appearing or changing.
    #[error("cannot complete the move: {} on the source kept appearing or changing", held(objects))]
    SourceKeepsChanging {
        /// Objects that still have to move.
        objects: Vec<ObjectKey>,
    },
    /// The saved objects cannot be written.
    #[error("cannot write the saved objects")]
    WriteSaved(#[source] io::Error),
    /// A move takes the objects away.
    #[error("an unfinished move takes these objects to `{}`", journal.target.address)]
    SaveDuringMove { journal: Box<MoveJournal> },
    /// Another process saves the same objects.
    #[error("another save is in progress: process {process}")]
    SaveInProgress { process: String },
    /// Objects were resumed while they were saved.
    #[error("another user or controller resumed {} during the save", held(objects))]
    ResumedDuringSave { objects: Vec<ObjectKey> },
    /// The move has deleted objects and can only be completed.
    #[error("the move has already deleted objects on the source; it can only be completed")]
    AlreadyDeleting,
    /// A cluster of the move no longer exists, and the remaining cluster lacks objects.
    #[error("cannot resume {} on the {side} cluster: {}", any_of(clusters), why_incomplete(*side))]
    Incomplete {
        /// The remaining cluster.
        side: MoveSide,
        /// Clusters of the move, by their keys on the remaining cluster.
        clusters: Vec<ObjectKey>,
    },
    /// Nothing is left to move, and a move out of another cluster has paused objects of the target.
    #[error("a move from another cluster has paused {} on the target", listed(objects))]
    PausedByOtherMove { objects: Vec<ObjectKey> },
    /// There is no move to abort, complete or report.
    #[error("cannot {verb} the move: no move found")]
    NoMove { verb: &'static str },
    /// A request to a cluster failed.
    #[error("cannot access the {side} cluster")]
    Api {
        side: MoveSide,
        #[source]
        source: ApiError,
    },
}

impl MoveError {
    pub(crate) fn discover(side: MoveSide, source: impl Into<DiscoverError>) -> Self {
        Self::Discover { side, source: Box::new(source.into()) }
    }
}

/// Returns a function that adds a side to an error.
pub(crate) fn api_error(side: MoveSide) -> impl Fn(ApiError) -> MoveError {
    move |source| MoveError::Api { side, source }
}

/// Fails with `ObjectFailures` if there are failures.
pub(crate) fn check_failures(
    action: &'static str,
    failures: Vec<(ObjectKey, ApiError)>,
) -> Result<(), MoveError> {
    if failures.is_empty() { Ok(()) } else { Err(MoveError::ObjectFailures { action, failures }) }
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
