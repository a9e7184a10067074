//! Correlation of the parts of an updated object with the parts of the stored object.
//!
//! Source: apiserver 1.36 `pkg/cel/common/equality.go`. Fields correlate by name, items of a map list by their keys.
//! Items of other lists do not correlate.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use crate::schema::{ListType, Schema};

/// A value and its state before the update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlated<'a> {
    pub(super) new: &'a Value,
    pub(super) old: &'a Value,
    pub(super) schema: Schema<'a>,
}

impl Correlated<'_> {
    /// Returns a field: `None` if the field was absent before the update.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        Some(Self { new, old, schema: self.schema.field(name)? })
    }

    /// True if nothing changed. Ignores the order of a list with keys; fields without a schema always count as changed.
    pub(super) fn is_unchanged(self) -> bool {
        match (self.new, self.old) {
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.keys().all(|name| self.field(name).is_some_and(Correlated::is_unchanged))
            }
            (Value::Array(new), Value::Array(old)) => {
                if !matches!(self.schema.node().list_type, ListType::Map(_)) {
                    return new == old;
                }
                let items = OldItems::of(self);
                new.len() == old.len()
                    && new.iter().all(|item| items.correlated(item).is_some_and(Correlated::is_unchanged))
            }
            (new, old) => new == old,
        }
    }
}

/// The old items of a list, by their keys.
pub(super) struct OldItems<'a> {
    /// `None` if the list has no keys or did not exist.
    keys: Option<&'a [Arc<str>]>,
    /// Contains the first of several items with equal keys.
    items: HashMap<Vec<Option<&'a Value>>, &'a Value>,
    schema: Schema<'a>,
}

impl<'a> OldItems<'a> {
    /// Collects the old items of a list.
    pub(super) fn of(list: Correlated<'a>) -> Self {
        Self::new(list.schema, Some(list.old))
    }

    /// Collects the old items of a list, which may be absent.
    pub(super) fn new(schema: Schema<'a>, old: Option<&'a Value>) -> Self {
        let (keys, old) = match (&schema.node().list_type, old.and_then(Value::as_array)) {
            (ListType::Map(keys), Some(old)) => (Some(&**keys), old.as_slice()),
            _ => (None, &[][..]),
        };
        let mut items = HashMap::with_capacity(old.len());
        for item in old.iter().filter(|item| item.is_object()) {
            items.entry(keys.map(|keys| values(keys, item)).unwrap_or_default()).or_insert(item);
        }
        Self { keys, items, schema }
    }

    /// Returns the old state of an item: `None` if the list has no keys or did not contain the item.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        self.items.get(&values(self.keys.filter(|_| item.is_object())?, item)).copied()
    }

    /// Returns an item with its old state.
    pub(super) fn correlated(&self, item: &'a Value) -> Option<Correlated<'a>> {
        Some(Correlated { new: item, old: self.get(item)?, schema: self.schema.items()? })
    }
}

fn values<'a>(keys: &[Arc<str>], item: &'a Value) -> Vec<Option<&'a Value>> {
    keys.iter().map(|key| item.get(&**key)).collect()
}
