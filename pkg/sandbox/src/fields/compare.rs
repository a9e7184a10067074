//! Differences between two objects, by path.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    path_element::{PathElement, equals},
    set::FieldSet,
    shape::{ListRule, MapRule, Relation, Shape, ShapeClass},
    typed::item_element,
};

/// The difference between two objects of one shape.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Fields of the first object only.
    pub(super) removed: FieldSet,
    /// Fields of both objects with different values.
    pub(super) modified: FieldSet,
    /// Fields of the second object only.
    pub(super) added: FieldSet,
}

impl Comparison {
    /// Returns the difference without these fields and their descendants.
    pub(super) fn without(self, fields: &FieldSet) -> Self {
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }

    /// Returns the fields that the second object adds or changes.
    pub(super) fn changed(&self) -> FieldSet {
        self.modified.union(&self.added)
    }
}

/// Compares two objects that fit their shape.
pub(super) fn compare(old: &Value, new: &Value, shape: Shape<'_>) -> Comparison {
    let mut walk = Comparer { path: Vec::new(), comparison: Comparison::default() };
    walk.values(Some(old), Some(new), shape);
    walk.comparison
}

struct Comparer {
    path: Vec<PathElement>,
    comparison: Comparison,
}

impl Comparer {
    fn values(&mut self, old: Option<&Value>, new: Option<&Value>, shape: Shape<'_>) {
        let (old_choice, new_choice) = (shape.choice(old), shape.choice(new));
        let leaf = match (old, new) {
            (_, None) => self.kind(old, new, shape.kind(old_choice)),
            (None, Some(_)) => self.kind(old, new, shape.kind(new_choice)),
            (Some(_), Some(_)) => {
                // A value of another class is walked twice: its old fields are removed, its new fields are added.
                if old_choice != new_choice {
                    self.kind(old, new, shape.kind(old_choice));
                }
                self.kind(old, new, shape.kind(new_choice))
            }
        };
        if !leaf {
            match (old, new) {
                (None, _) => self.comparison.added.insert(&self.path),
                (_, None) => self.comparison.removed.insert(&self.path),
                (Some(_), Some(_)) => {}
            }
        }
    }

    /// Walks both values as one class. Returns true if they were compared as a whole.
    fn kind(&mut self, old: Option<&Value>, new: Option<&Value>, kind: ShapeClass<'_>) -> bool {
        let hollow_map =
            |value: Option<&Value>| value.and_then(Value::as_object).is_none_or(serde_json::Map::is_empty);
        let hollow_list = |value: Option<&Value>| value.and_then(Value::as_array).is_none_or(Vec::is_empty);
        match kind {
            ShapeClass::Scalar(_) => self.leaf(old, new),
            ShapeClass::Map(map) if map.atomic => self.leaf(old, new),
            ShapeClass::List(list) if matches!(list.relation, Relation::Atomic) => self.leaf(old, new),
            ShapeClass::Map(map) => {
                if hollow_map(old) && hollow_map(new) {
                    return self.leaf(old, new);
                }
                self.maps(old.and_then(Value::as_object), new.and_then(Value::as_object), map);
                false
            }
            ShapeClass::List(list) => {
                if hollow_list(old) && hollow_list(new) {
                    return self.leaf(old, new);
                }
                self.lists(old.and_then(Value::as_array), new.and_then(Value::as_array), list);
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (None, _) => self.comparison.added.insert(&self.path),
            (_, None) => self.comparison.removed.insert(&self.path),
            (Some(old), Some(new)) if !equals(old, new) => self.comparison.modified.insert(&self.path),
            (Some(_), Some(_)) => {}
        }
        true
    }

    fn below(&mut self, element: PathElement, old: Option<&Value>, new: Option<&Value>, shape: Shape<'_>) {
        self.path.push(element);
        self.values(old, new, shape);
        self.path.pop();
    }

    fn maps(
        &mut self,
        old: Option<&serde_json::Map<String, Value>>,
        new: Option<&serde_json::Map<String, Value>>,
        map: MapRule<'_>,
    ) {
        for (name, value) in old.into_iter().flatten() {
            let shape = map.field(name).unwrap_or(Shape::Untyped);
            self.below(PathElement::field(name), Some(value), new.and_then(|new| new.get(name)), shape);
        }
        for (name, value) in new.into_iter().flatten() {
            if old.is_none_or(|old| !old.contains_key(name)) {
                let shape = map.field(name).unwrap_or(Shape::Untyped);
                self.below(PathElement::field(name), None, Some(value), shape);
            }
        }
    }

    fn lists(&mut self, old: Option<&Vec<Value>>, new: Option<&Vec<Value>>, list: ListRule<'_>) {
        let mut items: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old.into_iter().flatten() {
            if let Some(Ok(element)) = item_element(item, list) {
                items.entry(element).or_default().0.push(item);
            }
        }
        for item in new.into_iter().flatten() {
            if let Some(Ok(element)) = item_element(item, list) {
                items.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in items {
            self.items(element, &old, &new, list.items);
        }
    }

    /// Compares list items. Items with equal keys are compared as a whole.
    fn items(&mut self, element: PathElement, old: &[&Value], new: &[&Value], shape: Shape<'_>) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.below(element, old.first().copied(), new.first().copied(), shape),
            ([_, _, ..], [_, _, ..]) => {
                let equal = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| equals(old, new));
                if !equal {
                    self.path.push(element);
                    self.comparison.modified.insert(&self.path);
                    self.path.pop();
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.below(element.clone(), None, Some(new), shape);
                }
                self.path.push(element);
                self.comparison.removed.insert(&self.path);
                self.path.pop();
            }
            (_, [_, _, ..]) => {
                if let Some(old) = old.first() {
                    self.below(element.clone(), Some(old), None, shape);
                }
                self.path.push(element);
                self.comparison.added.insert(&self.path);
                self.path.pop();
            }
        }
    }
}
