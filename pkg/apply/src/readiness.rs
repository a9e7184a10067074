//! Readiness of webhooks, which have no status of their own: a webhook needs a certificate and must answer.
//!
//! ```text
//! objects ─► Clients (every service the API server must call) ─► trust: certificate authorities (watched)
//!                                                             └► probe: a dry run that makes the server call it
//! ```

mod ca_bundle;
mod client_configs;
mod probe;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use manifest::Object;
use tokio::time::{self, sleep};

use crate::{ApiError, Blocker, Event, ObjectKey, Server, Status, key_of, retry::Backoff, wait::WaitGoal};

use probe::Probe;

pub(crate) use ca_bundle::ca_bundle_status;

/// Returns webhooks that do not answer yet: admission webhooks and conversion webhooks.
///
/// A webhook answers if its certificate exists and a dry run that calls it does not fail for lack of an answer. One
/// request is sent for each service, in the namespace of the service. A dry run that the rules of a webhook exclude
/// counts as answered, and so does a webhook with ignored failures.
/// Shape: in the order of the objects. Other kinds, and objects that call no webhook, are ignored.
pub async fn check_webhooks(server: &Server, objects: &[Object]) -> Result<Vec<Blocker>, ApiError> {
    let looks: Vec<_> = webhook_objects(objects).map(|key| check_ca_bundle(server, key)).collect();
    let found: Vec<_> = stream::iter(looks).buffered(server.max_in_flight()).try_collect().await?;
    let untrusted: Vec<_> = found.into_iter().flatten().collect();
    if untrusted.is_empty() {
        unanswered(server, &Probe::all(server, objects).await?).await
    } else {
        Ok(untrusted)
    }
}

/// Waits until all webhooks of these objects answer; reports changes of the blockers.
/// Shape: empty if all webhooks answer, or else the webhooks that did not before the deadline.
pub async fn wait_for_webhooks(
    server: &Server,
    objects: &[Object],
    until: Option<Instant>,
) -> Result<Vec<Blocker>, ApiError> {
    let goals: Vec<_> = webhook_objects(objects).map(|key| (key, WaitGoal::HasCaBundle)).collect();
    let labels = common_labels(objects.iter().filter(|object| client_configs::has_client_config(object)));
    let untrusted = server.wait_for(goals, &labels, until).await?;
    if !untrusted.is_empty() {
        return Ok(untrusted);
    }
    let probes = Probe::all(server, objects).await?;
    probe_until_answered(server, probes, until).await
}

/// Sends probes repeatedly, except for answered probes.
async fn probe_until_answered(
    server: &Server,
    mut probes: Vec<Probe>,
    until: Option<Instant>,
) -> Result<Vec<Blocker>, ApiError> {
    let (started, mut failures, mut reported) = (time::Instant::now(), 0_u32, Vec::new());
    loop {
        let mut blockers = unanswered(server, &probes).await?;
        for blocker in &mut blockers {
            blocker.since = started.elapsed();
        }
        let left =
            until.map(|until| time::Instant::from(until).saturating_duration_since(time::Instant::now()));
        if blockers.is_empty() || left == Some(Duration::ZERO) {
            return Ok(blockers);
        }
        let says: Vec<_> = blockers.iter().map(|blocker| blocker.status.message.clone()).collect();
        if says != reported {
            server.events().send(&Event::Waiting { blockers: blockers.clone() });
            reported = says;
        }
        probes.retain(|probe| blockers.iter().any(|blocker| blocker.object == probe.object));
        failures = failures.saturating_add(1);
        sleep(Backoff::default().pause(failures, None).min(left.unwrap_or(Duration::MAX))).await;
    }
}

/// Sends all probes; returns a blocker for each unanswered probe.
async fn unanswered(server: &Server, probes: &[Probe]) -> Result<Vec<Blocker>, ApiError> {
    let sent: Vec<_> = probes.iter().map(|probe| probe.send(server)).collect();
    let found: Vec<_> = stream::iter(sent).buffered(server.max_in_flight()).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

async fn check_ca_bundle(server: &Server, key: ObjectKey) -> Result<Option<Blocker>, ApiError> {
    let kind = server.kind(&key.group_kind()).await?;
    let live = server.get(&kind, &key.namespace, &key.name).await?;
    let status = live.map_or_else(Status::not_found, |live| ca_bundle_status(&live));
    Ok((!status.is_ready()).then(|| Blocker::new(key, status)))
}

fn webhook_objects(objects: &[Object]) -> impl Iterator<Item = ObjectKey> {
    objects.iter().filter(|object| client_configs::has_client_config(object)).map(key_of)
}

/// Returns a selector of the labels that all objects have; empty without such labels.
fn common_labels<'a>(mut objects: impl Iterator<Item = &'a Object>) -> String {
    let Some(first) = objects.next() else { return String::new() };
    let mut labels: Vec<_> = first.labels().collect();
    objects.for_each(|object| labels.retain(|(key, value)| object.label(key) == Some(value)));
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}
