//! Objects that a watch has reported, to detect deletions after a list.

use std::collections::{BTreeMap, btree_map::Entry};

use manifest::{Object, Value};
use serde_json::Map;

use super::WatchEvent;

/// The last state of every object by namespace and name: only metadata, to save memory.
#[derive(Debug, Default)]
pub(super) struct WatchCache(BTreeMap<(String, String), Object>);

impl WatchCache {
    pub(super) fn add(&mut self, object: &Object) {
        self.0.insert(object_id(object), metadata_only(object));
    }

    pub(super) fn remove(&mut self, object: &Object) {
        self.0.remove(&object_id(object));
    }

    /// Replaces the known objects by a list; returns the events of the differences.
    pub(super) fn replace(&mut self, objects: Vec<Object>) -> Vec<WatchEvent> {
        let mut before = std::mem::take(&mut self.0);
        let mut events = Vec::new();
        for object in objects {
            let place = object_id(&object);
            let last = before.remove(&place);
            match &last {
                Some(last) if text(last, "uid") != text(&object, "uid") => {
                    events.push(WatchEvent::Deleted(last.clone()));
                    events.push(WatchEvent::Updated(object.clone()));
                }
                Some(last) if text(last, "resourceVersion") == text(&object, "resourceVersion") => {}
                _ => events.push(WatchEvent::Updated(object.clone())),
            }
            if let Entry::Vacant(free) = self.0.entry(place) {
                free.insert(metadata_only(&object));
            }
        }
        events.extend(before.into_values().map(WatchEvent::Deleted));
        events
    }
}

fn object_id(object: &Object) -> (String, String) {
    (object.namespace().to_owned(), object.name().to_owned())
}

fn text<'o>(object: &'o Object, field: &str) -> &'o str {
    object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default()
}

fn metadata_only(object: &Object) -> Object {
    let fields = object.as_map();
    let mut kept = Map::new();
    for key in ["apiVersion", "kind"] {
        kept.extend(fields.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    if let Some(metadata) = fields.get("metadata").and_then(Value::as_object) {
        let fields = metadata.iter().filter(|(key, _)| *key != "managedFields");
        kept.insert("metadata".to_owned(), fields.map(|(key, value)| (key.clone(), value.clone())).collect());
    }
    Object::from_map(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, uid: &str, version: &str) -> Object {
        let metadata = json!({"name": name, "uid": uid, "resourceVersion": version, "managedFields": []});
        json!({"kind": "A", "metadata": metadata, "spec": {}}).try_into().unwrap()
    }

    fn event_lines(events: &[WatchEvent]) -> Vec<String> {
        let line = |word: &str, object: &Object| format!("{word} {} {}", object.name(), text(object, "uid"));
        let line = |event: &WatchEvent| match event {
            WatchEvent::Updated(object) => line("is", object),
            WatchEvent::Deleted(object) => line("gone", object),
        };
        events.iter().map(line).collect()
    }

    #[test]
    fn a_list_reports_new_changed_recreated_and_deleted_objects() {
        let mut known = WatchCache::default();
        let first = known.replace(["a", "b", "c", "d"].map(|name| object(name, "1", "5")).into());
        assert_eq!(event_lines(&first), ["is a 1", "is b 1", "is c 1", "is d 1"]);
        known.remove(&object("d", "1", "6"));
        known.add(&object("e", "1", "7"));
        let next = known.replace(vec![object("a", "1", "5"), object("b", "1", "9"), object("c", "2", "9")]);
        assert_eq!(event_lines(&next), ["is b 1", "gone c 1", "is c 2", "gone e 1"]);
    }

    #[test]
    fn only_metadata_is_cached() {
        let kept = metadata_only(&object("a", "1", "5")).into_value();
        assert_eq!(kept, json!({"kind": "A", "metadata": {"name": "a", "uid": "1", "resourceVersion": "5"}}));
    }
}
