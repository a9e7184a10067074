//! What is installed, how it is, and whether it is still what was applied.

use std::time::Duration;

use apply::{
    ApiError, ApplySet, Blocker, ByName, DesiredSet, Detail, FieldDrift, Health, Hints, Item, LeaseState,
    Live, ObjectKey, Plan, Sought, Status, Step, StepAction, field_drift, lease_state, status_of,
};
use inventory::{FIELD_MANAGER, InventoryError, ManagementCluster, ProviderInventory};
use mover::{MoveJournal, unfinished_move};
use provider::InstalledProvider;

use crate::{
    JournalState,
    applied::{Applied, applied_for},
    provider_set::marks,
    upgrade::unfinished_upgrade,
};

/// What is installed on a management cluster, and what was begun.
#[derive(Clone, Debug)]
pub struct ClusterStatus {
    /// By namespace and name.
    pub providers: Vec<ProviderStatus>,
    /// What a first installation was begun with that is not finished.
    pub unfinished_init: Option<Vec<InstalledProvider>>,
    /// An upgrade that was begun and is not finished.
    pub unfinished_upgrade: Option<JournalState>,
    /// An unfinished move out of the cluster or into it.
    pub unfinished_move: Option<MoveJournal>,
    /// The run that is writing to the cluster.
    pub lease: Option<LeaseState>,
    /// True if an unfinished upgrade or move could not be looked for; a warning said why.
    pub is_incomplete: bool,
}

/// One provider.
#[derive(Clone, Debug)]
pub struct ProviderStatus {
    /// Which one, in which version and namespace.
    pub installed: InstalledProvider,
    /// How it is.
    pub health: InstalledHealth,
    /// Whether capstan recorded what was applied; else it was installed by another tool, and drift cannot be told.
    pub recorded: bool,
    /// Objects that are not as they were applied, or gone.
    pub drift: Vec<ObjectDrift>,
}

/// An object that is not as it was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectDrift {
    /// The object.
    pub object: ObjectKey,
    /// The fields that are not as they were applied; none if the object is gone.
    pub fields: Vec<FieldDrift>,
}

/// How a provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstalledHealth {
    /// All its objects are ready.
    Ready,
    /// Some are not.
    NotReady(Vec<Blocker>),
}

/// A status that cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// The inventory.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// The server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Looks at everything that is installed. Writes nothing.
///
/// Whether an object is as it was applied, the server tells: it takes a field out of those we own when somebody else
/// gives it another value or takes it away, and leaves all others. The record keeps a digest of those we owned after
/// each write, so one read of an object is enough and no manifest is needed. Beside the digest it keeps these fields, so that
/// those that changed can be named. What others add, status and CA bundles do not count.
/// # Errors
/// When the inventory or objects cannot be read.
pub async fn status(cluster: &ManagementCluster) -> Result<ClusterStatus, StatusError> {
    let inventory = cluster.inventory().await?;
    let (unfinished_upgrade, unfinished_move, lease) = futures::join!(
        upgrade_under_way(cluster, &inventory),
        move_under_way(cluster, &inventory),
        lease_under_way(cluster),
    );
    Ok(ClusterStatus {
        is_incomplete: unfinished_upgrade.is_none() || unfinished_move.is_none(),
        unfinished_move: unfinished_move.flatten(),
        lease: lease.flatten(),
        providers: status_of_all(cluster, inventory.providers).await?,
        unfinished_init: inventory.unfinished,
        unfinished_upgrade: unfinished_upgrade.flatten(),
    })
}

