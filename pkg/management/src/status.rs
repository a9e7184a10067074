//! Reports the installed providers, their health and their drift.

use std::time::Duration;

use api::{
    labels::FIELD_MANAGER,
    output::{DriftedObject, UnfinishedUpgrade},
};
use apply::{
    ApiError, ApplyPlan, ApplySet, ApplySetItem, Blocker, DesiredSet, Health, LeaseState, LiveObjects,
    ObjectKey, ObservationTarget, OwnershipMarks, PlanStep, ReadByName, ReadDetail, Status, StatusHints,
    StepAction, lease_state, status_of,
};
use inventory::{InventoryError, ManagementCluster};
use mover::{MoveJournal, recorded_runs};
use provider::InstalledProvider;

use crate::{
    applied::{AppliedObjects, read_applied},
    provider_set::marks,
    upgrade::unfinished_upgrade,
};

/// The installed providers and the unfinished runs of a management cluster.
#[derive(Clone, Debug)]
pub struct ClusterStatus {
    /// The providers, sorted by namespace and name.
    pub providers: Vec<ProviderStatus>,
    /// The providers of an unfinished first installation. `None` if there is none.
    pub unfinished_init: Option<Vec<InstalledProvider>>,
    /// An unfinished upgrade.
    pub unfinished_upgrade: Option<UnfinishedUpgrade>,
    /// An unfinished move from or to this cluster.
    pub unfinished_move: Option<MoveJournal>,
    /// The command that completes a recorded restore.
    pub restore_command: Option<String>,
    /// The run that currently writes to the cluster.
    pub lease: Option<LeaseState>,
    /// True if the check for an unfinished upgrade or move failed. A warning gives the reason.
    pub is_incomplete: bool,
}

/// The status of one provider.
#[derive(Clone, Debug)]
pub struct ProviderStatus {
    /// The identity, version and namespace of the provider.
    pub installed: InstalledProvider,
    /// The health of the provider.
    pub health: InstalledHealth,
    /// True if capstan recorded the applied objects. Otherwise another tool installed the provider, and drift
    /// is unknown.
    pub recorded: bool,
    /// Objects that changed since they were applied, or that are gone. Without fields, the object is gone.
    pub drift: Vec<DriftedObject>,
}

/// The health of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstalledHealth {
    /// All objects are ready.
    Ready,
    /// Some objects are not ready.
    NotReady(Vec<Blocker>),
}

/// An error while reading the status.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Reads the status of all installed providers. Writes nothing.
///
/// The server detects drift: a field leaves the managed fields of capstan if another manager changes or removes the
/// field. The record keeps these managed fields and their digest after each write, so that changed fields can be named.
/// One read of an object is therefore enough and no manifest is needed. Fields that others add, status and CA bundles
/// do not count.
/// # Errors
/// Fails if the inventory or objects cannot be read.
pub async fn status(cluster: &ManagementCluster) -> Result<ClusterStatus, StatusError> {
    let inventory = cluster.inventory().await?;
    let lease = ManagementCluster::lease_name();
    let (upgrade, recorded, lease) = futures::join!(
        unfinished_upgrade(cluster, &inventory),
        recorded_runs(cluster, &inventory),
        lease_state(&cluster.server, &lease),
    );
    let upgrade = ok_or_warn(cluster, "an unfinished upgrade", upgrade);
    let recorded = ok_or_warn(cluster, "an unfinished move or restore", recorded);
    Ok(ClusterStatus {
        is_incomplete: upgrade.is_none() || recorded.is_none(),
        restore_command: recorded.as_ref().and_then(|recorded| recorded.restore_command.clone()),
        unfinished_move: recorded.and_then(|recorded| recorded.unfinished_move),
        lease: ok_or_warn(cluster, "the lease", lease).flatten(),
        providers: provider_statuses(cluster, inventory.providers).await?,
        unfinished_init: inventory.unfinished,
        unfinished_upgrade: upgrade.flatten().map(|journal| journal.index.report()),
    })
}

