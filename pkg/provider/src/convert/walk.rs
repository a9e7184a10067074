//! Converts one object from v1beta1 to v1beta2 with the conversion tables.

use std::fmt::Write;

use manifest::{Map, ObjectRef, Value, type_name};
use serde_json::map::Entry;

use super::duration::whole_seconds;
use super::error::{Fault, Note, NoteKind, Problem};
use super::shape::{Shape, Table};

/// The maximum depth of fields. Schemas of variables have no nesting limit.
const MAX_DEPTH: usize = 200;

pub(super) struct Walk<'o> {
    object: &'o ObjectRef,
    path: Vec<Step>,
    notes: Vec<Note>,
    faults: Vec<Fault>,
}

enum Step {
    Field(String),
    Item(usize),
}

impl<'o> Walk<'o> {
    pub(super) fn new(object: &'o ObjectRef) -> Self {
        Self { object, path: Vec::new(), notes: Vec::new(), faults: Vec::new() }
    }

    pub(super) fn finish(self) -> (Vec<Note>, Vec<Fault>) {
        (self.notes, self.faults)
    }

    /// Converts the fields of a type into `out`.
    pub(super) fn fields(&mut self, from: Map<String, Value>, table: &Table, out: &mut Map<String, Value>) {
        self.fields_at(from, table, out, &mut Vec::new());
    }

    /// Converts the fields of a nested type into `out`. `at` is the path of the nested type.
    fn fields_at(
        &mut self,
        from: Map<String, Value>,
        table: &Table,
        out: &mut Map<String, Value>,
        at: &mut Vec<&'static str>,
    ) {
        for (name, value) in from {
            let known = table.find(&name);
            self.path.push(Step::Field(name.clone()));
            match known {
                _ if self.path.len() > MAX_DEPTH => self.fault(Problem::TooDeep),
                None => {
                    self.note(NoteKind::Unknown);
                    let place: Vec<&str> = at.iter().copied().chain([name.as_str()]).collect();
                    self.put(out, &place, value);
                }
                Some(field) => match field.shape {
                    Shape::Flatten(inner) => {
                        if let Some(fields) = self.mapping(value) {
                            at.push(field.name);
                            self.fields_at(fields, inner, out, at);
                            at.pop();
                        }
                    }
                    shape => {
                        if let Some(value) = self.value(value, shape) {
                            let place = if field.to.is_empty() { &[field.name] } else { field.to };
                            self.put(out, place, value);
                        }
                    }
                },
            }
            self.path.pop();
        }
    }

    /// Converts a value. `None` if the value is unset or has no v1beta2 equivalent.
    fn value(&mut self, value: Value, shape: Shape) -> Option<Value> {
        if value.is_null() && !matches!(shape, Shape::Any) {
            return None;
        }
        match shape {
            Shape::Any => Some(value),
            Shape::Text => self.text(value).filter(|text| !text.is_empty()).map(Value::String),
            Shape::AnyText => self.text(value).map(Value::String),
            Shape::Boolean => self.expect(value, "a boolean", Value::is_boolean),
            Shape::Integer => self.expect(value, "a whole number", is_whole),
            Shape::Positive => {
                self.expect(value, "a whole number", is_whole).filter(|number| number.as_i64() != Some(0))
            }
            Shape::IntegerOrText => {
                self.expect(value, "a whole number or a string", |value| is_whole(value) || value.is_string())
            }
            Shape::Mapping => self.expect(value, "a mapping", Value::is_object),
            Shape::Seconds => self.seconds(value),
            Shape::GroupOf => self.group(value),
            Shape::OwnNamespace => {
                let namespace = self.text(value)?;
                if !namespace.is_empty() && namespace != self.object.namespace {
                    self.note(NoteKind::Dropped);
                }
                None
            }
            Shape::NamedList(table) => self.named_list(value, table),
            Shape::List(item) => self.list(value, *item),
            Shape::Map(item) => self.map(value, *item),
            Shape::Struct(table) => {
                self.structure(value, table).filter(|fields| !fields.is_empty()).map(Value::Object)
            }
            Shape::Kept(table) => self.structure(value, table).map(Value::Object),
            Shape::Dropped => {
                if value.as_str() != Some("") {
                    self.note(NoteKind::Dropped);
                }
                None
            }
            Shape::Implied | Shape::Flatten(_) => None,
        }
    }

    /// Converts an item of a list or a mapping. Empty items are kept.
    fn item(&mut self, step: Step, value: Value, shape: Shape) -> Option<Value> {
        let shape = match shape {
            Shape::Struct(table) => Shape::Kept(table),
            Shape::Text => Shape::AnyText,
            other => other,
        };
        self.path.push(step);
        let item = if value.is_null() && !matches!(shape, Shape::Any) {
            self.wrong_type(expected_of(shape), &value);
            None
        } else {
            self.value(value, shape)
        };
        self.path.pop();
        item
    }

    fn list(&mut self, value: Value, item: Shape) -> Option<Value> {
        let Value::Array(items) = value else {
            self.wrong_type("a list", &value);
            return None;
        };
        let converted: Vec<_> = items
            .into_iter()
            .enumerate()
            .filter_map(|(index, value)| self.item(Step::Item(index), value, item))
            .collect();
        (!converted.is_empty()).then_some(Value::Array(converted))
    }

