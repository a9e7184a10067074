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

use super::{Controller, Next, ObjectRef};
use crate::{
    client::Client,
    status::Status,
    store::{Change, ListOptions, Revision, Scope, Store, Watch, WatchEnd},
};

/// The maximum number of concurrent reconciliations. A reconciliation that waits for a webhook does not block the
/// others.
const AT_ONCE: usize = 8;
/// The pause after a failure; each further failure doubles the pause.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Running controllers, which end when stopped or when this value is dropped. A drop also ends the store.
#[derive(Debug)]
pub(crate) struct Running {
    store: Arc<Store>,
    task: JoinHandle<()>,
    progress: watch::Receiver<Progress>,
}

/// The progress of the controllers.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// The controllers have received all changes up to this revision.
    seen: Revision,
    /// True if no reconciliation runs or waits, except reconciliations that controllers scheduled for later.
    idle: bool,
    /// The failed reconciliations that wait for a retry, one sentence each.
    failing: Vec<String>,
}

impl Running {
    /// Starts the controllers. Stored objects count as new.
    pub(crate) fn start(client: Client, store: Arc<Store>, controllers: Vec<Arc<dyn Controller>>) -> Self {
        let (tell, progress) = watch::channel(Progress::default());
        let runner = Runner {
            client,
            store: Arc::clone(&store),
            controllers,
            tell,
            work: Work::default(),
            looks: FuturesUnordered::new(),
        };
        Self { store, task: tokio::spawn(runner.run()), progress }
    }

    /// Waits until the controllers have processed this revision and have no work left.
    pub(crate) async fn settled(&self, revision: Revision) {
        let mut progress = self.progress.clone();
        // The wait fails only if the controllers have ended; then nothing changes any more.
        let _ = progress.wait_for(|progress| progress.idle && progress.seen >= revision).await;
    }

    /// The failed reconciliations that wait for a retry, sorted.
    pub(crate) fn failing(&self) -> Vec<String> {
        self.progress.borrow().failing.clone()
    }

    /// Ends the controllers immediately.
    pub(crate) async fn stop(&self) {
        self.task.abort();
        // The task holds the sender, so a closed channel shows that the task has ended.
        let _ = self.progress.clone().wait_for(|_| false).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
        // The task ends later and holds the store until then.
        self.store.leave();
    }
}

/// An object and the index of its controller.
type Item = (usize, ObjectRef);

struct Runner {
    client: Client,
    store: Arc<Store>,
    controllers: Vec<Arc<dyn Controller>>,
    tell: watch::Sender<Progress>,
    work: Work,
    looks: FuturesUnordered<BoxFuture<'static, (Item, Result<Next, Status>)>>,
}

/// The queue of reconciliations.
#[derive(Default)]
struct Work {
    ready: VecDeque<Item>,
    states: HashMap<Item, State>,
    /// Times that controllers requested.
    timers: HashMap<Item, Instant>,
    /// Retries after failures.
    retries: HashMap<Item, Retry>,
}

struct Retry {
    at: Instant,
    pause: Duration,
    /// The message of the server.
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Queued,
    Looking,
    /// The object changed during its reconciliation.
    LookAgain,
}

impl Runner {
    async fn run(mut self) {
        while let Some(mut watch) = self.catch_up() {
            // A watch that fell behind restarts with all stored objects.
            if self.follow(&mut watch).await == WatchEnd::Closed {
                return;
            }
        }
    }

    /// Passes all stored objects to the controllers and returns a watch of later changes.
    fn catch_up(&mut self) -> Option<Watch> {
        loop {
            let revision = self.store.revision();
            for resource in self.store.resources() {
                let page =
                    self.store.list(&Scope { resource, namespace: None }, ListOptions::default()).ok()?;
                for after in page.items {
                    let revision = after.revision;
                    self.hand_on(&Change { revision, before: None, after, deleted: false });
                }
            }
            if let Ok(watch) = self.store.watch_all(revision) {
                return Some(watch);
            }
        }
    }

