//! Which providers an `init` is about.

use std::collections::BTreeSet;

use api::{ProviderId, ProviderType};
use inventory::ProviderInventory;
use provider::InstalledProvider;

use super::InitRequest;
use crate::{RenderedProvider, sources::Wanted};

/// What a first installation adds by itself, unless another provider of the type is named or the type is declined.
/// Source: clusterctl v1.14 client/init.go (addDefaultProviders).
const DEFAULTS: [(ProviderType, &str); 3] = [
    (ProviderType::Core, "cluster-api"),
    (ProviderType::Bootstrap, "kubeadm"),
    (ProviderType::ControlPlane, "kubeadm"),
];

/// What is to be rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// By type; inside a type as they were named.
    pub(super) wanted: Vec<Wanted>,
    /// What the user should know about it.
    pub(super) warnings: Vec<String>,
}

/// Whether the cluster is installed for the first time: there is no core provider, or what was begun is not finished.
pub(super) fn is_first(inventory: &ProviderInventory) -> bool {
    inventory.unfinished.is_some() || inventory.names(ProviderType::Core).len() != 1
}

/// Chooses what is to be installed: what is named; of types nothing is named of, what an unfinished first installation
/// began with, else on a first installation the default.
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

/// What the unfinished installation began with and is not chosen now.
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

/// A first installation by another tool that was cut off: it notes the core provider first, and never looks back.
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

/// Takes out what is installed in that version and namespace already. What an unfinished installation began with stays,
/// and what is not whole, so that it is looked at and waited for.
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

/// The inventory without what the queue is going to bring to its end: an entry of the same version and namespace.
pub(super) fn without(inventory: &ProviderInventory, queue: &[RenderedProvider]) -> ProviderInventory {
    let queued: Vec<InstalledProvider> = queue.iter().map(as_installed).collect();
    let mut rest = inventory.clone();
    rest.providers.retain(|installed| !queued.contains(installed));
    rest
}

/// The entry a provider gets.
pub(super) fn as_installed(provider: &RenderedProvider) -> InstalledProvider {
    InstalledProvider {
        id: provider.id.clone(),
        version: provider.version.clone(),
        namespace: provider.namespace.clone(),
    }
}

#[cfg(test)]
mod tests;
