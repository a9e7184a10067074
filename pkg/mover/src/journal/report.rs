//! The outcome of every object of a move, stored beside the journal.

use apply::ObjectKey;
use futures::try_join;
use inventory::{ClusterIdentity, ManagementCluster};
use serde::{Deserialize, Serialize};

use super::{
    JournalError, MoveSide,
    copy::{JournalCopy, pack, unpack},
};

/// The outcome of every object of a finished move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveReport {
    /// Run id of the move.
    pub run: String,
    /// Objects of the scope by source key, each with its outcome in words.
    pub objects: Vec<(ObjectKey, String)>,
}

/// Returns the report of the last finished move out of or into a cluster. If both clusters are given, the move must be
/// between them.
/// # Errors
/// Fails like [`super::find_move_journal`].
pub async fn find_move_report(
    source: Option<&ManagementCluster>,
    target: Option<&ManagementCluster>,
) -> Result<Option<MoveReport>, JournalError> {
    let identities = match (source, target) {
        (Some(source), Some(target)) => {
            Some(try_join!(identity(source, MoveSide::Source), identity(target, MoveSide::Target))?)
        }
        _ => None,
    };
    let is_between = |copy: &JournalCopy| match (&identities, &copy.journal) {
        (Some((source, target)), Some(journal)) => journal.check_clusters(source, target).is_ok(),
        (ends, _) => ends.is_none(),
    };
    let is_between = &is_between;
    let (source, target) =
        try_join!(read(source, MoveSide::Source, is_between), read(target, MoveSide::Target, is_between))?;
    Ok(source.or(target))
}

async fn identity(cluster: &ManagementCluster, side: MoveSide) -> Result<ClusterIdentity, JournalError> {
    let identity = cluster.identity().await;
    identity.map_err(|source| JournalError::Api { side, source: Box::new(source) })
}

async fn read(
    cluster: Option<&ManagementCluster>,
    side: MoveSide,
    is_wanted: impl Fn(&JournalCopy) -> bool,
) -> Result<Option<MoveReport>, JournalError> {
    let Some(cluster) = cluster else { return Ok(None) };
    let copy = JournalCopy::read(cluster, side).await?;
    if !is_wanted(&copy) {
        return Ok(None);
    }
    let Some(packed) = &copy.report else { return Ok(None) };
    let bytes = unpack(packed).map_err(|problem| copy.unusable_error(problem))?;
    let report = serde_json::from_slice(&bytes);
    report.map(Some).map_err(|error| copy.unusable_error(format!("its report is invalid: {error}")))
}

impl MoveReport {
    pub(super) fn gzipped(&self) -> Vec<u8> {
        pack(&serde_json::to_string(self).expect("invariant: a report has no maps"))
    }
}
