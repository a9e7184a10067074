//! Metadata in flat files: `age__list_0__map_enc` is the field `enc` of the first element of `age`.
//!
//! Source: sops v3.13 stores/flatten.go.

use std::collections::BTreeMap;

use crate::SopsError;
use crate::tree::{Entry, MAX_DEPTH, Value};

const MAP_SEPARATOR: &str = "__map_";
const LIST_SEPARATOR: &str = "__list_";

/// A part of a flat name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Field(String),
    Element(usize),
}

/// A node during the conversion.
#[derive(Default)]
struct Node {
    value: Option<Value>,
    children: BTreeMap<Step, Node>,
}

/// Converts flat fields to a tree.
///
/// # Errors
/// `Metadata` if a name occurs twice, or names values of different types, or a list has a gap.
pub(crate) fn unflatten(fields: Vec<(String, Value)>) -> Result<Vec<Entry>, SopsError> {
    let mut root = Node::default();
    for (name, value) in fields {
        let mut node = &mut root;
        for step in steps(&name)? {
            node = node.children.entry(step).or_default();
        }
        if node.value.replace(value).is_some() {
            return Err(SopsError::Metadata(format!("`{name}` occurs twice")));
        }
    }
    match root.into_value()? {
        Value::Branch(branch) => Ok(branch),
        _ => Err(SopsError::Metadata("they are no mapping".to_owned())),
    }
}

fn steps(name: &str) -> Result<Vec<Step>, SopsError> {
    let mut steps = Vec::new();
    let mut is_element = false;
    let mut rest = name;
    loop {
        let next =
            [MAP_SEPARATOR, LIST_SEPARATOR].into_iter().filter_map(|it| Some((rest.find(it)?, it))).min();
        let part = next.map_or(rest, |(end, _)| &rest[..end]);
        steps.push(if is_element {
            // The index of an element that cannot be parsed is the first one, as in sops.
            Step::Element(part.parse().unwrap_or_default())
        } else {
            Step::Field(part.to_owned())
        });
        let Some((end, separator)) = next else { return Ok(steps) };
        if steps.len() == MAX_DEPTH {
            return Err(SopsError::Metadata(format!("they are nested deeper than {MAX_DEPTH} levels")));
        }
        is_element = separator == LIST_SEPARATOR;
        rest = &rest[end + separator.len()..];
    }
}

impl Node {
    fn into_value(self) -> Result<Value, SopsError> {
        let is_list = matches!(self.children.keys().next_back(), Some(Step::Element(_)));
        let mut fields = Vec::new();
        let mut items = Vec::new();
        for (index, (step, child)) in self.children.into_iter().enumerate() {
            match step {
                Step::Field(key) if !is_list => fields.push(Entry::field(key, child.into_value()?)),
                Step::Element(position) if position == index => items.push(child.into_value()?),
                _ => return Err(SopsError::Metadata("a list has a gap, or is a mapping too".to_owned())),
            }
        }
        match (self.value, is_list, fields.is_empty()) {
            (Some(value), false, true) => Ok(value),
            (Some(_), ..) => Err(SopsError::Metadata("a text is a list or a mapping too".to_owned())),
            (None, true, _) => Ok(Value::List(items)),
            (None, false, _) => Ok(Value::Branch(fields)),
        }
    }
}
