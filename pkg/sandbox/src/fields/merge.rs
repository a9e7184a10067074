//! The merge of an applied configuration into a live object.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::{
    path_element::PathElement,
    shape::{ListRule, MapRule, Relation, Shape, ShapeClass},
    typed::item_element,
};

/// Merges a configuration into a live object. Fields of the configuration win; other fields keep their values.
///
/// Shape: both objects fit the shape, and the configuration has no two items with equal keys. List items follow the
/// order of the configuration. Other items of the live object keep their positions between them.
pub(super) fn merge(live: &Value, configuration: &Value, shape: Shape<'_>) -> Value {
    match shape.kind(shape.choice(Some(configuration))) {
        ShapeClass::Scalar(_) => configuration.clone(),
        ShapeClass::Map(map) => {
            let (old, new) = (live.as_object(), configuration.as_object());
            let hollow =
                old.is_none_or(serde_json::Map::is_empty) && new.is_none_or(serde_json::Map::is_empty);
            if map.atomic || hollow { configuration.clone() } else { merge_maps(old, new, map) }
        }
        ShapeClass::List(list) => {
            let old = live.as_array().map_or(&[][..], Vec::as_slice);
            let new = configuration.as_array().map_or(&[][..], Vec::as_slice);
            if matches!(list.relation, Relation::Atomic) || (old.is_empty() && new.is_empty()) {
                configuration.clone()
            } else {
                Value::Array(merge_lists(old, new, list))
            }
        }
    }
}

fn merge_maps(
    live: Option<&serde_json::Map<String, Value>>,
    configuration: Option<&serde_json::Map<String, Value>>,
    map: MapRule<'_>,
) -> Value {
    let mut out = live.cloned().unwrap_or_default();
    for (name, value) in configuration.into_iter().flatten() {
        let merged = match live.and_then(|live| live.get(name)) {
            Some(live) => merge(live, value, map.field(name).unwrap_or(Shape::Untyped)),
            None => value.clone(),
        };
        out.insert(name.clone(), merged);
    }
    Value::Object(out)
}

/// Merges two lists. Items of both lists are merged; live items with equal keys are replaced.
fn merge_lists(live: &[Value], configuration: &[Value], list: ListRule<'_>) -> Vec<Value> {
    let (left, right) = (indexed(live, list), indexed(configuration, list));
    let mut weave = ListMerger {
        live: BTreeMap::new(),
        applied: right.iter().map(|(element, item)| (element, *item)).collect(),
        shared_order: VecDeque::new(),
        merged: BTreeSet::new(),
        out: Vec::with_capacity(left.len().max(right.len())),
        items: list.items,
    };
    for (element, item) in &left {
        weave.live.entry(element).and_modify(|known| *known = None).or_insert(Some(*item));
    }
    weave.shared_order =
        right.iter().map(|(element, _)| element).filter(|element| weave.live.contains_key(element)).collect();
    let mut next_shared = weave.shared_order.pop_front();
    let (mut l, mut r) = (0, 0);
    while l < left.len() || r < right.len() {
        if let (Some((from_left, _)), Some((from_right, _))) = (left.get(l), right.get(r)) {
            if from_left == from_right {
                weave.append(from_right);
                (l, r) = (l + 1, r + 1);
                next_shared = weave.shared_order.pop_front();
                continue;
            }
            // Both lists contain the item, but other shared items come first.
            if weave.applied.contains_key(from_left) && next_shared.is_some_and(|next| next != from_left) {
                l += 1;
                continue;
            }
        }
        if let Some((element, item)) = left.get(l) {
            if !weave.applied.contains_key(element) {
                weave.out.push((*item).clone());
                l += 1;
                continue;
            }
            if weave.merged.contains(element) {
                l += 1;
            }
        }
        if let Some((element, _)) = right.get(r) {
            weave.append(element);
            r += 1;
            if next_shared == Some(element) {
                next_shared = weave.shared_order.pop_front();
            }
        }
    }
    weave.out
}

struct ListMerger<'a> {
    /// Live items by key. `None` for items with equal keys.
    live: BTreeMap<&'a PathElement, Option<&'a Value>>,
    applied: BTreeMap<&'a PathElement, &'a Value>,
    /// The remaining items of both lists, in the configuration's order.
    shared_order: VecDeque<&'a PathElement>,
    merged: BTreeSet<&'a PathElement>,
    out: Vec<Value>,
    items: Shape<'a>,
}

impl<'a> ListMerger<'a> {
    /// Appends an item of the configuration, merged with the live item if one exists.
    fn append(&mut self, element: &'a PathElement) {
        self.merged.insert(element);
        let Some(wanted) = self.applied.get(element) else { return };
        self.out.push(match self.live.get(element) {
            Some(Some(live)) => merge(live, wanted, self.items),
            Some(None) | None => (*wanted).clone(),
        });
    }
}

fn indexed<'a>(items: &'a [Value], list: ListRule<'_>) -> Vec<(PathElement, &'a Value)> {
    items.iter().filter_map(|item| Some((item_element(item, list)?.ok()?, item))).collect()
}
