//! Progress of rollouts, once or until they are complete.

use std::time::Duration;

use api::output::RolloutStatus;
use apply::{ListQuery, WatchEvent};
use futures::{StreamExt as _, future::try_join_all, stream::select_all};
use inventory::ManagementCluster;
use jiff::Timestamp;
use manifest::Object;
use tokio::time::{Instant, timeout_at};

use super::{RolloutError, RolloutResource, progress::status_of};
use crate::rollout::{outdated::outdated_machines, resource::rollout_object};

/// The time without changes after which objects are read again. A watch never reports an object that was deleted before
/// the watch began.
const REREAD_INTERVAL: Duration = Duration::from_secs(30);

/// Returns the progress of rollouts, in the order of the resources.
/// # Errors
/// A missing object.
pub async fn rollout_progress(
    cluster: &ManagementCluster,
    resources: &[RolloutResource],
) -> Result<Vec<RolloutStatus>, RolloutError> {
    let one = async |resource: &RolloutResource| {
        let object = rollout_object(cluster, resource).await?;
        progress_of(cluster, resource, &object).await
    };
    try_join_all(resources.iter().map(one)).await
}

/// Waits until all rollouts are complete or the time is over, and returns their progress. `changed` receives each
/// incomplete rollout at first, each changed one, and each that becomes complete.
/// # Errors
/// A missing or deleted object.
pub async fn watch_rollouts(
    cluster: &ManagementCluster,
    resources: &[RolloutResource],
    timeout: Option<Duration>,
    mut changed: impl FnMut(&RolloutStatus),
) -> Result<Vec<RolloutStatus>, RolloutError> {
    // Without a timeout, the deadline is far in the future.
    let deadline = Instant::now() + timeout.unwrap_or(Duration::from_hours(24 * 365));
    let mut progress = rollout_progress(cluster, resources).await?;
    progress.iter().filter(|one| !one.is_complete()).for_each(&mut changed);
    let watches = resources.iter().enumerate().map(|(at, resource)| {
        let list = ListQuery {
            namespace: Some(resource.namespace.clone()),
            fields: format!("metadata.name={}", resource.name),
            ..ListQuery::default()
        };
        cluster.server.watch(&resource.kind, &list).map(move |change| (at, change)).boxed()
    });
    let mut changes = select_all(watches);
    while !progress.iter().all(RolloutStatus::is_complete) && Instant::now() < deadline {
        let news = match timeout_at(deadline.min(Instant::now() + REREAD_INTERVAL), changes.next()).await {
            Ok(Some((at, change))) => vec![(at, progress_after(cluster, &resources[at], change?).await?)],
            Ok(None) => break,
            Err(_) => rollout_progress(cluster, resources).await?.into_iter().enumerate().collect(),
        };
        for (at, now) in news {
            if (now.state, &now.message) != (progress[at].state, &progress[at].message) {
                changed(&now);
            }
            progress[at] = now;
        }
    }
    Ok(progress)
}

async fn progress_after(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
    change: WatchEvent,
) -> Result<RolloutStatus, RolloutError> {
    match change {
        WatchEvent::Updated(object) => progress_of(cluster, resource, &object).await,
        WatchEvent::Deleted(_) => Err(RolloutError::Deleted { object: resource.key() }),
    }
}

/// Evaluates an object by its status, and also by its Machines before it counts as complete.
async fn progress_of(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
    object: &Object,
) -> Result<RolloutStatus, RolloutError> {
    let now = Timestamp::now();
    let progress = status_of(resource, object, 0, now);
    if !progress.is_complete() {
        return Ok(progress);
    }
    let outdated = outdated_machines(cluster, resource, object, now).await?;
    Ok(status_of(resource, object, outdated, now))
}
