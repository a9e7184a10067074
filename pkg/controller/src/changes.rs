//! The known Components, and the steps that a change of one of them causes.

use std::{collections::BTreeSet, sync::Arc};

use component::{ArtifactReference, Component, ComponentKey, DependentsReader};
use kube::runtime::{
    reflector::{Store, store::Writer},
    watcher::Event,
};

use crate::watched_component::{WatchedComponent, WatchedSource, object_ref};

/// The Components of a cluster, kept by a watch.
pub(crate) struct WatchedComponents {
    writer: Writer<WatchedComponent>,
    store: Store<WatchedComponent>,
    /// The Components that need a step once the current list is complete. The store does not have them before.
    listed: BTreeSet<ComponentKey>,
}

/// The dependents of Components, as a watch knows them.
pub(crate) struct WatchedDependents(pub(crate) Store<WatchedComponent>);

/// The consequences of an event of the watch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes {
    /// The Components that need a step.
    pub(crate) due: BTreeSet<ComponentKey>,
    /// The Components that no longer exist.
    pub(crate) gone: Vec<ComponentKey>,
}

impl WatchedComponents {
    pub(crate) fn new() -> Self {
        let writer = Writer::new(());
        Self { store: writer.as_reader(), writer, listed: BTreeSet::new() }
    }

    /// The Components as they are known.
    pub(crate) fn store(&self) -> Store<WatchedComponent> {
        self.store.clone()
    }

    /// Records an event of the watch. After an interruption, a list may lack Components that were deleted meanwhile.
    pub(crate) fn record(&mut self, event: &Event<WatchedComponent>) -> Changes {
        let mut changes = Changes::default();
        let before = match event {
            Event::Init => Vec::new(),
            Event::InitApply(component) => {
                let due = self.due_after_update(component);
                self.listed.extend(due);
                Vec::new()
            }
            Event::Apply(component) => {
                changes.due = self.due_after_update(component);
                Vec::new()
            }
            Event::Delete(component) => self.store.get(&object_ref(&component.key())).into_iter().collect(),
            Event::InitDone => {
                changes.due = std::mem::take(&mut self.listed);
                self.store.state()
            }
        };
        self.writer.apply_watcher_event(event);
        for component in before.iter().filter(|one| self.store.get(&object_ref(&one.key())).is_none()) {
            changes.gone.push(component.key());
            changes.due.extend(component.dependencies.iter().filter(|key| self.is_deleting(key)).cloned());
        }
        changes
    }

    /// Returns the Components that need a step after an update: the Component itself, and its dependents if it became
    /// ready.
    fn due_after_update(&self, component: &WatchedComponent) -> BTreeSet<ComponentKey> {
        let key = component.key();
        let Some(former) = self.store.get(&object_ref(&key)) else { return BTreeSet::from([key]) };
        let mut due = BTreeSet::new();
        if component.became_ready_after(&former) {
            due.extend(keys_where(&self.store, |one| one.dependencies.contains(&key)));
        }
        if component.trigger() != former.trigger() {
            due.insert(key);
        }
        due
    }

    /// True if the deletion of a Component may wait for others.
    fn is_deleting(&self, key: &ComponentKey) -> bool {
        self.store.get(&object_ref(key)).is_some_and(|component| component.is_deleting())
    }
}

impl DependentsReader for WatchedDependents {
    fn dependents(&self, deleted: &Component) -> Option<Vec<ComponentKey>> {
        let key = ComponentKey::of(deleted);
        // The watch reports changes in order, so dependents from before a deletion that it has reported are known.
        let is_reported = |known: &WatchedComponent| known.is_deletion_of(deleted);
        self.0.get(&object_ref(&key)).filter(|known| is_reported(known))?;
        let all = self.0.state();
        if all.iter().any(|one| !one.has_readable_dependencies) {
            return None;
        }
        let dependents = all.iter().filter(|one| one.dependencies.contains(&key)).map(|one| one.key());
        Some(dependents.collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// Returns the Components of a source that have not attempted its artifact.
pub(crate) fn behind(
    components: &Store<WatchedComponent>,
    source: &WatchedSource,
    artifact: &ArtifactReference,
) -> Vec<ComponentKey> {
    keys_where(components, |one| one.source.as_ref() == Some(source) && !one.has_attempted(artifact))
}

fn keys_where(
    components: &Store<WatchedComponent>,
    condition: impl Fn(&WatchedComponent) -> bool,
) -> Vec<ComponentKey> {
    let is_selected = |component: &Arc<WatchedComponent>| condition(component);
    components.state().into_iter().filter(is_selected).map(|component| component.key()).collect()
}

#[cfg(test)]
mod tests {
    use component::{SourceReference, source_object};
    use manifest::Value;
    use serde_json::json;

    use super::*;

    fn component(name: &str, generation: i64, state: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "ns", "generation": generation},
            "spec": {
                "sourceRef": {"fluxBucket": {"name": "bucket"}},
                "dependencies": if name == "base" { json!([]) } else { json!([{"name": "base"}]) },
            },
            "status": {
                "observedGeneration": generation, "state": state,
                "lastAttemptedDigest": "d", "lastAttemptedRevision": "1",
            },
        })
    }

