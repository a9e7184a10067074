//! The state of a cluster, without fields that differ between runs.

use serde_json::Value;
use support::{fixture::Fixture, object_snapshot::ObjectSnapshot};

/// Objects by kind, namespace and name, sorted.
pub(super) type State = Vec<(String, Value)>;

/// Fields that only servers and controllers write.
const BY_OTHERS: [&str; 7] =
    ["name", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences"];

pub(super) async fn state(fixture: &Fixture) -> State {
    let all = ObjectSnapshot::read(&fixture.client()).await;
    let mut state: Vec<_> =
        all.iter().map(|(name, object)| (lasting_name(name), lasting(name, object))).collect();
    state.sort_by(|one, other| one.0.cmp(&other.0));
    state
}

/// Asserts that both states have the same objects with the same content. Shows only the first difference,
/// without values of Secrets.
pub(super) fn assert_same(found: &State, expected: &State, when: &str) {
    let names = |all: &State| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let (names, wanted) = (names(found), names(expected));
    let missing: Vec<_> = wanted.iter().filter(|name| !names.contains(name)).collect();
    let more: Vec<_> = names.iter().filter(|name| !wanted.contains(name)).collect();
    assert!(missing.is_empty() && more.is_empty(), "{when}: missing {missing:?}, too many {more:?}");
    assert_eq!(names, wanted, "{when}");
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{when}: {name}");
    }
}

/// Removes digits from the names of journal parts, which contain the time.
fn lasting_name(name: &str) -> String {
    let is_part = name.contains("/capstan-upgrade-");
    name.chars().filter(|letter| !is_part || !letter.is_ascii_digit()).collect()
}

fn lasting(name: &str, object: &Value) -> Value {
    let mut object = object.clone();
    let content = object.as_object_mut().unwrap();
    content.remove("status");
    // Records contain times, and keys are random.
    if name.starts_with("Secret ") || name.contains("/capstan.") {
        content.remove("data");
    }
    let metadata = content["metadata"].as_object_mut().unwrap();
    for field in BY_OTHERS {
        metadata.remove(field);
    }
    object
}
