//! The Components of a cluster: what each refers to, and the changes that need a step. Pure.

use std::collections::BTreeMap;

use apply::ObjectKey;
use component::{ArtifactReference, Component, ComponentKey, ComponentStatus, State, source_object};
use manifest::Value;

/// The known Components.
#[derive(Debug, Default)]
pub(crate) struct ComponentIndex(BTreeMap<ComponentKey, IndexedComponent>);

#[derive(Debug, PartialEq)]
struct IndexedComponent {
    trigger: Trigger,
    source: Option<ObjectKey>,
    dependencies: Vec<ComponentKey>,
    /// Digest and revision of the artifact of the last step.
    attempted: (String, String),
    state: Option<State>,
}

/// The properties whose change needs a step.
#[derive(Debug, PartialEq)]
struct Trigger {
    uid: Option<Value>,
    generation: i64,
    annotations: Option<Value>,
    is_deleting: bool,
}

impl ComponentIndex {
    /// Records a Component. True if it needs a step.
    pub(crate) fn update(&mut self, component: &Component) -> bool {
        let dependencies = component.spec.dependencies.iter();
        let ComponentStatus { state, last_attempted_digest, last_attempted_revision, .. } = &component.status;
        let indexed = IndexedComponent {
            trigger: Trigger {
                uid: component.metadata.get("uid").cloned(),
                generation: component.generation(),
                annotations: component.metadata.get("annotations").cloned(),
                is_deleting: component.is_deleting(),
            },
            source: source_object(&component.spec.source_ref, component.namespace()),
            dependencies: dependencies.map(|one| ComponentKey::of_dependency(one, component)).collect(),
            attempted: (last_attempted_digest.clone(), last_attempted_revision.clone()),
            state: *state,
        };
        let key = ComponentKey::of(component);
        let is_changed = self.0.get(&key).is_none_or(|known| known.trigger != indexed.trigger);
        self.0.insert(key, indexed);
        is_changed
    }

    /// Removes a Component. Returns its dependencies, whose deletion may wait for it.
    pub(crate) fn remove(&mut self, key: &ComponentKey) -> Vec<ComponentKey> {
        let removed = self.0.remove(key).map(|removed| removed.dependencies).unwrap_or_default();
        let is_deleting = |key: &ComponentKey| self.0.get(key).is_some_and(|known| known.trigger.is_deleting);
        removed.into_iter().filter(is_deleting).collect()
    }

    /// Returns the Components that depend on a Component and are not ready.
    pub(crate) fn waiting_for(&self, key: &ComponentKey) -> Vec<ComponentKey> {
        let waits =
            |one: &IndexedComponent| one.state != Some(State::Ready) && one.dependencies.contains(key);
        self.0.iter().filter(|(_, one)| waits(one)).map(|(key, _)| key.clone()).collect()
    }

    /// Returns the Components of a source that have not attempted its artifact.
    pub(crate) fn behind(&self, source: &ObjectKey, artifact: &ArtifactReference) -> Vec<ComponentKey> {
        let is_behind = |one: &IndexedComponent| {
            one.source.as_ref() == Some(source)
                && one.attempted != (artifact.digest.clone(), artifact.revision.clone())
        };
        self.0.iter().filter(|(_, one)| is_behind(one)).map(|(key, _)| key.clone()).collect()
    }

    /// Returns the number of Components in each state. The state is empty before the first step.
    pub(crate) fn states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        for one in self.0.values() {
            *states.entry(one.state.map(|state| format!("{state:?}")).unwrap_or_default()).or_default() += 1;
        }
        states
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn component(name: &str, generation: i64, state: &str) -> Component {
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "ns", "generation": generation},
            "spec": {
                "sourceRef": {"fluxBucket": {"name": "bucket"}},
                "dependencies": if name == "base" { json!([]) } else { json!([{"name": "base"}]) },
            },
            "status": {"observedGeneration": 1, "state": state, "lastAttemptedDigest": "d", "lastAttemptedRevision": "1"},
        }))
        .unwrap()
    }

    fn names(keys: &[ComponentKey]) -> Vec<&str> {
        keys.iter().map(|key| &*key.name).collect()
    }

    #[test]
    fn a_status_alone_needs_no_step() {
        let mut index = ComponentIndex::default();
        assert!(index.update(&component("web", 1, "Pending")));
        assert!(!index.update(&component("web", 1, "Ready")));
        assert!(index.update(&component("web", 2, "Ready")));
        let mut deleting = component("web", 2, "Ready");
        deleting.metadata.insert("deletionTimestamp".to_owned(), "2026-01-01T00:00:00Z".into());
        assert!(index.update(&deleting));
        assert_eq!(index.states(), BTreeMap::from([("Ready".to_owned(), 1)]));
    }

    #[test]
    fn dependents_that_are_not_ready_wait_for_a_component() {
        let mut index = ComponentIndex::default();
        for (name, state) in [("base", "Ready"), ("web", "Pending"), ("api", "Ready")] {
            index.update(&component(name, 1, state));
        }
        let base = ComponentKey::of(&component("base", 1, "Ready"));
        assert_eq!(names(&index.waiting_for(&base)), ["web"]);
        let web = ComponentKey::of(&component("web", 1, "Ready"));
        assert_eq!(index.remove(&web), []);
        let mut deleting = component("base", 2, "Ready");
        deleting.metadata.insert("deletionTimestamp".to_owned(), "2026-01-01T00:00:00Z".into());
        index.update(&deleting);
        let api = ComponentKey::of(&component("api", 1, "Ready"));
        assert_eq!(index.remove(&api), [base]);
    }

    #[test]
    fn components_are_behind_until_they_attempt_the_artifact() {
        let mut index = ComponentIndex::default();
        index.update(&component("web", 1, "Ready"));
        let source = source_object(&component("web", 1, "Ready").spec.source_ref, "ns").unwrap();
        let artifact = |revision: &str| ArtifactReference {
            url: String::new(),
            digest: "d".to_owned(),
            revision: revision.to_owned(),
        };
        assert_eq!(index.behind(&source, &artifact("1")), []);
        assert_eq!(names(&index.behind(&source, &artifact("2"))), ["web"]);
    }
}