    fn deleting(name: &str) -> Value {
        let mut component = component(name, 2, "Ready");
        component["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        component
    }

    fn watched(component: Value) -> WatchedComponent {
        serde_json::from_value(component).unwrap()
    }

    fn known(components: impl IntoIterator<Item = Value>) -> WatchedComponents {
        let mut known = WatchedComponents::new();
        known.record(&Event::Init);
        for component in components {
            assert_eq!(known.record(&Event::InitApply(watched(component))), Changes::default());
        }
        let listed = known.record(&Event::InitDone).due;
        assert_eq!(listed.len(), known.store.len());
        known
    }

    fn due(known: &mut WatchedComponents, component: Value) -> Vec<String> {
        let changes = known.record(&Event::Apply(watched(component)));
        changes.due.into_iter().map(|key| key.name).collect()
    }

    #[test]
    fn a_status_alone_needs_no_step() {
        let mut known = known([]);
        assert_eq!(due(&mut known, component("web", 1, "Pending")), ["web"]);
        assert_eq!(due(&mut known, component("web", 1, "Ready")), [""; 0]);
        assert_eq!(due(&mut known, component("web", 2, "Ready")), ["web"]);
        assert_eq!(due(&mut known, deleting("web")), ["web"]);
        let mut recreated = deleting("web");
        recreated["metadata"]["uid"] = "2".into();
        assert_eq!(due(&mut known, recreated), ["web"]);
    }

    #[test]
    fn dependents_need_a_step_when_their_dependency_is_ready_or_gone() {
        let mut known = known([component("base", 1, "Pending"), component("web", 1, "Pending")]);
        assert_eq!(due(&mut known, component("base", 1, "Ready")), ["web"]);
        assert_eq!(due(&mut known, component("base", 1, "Ready")), [""; 0]);
        let mut next = component("base", 1, "Ready");
        next["status"]["lastAttemptedRevision"] = "2".into();
        assert_eq!(due(&mut known, next), ["web"]);
        known.record(&Event::Apply(watched(deleting("base"))));
        let changes = known.record(&Event::Delete(watched(component("web", 1, "Ready"))));
        assert_eq!(changes.due.into_iter().map(|key| key.name).collect::<Vec<_>>(), ["base"]);
        assert_eq!(changes.gone.into_iter().map(|key| key.name).collect::<Vec<_>>(), ["web"]);
    }

    #[test]
    fn dependents_are_known_once_the_watch_reports_the_deletion() {
        let mut known = known([component("base", 1, "Ready"), component("web", 1, "Ready")]);
        let dependents = WatchedDependents(known.store());
        let read = |uid: &str| {
            let mut component = deleting("base");
            component["metadata"]["uid"] = uid.into();
            component
        };
        let names = |read: Value| {
            let keys = dependents.dependents(&serde_json::from_value(read).unwrap())?;
            Some(keys.into_iter().map(|key| key.name).collect::<Vec<_>>())
        };
        assert_eq!(names(read("1")), None);
        known.record(&Event::Apply(watched(read("1"))));
        assert_eq!(names(read("1")).unwrap(), ["web"]);
        assert_eq!(names(read("2")), None, "a later Component of the same name");
        let mut broken = component("other", 1, "Ready");
        broken["spec"]["dependencies"] = "text".into();
        known.record(&Event::Apply(watched(broken)));
        assert_eq!(names(read("1")), None, "another Component may depend on each one");
    }

    #[test]
    fn deletions_during_an_interruption_are_found_by_the_next_list() {
        let mut known = known([deleting("base"), component("web", 1, "Ready")]);
        known.record(&Event::Init);
        known.record(&Event::InitApply(watched(deleting("base"))));
        let changes = known.record(&Event::InitDone);
        assert_eq!(changes.gone.into_iter().map(|key| key.name).collect::<Vec<_>>(), ["web"]);
        assert_eq!(changes.due.into_iter().map(|key| key.name).collect::<Vec<_>>(), ["base"]);
    }

    #[test]
    fn components_are_behind_until_they_attempt_the_artifact() {
        let known = known([component("web", 1, "Ready")]);
        let reference: SourceReference =
            serde_json::from_value(json!({"fluxBucket": {"name": "bucket"}})).unwrap();
        let source = WatchedSource::Object(source_object(&reference, "ns").unwrap());
        let behind = |revision: &str| {
            let (url, digest) = (String::new(), "d".to_owned());
            behind(&known.store, &source, &ArtifactReference { url, digest, revision: revision.to_owned() })
        };
        assert_eq!(behind("1"), []);
        assert_eq!(behind("2").len(), 1);
    }

    #[test]
    fn a_component_with_invalid_fields_is_watched_like_others() {
        let mut broken = component("web", 1, "Ready");
        broken["spec"] = "text".into();
        broken["status"] = json!({"state": 7});
        assert_eq!(due(&mut known([]), broken), ["web"]);
    }
}
