//! The provenance of fields: the file an object came from, and later changes.
//!
//! ```text
//! Object::trace(origin) ─► edits of any kind ─► Object::record_provenance(setter): all changes since the last call
//! belong to the setter
//! ```
//!
//! Edits need no support for tracing. A traced object keeps a shared copy of its content at the last
//! [`Object::record_provenance`], and compares the new content with it. An object that is not traced costs one extra empty
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
pub struct FieldOrigin {
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
    object_origin: Arc<FieldOrigin>,
    fields: Node,
    /// The content with complete provenance.
    recorded: Arc<Map<String, Value>>,
}

/// A field that the origin of its object did not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedField<'a> {
    /// The position of the field, as a JSON pointer.
    pub pointer: String,
    /// The last setter of the field.
    pub origin: &'a FieldOrigin,
}

/// The setters of a value and its content; `None` if the setter is the one of the parent.
#[derive(Clone, Debug, Default)]
struct Node {
    origin: Option<Arc<FieldOrigin>>,
    /// The setters of former values, oldest first.
    former: Vec<Arc<FieldOrigin>>,
    /// True if the setters of the parent set the value before them.
    is_inherited: bool,
    children: Children,
}

#[derive(Clone, Debug, Default)]
enum Children {
    #[default]
    Empty,
    Fields(BTreeMap<String, Node>),
    Items(BTreeMap<usize, Node>),
}

/// The path to a value in an object, with its setter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProvenanceCursor<'a> {
    node: Option<&'a Node>,
    /// `None` for the origin of the object.
    field_origin: Option<&'a FieldOrigin>,
    object_origin: Option<&'a FieldOrigin>,
}

impl Provenance {
    pub(crate) fn new(origin: Arc<FieldOrigin>, known: Arc<Map<String, Value>>) -> Self {
        Self { object_origin: origin, fields: Node::default(), recorded: known }
    }

    /// Returns the origin of the object, which set every field without another setter.
    pub fn object_origin(&self) -> &FieldOrigin {
        &self.object_origin
    }

    /// Returns all setters of a field, oldest first. The path has the names of fields and the numbers of items.
    pub fn setters(&self, path: &[String]) -> Vec<&FieldOrigin> {
        let mut setters = vec![&*self.object_origin];
        let (mut node, mut steps) = (Some(&self.fields), path.iter());
        while let Some(found) = node {
            found.add_setters(&mut setters);
            node = steps.next().and_then(|step| found.child(step));
        }
        setters
    }

    /// Records `field_origin` for every change since the last call.
    pub(crate) fn record(&mut self, now: &Arc<Map<String, Value>>, setter: &Arc<FieldOrigin>) {
        if !Arc::ptr_eq(&self.recorded, now) {
            let fields = std::mem::take(&mut self.fields);
            self.fields = fields.updated_fields(&self.recorded, now, setter);
            self.recorded = Arc::clone(now);
        }
    }

    pub(crate) fn map_origins(&mut self, map: &mut dyn FnMut(&FieldOrigin) -> FieldOrigin) {
        self.object_origin = Arc::new(map(&self.object_origin));
        // Many fields share one setter.
        let mut mapped: BTreeMap<Arc<FieldOrigin>, Arc<FieldOrigin>> = BTreeMap::new();
        self.fields.map_origins(&mut |setter| {
            let new = mapped.entry(Arc::clone(setter)).or_insert_with(|| Arc::new(map(setter)));
            Arc::clone(new)
        });
    }

    pub(crate) fn cursor(&self) -> ProvenanceCursor<'_> {
        ProvenanceCursor {
            node: Some(&self.fields),
            field_origin: self.fields.origin.as_deref(),
            object_origin: Some(&self.object_origin),
        }
    }

    /// Records fields that were substituted before the object was parsed.
    pub(crate) fn record_marks(
        &mut self,
        marked: &Map<String, Value>,
        setter: &dyn Fn(&str) -> Option<Arc<FieldOrigin>>,
    ) {
        self.fields = marks::fields(&self.recorded, marked, setter);
    }

    pub(crate) fn changed_fields(&self, now: &Map<String, Value>) -> Vec<ChangedField<'_>> {
        let mut found = Vec::new();
        collect_fields(now, self.cursor(), &mut String::new(), &mut found);
        found
    }
}

impl Children {
    fn of_fields(fields: BTreeMap<String, Node>) -> Self {
        if fields.is_empty() { Self::Empty } else { Self::Fields(fields) }
    }

    fn of_items(items: BTreeMap<usize, Node>) -> Self {
        if items.is_empty() { Self::Empty } else { Self::Items(items) }
    }
}

impl Node {
    fn with_origin(setter: &Arc<FieldOrigin>) -> Self {
        Self { origin: Some(Arc::clone(setter)), ..Self::default() }
    }

    /// Returns the node of a value that replaces the one of this node.
    fn replaced(mut self, setter: &Arc<FieldOrigin>) -> Self {
        let is_inherited = self.is_inherited || self.origin.is_none();
        self.former.extend(self.origin);
        Self { former: self.former, is_inherited, ..Self::with_origin(setter) }
    }

    fn with_children(self, children: Children) -> Self {
        Self { children, ..self }
    }

    fn child(&self, step: &str) -> Option<&Self> {
        match &self.children {
            Children::Empty => None,
            Children::Fields(fields) => fields.get(step),
            Children::Items(items) => items.get(&step.parse().ok()?),
        }
    }

