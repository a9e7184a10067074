//! Changing providers one after the other, in place.

use std::time::Instant;

use super::{
    UpgradeRequest,
    journal::{Before, Index, Journal, Phase, to_restore},
    prepare::live_objects,
};
use crate::{
    CertManagerError, Event, LifecycleError, LifecyclePlan, ManagementCluster, NotReady, ProviderPlan,
    Sources, carry_out::Position,
};

impl ManagementCluster {
    /// Carries an upgrade out, from the beginning or from where its journal says it is.
    pub(crate) async fn carry_out_upgrade(
        &self,
        sources: &Sources<'_>,
        request: &UpgradeRequest,
        plan: &mut LifecyclePlan,
    ) -> Result<Option<NotReady>, LifecycleError> {
        let Some(mut journal) = self.journal_for(request, plan).await? else {
            return self.wait_as_asked(&plan.providers, request.wait).await;
        };
        if !plan.cert_manager.is_empty() {
            let patience = sources.config.cert_manager().map_err(CertManagerError::from)?.timeout;
            let objects = &mut plan.cert_manager_objects;
            let until = Instant::now() + patience;
            self.carry_out_cert_manager(&plan.cert_manager, objects, sources, until).await?;
        }
        let of = plan.providers.len();
        for (provider, number) in plan.providers.iter_mut().zip(1..) {
            self.carry_out_provider(plan.verb, provider, Position { number, of }, request.wait).await?;
            journal.arrived(&provider.id).await?;
        }
        let late = self.wait_as_asked(&plan.providers, request.wait).await?;
        journal.enter(Phase::Finished).await?;
        Ok(late)
    }

    /// The journal of this upgrade: the one that is not finished, else a new one; none when there is nothing to do.
    async fn journal_for(
        &self,
        request: &UpgradeRequest,
        plan: &LifecyclePlan,
    ) -> Result<Option<Journal>, LifecycleError> {
        let inventory = self.inventory().await?;
        match self.upgrade_journal(&inventory).await? {
            Some(journal) if journal.is_unfinished() => {
                journal.index.check_target(request)?;
                self.events
                    .send(&Event::Resuming { what: format!("the upgrade begun at {}", journal.index.begun) });
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
                Journal::begin(self, &inventory, replaced, index, before.collect()).await.map(Some)
            }
        }
    }
}
