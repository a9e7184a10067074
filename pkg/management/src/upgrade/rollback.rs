//! Going back to what was there before an upgrade.

use provider::InstalledProvider;

use super::{
    UpgradeError,
    journal::{Entry, Journal, Phase},
    prepare::{Look, Next},
    storage::StorageBack,
};
use crate::{
    Event, LifecycleError, ManagementCluster, NotReady, OnUnfinished, ProviderInventory, Verb, WaitFor,
    unfinished::Unfinished,
};

/// What every provider was before, the last one first, and what definitions of each have to forget for that.
type StepsBack = (Vec<Next>, Vec<Vec<StorageBack>>);

impl ManagementCluster {
    /// Goes back, or on with going back. The journal is forgotten in the end, so that it is done once.
    pub(crate) async fn roll_back(
        &self,
        wait: WaitFor,
        unfinished: OnUnfinished,
    ) -> Result<Option<NotReady>, LifecycleError> {
        let inventory = self.inventory().await?;
        for abandoned in self.check_unfinished(&inventory, Unfinished::Moves, unfinished).await? {
            self.warn(abandoned);
        }
        let Some(mut journal) = self.upgrade_journal(&inventory).await? else {
            self.clear_remains_of_journal(&inventory).await?;
            return Err(UpgradeError::NoJournal { verb: "roll back" }.into());
        };
        let (steps, storage) = self.steps_back(&journal, &inventory).await?;
        let prepared = self.prepare(steps, Look::Plain).await?;
        if journal.index.phase == Phase::RollingBack {
            self.events.send(&Event::Resuming {
                what: format!("going back from the upgrade begun at {}", journal.index.begun),
            });
        }
        journal.enter(Phase::RollingBack).await?;
        let mut providers = Vec::new();
        for ((mut provider, warnings), storage) in prepared.into_iter().zip(storage) {
            for text in warnings {
                self.warn(text);
            }
            for back in &storage {
                self.forget_stored_versions(back).await?;
            }
            self.carry_out_provider(Verb::Upgrade, &mut provider, wait).await?;
            journal.arrived(&provider.id).await?;
            providers.push(provider);
        }
        let late = self.wait_as_asked(&providers, wait).await?;
        if let Some(version) = &journal.index.cert_manager.to {
            self.warn(format!("cert-manager stays at {version}"));
        }
        journal.forget().await?;
        Ok(late)
    }

    /// # Errors
    /// `NoWayBack` with every reason, before anything is changed.
    async fn steps_back(
        &self,
        journal: &Journal,
        inventory: &ProviderInventory,
    ) -> Result<StepsBack, LifecycleError> {
        let manifests = journal.manifests().await?;
        let mut reasons = Vec::new();
        let (mut steps, mut storage) = (Vec::new(), Vec::new());
        for (entry, objects) in journal.index.providers.iter().zip(manifests).rev() {
            match now_installed(entry, inventory) {
                Ok(installed) => {
                    let labels = format!("{}={}", api::labels::PROVIDER, installed.id.label());
                    let (back, lost): (Vec<_>, Vec<_>) =
                        self.storage_back(labels, &objects).await?.into_iter().partition(Result::is_ok);
                    reasons.extend(lost.into_iter().filter_map(Result::err));
                    storage.push(back.into_iter().flatten().collect());
                    steps.push(Next { installed, to: entry.from.clone(), kustomization: None, objects });
                }
                Err(reason) => reasons.push(reason),
            }
        }
        if reasons.is_empty() {
            Ok((steps, storage))
        } else {
            Err(UpgradeError::NoWayBack { reasons }.into())
        }
    }
}

/// The provider as it is now; it must be where the journal left it, or where it was before.
fn now_installed(entry: &Entry, inventory: &ProviderInventory) -> Result<InstalledProvider, String> {
    let id = &entry.provider;
    let Some(installed) = inventory.of(id).find(|installed| installed.namespace == entry.namespace) else {
        return Err(format!("`{id}` is no longer installed"));
    };
    if installed.version == entry.from || installed.version == entry.to {
        return Ok(installed.clone());
    }
    let Entry { from, to, .. } = entry;
    Err(format!("`{id}` has version {}, and the upgrade went from {from} to {to}", installed.version))
}
