//! The controller: watches, and the steps that they cause.

use std::{
    future::{Future, pending},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use apply::{ApiError, EventSink, Lease, Server};
use component::{ComponentKey, ComponentRenderer, ComponentRuns, ComponentStore, KIND, Reconciler, Targets};
use futures::{
    FutureExt as _, Stream, StreamExt as _, TryStreamExt as _,
    channel::oneshot,
    future::{Either, ready, select},
    stream::{self, BoxStream},
};
use kube::{
    Api,
    runtime::{
        Config, WatchStreamExt as _, applier,
        controller::{Action, Error as StepsError},
        reflector::{ObjectRef, Store},
        watcher,
    },
};
use repository::RepositoryContext;
use tokio::time::sleep;

use crate::{
    ControllerEvent, EventsReceiver, Metrics, Readiness, Shard,
    changes::{WatchedComponents, WatchedDependents},
    events::EventRecorder,
    reconciliation::{AttemptCounts, Reconciliation, StepError},
    sources::{POLL_INTERVAL, SourceCopy, poll_urls, status_code},
    watch::watch,
    watched_component::{WatchedComponent, object_ref},
};

/// The time for running steps to end after a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The end of the steps of a Component.
type StepEnd = Result<(ObjectRef<WatchedComponent>, Action), StepsError<StepError, watcher::Error>>;

/// The settings of a controller.
#[derive(Clone, Debug)]
pub struct ControllerOptions {
    /// The limit of Components that are reconciled at a time.
    pub max_concurrent_reconciles: u16,
    /// The service account for Components that name neither a service account nor a kubeconfig.
    pub default_service_account: Option<String>,
    /// The receiver of events of Components over HTTP.
    pub receiver: Option<EventsReceiver>,
    /// The Components that are reconciled. The others are watched only.
    pub shard: Shard,
    /// The receiver of events.
    pub events: EventSink<ControllerEvent>,
}

/// A controller of the Components of one cluster.
pub struct Controller<'a> {
    /// The cluster of the Components, with the right to write.
    pub hub: Server,
    /// The uid of the namespace `kube-system` of the cluster.
    pub hub_uid: String,
    /// The renderer of objects.
    pub renderer: &'a dyn ComponentRenderer,
    /// The access to artifacts behind URLs.
    pub repositories: RepositoryContext,
    /// The metrics to update.
    pub metrics: Arc<Metrics>,
    /// The readiness to update.
    pub readiness: Arc<Readiness>,
    /// The limits and the receiver of events.
    pub options: ControllerOptions,
}

