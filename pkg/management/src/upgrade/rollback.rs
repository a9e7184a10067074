//! Rolls an upgrade back.

use api::output::{CertManagerPlan, ProgressEvent};
use inventory::{ManagementCluster, ProviderInventory};
use provider::InstalledProvider;

use super::{
    journal::{JournalEntry, UpgradeError, UpgradeJournal, UpgradePhase},
    prepare::{PrepareMode, ProviderTarget},
    storage::StorageRollback,
};
use crate::{
    LifecycleError, LifecyclePlan, LifecycleVerb, NotReady, UnfinishedPolicy, WaitOptions,
    execute::{ProviderPosition, execute_provider, wait_if_requested},
    unfinished_runs::{CheckedRuns, check_unfinished},
    upgrade::{
        journal::{delete_journal_leftovers, upgrade_journal},
        prepare::prepare_providers,
        storage::{remove_stored_versions, storage_rollbacks},
    },
};

/// The previous state of every provider, the last one first, and the stored versions that its definitions must drop.
type RollbackSteps = (Vec<ProviderTarget>, Vec<Vec<StorageRollback>>);

/// The plan of a rollback of the last upgrade.
pub struct RollbackPlan {
    /// The state of every provider before the upgrade, the last one first.
    pub plan: LifecyclePlan,
    journal: UpgradeJournal,
    storage: Vec<Vec<StorageRollback>>,
}

/// Plans the rollback of the last upgrade, finished or not, or the rest of an unfinished rollback. Writes nothing.
/// cert-manager stays at its version.
/// # Errors
/// `NoJournal` if there is no upgrade. `CannotRollBack` if objects would become unreadable.
pub async fn plan_rollback(
    cluster: &ManagementCluster,
    unfinished: UnfinishedPolicy,
) -> Result<RollbackPlan, LifecycleError> {
    let inventory = cluster.inventory().await?;
    let mut warnings =
        check_unfinished(cluster, &inventory, CheckedRuns::MovesAndRestores, unfinished).await?;
    let journal = upgrade_journal(cluster, &inventory).await?;
    let journal = journal.ok_or(UpgradeError::NoJournal { verb: "roll back" })?;
    let (steps, storage) = rollback_steps(cluster, &journal, &inventory).await?;
    let prepared = prepare_providers(cluster, steps, PrepareMode::Minimal).await?;
    let (providers, provider_warnings): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    warnings.extend(provider_warnings.into_iter().flatten());
    let cert_manager = match &journal.index.cert_manager.to {
        Some(version) => CertManagerPlan::keep(version),
        None => CertManagerPlan::default(),
    };
    // The journal has the objects with their labels.
    let plan = LifecyclePlan {
        cert_manager,
        providers,
        warnings,
        ..LifecyclePlan::empty(LifecycleVerb::Upgrade, &inventory)
    };
    Ok(RollbackPlan { plan, journal, storage })
}

/// Plans as [`plan_rollback`] does, for a run that holds the lease.
/// If there is no upgrade, deletes journal leftovers of a rollback that was interrupted at its end.
/// # Errors
/// The errors of [`plan_rollback`].
pub async fn start_rollback(
    cluster: &ManagementCluster,
    unfinished: UnfinishedPolicy,
) -> Result<RollbackPlan, LifecycleError> {
    let plan = plan_rollback(cluster, unfinished).await;
    if matches!(plan, Err(LifecycleError::Upgrade(UpgradeError::NoJournal { .. }))) {
        delete_journal_leftovers(cluster, &cluster.inventory().await?).await?;
    }
    plan
}

/// Restores the state before the last upgrade, finished or not. Deletes the journal at the end, so that a
/// rollback happens once.
/// # Errors
/// Finished steps stay and are in the journal: another call with a new plan resumes the rollback.
pub async fn rollback_upgrade(
    cluster: &ManagementCluster,
    plan: &mut RollbackPlan,
    wait: WaitOptions,
) -> Result<Option<NotReady>, LifecycleError> {
    let RollbackPlan { plan, journal, storage } = plan;
    if journal.index.phase == UpgradePhase::RollingBack {
        cluster.events.send(&ProgressEvent::Resuming {
            what: format!("the rollback of the upgrade started at {}", journal.index.begun),
        });
    }
    journal.enter_phase(UpgradePhase::RollingBack).await?;
    let of = plan.providers.len();
    for ((provider, storage), number) in plan.providers.iter_mut().zip(storage).zip(1..) {
        for back in storage {
            remove_stored_versions(cluster, back).await?;
        }
        execute_provider(cluster, plan.verb, provider, ProviderPosition { number, total: of }, wait).await?;
        journal.record_done(&provider.id).await?;
    }
    let not_ready = wait_if_requested(cluster, &plan.providers, wait).await?;
    if let Some(version) = &journal.index.cert_manager.to {
        cluster.warn(format!("keeping cert-manager {version}"));
    }
    journal.delete().await?;
    Ok(not_ready)
}

/// Returns the steps of a rollback.
/// # Errors
/// `CannotRollBack` with every reason, before any change.
async fn rollback_steps(
    cluster: &ManagementCluster,
    journal: &UpgradeJournal,
    inventory: &ProviderInventory,
) -> Result<RollbackSteps, LifecycleError> {
    let manifests = journal.read_manifests().await?;
    let mut reasons = Vec::new();
    let (mut steps, mut storage) = (Vec::new(), Vec::new());
    for (entry, objects) in journal.index.providers.iter().zip(manifests).rev() {
        match installed_provider(entry, inventory) {
            Ok(installed) => {
                let labels = format!("{}={}", api::labels::PROVIDER, installed.id.label());
                let (back, lost): (Vec<_>, Vec<_>) =
                    storage_rollbacks(cluster, labels, &objects).await?.into_iter().partition(Result::is_ok);
                reasons.extend(lost.into_iter().filter_map(Result::err));
                storage.push(back.into_iter().flatten().collect());
                steps.push(ProviderTarget {
                    installed,
                    to: entry.from.clone(),
                    kustomization: None,
                    objects,
                });
            }
            Err(reason) => reasons.push(reason),
        }
    }
    if reasons.is_empty() {
        Ok((steps, storage))
    } else {
        Err(UpgradeError::CannotRollBack { reasons }.into())
    }
}

/// Returns the installed provider. Fails if its version is neither the previous nor the new version of the journal.
fn installed_provider(
    entry: &JournalEntry,
    inventory: &ProviderInventory,
) -> Result<InstalledProvider, String> {
    let id = &entry.provider;
    let Some(installed) = inventory.entries_of(id).find(|installed| installed.namespace == entry.namespace)
    else {
        return Err(format!("`{id}` is no longer installed"));
    };
    if installed.version == entry.from || installed.version == entry.to {
        return Ok(installed.clone());
    }
    let JournalEntry { from, to, .. } = entry;
    Err(format!("`{id}` has version {}, but the upgrade went from {from} to {to}", installed.version))
}
