//! The content hash at the end of a generated object's name.

use std::sync::Arc;

use manifest::{Map, Object, Value, go_json, provenance::FieldOrigin};
use sha2::{Digest, Sha256};

use crate::accumulator::Accumulator;
use crate::scope::Scope;

/// Number of characters of the hash in a name.
const LENGTH: usize = 10;
/// Hexadecimal digits, without those that could spell words.
const DIGITS: &[u8; 16] = b"gh2k456789mbcdtf";

/// Appends the hash to the names of the objects that need one.
pub(crate) fn run(_scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    append(objects);
}

/// Appends the hash to the names of the objects that need one.
pub(crate) fn append(objects: &mut Accumulator) {
    let setter = Arc::new(FieldOrigin { field: "content hash".to_owned(), ..FieldOrigin::default() });
    objects.edit_all(|resource| {
        if resource.needs_hash {
            let name = format!("{}-{}", resource.object.name(), hash(&resource.object));
            resource.object.set_name(&name);
            resource.object.record_provenance(&setter);
        }
    });
}

/// Hashes the content of an object: ConfigMaps and Secrets without their metadata, other objects as a whole.
/// Source: kustomize v5.8.1 api/hasher; differs: objects of other kinds are hashed as JSON, not as the nodes of its
/// parser.
pub(crate) fn hash(object: &Object) -> String {
    let content = match object.kind() {
        kind @ "ConfigMap" => content(object, kind, &["data"], &["binaryData"]),
        kind @ "Secret" => content(object, kind, &["data", "type"], &["stringData"]),
        _ => object.as_map().clone(),
    };
    let digest = Sha256::digest(go_json(&Value::Object(content)));
    let halves = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.take(LENGTH).map(|half| char::from(DIGITS[usize::from(half)])).collect()
}

/// Picks the fields to hash; a missing field of `always` counts as empty.
fn content(object: &Object, kind: &str, always: &[&str], mappings: &[&str]) -> Map<String, Value> {
    let field = |name: &str| object.get(&[name]).filter(|value| !value.is_null()).cloned();
    let empty = || Value::String(String::new());
    // kustomize reads the name from a field called `metadata/name`, which never exists.
    let fixed = [("kind", kind.into()), ("name", empty())];
    let kept = always.iter().map(|name| (*name, field(name).unwrap_or_else(empty)));
    let others = mappings.iter().filter_map(|name| Some((*name, field(name).filter(Value::is_object)?)));
    fixed.into_iter().chain(kept).chain(others).map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::TreePath;
    use crate::resource::{ObjectOrigin, Resource};

    #[test]
    fn a_hash_covers_the_content_of_config_maps_and_secrets() {
        let cases = [
            (json!({"kind": "ConfigMap", "data": {"b": "<x>&y", "a": "é😀"}}), "cct9t99kf4"),
            (json!({"kind": "ConfigMap"}), "6ct58987ht"),
            (json!({"kind": "ConfigMap", "metadata": {"name": "x"}, "immutable": true}), "6ct58987ht"),
            (json!({"kind": "ConfigMap", "data": null, "binaryData": null}), "6ct58987ht"),
            (json!({"kind": "ConfigMap", "binaryData": {"one": ""}}), "6mtk2m274t"),
            (json!({"kind": "ConfigMap", "data": {"one": ""}, "binaryData": {"two": ""}}), "698h7c7t9m"),
            (json!({"kind": "Secret", "type": "Opaque", "data": {"p": "cQ=="}}), "hb2dth72f6"),
        ];
        for (object, expected) in cases {
            assert_eq!(hash(&Object::try_from(object.clone()).unwrap()), expected, "{object}");
        }
    }

    #[test]
    fn a_hashed_object_is_found_by_both_names() {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let origin = ObjectOrigin::File(TreePath::new("/a.yaml")).into();
        let mut resource = Resource::new(object.try_into().unwrap(), origin);
        resource.needs_hash = true;
        let former = resource.id().clone();
        let mut objects = Accumulator::default();
        let position = objects.append(resource).unwrap();
        append(&mut objects);
        assert_eq!(objects.get(position).unwrap().object.name(), "a-6ct58987ht");
        assert_eq!(objects.find_by_any_id(&former).collect::<Vec<_>>(), [position]);
    }

    #[test]
    fn objects_of_other_kinds_are_hashed_as_a_whole() {
        let of = |object: Value| hash(&Object::try_from(object).unwrap());
        let first = of(json!({"kind": "A", "spec": {"a": 1}}));
        assert_ne!(first, of(json!({"kind": "A", "spec": {"a": 2}})));
        assert_eq!(first.len(), LENGTH);
    }
}
