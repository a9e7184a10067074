//! The state of all objects of a wait.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use manifest::Object;
use tokio::time::Instant;

use super::pods::{self, PodSelector};
use crate::{
    Blocker, Event, EventSink, Health, ObjectKey, Status, StatusHints, WatchEvent, key_of,
    readiness::ca_bundle_status, status_of,
};

/// The maximum of Pods shown below one workload, the worst first.
const MAX_PODS: usize = 5;

/// The time for which names of a definition may be in use elsewhere: the other definition may be terminating.
const REFUSED_AFTER: Duration = Duration::from_secs(10);

/// The goal for an object.
pub(crate) enum WaitGoal {
    /// The object is ready by its own status and these hints.
    Ready(StatusHints),
    /// The API server trusts the object: its webhooks have their certificates.
    HasCaBundle,
}

pub(super) struct ReadinessTracker {
    rows: Vec<TrackedObject>,
    indexes: HashMap<ObjectKey, usize>,
    started: Instant,
    /// The last reported blockers. None before the first report.
    reported: Option<Vec<Blocker>>,
}

struct TrackedObject {
    key: ObjectKey,
    goal: WaitGoal,
    /// The state of the object. None before its first event.
    state: Option<TrackedStatus>,
    /// The Pods of the object. None for objects without Pods.
    pods: Option<PodSelector>,
    has_pod_watch: bool,
    /// The Pods that are not ready.
    unready_pods: BTreeMap<ObjectKey, TrackedStatus>,
}

struct TrackedStatus {
    status: Status,
    since: Instant,
}

impl ReadinessTracker {
    /// Creates a board with the first goal of each object.
    pub(super) fn new(goals: Vec<(ObjectKey, WaitGoal)>) -> Self {
        let (mut rows, mut places) = (Vec::with_capacity(goals.len()), HashMap::new());
        for (key, goal) in goals {
            places.entry(key.clone()).or_insert_with(|| {
                rows.push(TrackedObject::new(key, goal));
                rows.len() - 1
            });
        }
        Self { rows, indexes: places, started: Instant::now(), reported: None }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.rows.iter().map(|row| &row.key)
    }

    pub(super) fn is_done(&self) -> bool {
        self.rows.iter().all(TrackedObject::is_ready)
    }

    /// True if the server permanently refuses the names of a definition. Only the user can resolve that.
    pub(super) fn has_refused_definition(&self) -> bool {
        let is_refused = |state: &TrackedStatus| {
            state.status.health == Health::Failed && state.since.elapsed() >= REFUSED_AFTER
        };
        self.rows.iter().any(|row| row.key.is_crd() && row.state.as_ref().is_some_and(is_refused))
    }

    /// Processes an event of a watch; events of other objects are ignored.
    pub(super) fn handle_event(&mut self, event: &WatchEvent) {
        let (WatchEvent::Updated(object) | WatchEvent::Deleted(object)) = event;
        let Some(row) = self.indexes.get(&key_of(object)).and_then(|&place| self.rows.get_mut(place)) else {
            return;
        };
        let status = match event {
            WatchEvent::Updated(_) => row.goal.status(object),
            WatchEvent::Deleted(_) => Status::not_found(),
        };
        row.pods = pods::pod_selector(object);
        TrackedStatus::change(&mut row.state, status);
    }

    pub(super) fn handle_pod_event(&mut self, workload: usize, event: &WatchEvent) {
        let Some(row) = self.rows.get_mut(workload) else { return };
        match event {
            WatchEvent::Deleted(pod) => {
                row.unready_pods.remove(&key_of(pod));
            }
            WatchEvent::Updated(pod) => row.update_pod(pod),
        }
    }

    /// Marks objects without any event as missing.
    pub(super) fn mark_missing(&mut self) {
        for row in self.rows.iter_mut().filter(|row| row.state.is_none()) {
            row.state = Some(TrackedStatus { status: Status::not_found(), since: self.started });
        }
    }

    /// Returns workloads that are not ready and whose Pods are not watched yet, and marks them as watched.
    pub(super) fn unwatched_workloads(&mut self) -> Vec<(usize, PodSelector)> {
        let rows = self.rows.iter_mut().enumerate().filter(|(_, row)| !row.is_ready() && !row.has_pod_watch);
        let workloads = rows.filter_map(|(place, row)| {
            let pods = row.pods.clone()?;
            row.has_pod_watch = true;
            Some((place, pods))
        });
        workloads.collect()
    }

    /// Reports the blockers if they have changed. The first report comes after an event of every object.
    pub(super) fn report_changes(&mut self, events: &EventSink<Event>) {
        if self.rows.iter().any(|row| row.state.is_none()) {
            return;
        }
        let blockers = self.blockers();
        let is_new = match &self.reported {
            None => !blockers.is_empty(),
            Some(last) => !last.iter().map(ReportedBlocker::of).eq(blockers.iter().map(ReportedBlocker::of)),
        };
        if is_new {
            events.send(&Event::Waiting { blockers: blockers.clone() });
            self.reported = Some(blockers);
        }
    }

    /// Returns the objects that have not reached their goals, in the order of the goals.
    pub(super) fn blockers(&self) -> Vec<Blocker> {
        self.rows.iter().filter(|row| !row.is_ready()).map(|row| row.blocker(self.started)).collect()
    }
}

impl TrackedObject {
    fn new(key: ObjectKey, goal: WaitGoal) -> Self {
        Self { key, goal, state: None, pods: None, has_pod_watch: false, unready_pods: BTreeMap::new() }
    }

    fn is_ready(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.status.is_ready())
    }

    fn update_pod(&mut self, pod: &Object) {
        let key = key_of(pod);
        let status = status_of(pod, &StatusHints::default());
        let mut state = self.unready_pods.remove(&key);
        if !status.is_ready() {
            TrackedStatus::change(&mut state, status);
            self.unready_pods.extend(state.map(|state| (key, state)));
        }
    }

    fn blocker(&self, started: Instant) -> Blocker {
        let mut below: Vec<_> = self.unready_pods.iter().map(|(key, state)| state.blocker(key)).collect();
        below.sort_by_key(|blocker| blocker.status.health != Health::Failed);
        below.truncate(MAX_PODS);
        let blocker = match &self.state {
            Some(state) => state.blocker(&self.key),
            None => TrackedStatus { status: Status::not_found(), since: started }.blocker(&self.key),
        };
        Blocker { children: below, ..blocker }
    }
}

impl TrackedStatus {
    fn change(state: &mut Option<Self>, status: Status) {
        let since =
            state.as_ref().filter(|state| state.status.health == status.health).map(|state| state.since);
        *state = Some(Self { status, since: since.unwrap_or_else(Instant::now) });
    }

    fn blocker(&self, key: &ObjectKey) -> Blocker {
        Blocker { since: self.since.elapsed(), ..Blocker::new(key.clone(), self.status.clone()) }
    }
}

impl WaitGoal {
    fn status(&self, object: &Object) -> Status {
        match self {
            Self::Ready(hints) => status_of(object, hints),
            Self::HasCaBundle => ca_bundle_status(object),
        }
    }
}

/// The fields that distinguish blockers: all but time.
#[derive(PartialEq)]
struct ReportedBlocker<'a> {
    object: &'a ObjectKey,
    status: &'a Status,
    children: Vec<ReportedBlocker<'a>>,
}

impl<'a> ReportedBlocker<'a> {
    fn of(blocker: &'a Blocker) -> Self {
        Self {
            object: &blocker.object,
            status: &blocker.status,
            children: blocker.children.iter().map(Self::of).collect(),
        }
    }
}
