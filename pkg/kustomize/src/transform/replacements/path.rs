//! Looks up and edits the value at a path, in the grammar of `replacements`.

mod embedded;
mod grammar;

use manifest::{Map, Value, type_name};

use crate::report::format_suggestions;

use grammar::{Element, Step};
pub(crate) use grammar::{PathParseError, ValuePath};

/// A path without a value, or with an unexpected one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PathLookupError {
    #[error("`{step}` not found{}", format_suggestions(near))]
    Missing { step: String, near: Vec<String> },
    #[error("expected {expected}, found {found}")]
    Type { expected: &'static str, found: &'static str },
    #[error("part {index} not found; the last part is {}", count.saturating_sub(1))]
    Part { index: i64, count: usize },
    #[error("`*` selects several values; one is required")]
    Several,
}

/// A value at the end of a path.
pub(crate) enum TargetValue<'v> {
    /// An existing value.
    Existing(&'v mut Value),
    /// A new value, still null.
    New(&'v mut Value),
}

/// The change of one value.
type Change<'c> = dyn FnMut(TargetValue<'_>) -> Result<(), PathLookupError> + 'c;

impl ValuePath {
    /// Finds the only value; an empty mapping, an empty list and null count as missing.
    /// # Errors
    /// `Missing`, and `Several` for a path with `*`.
    pub(crate) fn lookup<'v>(&self, fields: &'v Map<String, Value>) -> Result<&'v Value, PathLookupError> {
        let mut steps = self.steps().iter();
        let Some(Step::Name(first)) = steps.next() else { return Err(missing_error(self.steps(), &[])) };
        let keys = || fields.keys().map(String::as_str).collect::<Vec<_>>();
        let mut at = fields.get(first).ok_or_else(|| missing_error(self.steps(), &keys()))?;
        for step in steps {
            at = step_into(at, step)?.ok_or_else(|| missing_error(std::slice::from_ref(step), &names(at)))?;
        }
        let is_empty = match at {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if is_empty { Err(missing_error(&self.steps()[self.steps().len() - 1..], &[])) } else { Ok(at) }
    }

    /// Calls `change` with every value. With `create`, creates missing parts of the path, suited to that value.
    /// # Errors
    /// `Missing` if there is no value, and the errors of `change`.
    pub(crate) fn edit(
        &self,
        fields: &mut Map<String, Value>,
        create: Option<&Value>,
        change: &mut Change<'_>,
    ) -> Result<(), PathLookupError> {
        let mut walk = Walk { create, change, count: 0 };
        let Some((Step::Name(first), rest)) = self.steps().split_first() else {
            return Err(missing_error(self.steps(), &[]));
        };
        walk.field(fields, first, rest)?;
        if walk.count == 0 { Err(self.first_missing(fields)) } else { Ok(()) }
    }

    /// Returns the first step without a value.
    fn first_missing(&self, fields: &Map<String, Value>) -> PathLookupError {
        let steps = self.steps();
        let Some((Step::Name(first), rest)) = steps.split_first() else { return missing_error(steps, &[]) };
        let Some(mut at) = fields.get(first) else {
            return missing_error(steps, &fields.keys().map(String::as_str).collect::<Vec<_>>());
        };
        for (index, step) in rest.iter().enumerate() {
            let next = match step {
                Step::All => at.get(0),
                step => step_into(at, step).ok().flatten(),
            };
            let Some(next) = next else { return missing_error(&rest[index..], &names(at)) };
            at = next;
        }
        missing_error(&steps[steps.len() - 1..], &[])
    }
}

/// A walk along a path.
struct Walk<'w, 'c> {
    create: Option<&'w Value>,
    change: &'w mut Change<'c>,
    count: usize,
}

