//! The provenance of fields: the file an object came from, and later changes.
//!
//! ```text
//! Object::trace(origin) ─► edits of any kind ─► Object::set_by(setter): all changes since the last call belong to the
//! setter
//! ```
//!
//! Edits need no support for tracing. A traced object keeps a shared copy of its content at the last
//! [`Object::set_by`], and compares the new content with it. An object that is not traced costs one extra empty
//! pointer.

mod align;
mod marks;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{Map, Object, Value};

/// The switch for recording provenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trace {
    /// Records nothing, at no cost.
    #[default]
    Off,
    /// Records the [provenance](crate::Object::provenance) of each object.
    On,
}

impl Trace {
    /// Returns `On` if any of the objects is traced.
    pub fn of(objects: &[Object]) -> Self {
        if objects.iter().any(|object| object.provenance().is_some()) { Self::On } else { Self::Off }
    }
}

/// The source of field values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setter {
    /// The file with the setting; empty for a flag.
    pub file: String,
    /// The position in the file, such as `patches[1]`; empty if the file holds the object itself.
    pub field: String,
    /// The file with the content of the field, such as a patch file; empty if the field holds the content.
    pub content: String,
}

/// The provenance of one object's fields.
#[derive(Clone, Debug)]
pub struct Provenance {
    origin: Arc<Setter>,
    fields: Node,
    /// The content with complete provenance.
    known: Arc<Map<String, Value>>,
}

/// A field that the origin of its object did not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetField<'a> {
    /// The position of the field, as a JSON pointer.
    pub pointer: String,
    /// The last setter of the field.
    pub setter: &'a Setter,
}

/// The setters of a value and its content; `None` if the setter is the one of the parent.
#[derive(Clone, Debug, Default)]
struct Node {
    setter: Option<Arc<Setter>>,
    inner: Inner,
}

#[derive(Clone, Debug, Default)]
enum Inner {
    #[default]
    Nothing,
    Fields(BTreeMap<String, Node>),
    Items(BTreeMap<usize, Node>),
}

/// The path to a value in an object, with its setter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trail<'a> {
    node: Option<&'a Node>,
    /// `None` for the origin of the object.
    setter: Option<&'a Setter>,
    origin: Option<&'a Setter>,
}

impl Provenance {
    pub(crate) fn new(origin: Arc<Setter>, known: Arc<Map<String, Value>>) -> Self {
        Self { origin, fields: Node::default(), known }
    }

    /// Returns the origin of the object, which set every field without another setter.
    pub fn origin(&self) -> &Setter {
        &self.origin
    }

    /// Records `setter` for every change since the last call.
    pub(crate) fn note(&mut self, now: &Arc<Map<String, Value>>, setter: &Arc<Setter>) {
        if !Arc::ptr_eq(&self.known, now) {
            let fields = std::mem::take(&mut self.fields);
            self.fields = fields.with_fields(&self.known, now, setter);
            self.known = Arc::clone(now);
        }
    }

    pub(crate) fn map_setters(&mut self, map: &mut dyn FnMut(&Setter) -> Setter) {
        self.origin = Arc::new(map(&self.origin));
        // Many fields share one setter.
        let mut mapped: BTreeMap<Arc<Setter>, Arc<Setter>> = BTreeMap::new();
        self.fields.map_setters(&mut |setter| {
            let new = mapped.entry(Arc::clone(setter)).or_insert_with(|| Arc::new(map(setter)));
            Arc::clone(new)
        });
    }

    pub(crate) fn trail(&self) -> Trail<'_> {
        Trail { node: Some(&self.fields), setter: self.fields.setter.as_deref(), origin: Some(&self.origin) }
    }

    /// Records fields that were substituted before the object was parsed.
    pub(crate) fn note_marks(
        &mut self,
        marked: &Map<String, Value>,
        setter: &dyn Fn(&str) -> Option<Arc<Setter>>,
    ) {
        self.fields = marks::fields(&self.known, marked, setter);
    }

    pub(crate) fn set_fields(&self, now: &Map<String, Value>) -> Vec<SetField<'_>> {
        let mut found = Vec::new();
        collect_fields(now, self.trail(), &mut String::new(), &mut found);
        found
    }
}

impl Node {
    fn set(setter: &Arc<Setter>) -> Self {
        Self { setter: Some(Arc::clone(setter)), inner: Inner::Nothing }
    }

    fn of_fields(setter: Option<Arc<Setter>>, fields: BTreeMap<String, Node>) -> Self {
        let inner = if fields.is_empty() { Inner::Nothing } else { Inner::Fields(fields) };
        Self { setter, inner }
    }

    fn of_items(setter: Option<Arc<Setter>>, items: BTreeMap<usize, Node>) -> Self {
        let inner = if items.is_empty() { Inner::Nothing } else { Inner::Items(items) };
        Self { setter, inner }
    }

