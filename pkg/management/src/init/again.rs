//! Providers that `init` requests and that are already installed in the same version. Complete ones are skipped.

use std::collections::BTreeSet;

use api::ProviderId;
use apply::{ApiError, ApplySet, DesiredSet, Engine, ItemPhase, ReadByName};
use futures::future::try_join_all;
use inventory::{ManagementCluster, ProviderInventory};
use provider::InstalledProvider;

use super::queue::as_installed;
use crate::{
    InstalledHealth, RenderedProvider,
    applied::Applied,
    provider_set::{marks, options, recorded_set},
    status::status_of_one,
};

/// The remaining work for an installed provider.
enum Left {
    Nothing,
    /// Objects are missing, changed, unfinished or not ready: the provider is planned, applied and waited for again.
    Something,
    /// The record has another version, because an upgrade began.
    Upgrade {
        recorded: String,
    },
}

/// Returns the requested providers that are installed in this version but incomplete.
/// A warning names each provider that an upgrade left incomplete. Providers that other tools installed have
/// no record and are skipped.
pub(super) async fn not_whole(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
    rendered: &[RenderedProvider],
) -> Result<(BTreeSet<ProviderId>, Vec<String>), ApiError> {
    let installed = rendered.iter().map(as_installed).filter(|one| inventory.providers.contains(one));
    let looked_at = installed.map(async |one| {
        let left = left_to_do(cluster, &one).await?;
        Ok::<_, ApiError>((one, left))
    });
    let (mut ids, mut words) = (BTreeSet::new(), Vec::new());
    for (InstalledProvider { id, version, .. }, left) in try_join_all(looked_at).await? {
        match left {
            Left::Nothing => {}
            Left::Something => drop(ids.insert(id)),
            Left::Upgrade { recorded } => words.push(format!(
                "`{id}` was left half-way between {version} and {recorded}: complete it with `capstan upgrade resume` or \
                 `capstan upgrade apply`"
            )),
        }
    }
    Ok((ids, words))
}

async fn left_to_do(cluster: &ManagementCluster, installed: &InstalledProvider) -> Result<Left, ApiError> {
    let (id, namespace) = (&installed.id, &installed.namespace);
    let recorded = match recorded_set(cluster, id, namespace).await {
        // A record that cannot be read is rewritten.
        Err(ApiError::InvalidAnswer { .. }) => return Ok(Left::Something),
        recorded => recorded?,
    };
    let Some((set, recorded)) = recorded else { return Ok(Left::Nothing) };
    if recorded != installed.version {
        return Ok(Left::Upgrade { recorded });
    }
    let is_complete = is_complete(&set);
    let (marks, options) = (marks(id), options(namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let live = engine.observe(&set, &DesiredSet::default(), ReadByName::Applied).await?;
    let status = status_of_one(installed.clone(), &Applied { set, is_recorded: true }, &live);
    let is_whole = is_complete && status.drift.is_empty() && status.health == InstalledHealth::Ready;
    Ok(if is_whole { Left::Nothing } else { Left::Something })
}

/// True if every planned step began and the server answered.
fn is_complete(set: &ApplySet) -> bool {
    let is_open = |phase| {
        matches!(
            phase,
            ItemPhase::ScheduledForApplication | ItemPhase::ScheduledForDeletion | ItemPhase::Deleting
        )
    };
    !set.items.iter().any(|item| is_open(item.phase))
}
