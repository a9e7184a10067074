//! Waits until objects are gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, future::try_join_all, stream::BoxStream};
use manifest::{Object, Value};
use tokio::time::{sleep_until, timeout_at};

use crate::{
    ApiError, ApiKind, Blocker, Event, GroupKind, Health, ListQuery, ObjectKey, OwnershipMarks, Server,
    Status, StatusHints, WatchEvent, key_of, live::is_terminating, status_of,
};

/// The maximum time between lists: a watch does not report an object that went after the list and before the watch.
const RELIST_INTERVAL: Duration = Duration::from_secs(10);

/// An object whose deletion was requested and may take time.
#[derive(Clone, Debug)]
pub(super) struct TerminatingObject {
    pub(super) key: ObjectKey,
    pub(super) kind: ApiKind,
    /// An object with the same name and another uid belongs to somebody else.
    uid: String,
    /// True if a list of the owner's objects includes the object.
    is_labelled: bool,
}

impl TerminatingObject {
    pub(super) fn new(key: ObjectKey, kind: ApiKind, object: &Object, marks: &OwnershipMarks) -> Self {
        Self { key, kind, uid: uid(object).to_owned(), is_labelled: marks.owns(object) }
    }
}

impl Server {
    /// Waits with watches until all objects are gone, kinds concurrently. Without `until`, one list is enough. Objects
    /// without the labels are watched by their names.
    /// Shape: the objects that exist at the deadline, each with the reason.
    pub(super) async fn wait_until_gone(
        &self,
        leaving: &[TerminatingObject],
        labels: &str,
        until: Option<Instant>,
    ) -> Result<Vec<Blocker>, ApiError> {
        if leaving.is_empty() {
            return Ok(Vec::new());
        }
        let since = Instant::now();
        let mut groups: BTreeMap<(GroupKind, Option<&ObjectKey>), Vec<&TerminatingObject>> = BTreeMap::new();
        for one in leaving {
            let alone = (!one.is_labelled).then_some(&one.key);
            groups.entry((one.key.group_kind(), alone)).or_default().push(one);
        }
        let groups = groups.into_values().map(|group| TerminatingGroup::new(self, group, labels).wait(until));
        let remaining: Vec<_> = try_join_all(groups).await?.into_iter().flatten().collect();
        let blocker = |(one, object): (&TerminatingObject, Object)| Blocker {
            since: since.elapsed(),
            ..Blocker::new(one.key.clone(), termination_status(&object))
        };
        Ok(remaining.into_iter().map(blocker).collect())
    }
}

/// Leaving objects of one kind.
struct TerminatingGroup<'a> {
    server: &'a Server,
    terminating: Vec<&'a TerminatingObject>,
    list: ListQuery,
}

impl<'a> TerminatingGroup<'a> {
    fn new(server: &'a Server, leaving: Vec<&'a TerminatingObject>, labels: &str) -> Self {
        // The status of a Namespace reports its remaining objects.
        let metadata_only = !leaving.iter().any(|one| one.key.is_namespace());
        let mut list = ListQuery { labels: labels.to_owned(), metadata_only, ..ListQuery::default() };
        if let [only] = *leaving {
            let namespace = &only.key.namespace;
            list = ListQuery {
                namespace: (!namespace.is_empty()).then(|| namespace.clone()),
                fields: format!("metadata.name={}", only.key.name),
                metadata_only,
                ..ListQuery::default()
            };
        }
        Self { server, terminating: leaving, list }
    }

    async fn wait(self, until: Option<Instant>) -> Result<Vec<(&'a TerminatingObject, Object)>, ApiError> {
        loop {
            let remaining = self.remaining().await?;
            let Some(until) = until.filter(|until| !remaining.is_empty() && Instant::now() < *until) else {
                return Ok(remaining);
            };
            self.report(&remaining);
            let names = remaining.into_iter().map(|(one, _)| &one.key).collect();
            if self.watch(names, until.min(Instant::now() + RELIST_INTERVAL)).await? {
                return Ok(Vec::new());
            }
        }
    }

