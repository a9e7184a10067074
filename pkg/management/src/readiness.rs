//! Waiting for what was installed: Deployments of the current generation, definitions established, webhooks with a
//! certificate that answer.

use std::time::{Duration, Instant};

use apply::{ApiError, Blocker, Hints, ObjectKey, Waiting, wait_for_webhooks};
use inventory::ManagementCluster;

use crate::ProviderPlan;

/// Whether and how long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitFor {
    /// None when nothing is waited for.
    pub timeout: Option<Duration>,
    /// Whether not being ready in time is a failure; else a warning.
    pub must_be_ready: bool,
}

/// What is not ready although time is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not ready after {}s", after.as_secs())]
pub struct NotReady {
    /// How long was waited.
    pub after: Duration,
    /// What blocks.
    pub blockers: Vec<Blocker>,
}

/// Kinds that say when they are ready, by group.
const WAITED_FOR: [(&str, &str); 4] = [
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
];

/// Waits for all objects of providers together, under one deadline, and for their webhooks to answer.
pub(crate) async fn wait_for_providers(
    cluster: &ManagementCluster,
    providers: &[ProviderPlan],
    until: Instant,
) -> Result<Vec<Blocker>, ApiError> {
    let objects = || providers.iter().flat_map(|provider| &provider.objects.desired.objects);
    let is_waited_for = |key: &ObjectKey| WAITED_FOR.iter().any(|(group, kind)| key.is(group, kind));
    let waited_for = objects().map(|object| &object.key).filter(|key| is_waited_for(key));
    let waiting = Waiting {
        objects: waited_for.map(|key| (key.clone(), Hints::default())).collect(),
        // All that is installed for a provider carries it, whatever its value.
        labels: api::labels::PROVIDER.to_owned(),
        until: Some(until),
    };
    let blockers = cluster.server.wait(&waiting).await?;
    if !blockers.is_empty() {
        return Ok(blockers);
    }
    let objects: Vec<_> = objects().map(|object| object.object.clone()).collect();
    wait_for_webhooks(&cluster.server, &objects, Some(until)).await
}
