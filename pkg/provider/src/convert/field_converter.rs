//! Converts one object from v1beta1 to v1beta2 with the conversion tables.

use std::fmt::Write;

use manifest::{Map, ObjectRef, Value, type_name};
use serde_json::map::Entry;

use super::duration::whole_seconds;
use super::error::{ConversionFault, ConversionNote, ConversionNoteKind, ConversionProblem};
use super::shape::{ConversionTable, Shape};

/// The maximum depth of fields. Schemas of variables have no nesting limit.
const MAX_DEPTH: usize = 200;

pub(super) struct FieldConverter<'o> {
    object: &'o ObjectRef,
    path: Vec<Step>,
    notes: Vec<ConversionNote>,
    faults: Vec<ConversionFault>,
}

enum Step {
    Field(String),
    Item(usize),
}

impl<'o> FieldConverter<'o> {
    pub(super) fn new(object: &'o ObjectRef) -> Self {
        Self { object, path: Vec::new(), notes: Vec::new(), faults: Vec::new() }
    }

    pub(super) fn finish(self) -> (Vec<ConversionNote>, Vec<ConversionFault>) {
        (self.notes, self.faults)
    }

    /// Converts the fields of a type into `out`.
    pub(super) fn fields(
        &mut self,
        from: Map<String, Value>,
        table: &ConversionTable,
        out: &mut Map<String, Value>,
    ) {
        self.fields_at(from, table, out, &mut Vec::new());
    }

    /// Converts the fields of a nested type into `out`. `at` is the path of the nested type.
    fn fields_at(
        &mut self,
        from: Map<String, Value>,
        table: &ConversionTable,
        out: &mut Map<String, Value>,
        at: &mut Vec<&'static str>,
    ) {
        for (name, value) in from {
            let known = table.find(&name);
            self.path.push(Step::Field(name.clone()));
            match known {
                _ if self.path.len() > MAX_DEPTH => self.fault(ConversionProblem::TooDeep),
                None => {
                    self.note(ConversionNoteKind::Unknown);
                    let place: Vec<&str> = at.iter().copied().chain([name.as_str()]).collect();
                    self.set_field(out, &place, value);
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
                            let place =
                                if field.target_path.is_empty() { &[field.name] } else { field.target_path };
                            self.set_field(out, place, value);
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
            Shape::TextOrEmpty => self.text(value).map(Value::String),
            Shape::Boolean => self.expect(value, "a boolean", Value::is_boolean),
            Shape::Integer => self.expect(value, "an integer", is_whole),
            Shape::NonZeroInteger => {
                self.expect(value, "an integer", is_whole).filter(|number| number.as_i64() != Some(0))
            }
            Shape::IntegerOrText => {
                self.expect(value, "an integer or a string", |value| is_whole(value) || value.is_string())
            }
            Shape::Mapping => self.expect(value, "a mapping", Value::is_object),
            Shape::Seconds => self.seconds(value),
            Shape::GroupOfApiVersion => self.group(value),
            Shape::OwnNamespace => {
                let namespace = self.text(value)?;
                if !namespace.is_empty() && namespace != self.object.namespace {
                    self.note(ConversionNoteKind::Dropped);
                }
                None
            }
            Shape::NamedList(table) => self.named_list(value, table),
            Shape::List(item) => self.list(value, *item),
            Shape::Map(item) => self.map(value, *item),
            Shape::Struct(table) => {
                self.structure(value, table).filter(|fields| !fields.is_empty()).map(Value::Object)
            }
            Shape::StructOrEmpty(table) => self.structure(value, table).map(Value::Object),
            Shape::Dropped => {
                if value.as_str() != Some("") {
                    self.note(ConversionNoteKind::Dropped);
                }
                None
            }
            Shape::DroppedSilently | Shape::Flatten(_) => None,
        }
    }

    /// Converts an item of a list or a mapping. Empty items are kept.
    fn item(&mut self, step: Step, value: Value, shape: Shape) -> Option<Value> {
        let shape = match shape {
            Shape::Struct(table) => Shape::StructOrEmpty(table),
            Shape::Text => Shape::TextOrEmpty,
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

    fn named_list(&mut self, value: Value, table: &'static ConversionTable) -> Option<Value> {
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

    fn structure(&mut self, value: Value, table: &ConversionTable) -> Option<Map<String, Value>> {
        let fields = self.mapping(value)?;
        let mut out = Map::new();
        self.fields(fields, table, &mut out);
        Some(out)
    }

    fn seconds(&mut self, value: Value) -> Option<Value> {
        let found = self.text(value)?;
        let seconds = whole_seconds(&found);
        if seconds.is_none() {
            self.fault(ConversionProblem::NotADuration { found });
        }
        seconds.map(Value::from)
    }

    fn group(&mut self, value: Value) -> Option<Value> {
        let found = self.text(value)?;
        match found.split_once('/') {
            Some((_, version)) if version.contains('/') => {
                self.fault(ConversionProblem::NotAnApiVersion { found });
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

    fn set_field(&mut self, out: &mut Map<String, Value>, place: &[&str], value: Value) {
        if let Err(taken) = set_at_path(out, place, value) {
            self.fault(ConversionProblem::AlreadySet { path: taken });
        }
    }

    fn wrong_type(&mut self, expected: &'static str, found: &Value) {
        self.fault(ConversionProblem::WrongType { expected, found: type_name(found) });
    }

    fn fault(&mut self, problem: ConversionProblem) {
        let path = self.path_text();
        self.fault_at(&path, problem);
    }

    pub(super) fn fault_at(&mut self, path: &str, problem: ConversionProblem) {
        self.faults.push(ConversionFault { object: self.object.clone(), path: path.to_owned(), problem });
    }

    fn note(&mut self, kind: ConversionNoteKind) {
        self.notes.push(ConversionNote { object: self.object.clone(), path: self.path_text(), kind });
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
fn set_at_path(out: &mut Map<String, Value>, place: &[&str], value: Value) -> Result<(), String> {
    let Some((first, rest)) = place.split_first() else { return Ok(()) };
    let put_here = match out.entry(*first) {
        Entry::Vacant(slot) if rest.is_empty() => {
            slot.insert(value);
            return Ok(());
        }
        Entry::Vacant(slot) => merge_into(slot.insert(Value::Object(Map::new())), rest, value),
        Entry::Occupied(slot) => merge_into(slot.into_mut(), rest, value),
    };
    put_here.map_err(|taken| if taken.is_empty() { (*first).to_owned() } else { format!("{first}.{taken}") })
}

/// Inserts a value below an existing value.
fn merge_into(slot: &mut Value, rest: &[&str], value: Value) -> Result<(), String> {
    match (slot, value) {
        (Value::Object(inner), value) if !rest.is_empty() => set_at_path(inner, rest, value),
        (Value::Object(inner), Value::Object(fields)) => {
            fields.into_iter().try_for_each(|(name, value)| set_at_path(inner, &[&name], value))
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
        Shape::Text
        | Shape::TextOrEmpty
        | Shape::Seconds
        | Shape::GroupOfApiVersion
        | Shape::OwnNamespace => "a string",
        Shape::Boolean => "a boolean",
        Shape::Integer | Shape::NonZeroInteger => "an integer",
        Shape::IntegerOrText => "an integer or a string",
        Shape::List(_) => "a list",
        _ => "a mapping",
    }
}
