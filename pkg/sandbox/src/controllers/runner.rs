//! The runner of controllers: turns changes into reconciliations. A controller never reconciles an object twice at
//! once.

use std::{
    collections::{HashMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep_until},
};

use super::{Controller, ObjectRef, Requeue};
use crate::{
    client::Client,
    status::Status,
    store::{Change, ListOptions, Revision, Scope, Store, Watch, WatchEnd},
};

/// The maximum number of concurrent reconciliations. A reconciliation that waits for a webhook does not block the
/// others.
const MAX_CONCURRENT: usize = 8;
/// The pause after a failure; each further failure doubles the pause.
const INITIAL_BACKOFF: Duration = Duration::from_millis(5);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Running controllers, which end when stopped or when this value is dropped. A drop also ends the store.
#[derive(Debug)]
pub(crate) struct RunningControllers {
    store: Arc<Store>,
    task: JoinHandle<()>,
    progress: watch::Receiver<Progress>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    /// The controllers have received all changes up to this revision.
    revision: Revision,
    /// True if no reconciliation runs or waits, except reconciliations that controllers scheduled for later.
    idle: bool,
    /// The failed reconciliations that wait for a retry, one sentence each.
    failing: Vec<String>,
}

impl RunningControllers {
    /// Starts the controllers. Stored objects count as new.
    pub(crate) fn start(client: Client, store: Arc<Store>, controllers: Vec<Arc<dyn Controller>>) -> Self {
        let (tell, progress) = watch::channel(Progress::default());
        let runner = Runner {
            client,
            store: Arc::clone(&store),
            controllers,
            progress: tell,
            queue: WorkQueue::default(),
            running: FuturesUnordered::new(),
        };
        Self { store, task: tokio::spawn(runner.run()), progress }
    }

    /// Waits until the controllers have processed this revision and have no work left.
    pub(crate) async fn wait_until_idle(&self, revision: Revision) {
        let mut progress = self.progress.clone();
        // The wait fails only if the controllers have ended; then nothing changes any more.
        let _ = progress.wait_for(|progress| progress.idle && progress.revision >= revision).await;
    }

    /// The failed reconciliations that wait for a retry, sorted.
    pub(crate) fn failing_reconciliations(&self) -> Vec<String> {
        self.progress.borrow().failing.clone()
    }

    /// Ends the controllers immediately.
    pub(crate) async fn stop(&self) {
        self.task.abort();
        // The task holds the sender, so a closed channel shows that the task has ended.
        let _ = self.progress.clone().wait_for(|_| false).await;
    }
}

impl Drop for RunningControllers {
    fn drop(&mut self) {
        self.task.abort();
        // The task ends later and holds the store until then.
        self.store.release();
    }
}

/// An object and the index of its controller.
type WorkItem = (usize, ObjectRef);

struct Runner {
    client: Client,
    store: Arc<Store>,
    controllers: Vec<Arc<dyn Controller>>,
    progress: watch::Sender<Progress>,
    queue: WorkQueue,
    running: FuturesUnordered<BoxFuture<'static, (WorkItem, Result<Requeue, Status>)>>,
}

/// The queue of reconciliations.
#[derive(Default)]
struct WorkQueue {
    ready: VecDeque<WorkItem>,
    states: HashMap<WorkItem, State>,
    /// Times that controllers requested.
    timers: HashMap<WorkItem, Instant>,
    /// Retries after failures.
    retries: HashMap<WorkItem, Retry>,
}

struct Retry {
    at: Instant,
    backoff: Duration,
    /// The message of the server.
    message: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Queued,
    Reconciling,
    /// The object changed during its reconciliation.
    ReconcileAgain,
}

impl Runner {
    async fn run(mut self) {
        while let Some(mut watch) = self.list_and_watch() {
            // A watch that fell behind restarts with all stored objects.
            if self.process_changes(&mut watch).await == WatchEnd::Closed {
                return;
            }
        }
    }

    /// Passes all stored objects to the controllers and returns a watch of later changes.
    fn list_and_watch(&mut self) -> Option<Watch> {
        loop {
            let revision = self.store.revision();
            for resource in self.store.resources() {
                let page =
                    self.store.list(&Scope { resource, namespace: None }, ListOptions::default()).ok()?;
                for after in page.items {
                    let revision = after.revision;
                    self.enqueue_affected(&Change { revision, before: None, after, deleted: false });
                }
            }
            if let Ok(watch) = self.store.watch_all(revision) {
                return Some(watch);
            }
        }
    }

