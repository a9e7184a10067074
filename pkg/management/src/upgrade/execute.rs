//! Upgrades providers one after the other, in place.

use api::output::ProgressEvent;
use inventory::ManagementCluster;
use std::time::Instant;

use super::{
    UpgradeRequest,
    journal::{JournalIndex, PreviousState, UpgradeJournal, UpgradePhase, restorable_object},
    prepare::live_objects,
};
use crate::{
    CertManagerError, LifecycleError, LifecyclePlan, NotReady, ProviderPlan, Sources,
    cert_manager::execute_cert_manager,
    execute::{ProviderPosition, execute_provider, wait_if_requested},
    upgrade::journal::upgrade_journal,
};

/// Executes an upgrade from the start, or from the position in its journal.
pub(crate) async fn execute_upgrade(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &UpgradeRequest,
    plan: &mut LifecyclePlan,
) -> Result<Option<NotReady>, LifecycleError> {
    let Some(mut journal) = open_journal(cluster, request, plan).await? else {
        return wait_if_requested(cluster, &plan.providers, request.wait).await;
    };
    if !plan.cert_manager.is_empty() {
        let timeout = sources.config.cert_manager().map_err(CertManagerError::from)?.timeout;
        execute_cert_manager(cluster, plan, sources, Instant::now() + timeout).await?;
    }
    let of = plan.providers.len();
    for (provider, number) in plan.providers.iter_mut().zip(1..) {
        execute_provider(cluster, plan.verb, provider, ProviderPosition { number, total: of }, request.wait)
            .await?;
        journal.record_done(&provider.id).await?;
    }
    let not_ready = wait_if_requested(cluster, &plan.providers, request.wait).await?;
    journal.enter_phase(UpgradePhase::Finished).await?;
    Ok(not_ready)
}

/// Returns the journal of this upgrade: the unfinished one, or else a new one. `None` if nothing changes.
async fn open_journal(
    cluster: &ManagementCluster,
    request: &UpgradeRequest,
    plan: &LifecyclePlan,
) -> Result<Option<UpgradeJournal>, LifecycleError> {
    let inventory = cluster.inventory().await?;
    match upgrade_journal(cluster, &inventory).await? {
        Some(journal) if journal.is_unfinished() => {
            journal.index.check_target(request)?;
            cluster.events.send(&ProgressEvent::Resuming {
                what: format!("the upgrade started at {}", journal.index.begun),
            });
            Ok(Some(journal))
        }
        _ if plan.is_empty() => Ok(None),
        replaced => {
            let index = JournalIndex::new(request, &plan.cert_manager);
            let restore = |provider: &ProviderPlan| {
                live_objects(&provider.objects.set, &provider.objects.live)
                    .map(restorable_object)
                    .collect::<Vec<_>>()
            };
            let manifests: Vec<_> = plan.providers.iter().map(restore).collect();
            let previous = plan.providers.iter().zip(&manifests).map(|(provider, objects)| PreviousState {
                installed: provider.installed_before(),
                to: provider.to.clone().unwrap_or_default(),
                kustomization: provider.kustomization.clone(),
                objects: objects.iter().collect(),
            });
            UpgradeJournal::create(cluster, &inventory, replaced, index, previous.collect()).await.map(Some)
        }
    }
}