impl Walk<'_, '_> {
    fn value(&mut self, value: &mut Value, steps: &[Step], is_new: bool) -> Result<(), PathLookupError> {
        let Some((step, rest)) = steps.split_first() else {
            self.count += 1;
            return (self.change)(if is_new {
                TargetValue::New(value)
            } else {
                TargetValue::Existing(value)
            });
        };
        if value.is_null() && self.create.is_some() {
            *value = match step {
                Step::Name(_) => Value::Object(Map::new()),
                _ => Value::Array(Vec::new()),
            };
        }
        match (step, value) {
            (Step::Name(name), Value::Object(fields)) => self.field(fields, name, rest),
            (Step::Index(index), Value::Object(fields)) => self.field(fields, &index.to_string(), rest),
            (Step::Index(index), Value::Array(items)) => self.index(items, *index, rest),
            (Step::Element(element), Value::Array(items)) => self.elements(items, element, rest),
            (Step::All, Value::Array(items)) => {
                items.iter_mut().try_for_each(|item| self.value(item, rest, false))
            }
            (_, Value::String(text)) => embedded::edit(text, |inner| self.value(inner, steps, false)),
            (Step::Name(_), other) => Err(type_error("a mapping", other)),
            (_, other) => Err(type_error("a list", other)),
        }
    }

    fn field(
        &mut self,
        fields: &mut Map<String, Value>,
        name: &str,
        rest: &[Step],
    ) -> Result<(), PathLookupError> {
        if let Some(value) = fields.get_mut(name) {
            return self.value(value, rest, false);
        }
        if self.create.is_none() {
            return Ok(());
        }
        let value = fields.entry(name).or_insert(Value::Null);
        self.value(value, rest, true)
    }

    fn index(&mut self, items: &mut Vec<Value>, index: usize, rest: &[Step]) -> Result<(), PathLookupError> {
        let is_new = index == items.len() && self.create.is_some();
        if is_new {
            items.push(Value::Null);
        }
        match items.get_mut(index) {
            Some(value) => self.value(value, rest, is_new),
            None => Err(PathLookupError::Missing { step: index.to_string(), near: Vec::new() }),
        }
    }

    fn elements(
        &mut self,
        items: &mut Vec<Value>,
        element: &Element,
        rest: &[Step],
    ) -> Result<(), PathLookupError> {
        let before = self.count;
        for item in items.iter_mut().filter(|item| element.matches(item)) {
            self.value(item, rest, false)?;
        }
        if self.count == before && self.create.is_some() {
            items.push(element.new_item());
            let end = items.len() - 1;
            return self.value(&mut items[end], rest, element.is_single());
        }
        Ok(())
    }
}

fn step_into<'v>(at: &'v Value, step: &Step) -> Result<Option<&'v Value>, PathLookupError> {
    match (step, at) {
        (Step::All, _) => Err(PathLookupError::Several),
        (Step::Name(name), Value::Array(items)) if name == "-" => Ok(items.last()),
        (Step::Name(name), Value::Object(fields)) => Ok(fields.get(name)),
        (Step::Index(index), Value::Object(fields)) => Ok(fields.get(&index.to_string())),
        (Step::Index(index), Value::Array(items)) => Ok(items.get(*index)),
        (Step::Element(element), Value::Array(items)) => Ok(items.iter().find(|item| element.equals(item))),
        (Step::Name(_), other) => Err(type_error("a mapping", other)),
        (_, other) => Err(type_error("a list", other)),
    }
}

fn type_error(expected: &'static str, found: &Value) -> PathLookupError {
    PathLookupError::Type { expected, found: type_name(found) }
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// Makes the error for a missing value. Suggests names similar to the first step.
fn missing_error(steps: &[Step], names: &[&str]) -> PathLookupError {
    let text: Vec<String> = steps.iter().map(ToString::to_string).collect();
    let first = text.first().map(String::as_str).unwrap_or_default();
    let near = api::similar_names(first, names.iter().copied()).into_iter().map(str::to_owned).collect();
    PathLookupError::Missing { step: text.join("."), near }
}