    async fn remaining(&self) -> Result<Vec<(&'a TerminatingObject, Object)>, ApiError> {
        let Some(first) = self.terminating.first() else { return Ok(Vec::new()) };
        let there = match self.server.list(&first.kind, &self.list).await {
            Err(error) if error.is_not_found() => Vec::new(),
            there => there?,
        };
        let mut there: BTreeMap<ObjectKey, Object> =
            there.into_iter().map(|object| (key_of(&object), object)).collect();
        let still = |one: &'a TerminatingObject| {
            let object = there.remove(&one.key)?;
            (uid(&object) == one.uid).then_some((one, object))
        };
        Ok(self.terminating.iter().copied().filter_map(still).collect())
    }

    /// True if all these objects are gone before the deadline.
    async fn watch(&self, mut names: BTreeSet<&ObjectKey>, until: Instant) -> Result<bool, ApiError> {
        let Some(first) = self.terminating.first() else { return Ok(true) };
        let mut changes: BoxStream<'static, _> = self.server.watch(&first.kind, &self.list);
        while !names.is_empty() {
            match timeout_at(until.into(), changes.next()).await {
                Ok(Some(Ok(WatchEvent::Deleted(object)))) => {
                    names.remove(&key_of(&object));
                }
                Ok(Some(Ok(WatchEvent::Updated(_)))) => {}
                Ok(Some(Err(error))) if error.is_not_found() => return Ok(true),
                Ok(Some(Err(error))) => return Err(error),
                Ok(None) => {
                    sleep_until(until.into()).await;
                    return Ok(false);
                }
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    fn report(&self, left: &[(&TerminatingObject, Object)]) {
        let blockers =
            left.iter().map(|(one, object)| Blocker::new(one.key.clone(), termination_status(object)));
        self.server.events().send(&Event::Waiting { blockers: blockers.collect() });
    }
}

/// Returns the reason why a terminating object remains: the names of its finalizers, or the conditions of a Namespace.
pub(super) fn termination_status(object: &Object) -> Status {
    let finalizers = object.get(&["metadata", "finalizers"]).and_then(Value::as_array);
    let names = finalizers.into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    let conditions = namespace_conditions(object);
    let message = match names.len() {
        0 if !conditions.is_empty() => conditions.join("; "),
        0 if is_terminating(object) => status_of(object, &StatusHints::default()).message,
        0 => "the object still exists after the delete request".to_owned(),
        1 => format!("held by finalizer {}", names.join(", ")),
        _ => format!("held by finalizers {}", names.join(", ")),
    };
    Status { health: Health::Terminating, message }
}

/// Returns the messages of the conditions that block the deletion of a Namespace.
/// Source: Kubernetes 1.36, core/v1 (NamespaceConditionType); True means remaining objects or a failure.
fn namespace_conditions(object: &Object) -> Vec<&str> {
    if !(object.group().is_empty() && object.kind() == "Namespace") {
        return Vec::new();
    }
    let conditions = object.get(&["status", "conditions"]).and_then(Value::as_array);
    let on = conditions.into_iter().flatten().filter(|condition| condition["status"] == "True");
    on.filter_map(|condition| condition["message"].as_str()).collect()
}

fn uid(object: &Object) -> &str {
    object.get(&["metadata", "uid"]).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finalizers_and_conditions_that_block_a_deletion_are_named() {
        let held = |object: Value| termination_status(&object.try_into().unwrap()).message;
        let one = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}});
        assert!(held(one).contains("`a/b`"));
        let two = json!({"metadata": {"finalizers": ["a/b", "c"]}});
        assert!(held(two).contains("`a/b`, `c`"));
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"conditions": [
                {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "all is well"},
                {"type": "NamespaceContentRemaining", "status": "True", "message": "some pods are left"},
            ]},
        });
        assert_eq!(held(namespace), "some pods are left");
    }
}