/// The reason why a controller ends.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ControllerError {
    #[error("the cluster does not serve the kind Component")]
    NoDefinition,
    #[error("cannot watch Components")]
    Watch { source: Box<watcher::Error> },
    #[error("another controller has taken over")]
    LeaseLost { source: Box<ApiError> },
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl Controller<'_> {
    /// Reconciles Components until `stop` completes. Then running steps end first.
    /// # Errors
    /// The kind Component is not served, its watch ends with a permanent error, or another controller has taken over.
    pub async fn run(&self, stop: impl Future<Output = ()>) -> Result<(), ControllerError> {
        let store = ComponentStore::open(&self.hub).await?;
        if !store.has_definition() {
            return Err(ControllerError::NoDefinition);
        }
        let store = store.looking_once_for_records();
        let targets = Targets::new(self.hub.clone())
            .with_default_service_account(self.options.default_service_account.clone());
        let (sources, new_kinds) = SourceCopy::new(self.hub.clone(), Arc::clone(&self.readiness));
        let recorder = EventRecorder::new(&self.hub);
        let runs = ComponentRuns { targets: &targets, store: &store, hub: &self.hub_uid };
        let watched = WatchedComponents::new();
        let components = watched.store();
        let dependents = WatchedDependents(components.clone());
        let reconciliation = self.reconciliation(runs, &sources, &dependents, &recorder);
        self.metrics.observe(self.hub.clone(), components.clone(), self.options.shard);
        self.readiness.expect(KIND);
        self.options.events.send(&ControllerEvent::Started);
        let by_sources = new_kinds.map(|kind| sources.watch(kind, &components)).flatten_unordered(None);
        let by_urls = poll_urls(&components, self.options.shard, &self.repositories, POLL_INTERVAL);
        let by_sources = stream::select(by_sources, by_urls).map(Ok);
        let due = stream::select(self.watch_components(watched, &reconciliation), by_sources);
        let due = due.try_filter(|key| ready(self.options.shard.contains(key)));
        let due = due.inspect_ok(|key| self.metrics.queue.schedule(key, Duration::ZERO));
        let (stopping, stopped) = oneshot::channel();
        let stop = async move {
            stop.await;
            self.options.events.send(&ControllerEvent::Stopping);
            let _ = stopping.send(());
        };
        let steps = applier(
            |component: Arc<WatchedComponent>, _| {
                let reconciliation = &reconciliation;
                async move { reconciliation.run(&component).await }.boxed()
            },
            |_, error, _| error.action(),
            Arc::new(()),
            components.clone(),
            due.map_ok(|key| object_ref(&key)).take_until(stop),
            Config::default().concurrency(self.options.max_concurrent_reconciles.max(1)),
        );
        let ended = self.run_steps(steps);
        match select(pin!(ended), pin!(stop_timeout(stopped, &components))).await {
            Either::Left((ended, _)) => ended,
            Either::Right(((), _)) => Ok(()),
        }
    }

    /// Reconciles Components like [`Controller::run`] while a lease is held. Ends as soon as it is lost, even if nothing is
    /// written.
    /// # Errors
    /// Those of [`Controller::run`].
    pub async fn run_while_leading(
        &self,
        lease: &mut Lease,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ControllerError> {
        match select(pin!(self.run(stop)), pin!(lease.lost())).await {
            Either::Left((ended, _)) => ended,
            Either::Right((error, _)) => Err(ControllerError::LeaseLost { source: Box::new(error) }),
        }
    }

    fn reconciliation<'a>(
        &'a self,
        runs: ComponentRuns<'a>,
        sources: &'a SourceCopy,
        dependents: &'a WatchedDependents,
        recorder: &'a EventRecorder,
    ) -> Reconciliation<'a> {
        Reconciliation {
            store: runs.store,
            reconciler: Reconciler {
                runs,
                sources,
                dependents,
                repositories: &self.repositories,
                renderer: self.renderer,
            },
            recorder,
            receiver: self.options.receiver.as_ref(),
            metrics: &self.metrics,
            events: &self.options.events,
            attempts: AttemptCounts::default(),
        }
    }

    /// Watches Components. Returns those that need a step.
    fn watch_components<'a>(
        &'a self,
        mut watched: WatchedComponents,
        reconciliation: &'a Reconciliation<'a>,
    ) -> BoxStream<'a, Result<ComponentKey, watcher::Error>> {
        let api: Api<WatchedComponent> = Api::all(self.hub.client());
        let events = watch(api);
        let shard = self.options.shard;
        // Components of other shards have no first step here.
        let events = events.modify(move |component| {
            if !shard.contains(&component.key()) {
                component.first = None;
            }
        });
        let events = self.readiness.observe(KIND.to_owned(), events);
        let due = move |event: Result<watcher::Event<WatchedComponent>, watcher::Error>| {
            let due = match event {
                Ok(event) => {
                    let changes = watched.record(&event);
                    for key in &changes.gone {
                        reconciliation.recorder.forget(key);
                        reconciliation.attempts.forget(key);
                        reconciliation.metrics.queue.remove(key);
                    }
                    changes.due.into_iter().map(Ok).collect()
                }
                Err(error) => vec![Err(error)],
            };
            stream::iter(due)
        };
        events.flat_map(due).boxed()
    }

    /// Takes steps until their stream ends. Temporary failures of watches are retried by the watches.
    async fn run_steps(&self, steps: impl Stream<Item = StepEnd>) -> Result<(), ControllerError> {
        let mut steps = pin!(steps);
        while let Some(step) = steps.next().await {
            match step {
                Err(StepsError::ReconcilerFailed(StepError::LeaseLost(error), _)) => {
                    return Err(ControllerError::LeaseLost { source: Box::new(error) });
                }
                Err(StepsError::QueueError(error)) if status_code(&error) == Some(404) => {
                    return Err(ControllerError::NoDefinition);
                }
                Err(StepsError::QueueError(error)) if is_permanent(&error) => {
                    return Err(ControllerError::Watch { source: Box::new(error) });
                }
                Err(StepsError::QueueError(error)) => {
                    let problem = api::with_causes(&error);
                    self.options.events.send(&ControllerEvent::WatchInterrupted { problem });
                }
                // A Component that is gone, or a failure that was reported.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Completes when running steps have had their time to end after a stop. A step that is cut off is completed by the next
/// controller.
async fn stop_timeout(stopped: oneshot::Receiver<()>, components: &Store<WatchedComponent>) {
    match stopped.await {
        // The steps do not end before the first list, and none runs.
        Ok(()) if components.wait_until_ready().now_or_never().is_none() => {}
        Ok(()) => sleep(STOP_TIMEOUT).await,
        Err(_) => pending().await,
    }
}

/// True if a watch of Components cannot continue without a change of the cluster or its permissions.
fn is_permanent(error: &watcher::Error) -> bool {
    matches!(status_code(error), Some(401 | 403))
}

#[cfg(test)]
mod tests;
