//! What commits, lists and watches share.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

use super::{
    Change, Expired, Key, ListOptions, Page, ResourceName, Revision, Scope, Stored,
    history::History,
    objects::{Objects, Place},
};

/// The revision of an empty store.
const FIRST: Revision = Revision(1);

/// The state and those who wait for it to change.
#[derive(Debug)]
pub(super) struct Shared {
    state: RwLock<State>,
    /// Told of every change.
    all: Arc<Notify>,
    is_closed: AtomicBool,
}

/// All objects as they are now, and how they came to be.
#[derive(Debug)]
pub(super) struct State {
    revision: Revision,
    resources: BTreeMap<ResourceName, Resource>,
    history: History,
    /// Nothing before this can be asked for, whatever the resource.
    floor: Revision,
    /// The newest change that was dropped from the history.
    dropped: Revision,
}

/// The objects of one resource. Once made it stays, without objects too.
#[derive(Debug, Default)]
struct Resource {
    objects: Objects,
    /// The newest of its changes that was dropped from the history: those who know it have missed nothing.
    dropped: Revision,
    /// Told of its changes. A watch is not woken by what happens to other resources.
    changed: Arc<Notify>,
}

/// The objects of a resource at one revision, apart from what happens to them now.
#[derive(Debug)]
pub(super) struct View {
    objects: Objects,
    /// What happened since, to be undone.
    later: Vec<Change>,
    revision: Revision,
}

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Self { state: RwLock::new(state), all: Arc::default(), is_closed: AtomicBool::new(false) }
    }

    // No code that holds the state can panic halfway through a change, so a poisoned lock guards a sound state.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change visible and wakes those who wait for it.
    pub(super) fn apply(&self, change: Change) {
        let changed = self.write().apply(change);
        changed.notify_waiters();
        self.all.notify_waiters();
    }

    /// What is told when a scope changes.
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
    /// Without objects, at the first revision, keeping so many changes.
    pub(super) fn new(history: usize) -> Self {
        Self {
            revision: FIRST,
            resources: BTreeMap::new(),
            history: History::new(history),
            floor: FIRST,
            dropped: Revision(0),
        }
    }

    /// Lets an empty state begin at a revision: nothing before it is known.
    pub(super) fn start_at(&mut self, revision: Revision) {
        (self.revision, self.floor) = (revision, revision);
    }

    /// Puts an object there that was made before the start.
    pub(super) fn restore(&mut self, mut object: Stored) {
        object.key = self.own(&object.key);
        self.resource(&object.key.resource.clone()).objects.insert(Arc::new(object));
    }

    /// Everything as it is now, sharing it.
    pub(super) fn snapshot(&self) -> (Revision, Vec<Objects>) {
        (self.revision, self.resources.values().map(|resource| resource.objects.clone()).collect())
    }

    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.resources.get(&key.resource)?.objects.get(Place::from(key))
    }

    pub(super) fn count(&self, resource: &ResourceName) -> usize {
        self.resources.get(resource).map_or(0, |resource| resource.objects.len())
    }

    pub(super) fn resources(&self) -> Vec<ResourceName> {
        let filled = self.resources.iter().filter(|(_, resource)| resource.objects.len() > 0);
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// The same key, with the names of the resource shared by all its objects.
    pub(super) fn own(&self, key: &Key) -> Key {
        let resource = self.resources.get_key_value(&key.resource).map_or(&key.resource, |(name, _)| name);
        Key { resource: resource.clone(), ..key.clone() }
    }

    /// The oldest revision that a list or watch of a scope may begin at.
    pub(super) fn oldest(&self, scope: Option<&Scope>) -> Revision {
        self.floor.max(self.dropped(scope))
    }

    /// The newest change in a scope that is no longer kept: a watch that has read it has missed nothing.
    pub(super) fn dropped(&self, scope: Option<&Scope>) -> Revision {
        match scope {
            Some(scope) => {
                self.resources.get(&scope.resource).map_or(Revision(0), |resource| resource.dropped)
            }
            None => self.dropped,
        }
    }

    /// The changes after a revision, as far as they are kept.
    pub(super) fn changes(&self, after: Revision) -> impl Iterator<Item = &Change> {
        self.history.after(after)
    }

    /// A scope as it was at a revision, or as it is now.
    pub(super) fn view(&self, scope: &Scope, at: Option<Revision>) -> Result<View, Expired> {
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
        Ok(View { objects, later, revision })
    }

    pub(super) fn compact(&mut self, before: Revision) {
        self.floor = self.floor.max(before.min(self.revision));
        while let Some(change) = self.history.pop_until(self.floor) {
            self.drop_change(&change);
        }
    }

    /// Makes a change and returns who is to be told.
    pub(super) fn apply(&mut self, change: Change) -> Arc<Notify> {
        self.revision = change.revision;
        let key = &change.after.key;
        let resource = self.resource(&key.resource);
        if change.deleted {
            resource.objects.remove(Place::from(key));
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
        // The name is copied for a new resource only.
        if !self.resources.contains_key(name) {
            self.resources.insert(name.clone(), Resource::default());
        }
        self.resources.get_mut(name).expect("it was put there when it was missing")
    }
}

impl View {
    /// Cuts the wanted page out.
    pub(super) fn page(mut self, scope: &Scope, options: &ListOptions<'_>) -> Page {
        self.undo();
        let mut range = self.objects.range(scope.namespace.as_deref());
        if let Some(after) = options.after {
            range.start = range.start.max(self.objects.behind(Place::from(after)));
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
                None => self.objects.remove(Place::from(&change.after.key)),
            };
        }
    }
}
