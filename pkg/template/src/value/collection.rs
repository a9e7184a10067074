//! Lists and maps, shared by reference as in Go.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::{Elem, Str, Value};

/// A shared, immutable list.
#[derive(Clone)]
pub struct List {
    items: Rc<Vec<Value>>,
    elem: Elem,
    is_nil: bool,
}

impl List {
    /// Creates a list with elements of one type.
    pub fn new(elem: Elem, items: Vec<Value>) -> Self {
        Self { items: Rc::new(items), elem, is_nil: false }
    }

    /// Creates a nil slice, which JSON prints as `null`.
    pub fn nil(elem: Elem) -> Self {
        Self { items: Rc::default(), elem, is_nil: true }
    }

    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.elem
    }

    /// True for a nil slice.
    pub fn is_nil(&self) -> bool {
        self.is_nil
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(items) = Rc::get_mut(&mut self.items)
            && items.iter().any(is_container)
        {
            drop_all(std::mem::take(items));
        }
    }
}

type Entries = BTreeMap<Str, Value>;

/// A shared map with sorted string keys. A change is seen through every clone, as with Go's maps.
#[derive(Clone)]
pub struct Map(Rc<Data>);

struct Data {
    entries: RefCell<Entries>,
    elem: Elem,
    is_nil: bool,
    /// True once the session keeps the map in its list of changed maps.
    is_recorded: Cell<bool>,
}

impl Map {
    /// Creates a map with elements of one type.
    pub fn new(elem: Elem, entries: BTreeMap<Str, Value>) -> Self {
        let entries = RefCell::new(entries);
        Self(Rc::new(Data { entries, elem, is_nil: false, is_recorded: Cell::new(false) }))
    }

    /// Creates a nil map, which JSON prints as `null`.
    pub fn nil() -> Self {
        let entries = RefCell::default();
        Self(Rc::new(Data { entries, elem: Elem::Any, is_nil: true, is_recorded: Cell::new(false) }))
    }

    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.0.elem
    }

    /// True for a nil map.
    pub fn is_nil(&self) -> bool {
        self.0.is_nil
    }

    /// The entries. A borrow must end before the map is changed.
    pub(crate) fn entries(&self) -> Ref<'_, BTreeMap<Str, Value>> {
        self.0.entries.borrow()
    }

    /// Returns an entry.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.0.entries.borrow().get(key).cloned()
    }

    /// True if a key exists.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.0.entries.borrow().contains_key(key)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.0.entries.borrow().len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.0.entries.borrow().is_empty()
    }

    /// Sets an entry. Within a template use `Session::set`, which also frees maps that contain themselves.
    pub fn insert(&self, key: impl Into<Str>, value: Value) -> Option<Value> {
        self.0.entries.borrow_mut().insert(key.into(), value)
    }

    /// Removes an entry.
    pub fn remove(&self, key: &[u8]) -> Option<Value> {
        self.0.entries.borrow_mut().remove(key)
    }

    /// Returns the keys and values, in the order of the keys.
    pub fn to_vec(&self) -> Vec<(Str, Value)> {
        self.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// True if both are the same map.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Marks the map as kept by the session. True the first time.
    pub(crate) fn record(&self) -> bool {
        !self.0.is_recorded.replace(true)
    }

    /// Empties a map that only the session still uses directly or that is part of a cycle.
    pub(crate) fn clear(&self) {
        let entries = std::mem::take(&mut *self.0.entries.borrow_mut());
        self.0.is_recorded.set(false);
        drop_all(entries.into_values().collect());
    }
}

impl<K: Into<Str>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        Self::new(Elem::Any, entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A map may contain itself, so only its keys are shown.
        f.debug_set().entries(self.entries().keys()).finish()
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        if entries.values().any(is_container) {
            drop_all(std::mem::take(entries).into_values().collect());
        }
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_))
}

/// Drops values without recursion, as a template can nest them deeper than the stack allows.
fn drop_all(mut pending: Vec<Value>) {
    while let Some(mut value) = pending.pop() {
        match &mut value {
            Value::List(list) => {
                if let Some(items) = Rc::get_mut(&mut list.items) {
                    pending.append(items);
                }
            }
            Value::Map(map) => {
                if let Some(data) = Rc::get_mut(&mut map.0) {
                    pending.extend(std::mem::take(data.entries.get_mut()).into_values());
                }
            }
            _ => {}
        }
    }
}
