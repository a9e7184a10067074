//! The objects of a namespace without server-specific values.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::{Map, Value, json};

use super::pair::UNRELATED;

/// Fields that the server sets.
const OF_THE_SERVER: [&str; 4] = ["uid", "resourceVersion", "generation", "creationTimestamp"];
/// Annotations and fields that a move must not leave on any object.
const MARKS: [&str; 3] =
    ["capstan.dev/move", "clusterctl.cluster.x-k8s.io/delete-for-move", "cluster.x-k8s.io/paused"];

/// Objects by kind and name. Owner uids are replaced by kind and name of the owner, and owners are sorted by name.
/// Managed fields are reduced to manager, operation and subresource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture(BTreeMap<String, Value>);

impl Picture {
    pub(crate) fn of(objects: &BTreeMap<String, Value>) -> Self {
        let uids: BTreeMap<&str, &str> =
            objects.iter().map(|(name, object)| (text(&object["metadata"]["uid"]), &**name)).collect();
        let lasting = |(name, object): (&String, &Value)| (name.clone(), without_chance(object, &uids));
        Self(objects.iter().map(lasting).collect())
    }

    /// Objects that a move includes.
    pub(super) fn moving(&self) -> Self {
        self.those(|name| name != UNRELATED)
    }

    /// Objects that a move ignores.
    pub(super) fn staying(&self) -> Self {
        self.those(|name| name == UNRELATED)
    }

    pub(super) fn without_statuses(mut self) -> Self {
        for object in self.0.values_mut().filter_map(Value::as_object_mut) {
            object.remove("status");
        }
        self
    }

    /// Checks the state after any move: all owners exist, and no object is paused, being deleted, or marked by the
    /// tool.
    pub(crate) fn check(&self, when: &str) {
        for (name, object) in &self.0 {
            let metadata = &object["metadata"];
            for mark in MARKS {
                assert_eq!(metadata["annotations"].get(mark), None, "{when}: {mark} of {name}");
            }
            assert!(object["spec"]["paused"].is_null(), "{when}: {name} is paused");
            assert!(metadata["deletionTimestamp"].is_null(), "{when}: {name} is going");
            for owner in metadata["ownerReferences"].as_array().into_iter().flatten() {
                let expected = format!("{} {}", text(&owner["kind"]), text(&owner["name"]));
                assert_eq!(owner["uid"], expected, "{when}: an owner of {name}");
            }
            let managers = metadata["managedFields"].to_string();
            assert!(
                !managers.contains("capstan") && !managers.contains("clusterctl"),
                "{when}: {name} is managed by {managers}"
            );
        }
    }

    /// Checks that another picture is equal. Reports the first difference.
    pub(crate) fn assert_same(&self, found: &Self, when: &str) {
        let names = |picture: &Self| picture.0.keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(names(found), names(self), "{when}");
        for (name, object) in &found.0 {
            assert_eq!(object, &self.0[name], "{when}: {name}");
        }
    }

    fn those(&self, are: impl Fn(&str) -> bool) -> Self {
        let those = self.0.iter().filter(|(name, _)| are(name));
        Self(those.map(|(name, object)| (name.clone(), object.clone())).collect())
    }
}

/// Renders one line per object.
impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, object)| writeln!(f, "{name} {object}"))
    }
}

fn without_chance(object: &Value, uids: &BTreeMap<&str, &str>) -> Value {
    let mut object = object.clone();
    let Some(metadata) = object["metadata"].as_object_mut() else { return object };
    metadata.retain(|field, _| !OF_THE_SERVER.contains(&&**field));
    for owner in list(metadata, "ownerReferences") {
        let name = uids.get(text(&owner["uid"])).copied();
        owner["uid"] = json!(name.unwrap_or("of nothing"));
    }
    list(metadata, "ownerReferences").sort_by_key(|owner| text(&owner["uid"]).to_owned());
    let managers = list(metadata, "managedFields");
    for manager in &mut *managers {
        let part = text(&manager["subresource"]);
        *manager = json!(format!("{} {} {part}", text(&manager["manager"]), text(&manager["operation"])));
    }
    managers.sort_by_key(Value::to_string);
    object
}

fn list<'m>(metadata: &'m mut Map<String, Value>, field: &str) -> &'m mut [Value] {
    metadata.get_mut(field).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
