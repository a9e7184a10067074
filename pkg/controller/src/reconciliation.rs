//! The steps of one Component until it has to wait.

use std::{sync::atomic::Ordering, time::Duration};

use apply::{ApiError, EventSink};
use component::{AT_ONCE, ComponentKey, ComponentStep, ComponentStore, Reconciler, State, StoreError};
use jiff::Timestamp;

use crate::{ControllerEvent, Metrics, events::EventRecorder, queue::DueStep};

/// The limit of steps and conflicts before other Components have their turn.
const MAX_STEPS: usize = 8;
/// The delay after conflicts.
const CONFLICT_DELAY: Duration = Duration::from_secs(1);
/// The longest delay after a failure of the server.
const MAX_FAILURE_DELAY: Duration = Duration::from_mins(1);

/// The reconciler, and the receivers of the results of its steps.
#[derive(Clone, Copy)]
pub(crate) struct Reconciliation<'a> {
    pub(crate) store: &'a ComponentStore,
    pub(crate) reconciler: Reconciler<'a>,
    pub(crate) recorder: &'a EventRecorder,
    pub(crate) metrics: &'a Metrics,
    pub(crate) events: &'a EventSink<ControllerEvent>,
}

/// The end of the steps of a Component.
#[derive(Debug)]
pub(crate) struct EndedSteps {
    pub(crate) key: ComponentKey,
    pub(crate) end: StepsEnd,
}

#[derive(Debug)]
pub(crate) enum StepsEnd {
    /// The Component and its objects are gone.
    Gone,
    /// The Component has to wait.
    Waiting {
        /// The delay until the next step.
        delay: Duration,
        /// True if a step made progress.
        has_progress: bool,
        /// True if the Component became ready.
        became_ready: bool,
    },
    /// Another controller holds the lease.
    LeaseLost(ApiError),
}

impl Reconciliation<'_> {
    /// Takes steps until the Component has to wait.
    pub(crate) async fn run(self, due: DueStep) -> EndedSteps {
        let DueStep { key, component, mut attempts } = due;
        let mut known = component.map(|component| *component);
        let (mut has_progress, mut became_ready) = (false, false);
        for _ in 0..MAX_STEPS {
            let (former, taken) = match self.step(&key, known.take(), attempts).await {
                Ok(taken) => taken,
                // The next try reads the Component.
                Err(StoreError::Api(error)) if error.is_conflict() => continue,
                Err(StoreError::Api(error @ ApiError::LeaseLost { .. })) => {
                    return EndedSteps { key, end: StepsEnd::LeaseLost(error) };
                }
                Err(error) => return self.failed(key, &error, attempts),
            };
            let Some(step) = taken else {
                self.recorder.forget(&key);
                self.events.send(&ControllerEvent::Gone { component: key.clone() });
                return EndedSteps { key, end: StepsEnd::Gone };
            };
            has_progress |= step.has_progress;
            became_ready |= step.component.status.state == Some(State::Ready) && former != Some(State::Ready);
            self.report(&key, &step).await;
            if step.delay > AT_ONCE {
                let delay = with_jitter(step.delay);
                return EndedSteps { key, end: StepsEnd::Waiting { delay, has_progress, became_ready } };
            }
            attempts = if step.has_progress { 0 } else { attempts };
            known = Some(step.component);
        }
        EndedSteps { key, end: StepsEnd::Waiting { delay: CONFLICT_DELAY, has_progress, became_ready } }
    }

    /// Takes one step. Returns the state before the step as well. `None` if the Component is gone.
    async fn step(
        self,
        key: &ComponentKey,
        known: Option<component::Component>,
        attempts: u32,
    ) -> Result<(Option<State>, Option<ComponentStep>), StoreError> {
        let component = match known {
            Some(component) => component,
            None => match self.store.get(key).await? {
                Some(component) => component,
                None => return Ok((None, None)),
            },
        };
        self.metrics.steps.fetch_add(1, Ordering::Relaxed);
        let former = component.status.state;
        match self.reconciler.step(component, attempts, Timestamp::now()).await {
            Ok(step) => Ok((former, step)),
            Err(StoreError::Api(error)) if error.is_not_found() => Ok((former, None)),
            Err(error) => Err(error),
        }
    }

    async fn report(self, key: &ComponentKey, step: &ComponentStep) {
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
        self.recorder.record(&step.component, &step.event).await;
    }

    fn failed(self, key: ComponentKey, error: &StoreError, attempts: u32) -> EndedSteps {
        self.metrics.errors.fetch_add(1, Ordering::Relaxed);
        let delay = with_jitter(Duration::from_secs(1 << attempts.min(6)).min(MAX_FAILURE_DELAY));
        let event = ControllerEvent::Failed {
            component: key.clone(),
            error: match error {
                StoreError::Unreadable { components } => {
                    components.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                }
                StoreError::Api(error) => api::with_causes(error),
            },
            next: delay,
        };
        self.events.send(&event);
        EndedSteps { key, end: StepsEnd::Waiting { delay, has_progress: false, became_ready: false } }
    }
}

/// Returns a delay that is 1 to 5 percent longer, so that Components do not stay in step.
fn with_jitter(delay: Duration) -> Duration {
    delay.mul_f64(1.01 + 0.04 * fastrand::f64())
}
