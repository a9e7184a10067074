//! Runs beside a controller: the command stores or deletes Components, and the controller works on their objects.

use std::{collections::BTreeSet, time::Duration};

use apply::LeaseHolder;
use component::{Component, ComponentKey, ComponentPlan, Intervals, RunError, State};
use controller::working_controller;
use tokio::time::{Instant, sleep};

use super::{
    hub::{Hub, Selection},
    listing::blockers,
    wait::{INTERVAL, wait},
};
use crate::{Failure, failure::Kind, ui::Messages};

/// The pause between two looks for the controller.
const CONTROLLER_INTERVAL: Duration = Duration::from_secs(5);

/// Returns a controller that works on the Components of the cluster. Another one waits while this command holds the lease of the
/// cluster.
pub(super) async fn find_controller(hub: &Hub) -> Result<Option<LeaseHolder>, Failure> {
    if !hub.store.has_definition() {
        return Ok(None);
    }
    Ok(working_controller(&hub.cluster.server).await?)
}

/// Waits until the controller has made stored Components ready. Reports what they wait for, such as a dependency. Returns
/// false if no controller works any more.
/// # Errors
/// A Component that the controller could not apply.
pub(super) async fn wait_until_ready(
    hub: &Hub,
    stored: &[Component],
    messages: &Messages,
) -> Result<bool, Failure> {
    if stored.is_empty() {
        return Ok(true);
    }
    let keys = Selection::Named(stored.iter().map(ComponentKey::of).collect());
    let timeout = stored.iter().map(|one| Intervals::of(&one.spec).timeout).sum();
    let (mut controller, mut reported) = (ControllerWatch::new(hub), BTreeSet::new());
    let ended = wait(hub, &keys, timeout, async |waiting| {
        for live in waiting {
            let key = ComponentKey::of(live);
            if let Some(ready) = live.status.ready().filter(|ready| ready.reason == "Retrying")
                && reported.insert((key.clone(), ready.message.clone()))
            {
                messages.status(format!("Component `{key}` waits: {}", ready.message));
            }
        }
        match waiting.iter().find(|live| has_failed(live, stored)) {
            Some(failed) => Err(apply_failure(failed)),
            None => controller.is_gone().await,
        }
    });
    Ok(ended.await?.is_some())
}

/// Lets the controller delete a Component. Reports what blocks the deletion. Returns false if no controller works any more, or
/// if only a Secret records the Component, which no controller reads.
/// # Errors
/// `NotDeleted` after the timeout. Nothing is deleted if objects of other owners use a definition.
pub(super) async fn delete(
    hub: &Hub,
    plan: &ComponentPlan,
    timeout: Duration,
    messages: &Messages,
) -> Result<bool, Failure> {
    if !plan.component.is_object() {
        return Ok(false);
    }
    hub.runs().check_deletable(plan, &[]).await?;
    hub.store.begin_deletion(&plan.key).await?;
    let (started_at, mut controller) = (Instant::now(), ControllerWatch::new(hub));
    let mut reported = String::new();
    while let Some(live) = hub.store.get(&plan.key).await?.filter(Component::is_object) {
        let ready = live.status.ready().cloned().unwrap_or_default();
        let is_blocked = ["DeletionBlocked", "DeletionRetrying"].contains(&&*ready.reason);
        if is_blocked && ready.message != reported {
            messages.status(format!("Component `{}` waits: {}", plan.key, ready.message));
            reported.clone_from(&ready.message);
        }
        if started_at.elapsed() >= timeout {
            let (component, after) = (plan.key.clone(), started_at.elapsed());
            let error = RunError::NotDeleted { component, after, blockers: blockers(&live) };
            return Err(if is_blocked {
                Failure::new(Kind::Conflict, error.to_string()).cause(ready.message)
            } else if ready.reason == "Error" {
                Failure::from(error).cause(ready.message)
            } else {
                error.into()
            });
        }
        if controller.is_gone().await? {
            return Ok(false);
        }
        sleep(INTERVAL).await;
    }
    // A controller may lack the permission to delete the record of a Component.
    hub.store.drop_record(&plan.key).await?;
    Ok(true)
}

/// Looks for the controller from time to time.
struct ControllerWatch<'a> {
    hub: &'a Hub,
    last_look: Instant,
}

impl<'a> ControllerWatch<'a> {
    fn new(hub: &'a Hub) -> Self {
        Self { hub, last_look: Instant::now() }
    }

    async fn is_gone(&mut self) -> Result<bool, Failure> {
        if self.last_look.elapsed() < CONTROLLER_INTERVAL {
            return Ok(false);
        }
        self.last_look = Instant::now();
        Ok(find_controller(self.hub).await?.is_none())
    }
}

/// True if the controller has failed to apply a Component since it was stored.
fn has_failed(live: &Component, stored: &[Component]) -> bool {
    let is_same = |one: &&Component| ComponentKey::of(one) == ComponentKey::of(live);
    live.status.state == Some(State::Error)
        && live.status.observed_generation == live.generation()
        && stored.iter().find(is_same).is_none_or(|before| before.status != live.status)
}

fn apply_failure(component: &Component) -> Failure {
    let key = ComponentKey::of(component);
    let message = component.status.ready().map(|ready| ready.message.clone()).unwrap_or_default();
    Failure::new(Kind::Unhealthy, format!("the controller cannot apply Component `{key}`"))
        .cause(message)
        .hint(format!("see its objects with `capstan component status {key}`"))
}