    async fn follow(&mut self, watch: &mut Watch) -> WatchEnd {
        loop {
            loop {
                match watch.try_next() {
                    Ok(Some(change)) => self.hand_on(&change),
                    Ok(None) => break,
                    Err(end) => return end,
                }
            }
            self.begin_looks();
            let idle = self.looks.is_empty() && self.work.retries.is_empty();
            let failing = self.failing();
            self.tell.send_replace(Progress { seen: watch.position(), idle, failing });
            let next_timer = self.work.next_timer();
            tokio::select! {
                biased;
                Some((item, outcome)) = self.looks.next() => self.work.ended(item, &outcome),
                changed = watch.next() => match changed {
                    Ok(change) => self.hand_on(&change),
                    Err(end) => return end,
                },
                () = sleep_until(next_timer.unwrap_or_else(Instant::now)), if next_timer.is_some() => {
                    self.work.wake(Instant::now());
                }
            }
        }
    }

    fn hand_on(&mut self, change: &Change) {
        for (number, controller) in self.controllers.iter().enumerate() {
            for object in controller.concerned(&self.client, change) {
                self.work.add((number, object));
            }
        }
    }

    fn failing(&self) -> Vec<String> {
        let retries = self.work.retries.iter();
        let mut failing: Vec<_> = retries
            .map(|((number, object), retry)| {
                let ObjectRef { kind, namespace, name, .. } = object;
                let slash = if namespace.is_empty() { "" } else { "/" };
                let controller = self.controllers[*number].name();
                format!("{controller}: {kind} {namespace}{slash}{name}: {}", retry.why)
            })
            .collect();
        failing.sort();
        failing
    }

    fn begin_looks(&mut self) {
        while self.looks.len() < AT_ONCE {
            let Some(item) = self.work.ready.pop_front() else { return };
            self.work.states.insert(item.clone(), State::Looking);
            let controller = Arc::clone(&self.controllers[item.0]);
            let client = self.client.named(controller.name());
            self.looks.push(Box::pin(async move {
                // A panic counts as a failure and is retried, so that other reconciliations continue.
                let look = AssertUnwindSafe(controller.reconcile(&client, &item.1)).catch_unwind();
                let panicked = |_| Err(Status::internal("the controller panicked"));
                let outcome = look.await.unwrap_or_else(panicked);
                (item, outcome)
            }));
        }
    }
}

impl Work {
    fn add(&mut self, item: Item) {
        self.timers.remove(&item);
        match self.states.get_mut(&item) {
            None => {
                self.states.insert(item.clone(), State::Queued);
                self.ready.push_back(item);
            }
            Some(State::Queued | State::LookAgain) => {}
            Some(state @ State::Looking) => *state = State::LookAgain,
        }
    }

    fn ended(&mut self, item: Item, outcome: &Result<Next, Status>) {
        let look_again = self.states.remove(&item) == Some(State::LookAgain);
        match outcome {
            Ok(Next::Wait) => drop(self.retries.remove(&item)),
            Ok(Next::After(pause)) => {
                self.retries.remove(&item);
                self.timers.insert(item.clone(), Instant::now() + *pause);
            }
            Err(status) => {
                let last = self.retries.get(&item).map(|retry| retry.pause);
                let pause = last.map_or(FIRST_PAUSE, |pause| (pause * 2).min(LONGEST_PAUSE));
                let retry = Retry { at: Instant::now() + pause, pause, why: status.message.clone() };
                self.retries.insert(item.clone(), retry);
            }
        }
        if look_again {
            self.add(item);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let queued = |item: &Item| self.states.contains_key(item);
        let retries = self.retries.iter().filter(|(item, _)| !queued(item)).map(|(_, retry)| retry.at);
        self.timers.values().copied().chain(retries).min()
    }

    /// Queues all reconciliations that are due.
    fn wake(&mut self, now: Instant) {
        let timers = self.timers.iter().filter(|(_, at)| **at <= now).map(|(item, _)| item.clone());
        let retries = self.retries.iter().filter(|(_, retry)| retry.at <= now).map(|(item, _)| item.clone());
        let due: Vec<_> = timers.chain(retries).filter(|item| !self.states.contains_key(item)).collect();
        for item in due {
            self.add(item);
        }
    }
}
