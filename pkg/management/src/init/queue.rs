//! Selects the providers that `init` installs.

use std::collections::BTreeSet;

use api::{ProviderId, ProviderType};
use inventory::ProviderInventory;
use provider::InstalledProvider;

use super::InitRequest;
use crate::{RenderedProvider, sources::Wanted};

/// The default providers of a first installation, unless the user names a provider of that type or declines the type.
/// Source: clusterctl v1.14 client/init.go (addDefaultProviders).
const DEFAULTS: [(ProviderType, &str); 3] = [
    (ProviderType::Core, "cluster-api"),
    (ProviderType::Bootstrap, "kubeadm"),
    (ProviderType::ControlPlane, "kubeadm"),
];

/// The providers to render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// Sorted by type. Within a type, in the order that the user named them.
    pub(super) wanted: Vec<Wanted>,
    /// Warnings for the user.
    pub(super) warnings: Vec<String>,
}

/// True if there is no core provider, or if the first installation is unfinished.
pub(super) fn is_first(inventory: &ProviderInventory) -> bool {
    inventory.unfinished.is_some() || inventory.names(ProviderType::Core).len() != 1
}

/// Selects the providers to install: first the named ones.
///
/// For types without a named provider, an unfinished first installation selects its recorded providers.
/// Otherwise a first installation selects the default.
pub(super) fn select(inventory: &ProviderInventory, request: &InitRequest) -> Selection {
    let noted = inventory.unfinished.as_deref().unwrap_or_default();
    let wanted: Vec<Wanted> =
        ProviderType::ALL.into_iter().flat_map(|of| select_type(of, inventory, noted, request)).collect();
    let mut warnings = given_up(noted, &wanted);
    warnings.extend(cut_off(inventory, &wanted, request));
    Selection { wanted, warnings }
}

fn select_type(
    of: ProviderType,
    inventory: &ProviderInventory,
    noted: &[InstalledProvider],
    request: &InitRequest,
) -> Vec<Wanted> {
    let namespace = |noted: Option<&InstalledProvider>| {
        request.target_namespace.clone().or_else(|| noted.map(|noted| noted.namespace.clone()))
    };
    let named: Vec<Wanted> = request
        .providers
        .providers
        .iter()
        .filter(|(id, _)| id.provider_type == of)
        .map(|(id, version)| {
            let noted = noted.iter().find(|noted| noted.id == *id);
            let version = version.clone().or_else(|| noted.map(|noted| noted.version.clone()));
            Wanted { id: id.clone(), version, namespace: namespace(noted) }
        })
        .collect();
    if !named.is_empty() || request.declined.contains(&of) {
        return named;
    }
    if inventory.unfinished.is_some() {
        let of_type = noted.iter().filter(|noted| noted.id.provider_type == of);
        let begun = of_type.map(|noted| Wanted {
            id: noted.id.clone(),
            version: Some(noted.version.clone()),
            namespace: namespace(Some(noted)),
        });
        return begun.collect();
    }
    let defaults = DEFAULTS.iter().filter(|(default, _)| *default == of && is_first(inventory));
    let default = |(of, name): &(ProviderType, &str)| Wanted {
        id: ProviderId::new(*of, *name),
        version: None,
        namespace: namespace(None),
    };
    defaults.map(default).collect()
}

/// Returns warnings for providers of the unfinished installation that are not selected now.
fn given_up(noted: &[InstalledProvider], wanted: &[Wanted]) -> Vec<String> {
    let left = noted.iter().filter(|noted| wanted.iter().all(|wanted| wanted.id != noted.id));
    let warning = |noted: &InstalledProvider| {
        let InstalledProvider { id, version, namespace } = noted;
        format!(
            "the installation of `{id}` {version} into namespace `{namespace}` was begun before and is not asked for \
             now: what was written of it stays"
        )
    };
    left.map(warning).collect()
}

/// Returns a warning about an interrupted first installation by another tool. Such a tool records the core
/// provider first and does not resume.
fn cut_off(inventory: &ProviderInventory, wanted: &[Wanted], request: &InitRequest) -> Option<String> {
    if is_first(inventory) {
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
        "there is a core provider and no {} provider, as after a first installation that was cut off: add `{}` to \
         complete it",
        words.join(" and no "),
        flags.join(" ")
    ))
}

/// Removes providers that are installed in that version and namespace.
///
/// Providers of an unfinished installation and incomplete providers stay, so that they are checked and waited for.
/// Source: clusterctl v1.14 client/init.go (addToInstaller).
pub(super) fn drop_installed(
    inventory: &ProviderInventory,
    not_whole: &BTreeSet<ProviderId>,
    rendered: Vec<RenderedProvider>,
) -> Vec<RenderedProvider> {
    let noted: BTreeSet<&ProviderId> =
        inventory.unfinished.iter().flatten().map(|noted| &noted.id).chain(not_whole).collect();
    let stays = |provider: &RenderedProvider| {
        noted.contains(&provider.id) || !inventory.providers.contains(&as_installed(provider))
    };
    rendered.into_iter().filter(stays).collect()
}

/// Returns the inventory without the entries that the queue completes: those with the same version and namespace.
pub(super) fn without(inventory: &ProviderInventory, queue: &[RenderedProvider]) -> ProviderInventory {
    let queued: Vec<InstalledProvider> = queue.iter().map(as_installed).collect();
    let mut rest = inventory.clone();
    rest.providers.retain(|installed| !queued.contains(installed));
    rest
}

/// Returns the inventory entry of a provider.
pub(super) fn as_installed(provider: &RenderedProvider) -> InstalledProvider {
    InstalledProvider {
        id: provider.id.clone(),
        version: provider.version.clone(),
        namespace: provider.namespace.clone(),
    }
}

#[cfg(test)]
mod tests;