async fn upgrade_under_way(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Option<Option<JournalState>> {
    let journal = if_known(cluster, "an unfinished upgrade", unfinished_upgrade(cluster, inventory).await)?;
    Some(journal.map(|journal| journal.index.state()))
}

async fn move_under_way(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Option<Option<MoveJournal>> {
    if_known(cluster, "an unfinished move", unfinished_move(cluster, inventory).await)
}

async fn lease_under_way(cluster: &ManagementCluster) -> Option<Option<LeaseState>> {
    if_known(cluster, "the lease", lease_state(&cluster.server, &ManagementCluster::lease_name()).await)
}

/// A user who may not read one of these sees the status of the providers all the same.
fn if_known<T, E: std::error::Error>(
    cluster: &ManagementCluster,
    what: &str,
    read: Result<T, E>,
) -> Option<T> {
    let known = read.inspect_err(|error| {
        cluster.warn(format!("cannot look for {what}: {}", api::with_causes(error)));
    });
    known.ok()
}

async fn status_of_all(
    cluster: &ManagementCluster,
    installed: Vec<InstalledProvider>,
) -> Result<Vec<ProviderStatus>, StatusError> {
    let applied = applied_for(cluster, &installed).await?;
    let marks: Vec<_> = installed.iter().map(|one| marks(&one.id)).collect();
    let nothing = DesiredSet::default();
    let sought = marks.iter().zip(&applied);
    let sought = sought.map(|(marks, applied)| Sought { marks, set: &applied.set, desired: &nothing });
    let lives =
        cluster.server.observe_all(&sought.collect::<Vec<_>>(), ByName::Applied, Detail::Full).await?;
    let each = installed.into_iter().zip(applied).zip(lives);
    Ok(each.map(|((one, applied), live)| status_of_one(one, &applied, &live)).collect())
}

/// How one provider is, by what was seen of its objects.
pub(crate) fn status_of_one(installed: InstalledProvider, applied: &Applied, live: &Live) -> ProviderStatus {
    let blockers = blockers(&applied.set, live);
    let object_drift = |item: &Item| ObjectDrift {
        object: item.key.clone(),
        fields: match live.present(&item.key) {
            Some(object) => field_drift(&item.owned_fields, object, FIELD_MANAGER),
            None => Vec::new(),
        },
    };
    let drift = if applied.is_recorded {
        drifted(&applied.set, live, FIELD_MANAGER).map(object_drift).collect()
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

fn blockers(set: &ApplySet, live: &Live) -> Vec<Blocker> {
    let status = |item: &Item| match live.present(&item.key) {
        Some(object) => status_of(object, &Hints::default()),
        None => Status { health: Health::NotFound, message: "it is not there".to_owned() },
    };
    let statuses = set.items.iter().map(|item| (item.key.clone(), status(item)));
    let blocking = statuses.filter(|(_, status)| !status.is_ready());
    blocking
        .map(|(object, status)| Blocker { object, status, since: Duration::ZERO, below: Vec::new() })
        .collect()
}

/// Forgets what was written onto objects that somebody else has changed since, so that they are written again; gives
/// which ones.
pub(crate) fn forget_drifted(set: &mut ApplySet, live: &Live, manager: &str) -> Vec<ObjectKey> {
    let drifted: Vec<ObjectKey> = drifted(set, live, manager).map(|item| item.key.clone()).collect();
    set.items.iter_mut().filter(|item| drifted.contains(&item.key)).for_each(|item| item.digest.clear());
    drifted
}

/// Says of objects that were forgotten why they are written.
pub(crate) fn explain_drifted(plan: &mut Plan, drifted: &[ObjectKey]) {
    let mended = |step: &&mut Step| step.action == StepAction::Update && drifted.contains(&step.key);
    for step in plan.steps.iter_mut().filter(mended) {
        step.why = Some("is not as it was applied".to_owned());
    }
}

/// Objects of a set that are gone, or that somebody else has changed.
fn drifted<'s>(set: &'s ApplySet, live: &Live, manager: &str) -> impl Iterator<Item = &'s Item> {
    let has_changed = move |item: &&Item| match live.present(&item.key) {
        None => true,
        Some(object) => !item.owned.is_empty() && apply::owned_fields(object, manager).digest() != item.owned,
    };
    set.items.iter().filter(has_changed)
}

#[cfg(test)]
mod tests;
