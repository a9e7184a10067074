//! Lists and mappings that templates change, such as by `{% do list.append(1) %}`.
//!
//! The values of the engine never change. Literals that a template assigns with `set` become values that do.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};

/// The name of the function.
pub(super) const FUNCTION: &str = "__mutable";
/// The maximum number of values that a template adds to its lists and mappings.
const MAX_ADDED: u64 = 10_000_000;

/// Adds the function that makes a list or mapping mutable.
pub(super) fn add(environment: &mut Environment<'_>) {
    let added = Arc::new(AtomicU64::new(0));
    environment.add_function(FUNCTION, move |value: Value| {
        let added = Arc::clone(&added);
        match value.kind() {
            ValueKind::Seq => {
                let items = value.try_iter().into_iter().flatten().collect();
                Value::from_object(List { items: Mutex::new(items), added })
            }
            ValueKind::Map => {
                let keys = value.try_iter().into_iter().flatten();
                let fields = keys.filter_map(|key| Some((key.clone(), value.get_item(&key).ok()?))).collect();
                Value::from_object(Mapping { fields: Mutex::new(fields), added })
            }
            _ => value,
        }
    });
}

#[derive(Debug)]
struct List {
    items: Mutex<Vec<Value>>,
    added: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Mapping {
    fields: Mutex<IndexMap<Value, Value>>,
    added: Arc<AtomicU64>,
}

fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

/// Returns a value that never changes, so that no value contains itself. Counts everything in it.
fn frozen(value: &Value, added: &AtomicU64) -> Result<Value, Error> {
    if added.fetch_add(1, Ordering::Relaxed) >= MAX_ADDED {
        return Err(invalid("the template adds too many values to lists and mappings"));
    }
    let is_mutable =
        value.downcast_object_ref::<List>().is_some() || value.downcast_object_ref::<Mapping>().is_some();
    match value.kind() {
        ValueKind::Seq if is_mutable || !value.is_tuple() => {
            value.try_iter()?.map(|item| frozen(&item, added)).collect()
        }
        ValueKind::Map => {
            let entry = |key: Value| Ok((key.clone(), frozen(&value.get_item(&key)?, added)?));
            let fields: Vec<(Value, Value)> = value.try_iter()?.map(entry).collect::<Result<_, Error>>()?;
            Ok(Value::from_pairs(fields))
        }
        _ => Ok(value.clone()),
    }
}

impl List {
    fn items(&self) -> MutexGuard<'_, Vec<Value>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the position of an index, which counts from the end if it is negative.
    fn position(&self, index: &Value) -> Result<usize, Error> {
        let (length, index) =
            (self.items().len(), index.as_i64().ok_or_else(|| invalid("the index is no number"))?);
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let index = if index < 0 { index.saturating_add(length) } else { index };
        usize::try_from(index.clamp(0, length)).map_err(|_| invalid("the index is out of range"))
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.items().get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.items().clone())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match (method, args) {
            ("append", [item]) => {
                let item = frozen(item, &self.added)?;
                self.items().push(item);
            }
            ("extend", [items]) => {
                let items: Vec<_> =
                    items.try_iter()?.map(|item| frozen(&item, &self.added)).collect::<Result<_, _>>()?;
                self.items().extend(items);
            }
            ("insert", [index, item]) => {
                let (index, item) = (self.position(index)?, frozen(item, &self.added)?);
                self.items().insert(index, item);
            }
            ("remove", [item]) => {
                let mut items = self.items();
                let index = items.iter().position(|each| each == item);
                items.remove(index.ok_or_else(|| invalid("the list does not have the value"))?);
            }
            ("pop", []) => return self.items().pop().ok_or_else(|| invalid("pop from empty list")),
            ("pop", [index]) => {
                let index = self.position(index)?;
                let mut items = self.items();
                return if index < items.len() {
                    Ok(items.remove(index))
                } else {
                    Err(invalid("pop index out of range"))
                };
            }
            ("reverse", []) => self.items().reverse(),
            ("sort", []) => self.items().sort(),
            ("clear", []) => self.items().clear(),
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        }
        Ok(Value::from(()))
    }
}

impl Mapping {
    fn fields(&self) -> MutexGuard<'_, IndexMap<Value, Value>> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object for Mapping {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.fields().get(key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.fields().keys().cloned().collect())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match (method, args) {
            ("update", [other]) => {
                for key in other.try_iter()? {
                    let value = frozen(&other.get_item(&key)?, &self.added)?;
                    self.fields().insert(key, value);
                }
            }
            ("setdefault", [key, default]) => {
                let default = frozen(default, &self.added)?;
                return Ok(self.fields().entry(key.clone()).or_insert(default).clone());
            }
            ("pop", [key]) => {
                return self
                    .fields()
                    .shift_remove(key)
                    .ok_or_else(|| invalid("the mapping does not have the key"));
            }
            ("pop", [key, default]) => {
                return Ok(self.fields().shift_remove(key).unwrap_or_else(|| default.clone()));
            }
            ("clear", []) => self.fields().clear(),
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        }
        Ok(Value::from(()))
    }
}
