//! Provenance of values that were substituted in the source text of an object.

use std::sync::Arc;

use super::{Children, FieldOrigin, Node};
use crate::{Map, Value};

/// Finds the fields of an object that have marks in `marked`, another parse of the same text. `setter` returns the
/// setter of a text with a mark.
pub(super) fn fields(
    now: &Map<String, Value>,
    marked: &Map<String, Value>,
    setter: &dyn Fn(&str) -> Option<Arc<FieldOrigin>>,
) -> Node {
    let found = now.iter().filter_map(|(key, value)| {
        let node = node(value, marked.get(key)?, setter);
        (!node.is_empty()).then(|| (key.clone(), node))
    });
    Node::default().with_children(Children::of_fields(found.collect()))
}

fn node(now: &Value, marked: &Value, setter: &dyn Fn(&str) -> Option<Arc<FieldOrigin>>) -> Node {
    match (now, marked) {
        (Value::Object(now), Value::Object(marked)) => fields(now, marked, setter),
        (Value::Array(now), Value::Array(marked)) if now.len() == marked.len() => {
            let nodes = now.iter().zip(marked).map(|(now, marked)| node(now, marked, setter));
            let found = nodes.enumerate().filter(|(_, node)| !node.is_empty());
            Node::default().with_children(Children::of_items(found.collect()))
        }
        // The substituted text is a structure: a list or a mapping.
        (_, marked) => Node { origin: first(marked, setter), ..Node::default() },
    }
}

fn first(marked: &Value, setter: &dyn Fn(&str) -> Option<Arc<FieldOrigin>>) -> Option<Arc<FieldOrigin>> {
    match marked {
        Value::String(text) => setter(text),
        Value::Array(items) => items.iter().find_map(|item| first(item, setter)),
        Value::Object(fields) => {
            fields.iter().find_map(|(key, value)| setter(key).or_else(|| first(value, setter)))
        }
        _ => None,
    }
}
