//! The state that commits, lists and watches share, with the latest changes.

use std::{
    collections::{BTreeMap, VecDeque, vec_deque},
    num::NonZeroUsize,
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

use super::{
    Change, Expired, Key, ListOptions, Page, ResourceName, Revision, Scope, StoredObject,
    objects::{Objects, SortKey},
};

/// The revision of an empty store.
const FIRST: Revision = Revision(1);

/// The state and the tasks that wait for its changes.
#[derive(Debug)]
pub(super) struct Shared {
    state: RwLock<State>,
    /// Notified about every change.
    all: Arc<Notify>,
    is_closed: AtomicBool,
}

/// All current objects and their history.
#[derive(Debug)]
pub(super) struct State {
    revision: Revision,
    resources: BTreeMap<ResourceName, Resource>,
    history: History,
    /// The lower limit of available revisions, for all resources.
    oldest_available: Revision,
    /// The newest change that was dropped from the history.
    dropped: Revision,
}

/// The objects of one resource. The entry stays after the deletion of all objects.
#[derive(Debug, Default)]
struct Resource {
    objects: Objects,
    /// The newest change of the resource that was dropped from the history. Readers up to this change have missed
    /// nothing.
    dropped: Revision,
    /// Notified about changes of the resource, so that other resources do not wake its watches.
    changed: Arc<Notify>,
}

/// The objects of a resource at one revision, independent of later changes.
#[derive(Debug)]
pub(super) struct ResourceView {
    objects: Objects,
    /// Later changes, to be undone.
    later: Vec<Change>,
    revision: Revision,
}

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Self { state: RwLock::new(state), all: Arc::default(), is_closed: AtomicBool::new(false) }
    }

    // Code under the lock cannot panic halfway through a change, so a poisoned lock still protects a valid state.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a change and wakes waiting tasks.
    pub(super) fn apply(&self, change: Change) {
        let changed = self.write().apply(change);
        changed.notify_waiters();
        self.all.notify_waiters();
    }

    /// Returns the notification for changes in a scope.
    pub(super) fn changes_of(&self, scope: Option<&Scope>) -> Arc<Notify> {
        match scope {
            Some(scope) => Arc::clone(&self.write().resource(&scope.resource).changed),
            None => Arc::clone(&self.all),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        for resource in self.read().resources.values() {
            resource.changed.notify_waiters();
        }
        self.all.notify_waiters();
    }
}

impl State {
    /// Creates a state at the first revision without objects. `history` is the number of kept changes.
    pub(super) fn new(history: usize) -> Self {
        Self {
            revision: FIRST,
            resources: BTreeMap::new(),
            history: History::new(history),
            oldest_available: FIRST,
            dropped: Revision(0),
        }
    }

    /// Starts an empty state at a revision without earlier history.
    pub(super) fn start_at(&mut self, revision: Revision) {
        (self.revision, self.oldest_available) = (revision, revision);
    }

    /// Inserts an object of the initial state.
    pub(super) fn restore(&mut self, mut object: StoredObject) {
        object.key = self.shared_key(&object.key);
        self.resource(&object.key.resource.clone()).objects.insert(Arc::new(object));
    }

    /// Returns all current objects, shared with the state.
    pub(super) fn snapshot(&self) -> (Revision, Vec<Objects>) {
        (self.revision, self.resources.values().map(|resource| resource.objects.clone()).collect())
    }

    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<StoredObject>> {
        self.resources.get(&key.resource)?.objects.get(SortKey::from(key))
    }

    pub(super) fn count(&self, resource: &ResourceName) -> usize {
        self.resources.get(resource).map_or(0, |resource| resource.objects.len())
    }

