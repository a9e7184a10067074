//! Labels that users choose for the objects of providers and of cert-manager.

use api::{
    labels::{Labels, LabelsByOwner},
    output::CertManagerPlan,
};
use inventory::ProviderInventory;
use manifest::{Object, labels::add_labels};
use provider::config::CertManager;

use crate::RenderedProvider;

/// Adds labels to the objects of each provider: those of earlier runs, overridden by the requested ones. Returns the
/// labels of each provider that has some.
pub(crate) fn label_providers(
    inventory: &ProviderInventory,
    requested: &Labels,
    providers: &mut [RenderedProvider],
) -> LabelsByOwner {
    let mut planned = LabelsByOwner::new();
    for provider in providers {
        let owner = provider.id.label();
        plan_labels(inventory, &owner, requested, &mut planned);
        set_labels(&mut provider.objects, &owner, &planned);
    }
    planned
}

/// Adds the labels of cert-manager to `planned` if the plan writes cert-manager.
pub(crate) fn add_cert_manager_labels(
    inventory: &ProviderInventory,
    requested: &Labels,
    plan: &CertManagerPlan,
    planned: &mut LabelsByOwner,
) {
    if !plan.is_empty() {
        plan_labels(inventory, CertManager::LABEL, requested, planned);
    }
}

/// Adds the planned labels of an owner to its objects.
pub(crate) fn set_labels(objects: &mut [Object], owner: &str, planned: &LabelsByOwner) {
    let labels = planned.get(owner).into_iter().flatten();
    let labels: Vec<(&str, &str)> = labels.map(|(key, value)| (&**key, &**value)).collect();
    // Rendering has already warned about labels that are no strings.
    let _ = add_labels(objects, &labels);
}

fn plan_labels(inventory: &ProviderInventory, owner: &str, requested: &Labels, planned: &mut LabelsByOwner) {
    let mut labels = inventory.labels.get(owner).cloned().unwrap_or_default();
    labels.extend(requested.clone());
    if !labels.is_empty() {
        planned.insert(owner.to_owned(), labels);
    }
}
