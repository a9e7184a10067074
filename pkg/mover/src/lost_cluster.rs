//! Ends a move whose source or target no longer exists, on the remaining cluster.
//!
//! ```text
//! lost      before the first deletion                   afterwards
//! target    the source has every object: undone         refused: some objects were only on the target
//! source    refused: the target may lack objects        the target has every object: completed
//! ```
//!
//! Clusters never run on both sides, even if the other cluster still exists. The Clusters of the other cluster stay
//! paused, and its journal stays unfinished.

use std::{collections::BTreeSet, time::Duration};

use api::output::{MoveAborted, MovePhase};
use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::{Scope, discover};

use crate::{
    JournalStore, MoveError, MoveJournal, MoveOutcome, MoveReport, MoveSide, abort::resume_source,
    journal::RemainingJournal, pause::resume_target, request::with_retries, target_key,
};

/// Undoes a move whose target no longer exists: resumes the Clusters on the source. After an interruption, the same
/// call resumes the work.
/// # Errors
/// `Incomplete` if objects were deleted on the source; `NoMove`; `Journal`.
pub async fn abort_without_target(
    source: &ManagementCluster,
    timeout: Duration,
    store: &JournalStore,
) -> Result<MoveAborted, MoveError> {
    let source = with_retries(source, timeout);
    let remaining = RemainingJournal::read(&source, MoveSide::Source, store).await?;
    let remaining = remaining.ok_or(MoveError::NoMove { verb: "abort" })?;
    let journal = &remaining.journal;
    if !journal.can_be_undone() {
        return Err(incomplete_error(MoveSide::Source, journal));
    }
    let scope = Scope { namespaces: journal.namespaces.clone() };
    let discovered = Box::pin(discover(&source, &scope)).await;
    let discovered = discovered.map_err(|error| MoveError::discover(MoveSide::Source, error))?;
    let resumed = resume_source(&source, journal, &discovered).await?;
    let report = build_report(journal, &resumed, "resumed on the source");
    remaining.end(MovePhase::Aborted, &report).await?;
    Ok(MoveAborted { resumed, ..MoveAborted::default() })
}

/// Completes a move whose source no longer exists: resumes the Clusters on the target. After an interruption, the same
/// call resumes the work.
/// # Errors
/// `Incomplete` until every object was verified on the target; `NoMove`; `Journal`.
pub async fn complete_without_source(
    target: &ManagementCluster,
    timeout: Duration,
    store: &JournalStore,
) -> Result<MoveOutcome, MoveError> {
    let target = with_retries(target, timeout);
    let remaining = RemainingJournal::read(&target, MoveSide::Target, store).await?;
    let remaining = remaining.ok_or(MoveError::NoMove { verb: "complete" })?;
    let journal = &remaining.journal;
    if !matches!(journal.phase, MovePhase::Deleting | MovePhase::Resuming) {
        return Err(incomplete_error(MoveSide::Target, journal));
    }
    let resumed = resume_target(&target, journal).await?;
    let report = build_report(journal, &resumed, "resumed on the target");
    let journal = remaining.end(MovePhase::Finished, &report).await?;
    Ok(MoveOutcome { journal, objects: report.objects, differences: Vec::new() })
}

fn build_report<'k>(
    journal: &MoveJournal,
    resumed: impl IntoIterator<Item = &'k ObjectKey>,
    words: &str,
) -> MoveReport {
    let objects = resumed.into_iter().map(|key| (key.clone(), words.to_owned()));
    MoveReport { run: journal.run.clone(), objects: objects.collect() }
}

fn incomplete_error(side: MoveSide, journal: &MoveJournal) -> MoveError {
    let clusters = journal.paused.iter().filter(|paused| paused.object.kind == "Cluster");
    let clusters: BTreeSet<ObjectKey> = clusters
        .map(|paused| match side {
            MoveSide::Source => paused.object.clone(),
            MoveSide::Target => target_key(&paused.object, &journal.namespace_map),
        })
        .collect();
    MoveError::Incomplete { side, clusters: clusters.into_iter().collect() }
}
