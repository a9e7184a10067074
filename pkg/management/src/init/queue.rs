//! Selects the providers that `init` installs.

use std::collections::BTreeSet;

use api::{ProviderId, ProviderType};
use inventory::ProviderInventory;
use provider::InstalledProvider;

use super::InitRequest;
use crate::{RenderedProvider, sources::WantedProvider};

/// The default providers of a first installation, unless the user names a provider of that type or declines the type.
/// Source: clusterctl v1.14 client/init.go (addDefaultProviders).
const DEFAULT_PROVIDERS: [(ProviderType, &str); 3] = [
    (ProviderType::Core, "cluster-api"),
    (ProviderType::Bootstrap, "kubeadm"),
    (ProviderType::ControlPlane, "kubeadm"),
];

/// The providers to render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProviderSelection {
    /// Sorted by type. Within a type, in the order that the user named them.
    pub(super) wanted: Vec<WantedProvider>,
    /// Warnings for the user.
    pub(super) warnings: Vec<String>,
}

/// True if there is no core provider, or if the first installation is unfinished.
pub(super) fn is_first_installation(inventory: &ProviderInventory) -> bool {
    inventory.unfinished.is_some() || inventory.names(ProviderType::Core).len() != 1
}

/// Selects the providers to install: first the named ones.
///
/// For types without a named provider, an unfinished first installation selects its recorded providers.
/// Otherwise a first installation selects the default.
pub(super) fn select_providers(inventory: &ProviderInventory, request: &InitRequest) -> ProviderSelection {
    let recorded = inventory.unfinished.as_deref().unwrap_or_default();
    let wanted: Vec<WantedProvider> =
        ProviderType::ALL.into_iter().flat_map(|of| select_type(of, inventory, recorded, request)).collect();
    let mut warnings = abandoned_warnings(recorded, &wanted);
    warnings.extend(interrupted_warning(inventory, &wanted, request));
    ProviderSelection { wanted, warnings }
}

fn select_type(
    provider_type: ProviderType,
    inventory: &ProviderInventory,
    recorded: &[InstalledProvider],
    request: &InitRequest,
) -> Vec<WantedProvider> {
    let namespace = |noted: Option<&InstalledProvider>| {
        request.target_namespace.clone().or_else(|| noted.map(|noted| noted.namespace.clone()))
    };
    let named: Vec<WantedProvider> = request
        .providers
        .providers
        .iter()
        .filter(|(id, _)| id.provider_type == provider_type)
        .map(|(id, version)| {
            let noted = recorded.iter().find(|noted| noted.id == *id);
            let version = version.clone().or_else(|| noted.map(|noted| noted.version.clone()));
            WantedProvider { id: id.clone(), version, namespace: namespace(noted) }
        })
        .collect();
    if !named.is_empty() || request.declined.contains(&provider_type) {
        return named;
    }
    if inventory.unfinished.is_some() {
        let of_type = recorded.iter().filter(|noted| noted.id.provider_type == provider_type);
        let begun = of_type.map(|noted| WantedProvider {
            id: noted.id.clone(),
            version: Some(noted.version.clone()),
            namespace: namespace(Some(noted)),
        });
        return begun.collect();
    }
    let defaults = DEFAULT_PROVIDERS
        .iter()
        .filter(|(default, _)| *default == provider_type && is_first_installation(inventory));
    let default = |(of, name): &(ProviderType, &str)| WantedProvider {
        id: ProviderId::new(*of, *name),
        version: None,
        namespace: namespace(None),
    };
    defaults.map(default).collect()
}

/// Returns warnings for providers of the unfinished installation that are not selected now.
fn abandoned_warnings(recorded: &[InstalledProvider], wanted: &[WantedProvider]) -> Vec<String> {
    let abandoned = recorded.iter().filter(|noted| wanted.iter().all(|wanted| wanted.id != noted.id));
    let warning = |noted: &InstalledProvider| {
        let InstalledProvider { id, version, namespace } = noted;
        format!(
            "`{id}` {version} in namespace `{namespace}` is partly installed but not selected now; its objects stay"
        )
    };
    abandoned.map(warning).collect()
}

/// Returns a warning about an interrupted first installation by another tool. Such a tool records the core
/// provider first and does not resume.
fn interrupted_warning(
    inventory: &ProviderInventory,
    wanted: &[WantedProvider],
    request: &InitRequest,
) -> Option<String> {
    if is_first_installation(inventory) {
        return None;
    }
    let is_missing = |of: ProviderType| {
        inventory.names(of).is_empty()
            && wanted.iter().all(|wanted| wanted.id.provider_type != of)
            && !request.declined.contains(&of)
    };
    let missing: Vec<(&str, &str)> = [
        (ProviderType::Bootstrap, "bootstrap", "--bootstrap kubeadm"),
        (ProviderType::ControlPlane, "control plane", "--control-plane kubeadm"),
    ]
    .into_iter()
    .filter(|(of, ..)| is_missing(*of))
    .map(|(_, words, flag)| (words, flag))
    .collect();
    if missing.is_empty() {
        return None;
    }
    let (words, flags): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    Some(format!(
        "the core provider is installed but no {} provider is, as after an interrupted installation: complete it with `{}`",
        words.join(" or "),
        flags.join(" ")
    ))
}

/// Removes providers that are installed in that version and namespace.
///
/// Providers of an unfinished installation and incomplete providers stay, so that they are checked and waited for.
/// Source: clusterctl v1.14 client/init.go (addToInstaller).
pub(super) fn drop_installed(
    inventory: &ProviderInventory,
    incomplete: &BTreeSet<ProviderId>,
    rendered: Vec<RenderedProvider>,
) -> Vec<RenderedProvider> {
    let to_complete: BTreeSet<&ProviderId> =
        inventory.unfinished.iter().flatten().map(|noted| &noted.id).chain(incomplete).collect();
    let is_needed = |provider: &RenderedProvider| {
        to_complete.contains(&provider.id) || !inventory.providers.contains(&inventory_entry(provider))
    };
    rendered.into_iter().filter(is_needed).collect()
}

/// Returns the inventory without the entries that the queue completes: those with the same version and namespace.
pub(super) fn without_queued(inventory: &ProviderInventory, queue: &[RenderedProvider]) -> ProviderInventory {
    let queued: Vec<InstalledProvider> = queue.iter().map(inventory_entry).collect();
    let mut remaining = inventory.clone();
    remaining.providers.retain(|installed| !queued.contains(installed));
    remaining
}

/// Returns the inventory entry of a provider.
pub(super) fn inventory_entry(provider: &RenderedProvider) -> InstalledProvider {
    InstalledProvider {
        id: provider.id.clone(),
        version: provider.version.clone(),
        namespace: provider.namespace.clone(),
    }
}

#[cfg(test)]
mod tests;