    fn add_setters<'a>(&'a self, setters: &mut Vec<&'a FieldOrigin>) {
        let Some(origin) = &self.origin else { return };
        if !self.is_inherited {
            setters.clear();
        }
        setters.extend(self.former.iter().chain([origin]).map(|setter| &**setter));
    }

    fn is_empty(&self) -> bool {
        self.origin.is_none() && matches!(self.children, Children::Empty)
    }

    fn map_origins(&mut self, map: &mut dyn FnMut(&Arc<FieldOrigin>) -> Arc<FieldOrigin>) {
        for setter in self.former.iter_mut().chain(&mut self.origin) {
            *setter = map(setter);
        }
        match &mut self.children {
            Children::Empty => {}
            Children::Fields(fields) => fields.values_mut().for_each(|node| node.map_origins(map)),
            Children::Items(items) => items.values_mut().for_each(|node| node.map_origins(map)),
        }
    }

    /// Returns the node of a changed value.
    fn updated(self, before: &Value, after: &Value, setter: &Arc<FieldOrigin>) -> Self {
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => self.updated_fields(before, after, setter),
            (Value::Array(before), Value::Array(after)) => self.updated_items(before, after, setter),
            (before, after) if before == after => self,
            _ => self.replaced(setter),
        }
    }

    fn updated_fields(
        mut self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        setter: &Arc<FieldOrigin>,
    ) -> Self {
        if after.is_empty() && !before.is_empty() {
            return self.replaced(setter);
        }
        let mut past = match std::mem::take(&mut self.children) {
            Children::Fields(fields) => fields,
            Children::Empty | Children::Items(_) => BTreeMap::new(),
        };
        let mut fields = BTreeMap::new();
        for (key, value) in after {
            let node = match before.get(key) {
                Some(old) => past.remove(key).unwrap_or_default().updated(old, value, setter),
                None => Self::with_origin(setter),
            };
            if !node.is_empty() {
                fields.insert(key.clone(), node);
            }
        }
        self.with_children(Children::of_fields(fields))
    }

    fn updated_items(mut self, before: &[Value], after: &[Value], setter: &Arc<FieldOrigin>) -> Self {
        if after.is_empty() && !before.is_empty() {
            return self.replaced(setter);
        }
        let mut past = match std::mem::take(&mut self.children) {
            Children::Items(items) => items,
            Children::Empty | Children::Fields(_) => BTreeMap::new(),
        };
        let mut items = BTreeMap::new();
        for (index, (value, was)) in after.iter().zip(align::former_indices(before, after)).enumerate() {
            let node = match was {
                Some(was) => past.remove(&was).unwrap_or_default().updated(&before[was], value, setter),
                None => Self::with_origin(setter),
            };
            if !node.is_empty() {
                items.insert(index, node);
            }
        }
        self.with_children(Children::of_items(items))
    }
}

impl<'a> ProvenanceCursor<'a> {
    pub(crate) fn field(self, key: &str) -> Self {
        match self.node.map(|node| &node.children) {
            Some(Children::Fields(fields)) => self.step(fields.get(key)),
            _ => self.step(None),
        }
    }

    pub(crate) fn item(self, index: usize) -> Self {
        match self.node.map(|node| &node.children) {
            Some(Children::Items(items)) => self.step(items.get(&index)),
            _ => self.step(None),
        }
    }

    /// Describes the setter of the value for a reader who knows the origin. `None` if the origin set the value.
    pub(crate) fn describe_origin(self) -> Option<String> {
        let setter = self.field_origin?;
        let is_beside = self.object_origin.is_some_and(|origin| origin.file == setter.file);
        Some(if is_beside && !setter.field.is_empty() {
            FieldOrigin { file: String::new(), ..setter.clone() }.to_string()
        } else {
            setter.to_string()
        })
    }

    fn step(self, node: Option<&'a Node>) -> Self {
        let setter = node.and_then(|node| node.origin.as_deref()).or(self.field_origin);
        Self { node, field_origin: setter, ..self }
    }
}

fn collect<'a>(
    value: &Value,
    trail: ProvenanceCursor<'a>,
    pointer: &mut String,
    found: &mut Vec<ChangedField<'a>>,
) {
    match value {
        Value::Object(fields) if !fields.is_empty() => collect_fields(fields, trail, pointer, found),
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                with_step(pointer, &index.to_string(), |pointer| {
                    collect(item, trail.item(index), pointer, found);
                });
            }
        }
        _ => {
            if let Some(setter) = trail.field_origin {
                found.push(ChangedField { pointer: pointer.clone(), origin: setter });
            }
        }
    }
}

fn collect_fields<'a>(
    fields: &Map<String, Value>,
    trail: ProvenanceCursor<'a>,
    pointer: &mut String,
    found: &mut Vec<ChangedField<'a>>,
) {
    for (key, value) in fields {
        with_step(pointer, &crate::pointer::step(key), |pointer| {
            collect(value, trail.field(key), pointer, found);
        });
    }
}

fn with_step(pointer: &mut String, step: &str, act: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(step);
    act(pointer);
    pointer.truncate(length);
}

/// Writes for example `overlay/kustomization.yaml: patches[0] (overlay/cpu.yaml)`.
impl fmt::Display for FieldOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.file.is_empty() || self.field.is_empty() { "" } else { ": " };
        write!(formatter, "{}{part}{}", self.file, self.field)?;
        if self.content.is_empty() { Ok(()) } else { write!(formatter, " ({})", self.content) }
    }
}

#[cfg(test)]
mod tests;
