//! Which part of the object before belongs to which part of the object now.
//!
//! Source: apiserver 1.36 `pkg/cel/common/equality.go`. Fields belong together by name, items of a list by their keys
//! when the list is a map; items of other lists belong to nothing.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use crate::schema::{ListType, Schema};

/// A value together with what it was before the update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlated<'a> {
    pub(super) new: &'a Value,
    pub(super) old: &'a Value,
    pub(super) schema: Schema<'a>,
}

impl Correlated<'_> {
    /// A field, when it was there before.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        Some(Self { new, old, schema: self.schema.field(name)? })
    }

    /// Whether nothing changed. The order of a list with keys does not count; fields nobody described always do.
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

/// The items a list had before, by their keys.
pub(super) struct OldItems<'a> {
    /// `None` when the list has no keys, or there was none before.
    keys: Option<&'a [Arc<str>]>,
    /// Of several with the same keys the first.
    items: HashMap<Vec<Option<&'a Value>>, &'a Value>,
    schema: Schema<'a>,
}

impl<'a> OldItems<'a> {
    /// Those of the list before.
    pub(super) fn of(list: Correlated<'a>) -> Self {
        Self::new(list.schema, Some(list.old))
    }

    /// Those of a list that may not have been there before.
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

    /// What an item was before; nothing when the list has no keys.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        self.items.get(&values(self.keys.filter(|_| item.is_object())?, item)).copied()
    }

    /// An item together with what it was before.
    pub(super) fn correlated(&self, item: &'a Value) -> Option<Correlated<'a>> {
        Some(Correlated { new: item, old: self.get(item)?, schema: self.schema.items()? })
    }
}

fn values<'a>(keys: &[Arc<str>], item: &'a Value) -> Vec<Option<&'a Value>> {
    keys.iter().map(|key| item.get(&**key)).collect()
}
