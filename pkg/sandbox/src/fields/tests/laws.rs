//! Properties that hold for every configuration.

use proptest::{collection, option, prelude::*, sample};
use serde_json::{Value, json};

use super::Server;
use crate::fields::{path_element::PathElement, set::FieldSet};

fn word() -> impl Strategy<Value = String> {
    sample::select(&["a", "b", "c", "d"][..]).prop_map(str::to_owned)
}

/// A spec that fits the test schema.
fn spec() -> impl Strategy<Value = Value> {
    let ports = collection::btree_map((1..4, sample::select(&["TCP", "UDP"][..])), option::of(word()), 0..4);
    (
        option::of(word()),
        option::of(collection::btree_map(word(), word(), 1..3)),
        option::of(collection::btree_set(word(), 1..4).prop_shuffle_items()),
        option::of(ports),
        option::of(collection::vec(word(), 0..3)),
    )
        .prop_map(|(a, data, set, ports, atomic)| {
            let ports = ports.map(|ports| {
                let item = |((port, protocol), name): ((i32, &str), Option<String>)| match name {
                    Some(name) => json!({"port": port, "protocol": protocol, "name": name}),
                    None => json!({"port": port, "protocol": protocol}),
                };
                ports.into_iter().map(item).collect::<Vec<_>>()
            });
            let mut spec = json!({"a": a, "data": data, "set": set, "ports": ports, "atomic": atomic});
            spec.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            spec
        })
}

/// Strategy for the shuffled items of a set of words.
trait ShuffleItems: Strategy<Value = std::collections::BTreeSet<String>> + Sized {
    fn prop_shuffle_items(self) -> impl Strategy<Value = Vec<String>> {
        self.prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle()
    }
}

impl<S: Strategy<Value = std::collections::BTreeSet<String>>> ShuffleItems for S {}

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        word().prop_map(|name| PathElement::field(&name)),
        word().prop_map(|text| PathElement::Value(text.into())),
        (word(), 0..3_i64)
            .prop_map(|(name, n)| PathElement::key(vec![(name.into(), n.into()), ("z".into(), 1.5.into())])),
        (0..3_i64).prop_map(PathElement::Index),
    ]
}

fn set() -> impl Strategy<Value = FieldSet> {
    collection::vec(collection::vec(element(), 1..4), 0..8).prop_map(|paths| {
        let mut set = FieldSet::default();
        for path in paths {
            set.insert(&path);
        }
        set
    })
}

proptest! {
    #[test]
    fn applying_twice_changes_nothing(first in spec(), second in spec()) {
        let mut server = Server::new();
        server.apply("a", first, false).unwrap();
        server.apply("b", second.clone(), true).unwrap();
        let before = server.live.clone();
        server.apply("b", second, false).unwrap();
        prop_assert_eq!(server.live, before);
    }

    #[test]
    fn an_empty_apply_removes_solely_owned_fields(first in spec(), second in spec()) {
        let mut server = Server::new();
        server.apply("a", first.clone(), false).unwrap();
        let alone = server.spec();
        if server.apply("b", second.clone(), false).is_ok() {
            server.apply("b", json!({}), false).unwrap();
            // Fields of both configurations stay, in the order of the last one applied. An empty list has no owner, so
            // it stays too. An object that lost all its fields is null.
            prop_assert_eq!(sorted(server.spec()), sorted(alone));
        }
    }

    #[test]
    fn the_live_object_contains_the_applied_spec(first in spec(), second in spec()) {
        let mut server = Server::new();
        server.apply("a", first, false).unwrap();
        server.apply("b", second.clone(), true).unwrap();
        let live = server.spec();
        for (name, value) in second.as_object().unwrap() {
            match (value, &live[name]) {
                (Value::Array(items), Value::Array(live)) => {
                    prop_assert!(items.iter().all(|item| live.iter().any(|live| contains(live, item))));
                }
                (value, live) => prop_assert!(contains(live, value)),
            }
        }
    }

    #[test]
    fn field_sets_obey_set_laws(a in set(), b in set(), c in set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert!(a.difference(&a).is_empty());
        prop_assert!(a.difference(&b).intersection(&b).is_empty());
        prop_assert_eq!(a.union(&b).difference(&b), a.difference(&b));
        for path in a.paths() {
            prop_assert!(a.contains(&path));
            prop_assert_eq!(a.recursive_difference(&b).contains(&path), !(1..=path.len()).any(|n| b.contains(&path[..n])));
        }
    }

    #[test]
    fn field_sets_survive_a_round_trip(a in set()) {
        prop_assert_eq!(FieldSet::from_json(&a.to_json()).unwrap(), a);
    }
}

/// Sorts lists and removes empty values.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by_key(Value::to_string);
            if items.is_empty() { Value::Null } else { Value::Array(items) }
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, sorted(value)));
            let fields: serde_json::Map<_, _> = fields.filter(|(_, value)| !value.is_null()).collect();
            if fields.is_empty() { Value::Null } else { Value::Object(fields) }
        }
        value => value,
    }
}

fn contains(live: &Value, part: &Value) -> bool {
    match (live, part) {
        (Value::Object(live), Value::Object(part)) => {
            part.iter().all(|(name, part)| live.get(name).is_some_and(|live| contains(live, part)))
        }
        (live, part) => live == part,
    }
}
