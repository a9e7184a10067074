//! The queue of `init`: the selected providers without those that are installed and complete.

use std::collections::BTreeSet;

use api::{
    ProviderId, ProviderType,
    labels::{Labels, LabelsByOwner},
};
use apply::{ApiError, ApplySet, DesiredSet, Engine, ItemPhase, ReadByName};
use futures::future::try_join_all;
use inventory::{ManagementCluster, ProviderInventory};
use manifest::Object;
use provider::InstalledProvider;

use super::InitRequest;
use crate::{
    InstalledHealth, RenderedProvider,
    applied::AppliedObjects,
    provider_set::{marks, options, read_recorded_set},
    sources::WantedProvider,
    status::provider_status,
    upgrade::live_objects,
};

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

/// The remaining work for an installed provider.
enum RemainingWork {
    Nothing,
    /// Objects are missing, changed, unfinished, not ready or without a label: the provider is planned, applied and waited
    /// for again.
    Reapply,
    /// The record has another version, because an upgrade began.
    InterruptedUpgrade {
        recorded: String,
    },
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

/// Removes providers that are installed and complete. Returns the queue, and warnings for the user.
pub(super) async fn drop_complete(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
    rendered: Vec<RenderedProvider>,
    labels: &LabelsByOwner,
) -> Result<(Vec<RenderedProvider>, Vec<String>), ApiError> {
    let (incomplete, warnings) = find_incomplete(cluster, inventory, &rendered, labels).await?;
    Ok((drop_installed(inventory, &incomplete, rendered), warnings))
}

/// Returns the requested providers that are installed in this version but incomplete.
/// A warning names each provider that an upgrade left incomplete. Providers that other tools installed have
/// no record and are skipped.
async fn find_incomplete(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
    rendered: &[RenderedProvider],
    labels: &LabelsByOwner,
) -> Result<(BTreeSet<ProviderId>, Vec<String>), ApiError> {
    let installed = rendered.iter().map(inventory_entry).filter(|one| inventory.providers.contains(one));
    let checks = installed.map(async |one| {
        let work = remaining_work(cluster, &one, labels).await?;
        Ok::<_, ApiError>((one, work))
    });
    let (mut ids, mut warnings) = (BTreeSet::new(), Vec::new());
    for (InstalledProvider { id, version, .. }, left) in try_join_all(checks).await? {
        match left {
            RemainingWork::Nothing => {}
            RemainingWork::Reapply => drop(ids.insert(id)),
            RemainingWork::InterruptedUpgrade { recorded } => warnings.push(format!(
                "the upgrade of `{id}` between {version} and {recorded} was interrupted: complete it with `capstan upgrade resume` or `capstan upgrade apply`"
            )),
        }
    }
    Ok((ids, warnings))
}

async fn remaining_work(
    cluster: &ManagementCluster,
    installed: &InstalledProvider,
    labels: &LabelsByOwner,
) -> Result<RemainingWork, ApiError> {
    let (id, namespace) = (&installed.id, &installed.namespace);
    let recorded = match read_recorded_set(cluster, id, namespace).await {
        // A record that cannot be read is rewritten.
        Err(ApiError::InvalidAnswer { .. }) => return Ok(RemainingWork::Reapply),
        recorded => recorded?,
    };
    let Some((set, recorded)) = recorded else { return Ok(RemainingWork::Nothing) };
    if recorded != installed.version {
        return Ok(RemainingWork::InterruptedUpgrade { recorded });
    }
    let is_complete = has_no_open_steps(&set);
    let (marks, options) = (marks(id), options(namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let live = engine.observe(&set, &DesiredSet::default(), ReadByName::Applied).await?;
    let labels = labels.get(&id.label());
    let is_labelled = live_objects(&set, &live).all(|object| has_labels(object, labels));
    let status = provider_status(installed.clone(), &AppliedObjects { set, is_recorded: true }, &live);
    let is_intact =
        is_complete && is_labelled && status.drift.is_empty() && status.health == InstalledHealth::Ready;
    Ok(if is_intact { RemainingWork::Nothing } else { RemainingWork::Reapply })
}

fn has_labels(object: &Object, labels: Option<&Labels>) -> bool {
    labels.into_iter().flatten().all(|(key, value)| object.label(key) == Some(value))
}

/// True if every planned step began and the server answered.
fn has_no_open_steps(set: &ApplySet) -> bool {
    let is_open = |phase| {
        matches!(
            phase,
            ItemPhase::ScheduledForApplication | ItemPhase::ScheduledForDeletion | ItemPhase::Deleting
        )
    };
    !set.items.iter().any(|item| is_open(item.phase))
}

/// Removes providers that are installed in that version and namespace.
///
/// Providers of an unfinished installation and incomplete providers stay, so that they are checked and waited for.
/// Source: clusterctl v1.14 client/init.go (addToInstaller).
fn drop_installed(
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
fn inventory_entry(provider: &RenderedProvider) -> InstalledProvider {
    InstalledProvider {
        id: provider.id.clone(),
        version: provider.version.clone(),
        namespace: provider.namespace.clone(),
    }
}

#[cfg(test)]
mod tests;