    fn map(&mut self, value: Value, item: Shape) -> Option<Value> {
        let mut converted = Map::new();
        for (name, value) in self.mapping(value)? {
            if let Some(value) = self.item(Step::Field(name.clone()), value, item) {
                converted.insert(name, value);
            }
        }
        (!converted.is_empty()).then_some(Value::Object(converted))
    }

    fn named_list(&mut self, value: Value, table: &'static Table) -> Option<Value> {
        let mut named: Vec<_> = self.mapping(value)?.into_iter().collect();
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut items = Vec::new();
        for (name, value) in named {
            if let Some(mut item) = self.item(Step::Field(name.clone()), value, Shape::Struct(table)) {
                item["name"] = Value::String(name);
                items.push(item);
            }
        }
        (!items.is_empty()).then_some(Value::Array(items))
    }

    fn structure(&mut self, value: Value, table: &Table) -> Option<Map<String, Value>> {
        let fields = self.mapping(value)?;
        let mut out = Map::new();
        self.fields(fields, table, &mut out);
        Some(out)
    }

    fn seconds(&mut self, value: Value) -> Option<Value> {
        let found = self.text(value)?;
        let seconds = whole_seconds(&found);
        if seconds.is_none() {
            self.fault(Problem::NotADuration { found });
        }
        seconds.map(Value::from)
    }

    fn group(&mut self, value: Value) -> Option<Value> {
        let found = self.text(value)?;
        match found.split_once('/') {
            Some((_, version)) if version.contains('/') => {
                self.fault(Problem::NotAnApiVersion { found });
                None
            }
            Some((group, _)) => (!group.is_empty()).then(|| group.into()),
            None => None,
        }
    }

    fn text(&mut self, value: Value) -> Option<String> {
        if let Value::String(text) = value {
            return Some(text);
        }
        self.wrong_type("a string", &value);
        None
    }

    fn mapping(&mut self, value: Value) -> Option<Map<String, Value>> {
        match value {
            Value::Object(fields) => Some(fields),
            Value::Null => None,
            other => {
                self.wrong_type("a mapping", &other);
                None
            }
        }
    }

    fn expect(&mut self, value: Value, expected: &'static str, is: impl Fn(&Value) -> bool) -> Option<Value> {
        if is(&value) {
            return Some(value);
        }
        self.wrong_type(expected, &value);
        None
    }

    fn put(&mut self, out: &mut Map<String, Value>, place: &[&str], value: Value) {
        if let Err(taken) = put(out, place, value) {
            self.fault(Problem::Occupied { place: taken });
        }
    }

    fn wrong_type(&mut self, expected: &'static str, found: &Value) {
        self.fault(Problem::WrongType { expected, found: type_name(found) });
    }

    fn fault(&mut self, problem: Problem) {
        let path = self.path_text();
        self.fault_at(&path, problem);
    }

    pub(super) fn fault_at(&mut self, path: &str, problem: Problem) {
        self.faults.push(Fault { object: self.object.clone(), path: path.to_owned(), problem });
    }

    fn note(&mut self, kind: NoteKind) {
        self.notes.push(Note { object: self.object.clone(), path: self.path_text(), kind });
    }

    fn path_text(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) if text.is_empty() => text.push_str(name),
                // A name with a dot would look like two names.
                Step::Field(name) if name.contains('.') => _ = write!(text, "[{name}]"),
                Step::Field(name) => _ = write!(text, ".{name}"),
                Step::Item(index) => _ = write!(text, "[{index}]"),
            }
        }
        text
    }
}

/// Inserts a value at a path, and merges two mappings at the same path. Fails with the path if it is occupied.
fn put(out: &mut Map<String, Value>, place: &[&str], value: Value) -> Result<(), String> {
    let Some((first, rest)) = place.split_first() else { return Ok(()) };
    let put_here = match out.entry(*first) {
        Entry::Vacant(slot) if rest.is_empty() => {
            slot.insert(value);
            return Ok(());
        }
        Entry::Vacant(slot) => put_into(slot.insert(Value::Object(Map::new())), rest, value),
        Entry::Occupied(slot) => put_into(slot.into_mut(), rest, value),
    };
    put_here.map_err(|taken| if taken.is_empty() { (*first).to_owned() } else { format!("{first}.{taken}") })
}

/// Inserts a value below an existing value.
fn put_into(slot: &mut Value, rest: &[&str], value: Value) -> Result<(), String> {
    match (slot, value) {
        (Value::Object(inner), value) if !rest.is_empty() => put(inner, rest, value),
        (Value::Object(inner), Value::Object(fields)) => {
            fields.into_iter().try_for_each(|(name, value)| put(inner, &[&name], value))
        }
        _ => Err(String::new()),
    }
}

/// True if a value is a whole number, including `3.0`.
fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn expected_of(shape: Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::AnyText | Shape::Seconds | Shape::GroupOf | Shape::OwnNamespace => "a string",
        Shape::Boolean => "a boolean",
        Shape::Integer | Shape::Positive => "a whole number",
        Shape::IntegerOrText => "a whole number or a string",
        Shape::List(_) => "a list",
        _ => "a mapping",
    }
}
