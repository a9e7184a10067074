//! The state of all objects of a wait.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use manifest::Object;
use tokio::time::Instant;

use super::below::{self, Pods};
use crate::{
    Blocker, Event, EventSink, Health, Hints, ObjectKey, Status, WatchEvent, readiness::trust_of, status_of,
};

/// The maximum of Pods shown below one workload, the worst first.
const MAX_BELOW: usize = 5;

/// The time for which names of a definition may be in use elsewhere: the other definition may be terminating.
const REFUSED_FOR: Duration = Duration::from_secs(10);

/// The goal for an object.
pub(crate) enum Goal {
    /// The object is ready by its own status and these hints.
    Ready(Hints),
    /// The API server trusts the object: its webhooks have their certificates.
    Trusted,
}

pub(super) struct Board {
    rows: Vec<Row>,
    places: HashMap<ObjectKey, usize>,
    started: Instant,
    /// The last reported blockers. None before the first report.
    told: Option<Vec<Blocker>>,
}

struct Row {
    key: ObjectKey,
    goal: Goal,
    /// The state of the object. None before its first event.
    state: Option<State>,
    /// The Pods of the object. None for objects without Pods.
    pods: Option<Pods>,
    is_looked_below: bool,
    /// The Pods that are not ready.
    below: BTreeMap<ObjectKey, State>,
}

struct State {
    status: Status,
    since: Instant,
}

impl Board {
    /// Creates a board with the first goal of each object.
    pub(super) fn new(goals: Vec<(ObjectKey, Goal)>) -> Self {
        let (mut rows, mut places) = (Vec::with_capacity(goals.len()), HashMap::new());
        for (key, goal) in goals {
            places.entry(key.clone()).or_insert_with(|| {
                rows.push(Row::new(key, goal));
                rows.len() - 1
            });
        }
        Self { rows, places, started: Instant::now(), told: None }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.rows.iter().map(|row| &row.key)
    }

    pub(super) fn is_done(&self) -> bool {
        self.rows.iter().all(Row::is_ready)
    }

    /// True if the server permanently refuses the names of a definition. Only the user can resolve that.
    pub(super) fn has_refused_definition(&self) -> bool {
        let is_refused =
            |state: &State| state.status.health == Health::Failed && state.since.elapsed() >= REFUSED_FOR;
        self.rows.iter().any(|row| row.key.is_crd() && row.state.as_ref().is_some_and(is_refused))
    }

    /// Processes an event of a watch; events of other objects are ignored.
    pub(super) fn hear(&mut self, event: &WatchEvent) {
        let (WatchEvent::Is(object) | WatchEvent::Gone(object)) = event;
        let Some(row) = self.places.get(&ObjectKey::of(object)).and_then(|&place| self.rows.get_mut(place))
        else {
            return;
        };
        let status = match event {
            WatchEvent::Is(_) => row.goal.status(object),
            WatchEvent::Gone(_) => Status::not_found(),
        };
        row.pods = below::pods_of(object);
        State::change(&mut row.state, status);
    }

    pub(super) fn hear_below(&mut self, workload: usize, event: &WatchEvent) {
        let Some(row) = self.rows.get_mut(workload) else { return };
        match event {
            WatchEvent::Gone(pod) => {
                row.below.remove(&ObjectKey::of(pod));
            }
            WatchEvent::Is(pod) => row.hear_pod(pod),
        }
    }

    /// Marks objects without any event as missing.
    pub(super) fn miss_unseen(&mut self) {
        for row in self.rows.iter_mut().filter(|row| row.state.is_none()) {
            row.state = Some(State { status: Status::not_found(), since: self.started });
        }
    }

    /// Returns workloads that are not ready and whose Pods are not watched yet, and marks them as watched.
    pub(super) fn workloads_to_look_below(&mut self) -> Vec<(usize, Pods)> {
        let rows =
            self.rows.iter_mut().enumerate().filter(|(_, row)| !row.is_ready() && !row.is_looked_below);
        let workloads = rows.filter_map(|(place, row)| {
            let pods = row.pods.clone()?;
            row.is_looked_below = true;
            Some((place, pods))
        });
        workloads.collect()
    }

    /// Reports the blockers if they have changed. The first report comes after an event of every object.
    pub(super) fn tell_changes(&mut self, events: &EventSink<Event>) {
        if self.rows.iter().any(|row| row.state.is_none()) {
            return;
        }
        let blockers = self.blockers();
        let is_new = match &self.told {
            None => !blockers.is_empty(),
            Some(told) => !told.iter().map(Told::of).eq(blockers.iter().map(Told::of)),
        };
        if is_new {
            events.send(&Event::Waiting { blockers: blockers.clone() });
            self.told = Some(blockers);
        }
    }

    /// Returns the objects that have not reached their goals, in the order of the goals.
    pub(super) fn blockers(&self) -> Vec<Blocker> {
        self.rows.iter().filter(|row| !row.is_ready()).map(|row| row.blocker(self.started)).collect()
    }
}

impl Row {
    fn new(key: ObjectKey, goal: Goal) -> Self {
        Self { key, goal, state: None, pods: None, is_looked_below: false, below: BTreeMap::new() }
    }

    fn is_ready(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.status.is_ready())
    }

    fn hear_pod(&mut self, pod: &Object) {
        let key = ObjectKey::of(pod);
        let status = status_of(pod, &Hints::default());
        let mut state = self.below.remove(&key);
        if !status.is_ready() {
            State::change(&mut state, status);
            self.below.extend(state.map(|state| (key, state)));
        }
    }

    fn blocker(&self, started: Instant) -> Blocker {
        let mut below: Vec<_> = self.below.iter().map(|(key, state)| state.blocker(key)).collect();
        below.sort_by_key(|blocker| blocker.status.health != Health::Failed);
        below.truncate(MAX_BELOW);
        let blocker = match &self.state {
            Some(state) => state.blocker(&self.key),
            None => State { status: Status::not_found(), since: started }.blocker(&self.key),
        };
        Blocker { below, ..blocker }
    }
}

impl State {
    fn change(state: &mut Option<Self>, status: Status) {
        let since =
            state.as_ref().filter(|state| state.status.health == status.health).map(|state| state.since);
        *state = Some(Self { status, since: since.unwrap_or_else(Instant::now) });
    }

    fn blocker(&self, key: &ObjectKey) -> Blocker {
        Blocker { since: self.since.elapsed(), ..Blocker::new(key.clone(), self.status.clone()) }
    }
}

impl Goal {
    fn status(&self, object: &Object) -> Status {
        match self {
            Self::Ready(hints) => status_of(object, hints),
            Self::Trusted => trust_of(object),
        }
    }
}

/// The fields that distinguish blockers: all but time.
#[derive(PartialEq)]
struct Told<'a> {
    object: &'a ObjectKey,
    status: &'a Status,
    below: Vec<Told<'a>>,
}

impl<'a> Told<'a> {
    fn of(blocker: &'a Blocker) -> Self {
        Self {
            object: &blocker.object,
            status: &blocker.status,
            below: blocker.below.iter().map(Self::of).collect(),
        }
    }
}
