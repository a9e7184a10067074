//! Waits for installed objects: current Deployments, established definitions, and webhooks with a certificate
//! that answer.

use std::time::{Duration, Instant};

use apply::{ApiError, Blocker, Health, ObjectKey, StatusHints, WaitRequest, wait_for_webhooks};
use inventory::ManagementCluster;

use crate::ProviderPlan;

/// The wait after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitOptions {
    /// The time limit. `None` to skip the wait.
    pub timeout: Option<Duration>,
    /// True if a timeout is a failure, false if it is a warning.
    pub must_be_ready: bool,
}

/// The error if objects are not ready in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not ready after {}s", after.as_secs())]
pub struct NotReady {
    /// The time waited.
    pub after: Duration,
    /// The objects that are not ready.
    pub blockers: Vec<Blocker>,
}

impl NotReady {
    /// Returns the first definition that the server rejected.
    pub(crate) fn rejected_definition(&self) -> Option<&Blocker> {
        let is_rejected =
            |blocker: &&Blocker| blocker.object.is_crd() && blocker.status.health == Health::Failed;
        self.blockers.iter().find(is_rejected)
    }
}

/// Kinds that report readiness, by group.
const KINDS_WITH_READINESS: [(&str, &str); 4] = [
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
];

/// Waits for all objects of all providers under one deadline, then for their webhooks to answer.
pub(crate) async fn wait_for_providers(
    cluster: &ManagementCluster,
    providers: &[ProviderPlan],
    deadline: Instant,
) -> Result<Vec<Blocker>, ApiError> {
    let objects = || providers.iter().flat_map(|provider| &provider.objects.desired.objects);
    let is_waited_for =
        |key: &ObjectKey| KINDS_WITH_READINESS.iter().any(|(group, kind)| key.is(group, kind));
    let waited_for = objects().map(|object| &object.key).filter(|key| is_waited_for(key));
    let waiting = WaitRequest {
        objects: waited_for.map(|key| (key.clone(), StatusHints::default())).collect(),
        // Every object of a provider carries this label, with any value.
        labels: api::labels::PROVIDER.to_owned(),
        deadline: Some(deadline),
    };
    let blockers = cluster.server.wait(&waiting).await?;
    if !blockers.is_empty() {
        return Ok(blockers);
    }
    let objects: Vec<_> = objects().map(|object| object.object.clone()).collect();
    wait_for_webhooks(&cluster.server, &objects, Some(deadline)).await
}
