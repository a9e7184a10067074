//! The controller: watches, the queue and the running steps.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use apply::{ApiError, EventSink, GroupKind, LeaseName, ListQuery, Server, WatchEvent};
use component::{
    Component, ComponentKey, ComponentRenderer, ComponentRuns, ComponentStore, GROUP, KIND, RECONCILER,
    Reconciler, Targets, read_source,
};
use futures::stream::{FuturesUnordered, SelectAll, StreamExt as _};
use repository::RepositoryContext;
use tokio::time::timeout;

use crate::{
    ControllerEvent, Metrics,
    events::EventRecorder,
    index::ComponentIndex,
    queue::StepQueue,
    reconciliation::{EndedSteps, Reconciliation, StepsEnd},
    sources::{SourceCopy, with_kind},
};

/// The time for running steps to end after a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The settings of a controller.
#[derive(Clone, Debug)]
pub struct ControllerOptions {
    /// The limit of Components that are reconciled at a time.
    pub max_concurrent_reconciles: usize,
    /// The service account for Components that name neither a service account nor a kubeconfig.
    pub default_service_account: Option<String>,
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
    Watch { source: Box<ApiError> },
    #[error("another controller has taken over")]
    LeaseLost { source: Box<ApiError> },
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Returns the name of the lease that one of several controllers holds.
pub fn lease_name(namespace: &str) -> LeaseName {
    LeaseName { namespace: namespace.to_owned(), name: RECONCILER.to_owned() }
}

/// The Components of the cluster, and what is due.
#[derive(Default)]
struct Work {
    index: ComponentIndex,
    queue: StepQueue,
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
        let kind = self.hub.kind(&GroupKind::new(GROUP, KIND)).await?;
        let targets = Targets::new(self.hub.clone())
            .with_default_service_account(self.options.default_service_account.clone());
        let (sources, mut new_kinds) = SourceCopy::new(self.hub.clone());
        let recorder = EventRecorder::new(&self.hub);
        let reconciliation = Reconciliation {
            store: &store,
            reconciler: Reconciler {
                runs: ComponentRuns { targets: &targets, store: &store, hub: &self.hub_uid },
                sources: &sources,
                repositories: &self.repositories,
                renderer: self.renderer,
            },
            recorder: &recorder,
            metrics: &self.metrics,
            events: &self.options.events,
        };
        let mut components = self.hub.watch(&kind, &ListQuery::default());
        let mut source_changes = SelectAll::new();
        let mut running = FuturesUnordered::new();
        let mut work = Work::default();
        let mut stop = pin!(stop);
        self.options.events.send(&ControllerEvent::Started);
        loop {
            self.metrics.requests.store(self.hub.requests(), Ordering::Relaxed);
            let has_room = running.len() < self.options.max_concurrent_reconciles.max(1);
            tokio::select! {
                () = &mut stop => break,
                change = components.next() => match change {
                    Some(Ok(change)) => self.component_changed(&mut work, change),
                    Some(Err(error)) => return Err(ControllerError::Watch { source: Box::new(error) }),
                    None => break,
                },
                Some(kind) = new_kinds.recv() => match sources.watch(&kind).await {
                    Ok(watch) => source_changes.push(with_kind(kind, watch)),
                    Err(_) => sources.forget(&kind),
                },
                Some((kind, change)) = source_changes.next() => match change {
                    Some(change) => source_changed(&mut work, &sources, change).await,
                    None => sources.forget(&kind),
                },
                due = poll_fn(|context| work.queue.poll_next(context)), if has_room => {
                    running.push(reconciliation.run(due));
                }
                Some(ended) = running.next() => work.steps_ended(ended)?,
            }
        }
        self.options.events.send(&ControllerEvent::Stopping);
        // A step that is cut off is completed by the next controller.
        let _ = timeout(STOP_TIMEOUT, async { while running.next().await.is_some() {} }).await;
        Ok(())
    }

    fn component_changed(&self, work: &mut Work, change: WatchEvent) {
        let (object, is_gone) = match change {
            WatchEvent::Updated(object) => (object, false),
            WatchEvent::Deleted(object) => (object, true),
        };
        let key = ComponentKey { namespace: object.namespace().to_owned(), name: object.name().to_owned() };
        if is_gone {
            work.queue.remove(&key);
            for dependency in work.index.remove(&key) {
                work.queue.push(&dependency);
            }
        } else {
            match Component::from_server(object) {
                Ok(component) if work.index.update(&component) => work.queue.push_changed(component),
                Ok(_) => {}
                Err(unreadable) => {
                    let problem = unreadable.to_string();
                    self.options.events.send(&ControllerEvent::Unreadable { problem });
                }
            }
        }
        self.metrics.set_states(work.index.states());
    }
}

impl Work {
    fn steps_ended(&mut self, ended: EndedSteps) -> Result<(), ControllerError> {
        let EndedSteps { key, end } = ended;
        match end {
            StepsEnd::Gone => self.queue.remove(&key),
            StepsEnd::LeaseLost(error) => return Err(ControllerError::LeaseLost { source: Box::new(error) }),
            StepsEnd::Waiting { delay, has_progress, became_ready } => {
                self.queue.finish(&key, delay, has_progress);
                if became_ready {
                    for dependent in self.index.waiting_for(&key) {
                        self.queue.push(&dependent);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Queues the Components of a source whose artifact they have not attempted.
async fn source_changed(work: &mut Work, sources: &SourceCopy, change: WatchEvent) {
    let Some(key) = sources.update(change) else { return };
    // A source that is not ready causes no step.
    if let Ok(state) = read_source(&key, sources).await {
        for component in work.index.behind(&key, &state.artifact) {
            work.queue.push(&component);
        }
    }
}

#[cfg(test)]
mod tests;