    pub(super) fn resources(&self) -> Vec<ResourceName> {
        let filled = self.resources.iter().filter(|(_, resource)| resource.objects.len() > 0);
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// Returns an equal key whose resource name is shared by all objects of the resource.
    pub(super) fn shared_key(&self, key: &Key) -> Key {
        let resource = self.resources.get_key_value(&key.resource).map_or(&key.resource, |(name, _)| name);
        Key { resource: resource.clone(), ..key.clone() }
    }

    /// Returns the oldest revision at which a list or watch of a scope may start.
    pub(super) fn oldest(&self, scope: Option<&Scope>) -> Revision {
        self.oldest_available.max(self.dropped(scope))
    }

    /// Returns the newest dropped change of a scope. A watch that has read this change has missed nothing.
    pub(super) fn dropped(&self, scope: Option<&Scope>) -> Revision {
        match scope {
            Some(scope) => {
                self.resources.get(&scope.resource).map_or(Revision(0), |resource| resource.dropped)
            }
            None => self.dropped,
        }
    }

    /// Returns the kept changes after a revision.
    pub(super) fn changes(&self, after: Revision) -> impl Iterator<Item = &Change> {
        self.history.after(after)
    }

    /// Returns a scope at a revision, or at the newest one.
    pub(super) fn view(&self, scope: &Scope, at: Option<Revision>) -> Result<ResourceView, Expired> {
        let resource = self.resources.get(&scope.resource);
        let objects = resource.map(|resource| resource.objects.clone()).unwrap_or_default();
        let revision = at.unwrap_or(self.revision).min(self.revision);
        let mut later = Vec::new();
        if revision < self.revision {
            let oldest = self.oldest(Some(scope));
            if revision < oldest {
                return Err(Expired { oldest });
            }
            let changes = self.history.after(revision);
            later = changes.filter(|change| scope.contains(&change.after.key)).cloned().collect();
        }
        Ok(ResourceView { objects, later, revision })
    }

    pub(super) fn compact(&mut self, before: Revision) {
        self.oldest_available = self.oldest_available.max(before.min(self.revision));
        while let Some(change) = self.history.pop_until(self.oldest_available) {
            self.drop_change(&change);
        }
    }

    /// Applies a change. Returns the notification for the change.
    pub(super) fn apply(&mut self, change: Change) -> Arc<Notify> {
        self.revision = change.revision;
        let key = &change.after.key;
        let resource = self.resource(&key.resource);
        if change.deleted {
            resource.objects.remove(SortKey::from(key));
        } else {
            resource.objects.insert(Arc::clone(&change.after));
        }
        let changed = Arc::clone(&resource.changed);
        self.history.push(change);
        while let Some(change) = self.history.pop_excess() {
            self.drop_change(&change);
        }
        changed
    }

    fn drop_change(&mut self, change: &Change) {
        self.dropped = change.revision;
        self.resource(&change.after.key.resource).dropped = change.revision;
    }

    fn resource(&mut self, name: &ResourceName) -> &mut Resource {
        // Copies the name only for a new resource.
        if !self.resources.contains_key(name) {
            self.resources.insert(name.clone(), Resource::default());
        }
        self.resources.get_mut(name).expect("it was put there when it was missing")
    }
}

impl ResourceView {
    /// Returns the requested page.
    pub(super) fn page(mut self, scope: &Scope, options: &ListOptions<'_>) -> Page {
        self.undo();
        let mut range = self.objects.range(scope.namespace.as_deref());
        if let Some(after) = options.after {
            range.start = range.start.max(self.objects.position_after(SortKey::from(after)));
        }
        let limit = options.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut page = Page { items: Vec::new(), revision: self.revision, last: None, remaining: None };
        if options.filter.is_none() {
            page.items.reserve(limit.min(self.objects.count(range.clone())));
        }
        for (behind, object) in self.objects.between(range.clone()) {
            if options.filter.is_some_and(|filter| !filter(object)) {
                continue;
            }
            page.items.push(Arc::clone(object));
            if page.items.len() >= limit {
                let remaining = self.objects.count(behind..range.end) as u64;
                page.last = (remaining > 0).then(|| object.key.clone());
                page.remaining = (remaining > 0 && options.filter.is_none()).then_some(remaining);
                break;
            }
        }
        page
    }

    fn undo(&mut self) {
        for change in self.later.drain(..).rev() {
            match change.before {
                Some(before) => self.objects.insert(before),
                None => self.objects.remove(SortKey::from(&change.after.key)),
            };
        }
    }
}

/// The maximum total size of kept bodies, in bytes: a hundred versions of a large custom resource definition outweigh
/// everything else.
const MAX_BYTES: usize = 32 << 20;

/// A bounded sequence of consecutive changes.
#[derive(Debug)]
pub(super) struct History {
    changes: VecDeque<Change>,
    max_changes: usize,
    bytes: usize,
}

impl History {
    pub(super) fn new(most_changes: usize) -> Self {
        Self { changes: VecDeque::new(), max_changes: most_changes, bytes: 0 }
    }

    pub(super) fn push(&mut self, change: Change) {
        self.bytes += change.after.body.len();
        self.changes.push_back(change);
    }

    /// Removes and returns the oldest change if the history is too long.
    pub(super) fn pop_excess(&mut self) -> Option<Change> {
        let is_heavy = self.bytes > MAX_BYTES && self.changes.len() > 1;
        let is_excess = is_heavy || self.changes.len() > self.max_changes;
        if is_excess { self.pop() } else { None }
    }

    /// Removes and returns the oldest change if it is not later than this revision.
    pub(super) fn pop_until(&mut self, revision: Revision) -> Option<Change> {
        let is_old = self.changes.front().is_some_and(|change| change.revision <= revision);
        if is_old { self.pop() } else { None }
    }

    /// Returns the kept changes after a revision.
    pub(super) fn after(&self, revision: Revision) -> vec_deque::Iter<'_, Change> {
        let first = self.changes.front().map_or(0, |change| change.revision.0);
        let known = revision.next().0.saturating_sub(first);
        let start = usize::try_from(known).unwrap_or(usize::MAX).min(self.changes.len());
        self.changes.range(start..)
    }

    fn pop(&mut self) -> Option<Change> {
        let change = self.changes.pop_front()?;
        self.bytes -= change.after.body.len();
        Some(change)
    }
}
