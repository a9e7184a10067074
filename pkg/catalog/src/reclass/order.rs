//! The order of keys, which JSON values do not keep: keys are in the order of their first appearance.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::{Map, Value};

use super::tree::{Content, Tree};

static UNORDERED: KeyOrder = KeyOrder::None;

/// The order of the keys in a value and in everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyOrder {
    /// A value without keys, or with sorted keys.
    #[default]
    None,
    /// The keys of a mapping, with the order in their values.
    Map(Vec<(Box<str>, KeyOrder)>),
    /// The orders in the items of a list.
    List(Vec<KeyOrder>),
}

impl KeyOrder {
    /// Returns the order of a resolved tree.
    pub(super) fn of(tree: &Tree) -> Self {
        match &tree.content {
            Content::Map(fields) => {
                let values = fields.iter().filter_map(|(key, field)| Some((key, field.values.first()?)));
                Self::Map(values.map(|(key, value)| (key.clone(), Self::of(value))).collect())
            }
            Content::List(items) => {
                let orders: Vec<_> = items.iter().map(|item| Self::of(item)).collect();
                let is_plain = orders.iter().all(|order| *order == Self::None);
                if is_plain { Self::None } else { Self::List(orders) }
            }
            _ => Self::None,
        }
    }

    /// Returns the order in a field.
    pub(crate) fn field(&self, key: &str) -> &Self {
        match self {
            Self::Map(fields) => {
                fields.iter().find(|(known, _)| **known == *key).map_or(&UNORDERED, |(_, order)| order)
            }
            _ => &UNORDERED,
        }
    }

    /// Returns the order in an item.
    pub(crate) fn item(&self, index: usize) -> &Self {
        match self {
            Self::List(items) => items.get(index).unwrap_or(&UNORDERED),
            _ => &UNORDERED,
        }
    }

    /// Returns the fields of a mapping in this order, then those that it does not have.
    pub(crate) fn fields<'v>(&'v self, fields: &'v Map<String, Value>) -> Vec<(&'v str, Ordered<'v>)> {
        let known = match self {
            Self::Map(known) => &known[..],
            _ => &[],
        };
        let entry = |key: &'v str, order| Some((key, Ordered { value: fields.get(key)?, order }));
        let ordered = known.iter().filter_map(|(key, order)| entry(key, order));
        let names: HashSet<&str> = known.iter().map(|(name, _)| &**name).collect();
        let is_other = |key: &&str| !names.contains(key);
        let others = fields.keys().map(String::as_str).filter(is_other);
        ordered.chain(others.filter_map(|key| entry(key, &UNORDERED))).collect()
    }
}

/// The orders of the keys of several targets. They are found when they are first needed: only templates and some notices
/// need them.
pub struct KeyOrders(LazyLock<BTreeMap<String, KeyOrder>, FindOrders>);

type FindOrders = Box<dyn FnOnce() -> BTreeMap<String, KeyOrder> + Send>;

impl KeyOrders {
    pub(crate) fn new(find: impl FnOnce() -> BTreeMap<String, KeyOrder> + Send + 'static) -> Self {
        Self(LazyLock::new(Box::new(find)))
    }

    /// Returns the orders of all targets.
    pub(crate) fn all(&self) -> &BTreeMap<String, KeyOrder> {
        &self.0
    }

    /// Returns the order in the parameters of a target.
    pub(crate) fn of(&self, target: &str) -> &KeyOrder {
        self.0.get(target).unwrap_or(&UNORDERED)
    }
}

impl fmt::Debug for KeyOrders {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("KeyOrders")
    }
}

/// A value that is serialized in the order of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered<'v> {
    pub(crate) value: &'v Value,
    pub(crate) order: &'v KeyOrder,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in self.order.fields(fields) {
                    map.serialize_entry(key, &value)?;
                }
                map.end()
            }
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for (index, value) in items.iter().enumerate() {
                    list.serialize_element(&Ordered { value, order: self.order.item(index) })?;
                }
                list.end()
            }
            other => other.serialize(serializer),
        }
    }
}
