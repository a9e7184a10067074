//! Tests of patches; expectations were measured on kube-apiserver 1.36.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{fields::tests::schema_reader, schema::SchemaRoot};

/// A minimal Deployment with the patch rules of the real one.
fn schema() -> SchemaRoot {
    let text = json!({"type": "string"});
    let named = |more: Value| {
        let mut fields = json!({"name": text, "value": text});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "object", "properties": fields})
    };
    let merged = |key: Option<&str>, items: Value| {
        let mut list = json!({"type": "array", "x-kubernetes-patch-strategy": "merge", "items": items});
        if let Some(key) = key {
            list["x-kubernetes-patch-merge-key"] = key.into();
        }
        list
    };
    let container = named(json!({
        "env": merged(Some("name"), named(json!({}))),
        "args": {"type": "array", "items": text},
    }));
    let texts = json!({"type": "object", "additionalProperties": text});
    let schema = json!({"type": "object", "properties": {
        "containers": merged(Some("name"), container),
        "finalizers": merged(None, text.clone()),
        "strategy": {"type": "object", "properties": {"type": text, "rolling": texts}},
        "labels": texts,
        "nested": {"type": "object", "additionalProperties": texts},
    }});
    schema_reader::read(&schema, &Value::Null)
}

#[test]
fn a_strategic_patch_merges_by_the_rules_of_each_field() {
    let root = schema();
    let abc = json!([{"name": "a", "value": "1"}, {"name": "b", "value": "1"}, {"name": "c", "value": "1"}]);
    for (what, live, patch, expected) in [
        (
            "items by key, new ones behind",
            json!({"containers": abc}),
            json!({"containers": [{"name": "b", "value": "2"}, {"name": "d"}]}),
            json!({"containers": [
                {"name": "a", "value": "1"}, {"name": "b", "value": "2"}, {"name": "d"}, {"name": "c", "value": "1"}
            ]}),
        ),
        (
            "deleted items",
            json!({"containers": abc}),
            json!({"containers": [{"name": "a", "$patch": "delete"}, {"name": "x", "$patch": "delete"}]}),
            json!({"containers": [{"name": "b", "value": "1"}, {"name": "c", "value": "1"}]}),
        ),
        (
            "a replaced list",
            json!({"containers": abc}),
            json!({"containers": [{"$patch": "replace"}, {"name": "z"}]}),
            json!({"containers": [{"name": "z"}]}),
        ),
        (
            "an order",
            json!({"containers": abc}),
            json!({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}),
            json!({"containers": [
                {"name": "b", "value": "1"}, {"name": "c", "value": "1"}, {"name": "a", "value": "1"}
            ]}),
        ),
        (
            "lists in items",
            json!({"containers": [{"name": "a", "args": ["1"], "env": [{"name": "X", "value": "1"}]}]}),
            json!({"containers": [{"name": "a", "args": ["2"], "env": [{"name": "Y", "value": "1"}]}]}),
            json!({"containers": [
                {"name": "a", "args": ["2"], "env": [{"name": "Y", "value": "1"}, {"name": "X", "value": "1"}]}
            ]}),
        ),
        (
            "a list of text",
            json!({"finalizers": ["a", "b"]}),
            json!({"finalizers": ["c", "a"]}),
            json!({"finalizers": ["c", "a", "b"]}),
        ),
        (
            "text taken from a list",
            json!({"finalizers": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a", "z"]}),
            json!({"finalizers": ["b"]}),
        ),
        (
            "kept fields",
            json!({"strategy": {"type": "R", "rolling": {"x": "1"}}}),
            json!({"strategy": {"$retainKeys": ["type"], "type": "S"}}),
            json!({"strategy": {"type": "S"}}),
        ),
        (
            "a replaced and a deleted object",
            json!({"labels": {"a": "1"}, "strategy": {"type": "R"}}),
            json!({"labels": {"$patch": "replace", "b": "1"}, "strategy": {"$patch": "delete"}}),
            json!({"labels": {"b": "1"}, "strategy": {}}),
        ),
        (
            "nulls and directives of what is new",
            json!({}),
            json!({"labels": {"a": null, "b": "1"}, "strategy": {"$patch": "odd"}}),
            json!({"labels": {"b": "1"}}),
        ),
    ] {
        assert_eq!(strategic(&live, &patch, root.schema()).unwrap(), expected, "{what}");
    }
}

#[test]
fn an_invalid_strategic_patch_is_refused() {
    let root = schema();
    let live = json!({"containers": [{"name": "a"}], "finalizers": ["a"], "nested": {"n": {}}, "labels": {}});
    for (patch, code, message) in [
        (json!([]), 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (json!({"$retainKeys": 1}), 400, "invalid patch format of retainKeys"),
        (json!({"$retainKeys": ["a"], "labels": {}}), 400, "invalid patch format of retainKeys"),
        (json!({"$setElementOrder": []}), 400, "invalid patch format of setElementOrder list"),
        (json!({"$deleteFromPrimitiveList": []}), 400, "invalid patch format of primitive list"),
        (
            json!({"$setElementOrder/finalizers": "x"}),
            500,
            "expected a []interface {}, but received a string",
        ),
        (
            json!({"$setElementOrder/finalizers": ["a"], "finalizers": ["q"]}),
            500,
            "The order in patch list:\n[q]\n doesn't match $setElementOrder list:\n[a]\n",
        ),
        (json!({"finalizers": [1]}), 500, "list element types are not identical: [[a] [1]]"),
        (
            json!({"containers": [{"value": "x"}]}),
            500,
            "map: map[value:x] does not contain declared merge key: name",
        ),
        (
            json!({"containers": [{"$patch": "merge"}]}),
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (json!({"containers": [{"$patch": "odd"}]}), 500, "unknown patch type: odd in map: map[$patch:odd]"),
        (json!({"labels": {"$patch": "odd"}}), 500, "unknown patch type: odd in map: map[$patch:odd]"),
        (
            json!({"nested": {"n": {"x": "1"}}}),
            500,
            "merging an object in json but data type is not struct, instead is: map",
        ),
    ] {
        let status = strategic(&live, &patch, root.schema()).unwrap_err();
        assert_eq!((status.code, &*status.message), (code, message), "{patch}");
    }
}

#[test]
fn a_json_patch_behaves_like_the_real_server() {
    let live = json!({"l": ["a", "b"], "m": {"x": 1}});
    for (operation, expected) in [
        (
            json!({"op": "replace", "path": "/new", "value": 1}),
            json!({"l": ["a", "b"], "m": {"x": 1}, "new": 1}),
        ),
        (json!({"op": "add", "path": "/l/-1", "value": "c"}), json!({"l": ["a", "b", "c"], "m": {"x": 1}})),
        (json!({"op": "add", "path": "/l/-", "value": "c"}), json!({"l": ["a", "b", "c"], "m": {"x": 1}})),
        (json!({"op": "remove", "path": "/l/-1"}), json!({"l": ["a"], "m": {"x": 1}})),
        (json!({"op": "test", "path": "/nope", "value": null}), live.clone()),
        (json!({"op": "test", "path": "", "value": live}), live.clone()),
        (json!({"op": "add", "path": "/m/a~1b~0"}), json!({"l": ["a", "b"], "m": {"x": 1, "a/b~": null}})),
        (json!({"op": "move", "from": "/m/x", "path": "/l/0"}), json!({"l": [1, "a", "b"], "m": {}})),
        (
            json!({"op": "copy", "from": "/m/no", "path": "/l/0"}),
            json!({"l": [null, "a", "b"], "m": {"x": 1}}),
        ),
    ] {
        assert_eq!(json(&live, &json!([operation])).unwrap(), expected, "{operation}");
    }
}

#[test]
fn an_inapplicable_json_patch_is_unprocessable() {
    let live = json!({"l": ["a"], "m": {"x": 1}});
    for operation in [
        json!({"op": "test", "path": "/m/x", "value": 2}),
        json!({"op": "remove", "path": "/m/no"}),
        json!({"op": "move", "from": "/m/no", "path": "/m/y"}),
        json!({"op": "add", "path": "/no/x", "value": 1}),
        json!({"op": "add", "path": "/l/9", "value": 1}),
        json!({"op": "replace", "path": "/l/-", "value": 1}),
        json!({"op": "add", "path": "", "value": {}}),
        json!({"op": "odd", "path": "/m"}),
        json!({"op": "add"}),
    ] {
        let status = json(&live, &json!([operation])).unwrap_err();
        assert_eq!((status.code, &*status.reason), (422, "Invalid"), "{operation}");
    }
}

#[test]
fn a_json_patch_has_a_copy_limit() {
    let double = json!({"op": "copy", "from": "/m", "path": "/m/-"});
    let live = json!({"m": ["x".repeat(1000)]});
    assert!(json(&live, &Value::Array(vec![double.clone(); 8])).is_ok());
    assert_eq!(json(&live, &Value::Array(vec![double; 40])).unwrap_err().code, 422);
}

#[test]
fn a_json_patch_has_the_depth_limit_of_the_store() {
    let nest = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
    let put =
        |levels, path: &str| json(&json!({}), &json!([{"op": "add", "path": path, "value": nest(levels)}]));
    assert!(put(126, "/a").is_ok());
    assert_eq!(put(127, "/a").unwrap_err().code, 422);
    // Each copy is twice as deep as the previous one.
    let deepest = |levels: usize| "/a".repeat(levels);
    let copies = (0..12).map(|n| json!({"op": "copy", "from": "/a", "path": deepest((1 << n) + 1)}));
    assert_eq!(json(&json!({"a": {}}), &copies.collect()).unwrap_err().code, 422);
}

#[test]
fn a_malformed_json_patch_is_a_bad_request() {
    for (patch, message) in [
        (json!({}), "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (json!([3]), "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        (
            json!([{"op": "add", "path": 3}]),
            "json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
        ),
    ] {
        let status = json(&json!({}), &patch).unwrap_err();
        assert_eq!((status.code, status.message), (400, format!("error decoding patch: {message}")));
    }
    let many = Value::Array(vec![json!({"op": "test", "path": "/x"}); 10_001]);
    assert_eq!(json(&json!({}), &many).unwrap_err().code, 413);
}

#[test]
fn a_merge_patch_must_be_an_object() {
    for (patch, message) in [
        (json!(null), "Invalid JSON Patch"),
        (
            json!([]),
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let status = merge(&json!({}), &patch).unwrap_err();
        assert_eq!((status.code, &*status.message), (400, message));
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![any::<bool>().prop_map(Value::from), (0..5).prop_map(Value::from)];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", value(), 0..4).prop_map(|map| map.into_iter().collect())
}

/// Returns the merge patch from one object to another.
fn difference(from: &Value, to: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (from, to) else { return to.clone() };
    let removed = old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name.clone(), Value::Null));
    let changed = new.iter().filter(|(name, value)| old.get(*name) != Some(*value)).map(|(name, value)| {
        (name.clone(), old.get(name).map_or_else(|| value.clone(), |old| difference(old, value)))
    });
    removed.chain(changed).collect()
}

proptest! {
    #[test]
    fn a_computed_merge_patch_gives_the_target(from in object(), to in object()) {
        prop_assert_eq!(merge(&from, &difference(&from, &to)).unwrap(), to);
    }
}

/// This test takes minutes if each item causes a scan of the list.
#[test]
fn long_lists_are_merged_by_key_in_the_order_of_the_patch() {
    const LENGTH: usize = 20_000;
    let root = schema();
    let items = |value: &str| -> Vec<Value> {
        (0..LENGTH).map(|n| json!({"name": n.to_string(), "value": value})).collect()
    };
    let mut backwards = items("2");
    backwards.reverse();
    let (live, patch) = (json!({"containers": items("1")}), json!({"containers": backwards}));
    let patched = strategic(&live, &patch, root.schema()).unwrap();
    assert!(patched == json!({"containers": backwards}));
    let finalizers = |numbers: &mut dyn Iterator<Item = usize>| -> Value {
        json!({"finalizers": numbers.map(|n| n.to_string()).collect::<Vec<_>>()})
    };
    let (live, patch) = (finalizers(&mut (0..LENGTH)), finalizers(&mut (0..LENGTH).rev()));
    assert!(strategic(&live, &patch, root.schema()).unwrap() == patch);
}

#[test]
fn new_items_fill_the_positions_of_deleted_ones() {
    let root = schema();
    let live = json!({"containers": [{"name": "z"}, {"name": "x"}]});
    let patch = json!({
        "containers": [{"name": "z", "$patch": "delete"}, {"name": "y"}],
        "$setElementOrder/containers": [{"name": "y"}],
    });
    let expected = json!({"containers": [{"name": "x"}, {"name": "y"}]});
    assert_eq!(strategic(&live, &patch, root.schema()).unwrap(), expected);
}