    async fn process_changes(&mut self, watch: &mut Watch) -> WatchEnd {
        loop {
            loop {
                match watch.try_next() {
                    Ok(Some(change)) => self.enqueue_affected(&change),
                    Ok(None) => break,
                    Err(end) => return end,
                }
            }
            self.start_reconciliations();
            let idle = self.running.is_empty() && self.queue.retries.is_empty();
            let failing = self.failing_reconciliations();
            self.progress.send_replace(Progress { revision: watch.position(), idle, failing });
            let next_timer = self.queue.next_timer();
            tokio::select! {
                biased;
                Some((item, outcome)) = self.running.next() => self.queue.finish(item, &outcome),
                changed = watch.next() => match changed {
                    Ok(change) => self.enqueue_affected(&change),
                    Err(end) => return end,
                },
                () = sleep_until(next_timer.unwrap_or_else(Instant::now)), if next_timer.is_some() => {
                    self.queue.enqueue_due(Instant::now());
                }
            }
        }
    }

    fn enqueue_affected(&mut self, change: &Change) {
        for (number, controller) in self.controllers.iter().enumerate() {
            for object in controller.affected_objects(&self.client, change) {
                self.queue.add((number, object));
            }
        }
    }

    fn failing_reconciliations(&self) -> Vec<String> {
        let retries = self.queue.retries.iter();
        let mut failing: Vec<_> = retries
            .map(|((number, object), retry)| {
                let ObjectRef { kind, namespace, name, .. } = object;
                let slash = if namespace.is_empty() { "" } else { "/" };
                let controller = self.controllers[*number].name();
                format!("{controller}: {kind} {namespace}{slash}{name}: {}", retry.message)
            })
            .collect();
        failing.sort();
        failing
    }

    fn start_reconciliations(&mut self) {
        while self.running.len() < MAX_CONCURRENT {
            let Some(item) = self.queue.ready.pop_front() else { return };
            self.queue.states.insert(item.clone(), State::Reconciling);
            let controller = Arc::clone(&self.controllers[item.0]);
            let client = self.client.with_manager(controller.name());
            self.running.push(Box::pin(async move {
                // A panic counts as a failure and is retried, so that other reconciliations continue.
                let look = AssertUnwindSafe(controller.reconcile(&client, &item.1)).catch_unwind();
                let panicked = |_| Err(Status::internal("the controller panicked"));
                let outcome = look.await.unwrap_or_else(panicked);
                (item, outcome)
            }));
        }
    }
}

impl WorkQueue {
    fn add(&mut self, item: WorkItem) {
        self.timers.remove(&item);
        match self.states.get_mut(&item) {
            None => {
                self.states.insert(item.clone(), State::Queued);
                self.ready.push_back(item);
            }
            Some(State::Queued | State::ReconcileAgain) => {}
            Some(state @ State::Reconciling) => *state = State::ReconcileAgain,
        }
    }

    fn finish(&mut self, item: WorkItem, outcome: &Result<Requeue, Status>) {
        let look_again = self.states.remove(&item) == Some(State::ReconcileAgain);
        match outcome {
            Ok(Requeue::AwaitChange) => drop(self.retries.remove(&item)),
            Ok(Requeue::After(pause)) => {
                self.retries.remove(&item);
                self.timers.insert(item.clone(), Instant::now() + *pause);
            }
            Err(status) => {
                let last = self.retries.get(&item).map(|retry| retry.backoff);
                let pause = last.map_or(INITIAL_BACKOFF, |pause| (pause * 2).min(MAX_BACKOFF));
                let retry =
                    Retry { at: Instant::now() + pause, backoff: pause, message: status.message.clone() };
                self.retries.insert(item.clone(), retry);
            }
        }
        if look_again {
            self.add(item);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let queued = |item: &WorkItem| self.states.contains_key(item);
        let retries = self.retries.iter().filter(|(item, _)| !queued(item)).map(|(_, retry)| retry.at);
        self.timers.values().copied().chain(retries).min()
    }

    /// Queues all reconciliations that are due.
    fn enqueue_due(&mut self, now: Instant) {
        let timers = self.timers.iter().filter(|(_, at)| **at <= now).map(|(item, _)| item.clone());
        let retries = self.retries.iter().filter(|(_, retry)| retry.at <= now).map(|(item, _)| item.clone());
        let due: Vec<_> = timers.chain(retries).filter(|item| !self.states.contains_key(item)).collect();
        for item in due {
            self.add(item);
        }
    }
}
