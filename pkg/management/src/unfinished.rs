//! Runs that were interrupted, and the changes that would make it impossible to complete them.

use inventory::{ManagementCluster, ProviderInventory};
use mover::{JournalError, unfinished_move};

use crate::{LifecycleError, OnUnfinished, UnfinishedRun, upgrade::unfinished_upgrade};

/// The interrupted runs that a change has to leave completable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Moves alone: the change completes or replaces an upgrade itself.
    Moves,
    /// Moves and upgrades.
    All,
}

/// Refuses a change as its plan would, for a run that would otherwise wait for the lease of the cluster first.
/// # Errors
/// The run that is in the way, or the failure to look for one.
pub async fn refuse_unfinished(
    cluster: &ManagementCluster,
    what: Unfinished,
    on: OnUnfinished,
) -> Result<(), LifecycleError> {
    let inventory = cluster.inventory().await?;
    check_unfinished(cluster, &inventory, what, on).await.map(drop)
}

/// Refuses a change that would make an interrupted run impossible to complete, or gives warnings of what may be lost.
/// One request for each sort of run; none while nothing is installed.
/// # Errors
/// The run that is in the way, or the failure to look for one.
pub(crate) async fn check_unfinished(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
    what: Unfinished,
    on: OnUnfinished,
) -> Result<Vec<String>, LifecycleError> {
    if inventory.providers.is_empty() {
        return Ok(Vec::new());
    }
    let mut runs = Vec::new();
    match unfinished_move(cluster, inventory).await {
        Ok(journal) => runs.extend(journal.map(|journal| UnfinishedRun::Move(Box::new(journal)))),
        Err(error) => warn_of_unknown(cluster, "move", is_unknown(&error), error)?,
    }
    if what == Unfinished::All {
        match unfinished_upgrade(cluster, inventory).await {
            Ok(journal) => {
                runs.extend(journal.map(|journal| UnfinishedRun::Upgrade(journal.index.state())));
            }
            Err(error) => {
                let is_forbidden = matches!(&error, LifecycleError::Api(error) if error.code() == Some(403));
                warn_of_unknown(cluster, "upgrade", is_forbidden, error)?;
            }
        }
    }
    match (on, runs) {
        (OnUnfinished::Refuse, mut runs) if !runs.is_empty() => Err(runs.remove(0).into()),
        (_, runs) => Ok(runs.iter().map(UnfinishedRun::abandoned).collect()),
    }
}

/// Warns of a journal that cannot be read; any other failure is one.
fn warn_of_unknown<E: std::error::Error + Into<LifecycleError>>(
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

/// True if the journal may not be read, or is none.
fn is_unknown(error: &JournalError) -> bool {
    match error {
        JournalError::NotKept { source, .. } => source.code() == Some(403),
        JournalError::Unusable { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
