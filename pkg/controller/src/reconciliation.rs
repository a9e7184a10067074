//! The steps of one Component until it has to wait.

use std::{
    collections::BTreeMap,
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use apply::{ApiError, EventSink};
use component::{AT_ONCE, Component, ComponentKey, ComponentStep, ComponentStore, Reconciler, StoreError};
use jiff::Timestamp;
use kube::runtime::controller::Action;
use tokio::time::Instant;

use crate::{
    ControllerEvent, EventsReceiver, Metrics, events::EventRecorder, lock::lock,
    watched_component::WatchedComponent,
};

/// The limit of steps and conflicts before other Components have their turn.
const MAX_STEPS: usize = 8;
/// The delay after conflicts.
const CONFLICT_DELAY: Duration = Duration::from_secs(1);
/// The longest delay after a failure of the server.
const MAX_FAILURE_DELAY: Duration = Duration::from_mins(1);

/// The reconciler, and the receivers of the results of its steps.
pub(crate) struct Reconciliation<'a> {
    pub(crate) store: &'a ComponentStore,
    pub(crate) reconciler: Reconciler<'a>,
    pub(crate) recorder: &'a EventRecorder,
    pub(crate) receiver: Option<&'a EventsReceiver>,
    pub(crate) metrics: &'a Metrics,
    pub(crate) events: &'a EventSink<ControllerEvent>,
    pub(crate) attempts: AttemptCounts,
}

/// The number of steps of each Component without progress since its last change.
#[derive(Debug, Default)]
pub(crate) struct AttemptCounts(Mutex<BTreeMap<ComponentKey, Attempts>>);

#[derive(Clone, Copy, Debug)]
struct Attempts {
    /// The digest of the properties of the Component whose change begins a new count.
    trigger: Option<u64>,
    count: u32,
}

/// The reason why steps end without a status.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// Another controller holds the lease.
    #[error(transparent)]
    LeaseLost(ApiError),
    /// The Component is retried.
    #[error("the step is retried")]
    Retry { delay: Duration },
}

impl StepError {
    /// Returns what follows after a failure.
    pub(crate) fn action(&self) -> Action {
        self.delay().map_or_else(Action::await_change, Action::requeue)
    }

    fn delay(&self) -> Option<Duration> {
        match self {
            Self::LeaseLost(_) => None,
            Self::Retry { delay } => Some(*delay),
        }
    }
}

impl AttemptCounts {
    fn of(&self, component: &WatchedComponent) -> u32 {
        let trigger = component.trigger();
        let known = lock(&self.0).get(&component.key()).copied();
        known.filter(|known| known.trigger == trigger).map_or(0, |known| known.count)
    }

    fn record(&self, component: &WatchedComponent, count: u32) {
        lock(&self.0).insert(component.key(), Attempts { trigger: component.trigger(), count });
    }

    /// Forgets a Component that is gone.
    pub(crate) fn forget(&self, key: &ComponentKey) {
        lock(&self.0).remove(key);
    }
}

impl Reconciliation<'_> {
    /// Takes steps until the Component has to wait. Returns what follows.
    pub(crate) async fn run(&self, watched: &WatchedComponent) -> Result<Action, StepError> {
        let (key, started_at) = (watched.key(), Instant::now());
        self.metrics.queue.remove(&key);
        let ended = self.take_steps(watched).await;
        self.metrics.record_duration(started_at.elapsed());
        let delay = match &ended {
            Ok(delay) => *delay,
            Err(error) => error.delay(),
        };
        if let Some(delay) = delay {
            self.metrics.queue.schedule(&key, delay);
        }
        Ok(ended?.map_or_else(Action::await_change, Action::requeue))
    }

    /// Takes steps until the Component has to wait. Returns the delay until the next step; `None` to wait for a change.
    async fn take_steps(&self, watched: &WatchedComponent) -> Result<Option<Duration>, StepError> {
        let key = watched.key();
        let mut attempts = self.attempts.of(watched);
        let mut known = watched.first.as_deref().cloned();
        let mut has_progress = false;
        for _ in 0..MAX_STEPS {
            let taken = match self.step(&key, known.take(), attempts).await {
                Ok(taken) => taken,
                // The next try reads the Component.
                Err(StoreError::Api(error)) if error.is_conflict() => continue,
                Err(StoreError::Api(error @ ApiError::LeaseLost { .. })) => {
                    return Err(StepError::LeaseLost(error));
                }
                Err(StoreError::Unreadable { components }) => {
                    let problem = components.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                    self.events.send(&ControllerEvent::Unreadable { problem });
                    return Ok(None);
                }
                Err(StoreError::Api(error)) => {
                    self.attempts.record(watched, attempts.saturating_add(1));
                    return Err(self.failed(key, &error, attempts));
                }
            };
            let Some(step) = taken else {
                self.events.send(&ControllerEvent::Gone { component: key });
                return Ok(None);
            };
            has_progress |= step.has_progress;
            self.report(&key, &step).await;
            if step.delay > AT_ONCE {
                self.attempts.record(watched, if has_progress { 0 } else { attempts.saturating_add(1) });
                return Ok(Some(with_jitter(step.delay)));
            }
            attempts = if step.has_progress { 0 } else { attempts };
            known = Some(step.component);
        }
        Ok(Some(CONFLICT_DELAY))
    }

    /// Takes one step. `None` if the Component is gone.
    async fn step(
        &self,
        key: &ComponentKey,
        known: Option<Component>,
        attempts: u32,
    ) -> Result<Option<ComponentStep>, StoreError> {
        let component = match known {
            Some(component) => component,
            None => match self.store.get(key).await? {
                Some(component) => component,
                None => return Ok(None),
            },
        };
        self.metrics.steps.fetch_add(1, Ordering::Relaxed);
        match self.reconciler.step(component, attempts, Timestamp::now()).await {
            Err(StoreError::Api(error)) if error.is_not_found() => Ok(None),
            step => step,
        }
    }

    async fn report(&self, key: &ComponentKey, step: &ComponentStep) {
        let status = &step.component.status;
        if step.event.is_warning {
            self.metrics.errors.fetch_add(1, Ordering::Relaxed);
        }
        self.events.send(&ControllerEvent::Stepped {
            component: key.clone(),
            state: status.state.map(|state| format!("{state:?}")).unwrap_or_default(),
            reason: step.event.reason.clone(),
            message: step.event.message.clone(),
            is_error: step.event.is_warning,
            next: step.delay,
        });
        if self.recorder.record(&step.component, &step.event).await
            && let Some(receiver) = self.receiver
            && let Err(problem) =
                receiver.notify(&step.component, &step.event, self.reconciler.repositories).await
        {
            self.events.send(&ControllerEvent::NotNotified { component: key.clone(), problem });
        }
    }

    fn failed(&self, component: ComponentKey, error: &ApiError, attempts: u32) -> StepError {
        self.metrics.errors.fetch_add(1, Ordering::Relaxed);
        let delay = with_jitter(Duration::from_secs(1 << attempts.min(6)).min(MAX_FAILURE_DELAY));
        self.events.send(&ControllerEvent::Failed { component, error: api::with_causes(error), next: delay });
        StepError::Retry { delay }
    }
}

/// Returns a delay that is 1 to 5 percent longer, so that Components do not stay in step.
fn with_jitter(delay: Duration) -> Duration {
    delay.mul_f64(1.01 + 0.04 * fastrand::f64())
}