    fn is_empty(&self) -> bool {
        self.setter.is_none() && matches!(self.inner, Inner::Nothing)
    }

    fn map_setters(&mut self, map: &mut dyn FnMut(&Arc<Setter>) -> Arc<Setter>) {
        if let Some(setter) = &mut self.setter {
            *setter = map(setter);
        }
        match &mut self.inner {
            Inner::Nothing => {}
            Inner::Fields(fields) => fields.values_mut().for_each(|node| node.map_setters(map)),
            Inner::Items(items) => items.values_mut().for_each(|node| node.map_setters(map)),
        }
    }

    /// Returns the node of a changed value.
    fn with(self, before: &Value, after: &Value, setter: &Arc<Setter>) -> Self {
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => self.with_fields(before, after, setter),
            (Value::Array(before), Value::Array(after)) => self.with_items(before, after, setter),
            (before, after) if before == after => self,
            _ => Self::set(setter),
        }
    }

    fn with_fields(
        self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        setter: &Arc<Setter>,
    ) -> Self {
        if after.is_empty() && !before.is_empty() {
            return Self::set(setter);
        }
        let mut past = match self.inner {
            Inner::Fields(fields) => fields,
            Inner::Nothing | Inner::Items(_) => BTreeMap::new(),
        };
        let mut fields = BTreeMap::new();
        for (key, value) in after {
            let node = match before.get(key) {
                Some(old) => past.remove(key).unwrap_or_default().with(old, value, setter),
                None => Self::set(setter),
            };
            if !node.is_empty() {
                fields.insert(key.clone(), node);
            }
        }
        Self::of_fields(self.setter, fields)
    }

    fn with_items(self, before: &[Value], after: &[Value], setter: &Arc<Setter>) -> Self {
        if after.is_empty() && !before.is_empty() {
            return Self::set(setter);
        }
        let mut past = match self.inner {
            Inner::Items(items) => items,
            Inner::Nothing | Inner::Fields(_) => BTreeMap::new(),
        };
        let mut items = BTreeMap::new();
        for (index, (value, was)) in after.iter().zip(align::former_places(before, after)).enumerate() {
            let node = match was {
                Some(was) => past.remove(&was).unwrap_or_default().with(&before[was], value, setter),
                None => Self::set(setter),
            };
            if !node.is_empty() {
                items.insert(index, node);
            }
        }
        Self::of_items(self.setter, items)
    }
}

impl<'a> Trail<'a> {
    pub(crate) fn field(self, key: &str) -> Self {
        match self.node.map(|node| &node.inner) {
            Some(Inner::Fields(fields)) => self.step(fields.get(key)),
            _ => self.step(None),
        }
    }

    pub(crate) fn item(self, index: usize) -> Self {
        match self.node.map(|node| &node.inner) {
            Some(Inner::Items(items)) => self.step(items.get(&index)),
            _ => self.step(None),
        }
    }

    /// Describes the setter of the value for a reader who knows the origin. `None` if the origin set the value.
    pub(crate) fn told(self) -> Option<String> {
        let setter = self.setter?;
        let is_beside = self.origin.is_some_and(|origin| origin.file == setter.file);
        Some(if is_beside && !setter.field.is_empty() {
            Setter { file: String::new(), ..setter.clone() }.to_string()
        } else {
            setter.to_string()
        })
    }

    fn step(self, node: Option<&'a Node>) -> Self {
        let setter = node.and_then(|node| node.setter.as_deref()).or(self.setter);
        Self { node, setter, ..self }
    }
}

fn collect<'a>(value: &Value, trail: Trail<'a>, pointer: &mut String, found: &mut Vec<SetField<'a>>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => collect_fields(fields, trail, pointer, found),
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                below(pointer, &index.to_string(), |pointer| {
                    collect(item, trail.item(index), pointer, found);
                });
            }
        }
        _ => {
            if let Some(setter) = trail.setter {
                found.push(SetField { pointer: pointer.clone(), setter });
            }
        }
    }
}

fn collect_fields<'a>(
    fields: &Map<String, Value>,
    trail: Trail<'a>,
    pointer: &mut String,
    found: &mut Vec<SetField<'a>>,
) {
    for (key, value) in fields {
        below(pointer, &crate::pointer::step(key), |pointer| {
            collect(value, trail.field(key), pointer, found);
        });
    }
}

fn below(pointer: &mut String, step: &str, act: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(step);
    act(pointer);
    pointer.truncate(length);
}

/// Writes for example `overlay/kustomization.yaml: patches[0] (overlay/cpu.yaml)`.
impl fmt::Display for Setter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.file.is_empty() || self.field.is_empty() { "" } else { ": " };
        write!(formatter, "{}{part}{}", self.file, self.field)?;
        if self.content.is_empty() { Ok(()) } else { write!(formatter, " ({})", self.content) }
    }
}

#[cfg(test)]
mod tests;