/// Turns an error into a warning, so that a user without this permission still sees the status of the providers.
fn ok_or_warn<T, E: std::error::Error>(
    cluster: &ManagementCluster,
    what: &str,
    read: Result<T, E>,
) -> Option<T> {
    let known = read.inspect_err(|error| {
        cluster.warn(format!("cannot look for {what}: {}", api::with_causes(error)));
    });
    known.ok()
}

async fn provider_statuses(
    cluster: &ManagementCluster,
    installed: Vec<InstalledProvider>,
) -> Result<Vec<ProviderStatus>, StatusError> {
    let applied = read_applied(cluster, &installed).await?;
    let marks: Vec<_> = installed.iter().map(|one| marks(&one.id)).collect();
    let nothing = DesiredSet::default();
    let targets = marks.iter().zip(&applied);
    let sought =
        targets.map(|(marks, applied)| ObservationTarget { marks, set: &applied.set, desired: &nothing });
    let lives = cluster
        .server
        .observe_all(&sought.collect::<Vec<_>>(), ReadByName::Applied, ReadDetail::Full)
        .await?;
    let each = installed.into_iter().zip(applied).zip(lives);
    Ok(each.map(|((one, applied), live)| provider_status(one, &applied, &live)).collect())
}

/// Returns the status of one provider from its live objects.
pub(crate) fn provider_status(
    installed: InstalledProvider,
    applied: &AppliedObjects,
    live: &LiveObjects,
) -> ProviderStatus {
    let (blockers, marks) = (blockers(&applied.set, live), marks(&installed.id));
    let object_drift = |item: &ApplySetItem| DriftedObject {
        object: item.key.clone(),
        fields: match live.present(&item.key) {
            Some(object) => marks.field_drift(&item.owned_fields, object, FIELD_MANAGER),
            None => Vec::new(),
        },
    };
    let drift = if applied.is_recorded {
        drifted_items(&applied.set, live, &marks).map(object_drift).collect()
    } else {
        Vec::new()
    };
    ProviderStatus {
        installed,
        health: if blockers.is_empty() {
            InstalledHealth::Ready
        } else {
            InstalledHealth::NotReady(blockers)
        },
        recorded: applied.is_recorded,
        drift,
    }
}

fn blockers(set: &ApplySet, live: &LiveObjects) -> Vec<Blocker> {
    let status = |item: &ApplySetItem| match live.present(&item.key) {
        Some(object) => status_of(object, &StatusHints::default()),
        None => Status { health: Health::NotFound, message: "it does not exist".to_owned() },
    };
    let statuses = set.items.iter().map(|item| (item.key.clone(), status(item)));
    let blocking = statuses.filter(|(_, status)| !status.is_ready());
    blocking
        .map(|(object, status)| Blocker { object, status, since: Duration::ZERO, children: Vec::new() })
        .collect()
}

/// Clears the digest of objects that another manager changed, so that they are written again. Returns their keys.
pub(crate) fn clear_drifted_digests(
    set: &mut ApplySet,
    live: &LiveObjects,
    marks: &OwnershipMarks,
) -> Vec<ObjectKey> {
    let drifted: Vec<ObjectKey> = drifted_items(set, live, marks).map(|item| item.key.clone()).collect();
    set.items.iter_mut().filter(|item| drifted.contains(&item.key)).for_each(|item| item.digest.clear());
    drifted
}

/// Adds the reason for writing drifted objects to the plan.
pub(crate) fn add_drift_reasons(plan: &mut ApplyPlan, drifted: &[ObjectKey]) {
    let is_repaired = |step: &&mut PlanStep| step.action == StepAction::Update && drifted.contains(&step.key);
    for step in plan.steps.iter_mut().filter(is_repaired) {
        step.why = Some("differs from the applied state".to_owned());
    }
}

/// Returns the objects of a set that are gone or that another manager changed.
fn drifted_items<'s>(
    set: &'s ApplySet,
    live: &LiveObjects,
    marks: &OwnershipMarks,
) -> impl Iterator<Item = &'s ApplySetItem> {
    let has_changed = move |item: &&ApplySetItem| match live.present(&item.key) {
        None => true,
        Some(object) => {
            !item.owned.is_empty() && marks.owned_fields(object, FIELD_MANAGER).digest() != item.owned
        }
    };
    set.items.iter().filter(has_changed)
}

#[cfg(test)]
mod tests;
