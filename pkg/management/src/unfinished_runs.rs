//! Interrupted runs, and the check that a change does not make their completion impossible.

use inventory::{ManagementCluster, ProviderInventory};
use mover::{JournalError, recorded_runs, restoring_objects};

use crate::{LifecycleError, UnfinishedPolicy, UnfinishedRun, upgrade::unfinished_upgrade};

/// The interrupted runs that must stay completable after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedRuns {
    /// All but upgrades: the change itself completes or replaces an upgrade.
    MovesAndRestores,
    /// Moves, restores and upgrades.
    All,
}

/// Rejects a change that would make an interrupted run impossible to complete, or returns warnings about the
/// possible loss.
/// Sends one request per kind of run, and none without installed providers.
/// # Errors
/// Returns the interrupted run, or the error of the check.
pub(crate) async fn check_unfinished(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
    what: CheckedRuns,
    on: UnfinishedPolicy,
) -> Result<Vec<String>, LifecycleError> {
    if inventory.providers.is_empty() {
        return Ok(Vec::new());
    }
    let mut runs = Vec::new();
    match recorded_runs(cluster, inventory).await {
        Ok(recorded) => {
            runs.extend(recorded.unfinished_move.map(|journal| UnfinishedRun::Move(Box::new(journal))));
            if let Some(command) = recorded.restore_command {
                let paused = restoring_objects(cluster).await?;
                runs.extend((!paused.is_empty()).then_some(UnfinishedRun::Restore { command, paused }));
            }
        }
        Err(error) => warn_unreadable(cluster, "move", is_unreadable(&error), error)?,
    }
    if what == CheckedRuns::All {
        match unfinished_upgrade(cluster, inventory).await {
            Ok(journal) => {
                runs.extend(journal.map(|journal| UnfinishedRun::Upgrade(journal.index.report())));
            }
            Err(error) => {
                let is_forbidden = matches!(&error, LifecycleError::Api(error) if error.is_forbidden());
                warn_unreadable(cluster, "upgrade", is_forbidden, error)?;
            }
        }
    }
    match (on, runs) {
        (UnfinishedPolicy::Refuse, mut runs) if !runs.is_empty() => Err(runs.remove(0).into()),
        (_, runs) => Ok(runs.iter().map(UnfinishedRun::abandon_warning).collect()),
    }
}

/// Warns about a journal that cannot be read. Returns any other error.
fn warn_unreadable<E: std::error::Error + Into<LifecycleError>>(
    cluster: &ManagementCluster,
    run: &str,
    is_unknown: bool,
    error: E,
) -> Result<(), LifecycleError> {
    if !is_unknown {
        return Err(error.into());
    }
    cluster.warn(format!("cannot look for an unfinished {run}: {}", api::with_causes(&error)));
    Ok(())
}

/// True if reading the journal is forbidden, or if the object is not a valid journal.
fn is_unreadable(error: &JournalError) -> bool {
    match error {
        JournalError::Api { source, .. } => source.is_forbidden(),
        JournalError::Unusable { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
