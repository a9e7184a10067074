//! The differences between two lists of objects, such as two versions of a folder of manifests. Pure.

use std::collections::{BTreeMap, BTreeSet};

use manifest::{Object, Value};

use super::{ObjectPair, comparable_value, is_same};
use crate::{ObjectKey, key_of};

/// The deepest path that is shown. Deeper changes are changes of the value there.
const MAX_DEPTH: usize = 8;
/// Fields that identify the items of a list.
const ITEM_KEYS: [&str; 2] = ["name", "key"];

/// An object that differs between two lists.
#[derive(Clone, Debug)]
pub struct ObjectDifference {
    /// The key of the object.
    pub key: ObjectKey,
    /// The object in both lists.
    pub pair: ObjectPair,
    /// The paths of the changed fields in the syntax of jq, sorted. Empty for an object that only one list has.
    pub fields: Vec<String>,
}

/// The differences between two lists.
#[derive(Clone, Debug, Default)]
pub struct ListComparison {
    /// The objects that differ, by key.
    pub differences: Vec<ObjectDifference>,
    /// The number of objects that both lists have alike.
    pub unchanged: usize,
}

/// Compares two lists of objects. The order of objects and of fields does not matter. If a list has an object twice, the
/// last one counts.
pub fn compare_objects(before: Vec<Object>, after: Vec<Object>) -> ListComparison {
    let by_key = |objects: Vec<Object>| -> BTreeMap<ObjectKey, Object> {
        objects.into_iter().map(|object| (key_of(&object), object)).collect()
    };
    let (mut before, mut after) = (by_key(before), by_key(after));
    let keys: BTreeSet<ObjectKey> = before.keys().chain(after.keys()).cloned().collect();
    let mut comparison = ListComparison::default();
    for key in keys {
        let pair = ObjectPair { before: before.remove(&key), after: after.remove(&key) };
        if let (Some(before), Some(after)) = (&pair.before, &pair.after)
            && is_same(before, after)
        {
            comparison.unchanged += 1;
            continue;
        }
        let fields = changed_fields(&pair);
        comparison.differences.push(ObjectDifference { key, pair, fields });
    }
    comparison
}

fn changed_fields(pair: &ObjectPair) -> Vec<String> {
    let mut fields = BTreeSet::new();
    if let (Some(before), Some(after)) =
        (comparable_value(pair.before.as_ref()), comparable_value(pair.after.as_ref()))
    {
        collect(&before, &after, String::new(), MAX_DEPTH, &mut fields);
    }
    fields.into_iter().collect()
}

/// Adds the paths of all values that differ.
fn collect(before: &Value, after: &Value, path: String, depth: usize, fields: &mut BTreeSet<String>) {
    if before == after {
        return;
    }
    let inner = depth.checked_sub(1);
    match (before, after, inner) {
        (Value::Object(before), Value::Object(after), Some(depth)) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for name in names {
                let path = format!("{path}{}", step(name));
                match (before.get(name), after.get(name)) {
                    (Some(before), Some(after)) => collect(before, after, path, depth, fields),
                    _ => {
                        fields.insert(path);
                    }
                }
            }
        }
        (Value::Array(before), Value::Array(after), Some(depth)) => {
            let Some((before, after)) = by_item_key(before).zip(by_item_key(after)) else {
                fields.insert(path);
                return;
            };
            let names: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
            let known = fields.len();
            for name in names {
                let path = format!("{path}[{}={}]", name.0, Value::from(name.1));
                match (before.get(&name), after.get(&name)) {
                    (Some(before), Some(after)) => collect(before, after, path, depth, fields),
                    _ => {
                        fields.insert(path);
                    }
                }
            }
            if fields.len() == known {
                // Only the order differs.
                fields.insert(path);
            }
        }
        _ => {
            fields.insert(if path.is_empty() { ".".to_owned() } else { path });
        }
    }
}

/// Returns the items of a list by a field that identifies all of them. None if there is no such field.
fn by_item_key(items: &[Value]) -> Option<BTreeMap<(&'static str, &str), &Value>> {
    ITEM_KEYS.into_iter().find_map(|key| {
        let named: Option<BTreeMap<_, _>> =
            items.iter().map(|item| Some(((key, item.get(key)?.as_str()?), item))).collect();
        named.filter(|named| named.len() == items.len())
    })
}

/// Returns a step of a path in the syntax of jq.
fn step(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_plain) {
        format!(".{name}")
    } else {
        format!("[{}]", Value::from(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(spec: &Value) -> Object {
        let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec});
        Object::try_from(value).unwrap()
    }

    fn fields(before: &Value, after: &Value) -> Vec<String> {
        let comparison = compare_objects(vec![object(before)], vec![object(after)]);
        comparison.differences.into_iter().flat_map(|difference| difference.fields).collect()
    }

    #[test]
    fn changed_fields_are_named_like_in_jq() {
        for (before, after, expected) in [
            (
                json!({"a": 1, "b": {"c": 1}}),
                json!({"a": 2, "b": {"d/e": 1}}),
                &[".spec.a", ".spec.b.c", r#".spec.b["d/e"]"#][..],
            ),
            (
                json!({"containers": [{"name": "a", "image": "x"}, {"name": "b"}]}),
                json!({"containers": [{"name": "a", "image": "y"}]}),
                &[r#".spec.containers[name="a"].image"#, r#".spec.containers[name="b"]"#],
            ),
            (
                json!({"l": [{"name": "a"}, {"name": "b"}]}),
                json!({"l": [{"name": "b"}, {"name": "a"}]}),
                &[".spec.l"],
            ),
            (json!({"l": [1, 2]}), json!({"l": [1]}), &[".spec.l"]),
            (json!({"l": []}), json!({"l": [{"name": "a"}]}), &[r#".spec.l[name="a"]"#]),
            (json!({"l": [1]}), json!({"l": {}}), &[".spec.l"]),
        ] {
            assert_eq!(fields(&before, &after), expected);
        }
    }

    #[test]
    fn objects_are_compared_by_key_and_without_their_order() {
        let named = |name: &str, value: i64| {
            let mut object = object(&json!({"v": value}));
            object.set_name(name);
            object
        };
        let before = vec![named("a", 1), named("b", 1), named("c", 1)];
        let after = vec![named("d", 1), named("c", 1), named("b", 2)];
        let comparison = compare_objects(before, after);
        assert_eq!(comparison.unchanged, 1);
        let found: Vec<_> = comparison
            .differences
            .iter()
            .map(|one| (one.key.name.as_str(), one.pair.before.is_some(), one.pair.after.is_some()))
            .collect();
        assert_eq!(found, [("a", true, false), ("b", true, true), ("d", false, true)]);
    }
}
