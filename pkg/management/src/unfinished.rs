//! Runs that were interrupted, and the changes that would make it impossible to complete them.

use inventory::{ManagementCluster, ProviderInventory};
use mover::{JournalError, MoveJournal, unfinished_move};

use crate::{JournalState, upgrade::unfinished_upgrade};

/// The reaction to an interrupted run that a change would make impossible to complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnfinished {
    /// The change is refused.
    #[default]
    Refuse,
    /// The change is made, with a warning of what may be lost.
    Abandon,
}

/// An interrupted run that has to be completed or undone before the cluster is changed otherwise.
#[derive(Debug, thiserror::Error)]
pub enum UnfinishedRun {
    /// An upgrade.
    #[error("the upgrade begun at {} is not finished", _0.begun)]
    Upgrade(JournalState),
    /// A move out of the cluster or into it.
    #[error("the move begun at {} from `{}` to `{}` is not finished", _0.begun, _0.source.address, _0.target.address)]
    Move(Box<MoveJournal>),
}

/// The interrupted runs that a change has to leave completable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Moves alone: the change completes or replaces an upgrade itself.
    Moves,
    /// Moves and upgrades.
    All,
}

impl UnfinishedRun {
    /// The warning of a change that is made all the same.
    fn abandoned(&self) -> String {
        let lost = match self {
            Self::Upgrade(_) => "it may be impossible to complete it or to roll it back",
            Self::Move(_) => {
                "it may be impossible to complete it or to undo it; its Clusters stay paused until you resume them"
            }
        };
        format!("{self}; {lost}")
    }
}

/// Refuses a change as its plan would, for a run that would otherwise wait for the lease of the cluster first.
/// # Errors
/// The run that is in the way, or the failure to look for one.
pub async fn refuse_unfinished(
    cluster: &ManagementCluster,
    what: Unfinished,
    on: OnUnfinished,
) -> Result<(), crate::LifecycleError> {
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
) -> Result<Vec<String>, crate::LifecycleError> {
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
                let is_forbidden =
                    matches!(&error, crate::LifecycleError::Api(error) if error.code() == Some(403));
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
fn warn_of_unknown<E: std::error::Error + Into<crate::LifecycleError>>(
    cluster: &ManagementCluster,
    run: &str,
    is_unknown: bool,
    error: E,
) -> Result<(), crate::LifecycleError> {
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
