//! Providers that `init` requests and that are already installed in the same version. Complete ones are skipped.

use std::collections::BTreeSet;

use api::{
    ProviderId,
    labels::{Labels, LabelsByOwner},
};
use apply::{ApiError, ApplySet, DesiredSet, Engine, ItemPhase, ReadByName};
use futures::future::try_join_all;
use inventory::{ManagementCluster, ProviderInventory};
use manifest::Object;
use provider::InstalledProvider;

use super::queue::inventory_entry;
use crate::{
    InstalledHealth, RenderedProvider,
    applied::AppliedObjects,
    provider_set::{marks, options, read_recorded_set},
    status::provider_status,
    upgrade::live_objects,
};

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

/// Returns the requested providers that are installed in this version but incomplete.
/// A warning names each provider that an upgrade left incomplete. Providers that other tools installed have
/// no record and are skipped.
pub(super) async fn find_incomplete(
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
