//! Lists and maps, shared by reference as in Go.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::{Elem, Str, Value};

/// A shared, immutable list.
#[derive(Clone)]
pub struct List {
    items: Rc<Items>,
    elem: Elem,
    is_nil: bool,
}

/// The items of a list. Those of bytes are made when they are needed.
#[derive(Default)]
struct Items {
    values: OnceCell<Vec<Value>>,
    bytes: Option<Str>,
}

impl List {
    /// Creates a list with elements of one type.
    pub fn new(elem: Elem, items: Vec<Value>) -> Self {
        let items = Items { values: items.into(), bytes: None };
        Self { items: Rc::new(items), elem, is_nil: false }
    }

    /// Creates a `[]uint8`.
    pub fn bytes(bytes: Str) -> Self {
        let items = Items { values: OnceCell::new(), bytes: Some(bytes) };
        Self { items: Rc::new(items), elem: Elem::Byte, is_nil: false }
    }

    /// Returns the content of a `[]uint8`.
    pub(crate) fn as_bytes(&self) -> Option<Cow<'_, [u8]>> {
        if self.elem != Elem::Byte {
            return None;
        }
        let byte = |item: &Value| if let Value::Uint8(byte) = item { *byte } else { 0 };
        Some(match &self.items.bytes {
            Some(bytes) => Cow::Borrowed(bytes),
            None => Cow::Owned(self.iter().map(byte).collect()),
        })
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.bytes.as_ref().map_or_else(|| (**self).len(), |bytes| bytes.len())
    }

    /// True without items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        self.items.values.get_or_init(|| {
            let bytes = self.items.bytes.as_ref().map(Str::as_bytes).unwrap_or_default();
            bytes.iter().map(|byte| Value::Uint8(*byte)).collect()
        })
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(items) = Rc::get_mut(&mut self.items).and_then(|items| items.values.get_mut())
            && items.iter().any(is_container)
        {
            drop_all(std::mem::take(items));
        }
    }
}

type Entries = BTreeMap<Str, Value>;

/// A shared map with sorted string keys. A change is seen through every clone, as with Go's maps.
#[derive(Clone)]
pub struct Map {
    data: Rc<Data>,
    elem: Elem,
}

/// The identity of a map, as long as the map exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapId(usize);

struct Data {
    entries: RefCell<Entries>,
    is_nil: bool,
    /// True once the session keeps the map in its list of changed maps.
    is_recorded: Cell<bool>,
}

impl Map {
    /// Creates a map with elements of one type.
    pub fn new(elem: Elem, entries: BTreeMap<Str, Value>) -> Self {
        let entries = RefCell::new(entries);
        Self { data: Rc::new(Data { entries, is_nil: false, is_recorded: Cell::new(false) }), elem }
    }

    /// Creates a nil map, which JSON prints as `null`.
    pub fn nil() -> Self {
        let entries = RefCell::default();
        let data = Data { entries, is_nil: true, is_recorded: Cell::new(false) };
        Self { data: Rc::new(data), elem: Elem::Any }
    }

    /// Returns the same map under another type of elements. A change of one is seen through the other.
    #[must_use]
    pub fn with_elem(&self, elem: Elem) -> Self {
        Self { data: self.data.clone(), elem }
    }

    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.elem
    }

    /// True for a nil map.
    pub fn is_nil(&self) -> bool {
        self.data.is_nil
    }

    /// The entries. A borrow must end before the map is changed.
    pub(crate) fn entries(&self) -> Ref<'_, BTreeMap<Str, Value>> {
        self.data.entries.borrow()
    }

    /// Returns an entry.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.data.entries.borrow().get(key).cloned()
    }

    /// True if a key exists.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.data.entries.borrow().contains_key(key)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.data.entries.borrow().len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.data.entries.borrow().is_empty()
    }

    /// Sets an entry. Within a template use `Session::set`, which also frees maps that contain themselves.
    pub fn insert(&self, key: impl Into<Str>, value: Value) -> Option<Value> {
        self.data.entries.borrow_mut().insert(key.into(), value)
    }

    /// Removes an entry.
    pub fn remove(&self, key: &[u8]) -> Option<Value> {
        self.data.entries.borrow_mut().remove(key)
    }

    /// Returns the keys and values, in the order of the keys.
    pub fn to_vec(&self) -> Vec<(Str, Value)> {
        self.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The identity of the map, which its clones share.
    pub fn id(&self) -> MapId {
        MapId(Rc::as_ptr(&self.data).addr())
    }

    /// True if both are the same map.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.data, &other.data)
    }

    /// Marks the map as kept by the session. True the first time.
    pub(crate) fn record(&self) -> bool {
        !self.data.is_recorded.replace(true)
    }

    /// Empties a map that only the session still uses directly or that is part of a cycle.
    pub(crate) fn clear(&self) {
        let entries = std::mem::take(&mut *self.data.entries.borrow_mut());
        self.data.is_recorded.set(false);
        drop_all(entries.into_values().collect());
    }
}

impl Default for Map {
    /// An empty map.
    fn default() -> Self {
        Self::new(Elem::Any, BTreeMap::new())
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
                if let Some(items) = Rc::get_mut(&mut list.items).and_then(|items| items.values.get_mut()) {
                    pending.append(items);
                }
            }
            Value::Map(map) => {
                if let Some(data) = Rc::get_mut(&mut map.data) {
                    pending.extend(std::mem::take(data.entries.get_mut()).into_values());
                }
            }
            _ => {}
        }
    }
}
