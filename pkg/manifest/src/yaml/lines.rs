//! Positions of fields in a text.

use super::error::line_and_column;
use super::parse;
use super::scalar::{Dialect, Scalar};
use super::tree::{Node, NodeKind};
use crate::{Map, Value, YamlLimits};

/// Returns the line, from 1, of a field such as `patches[0].target` in the first document of a text.
///
/// A missing field has the line of its innermost existing parent. `None` for an unreadable text, or if no part of the
/// field exists.
pub fn line_of(text: &str, field: &str) -> Option<usize> {
    let limits = YamlLimits::default();
    if field.is_empty() || text.len() > limits.size_bytes.min(u32::MAX as usize / 2) {
        return None;
    }
    let nodes = parse::parse(text, limits.depth, Dialect::Settings).ok()?.tree.nodes;
    let (mut at, mut found) = (0, None);
    for step in field.split(['.', '[']) {
        let next = match step.strip_suffix(']').map(str::parse) {
            Some(index) => item(&nodes, at, index.ok()?),
            None => entry(&nodes, at, step),
        };
        let Some((named, value)) = next else { break };
        found = Some(nodes[named].offset as usize);
        at = value;
    }
    Some(line_and_column(text.as_bytes(), found?).0)
}

/// Returns the first document of a text with `START-END` in place of each value. The value starts at byte `START`, and the
/// next key or value at byte `END`. `None` for an unreadable text.
pub fn value_ranges(text: &str) -> Option<Value> {
    let limits = YamlLimits::default();
    if text.len() > limits.size_bytes.min(u32::MAX as usize / 2) {
        return None;
    }
    let nodes = parse::parse(text, limits.depth, Dialect::Objects).ok()?.tree.nodes;
    (!nodes.is_empty()).then(|| value_range(&nodes, 0, text.len()))
}

fn value_range(nodes: &[Node], at: usize, text_end: usize) -> Value {
    match nodes[at].kind {
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => {
            let end = nodes.get(at + 1).map_or(text_end, |next| next.offset as usize);
            Value::String(format!("{}-{end}", nodes[at].offset))
        }
        NodeKind::List { end } => {
            let (mut items, mut next) = (Vec::new(), at + 1);
            while next < end as usize {
                items.push(value_range(nodes, next, text_end));
                next = index_after(nodes, next);
            }
            Value::Array(items)
        }
        NodeKind::Mapping { end } => {
            let (mut fields, mut next) = (Map::new(), at + 1);
            while next < end as usize {
                let value = index_after(nodes, next);
                if let NodeKind::Scalar(Scalar::Text(key)) = &nodes[next].kind {
                    fields.insert(key.clone(), value_range(nodes, value, text_end));
                }
                next = index_after(nodes, value);
            }
            Value::Object(fields)
        }
    }
}

/// Returns the key and the value of an entry of a mapping.
fn entry(nodes: &[Node], at: usize, key: &str) -> Option<(usize, usize)> {
    let NodeKind::Mapping { end } = nodes.get(resolved(nodes, at))?.kind else { return None };
    let mut next = resolved(nodes, at) + 1;
    while next < end as usize {
        let value = index_after(nodes, next);
        if matches!(&nodes[next].kind, NodeKind::Scalar(Scalar::Text(text)) if text == key) {
            return Some((next, value));
        }
        next = index_after(nodes, value);
    }
    None
}

/// Returns an item of a list, as key and value alike.
fn item(nodes: &[Node], at: usize, index: usize) -> Option<(usize, usize)> {
    let NodeKind::List { end } = nodes.get(resolved(nodes, at))?.kind else { return None };
    let mut next = resolved(nodes, at) + 1;
    for _ in 0..index {
        if next >= end as usize {
            return None;
        }
        next = index_after(nodes, next);
    }
    (next < end as usize).then_some((next, next))
}

/// Returns the target of an alias, or the node itself.
fn resolved(nodes: &[Node], at: usize) -> usize {
    match nodes.get(at).map(|node| &node.kind) {
        Some(NodeKind::Alias { target }) => *target as usize,
        _ => at,
    }
}

/// Returns the index after a node and its content.
fn index_after(nodes: &[Node], at: usize) -> usize {
    match nodes[at].kind {
        NodeKind::List { end } | NodeKind::Mapping { end } => end as usize,
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# settings
resources:
- a.yaml
- b.yaml

patches: &p
- path: one
- target: {kind: Pod}
  patch: |-
    - op: remove
more: *p
";

    #[test]
    fn lines_are_those_of_keys_and_items() {
        for (field, line) in [
            ("resources", Some(2)),
            ("resources[0]", Some(3)),
            ("resources[1]", Some(4)),
            ("resources[2]", Some(2)),
            ("patches[1].target.kind", Some(8)),
            ("patches[1].patch", Some(9)),
            ("patches[1].patch.more", Some(9)),
            ("more[0].path", Some(7)),
            ("images", None),
            ("", None),
        ] {
            assert_eq!(line_of(TEXT, field), line, "{field}");
        }
        assert_eq!(line_of("a: [", "a"), None);
    }

    #[test]
    fn ranges_of_values_end_at_the_next_key_or_value() {
        let text = "a: one\nb:\n- 2\n- {c: three}\n";
        let ranges = value_ranges(text).unwrap();
        assert_eq!(ranges, serde_json::json!({"a": "3-7", "b": ["12-16", {"c": "20-27"}]}));
        assert_eq!(value_ranges("a: ["), None);
    }
}
