//! Upgrades providers one after the other, in place.

use api::output::ProgressEvent;
use inventory::ManagementCluster;
use std::time::Instant;

use super::{
    UpgradeRequest,
    journal::{Before, Index, Journal, Phase, to_restore},
    prepare::live_objects,
};
use crate::{
    CertManagerError, LifecycleError, LifecyclePlan, NotReady, ProviderPlan, Sources,
    carry_out::{Position, carry_out_provider, wait_as_asked},
    cert_manager::carry_out_cert_manager,
    upgrade::journal::upgrade_journal,
};

/// Executes an upgrade from the start, or from the position in its journal.
pub(crate) async fn carry_out_upgrade(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &UpgradeRequest,
    plan: &mut LifecyclePlan,
) -> Result<Option<NotReady>, LifecycleError> {
    let Some(mut journal) = journal_for(cluster, request, plan).await? else {
        return wait_as_asked(cluster, &plan.providers, request.wait).await;
    };
    if !plan.cert_manager.is_empty() {
        let patience = sources.config.cert_manager().map_err(CertManagerError::from)?.timeout;
        let objects = &mut plan.cert_manager_objects;
        let until = Instant::now() + patience;
        carry_out_cert_manager(cluster, &plan.cert_manager, objects, sources, until).await?;
    }
    let of = plan.providers.len();
    for (provider, number) in plan.providers.iter_mut().zip(1..) {
        carry_out_provider(cluster, plan.verb, provider, Position { number, of }, request.wait).await?;
        journal.arrived(&provider.id).await?;
    }
    let late = wait_as_asked(cluster, &plan.providers, request.wait).await?;
    journal.enter(Phase::Finished).await?;
    Ok(late)
}

/// Returns the journal of this upgrade: the unfinished one, or else a new one. `None` if nothing changes.
async fn journal_for(
    cluster: &ManagementCluster,
    request: &UpgradeRequest,
    plan: &LifecyclePlan,
) -> Result<Option<Journal>, LifecycleError> {
    let inventory = cluster.inventory().await?;
    match upgrade_journal(cluster, &inventory).await? {
        Some(journal) if journal.is_unfinished() => {
            journal.index.check_target(request)?;
            cluster.events.send(&ProgressEvent::Resuming {
                what: format!("the upgrade begun at {}", journal.index.begun),
            });
            Ok(Some(journal))
        }
        _ if plan.is_empty() => Ok(None),
        replaced => {
            let index = Index::begin(request, &plan.cert_manager);
            let restore = |provider: &ProviderPlan| {
                live_objects(&provider.objects.set, &provider.objects.live)
                    .map(to_restore)
                    .collect::<Vec<_>>()
            };
            let kept: Vec<_> = plan.providers.iter().map(restore).collect();
            let before = plan.providers.iter().zip(&kept).map(|(provider, objects)| Before {
                installed: provider.as_it_is(),
                to: provider.to.clone().unwrap_or_default(),
                kustomization: provider.kustomization.clone(),
                objects: objects.iter().collect(),
            });
            Journal::begin(cluster, &inventory, replaced, index, before.collect()).await.map(Some)
        }
    }
}
