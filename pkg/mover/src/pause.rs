//! Pauses Clusters and ClusterClasses during a move. One patch pauses and marks an object, and one patch resumes the
//! object.

mod seen;

use std::collections::BTreeSet;

use api::output::MovePhase;
use apply::{ApiError, ApiKind, GroupKind, ObjectKey, PatchTarget};
use inventory::{FIELD_MANAGER, ManagementCluster};
use manifest::{Object, Value};
use serde_json::json;
use workload::{MARK, NodeId, PAUSED};

use crate::{
    MoveError, MoveJournal, MoveSide, PausedObject,
    error::{at, no_failures},
    mark::marked,
    on_target,
    request::ROUNDS,
    run::Work,
    side_by_side::side_by_side,
};

/// A kind that a move pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resting {
    /// Paused by a field. Resuming removes the field, because an empty value would leave a field manager behind.
    Cluster,
    /// Paused by an annotation.
    ClusterClass,
}

impl Resting {
    /// Returns the type of pause for an object. None for other kinds, which pause with their Cluster.
    pub(super) fn of(key: &ObjectKey) -> Option<Self> {
        match (&*key.group, &*key.kind) {
            ("cluster.x-k8s.io", "Cluster") => Some(Self::Cluster),
            ("cluster.x-k8s.io", "ClusterClass") => Some(Self::ClusterClass),
            _ => None,
        }
    }

    /// Returns the patch that pauses and marks an object.
    pub(super) fn pause(self, run: &str) -> Value {
        match self {
            Self::Cluster => json!({"metadata": {"annotations": {MARK: run}}, "spec": {"paused": true}}),
            Self::ClusterClass => json!({"metadata": {"annotations": {MARK: run, PAUSED: ""}}}),
        }
    }

    /// Returns the patch that removes pause and mark.
    pub(super) fn resume(self) -> Value {
        match self {
            Self::Cluster => json!({"metadata": {"annotations": {MARK: null}}, "spec": {"paused": null}}),
            Self::ClusterClass => json!({"metadata": {"annotations": {MARK: null, PAUSED: null}}}),
        }
    }

    /// Pauses and marks an object before its creation.
    pub(super) fn put_to_rest(self, object: &mut Object, run: &str) {
        object.set_annotation(MARK, run);
        match self {
            Self::ClusterClass => object.set_annotation(PAUSED, ""),
            Self::Cluster => {
                let spec = object.as_map_mut().entry("spec").or_insert_with(|| json!({}));
                if let Some(spec) = spec.as_object_mut() {
                    spec.insert("paused".to_owned(), true.into());
                }
            }
        }
    }
}

impl Work<'_> {
    /// Pauses the moving Clusters and ClusterClasses, discovers the source again, and waits until controllers report
    /// the pause. Then waits for providers that block the move.
    pub(super) async fn come_to_rest(&mut self) -> Result<(), MoveError> {
        for _ in 0..ROUNDS {
            if self.pause().await? == 0 && self.unseen().is_empty() {
                return self.wait_until_unblocked().await;
            }
            self.look_at_rest().await?;
            self.wait_until_seen().await?;
        }
        Err(self.unsettled())
    }

    /// Pauses objects that are not paused yet, and returns their number. The journal lists the objects first.
    async fn pause(&mut self) -> Result<usize, MoveError> {
        let new = self.unlisted();
        if !new.is_empty() {
            self.held.update(|journal| journal.paused.extend(new)).await?;
        }
        let work = &*self;
        let awake = work.plan.selection.moving().filter_map(|node| work.awake(node));
        let at_most = work.source.server.max_in_flight();
        let (paused, failures) = side_by_side(at_most, awake, |(node, resting)| async move {
            let facts = work.plan.facts(node);
            patch(&work.source, &facts.of.kind, &facts.key, &resting.pause(&work.held.journal.run)).await
        })
        .await;
        no_failures("paused", failures)?;
        if !paused.is_empty() {
            self.tell(MovePhase::Pausing, paused.len(), paused.len());
        }
        Ok(paused.len())
    }

    /// Returns the type of pause for an object that still needs one. None for paused objects, and for a ClusterClass
    /// that remaining Clusters use.
    fn awake(&self, node: NodeId) -> Option<(NodeId, Resting)> {
        let facts = self.plan.facts(node);
        let is_used = self.plan.is_still_used(node);
        let resting = Resting::of(&facts.key).filter(|_| !is_used && !facts.is_paused)?;
        Some((node, resting))
    }

    /// Returns the moving objects that need a pause and that the journal does not list yet.
    fn unlisted(&self) -> Vec<PausedObject> {
        let listed: BTreeSet<&ObjectKey> =
            self.held.journal.paused.iter().map(|paused| &paused.object).collect();
        let rests = |node| {
            let facts = self.plan.facts(node);
            let is_new = Resting::of(&facts.key).is_some() && !listed.contains(&facts.key);
            is_new.then(|| PausedObject {
                object: facts.key.clone(),
                was_paused: facts.is_paused && facts.paused_by.is_none(),
                is_kept: !self.plan.leaves(node),
            })
        };
        self.plan.selection.moving().filter_map(rests).collect()
    }

    /// Resumes the objects that this move paused on the source, and their copies on the target. ClusterClasses are
    /// resumed before the Clusters that use them.
    pub(super) async fn resume(&mut self) -> Result<(), MoveError> {
        let run = &self.held.journal.run;
        let nodes = self.plan.discovered.graph.iter().map(|(_, node)| &node.facts);
        let here: BTreeSet<ObjectKey> = nodes
            .filter(|facts| facts.paused_by.as_ref() == Some(run))
            .map(|facts| facts.key.clone())
            .collect();
        resume_all(&self.source, here).await?;
        let resumed = resume_target(&self.target, &self.held.journal).await?.len();
        self.tell(MovePhase::Resuming, resumed, resumed);
        Ok(())
    }
}

/// Resumes the copies that a move paused on the target, and returns their keys.
pub(super) async fn resume_target(
    target: &ManagementCluster,
    journal: &MoveJournal,
) -> Result<BTreeSet<ObjectKey>, MoveError> {
    let marked = marked(target).await.map_err(at(MoveSide::Target))?;
    let marked = marked.into_iter().filter(|(_, run)| *run == journal.run).map(|(key, _)| key);
    let listed = journal.paused.iter().filter(|paused| !paused.was_paused);
    let listed = listed.map(|paused| on_target(&paused.object, &journal.namespace_map));
    let there: BTreeSet<ObjectKey> = marked.chain(listed).collect();
    resume_all(target, there.clone()).await?;
    Ok(there)
}

/// Resumes these objects, ClusterClasses first. Missing objects are ignored.
pub(super) async fn resume_all(
    cluster: &ManagementCluster,
    keys: BTreeSet<ObjectKey>,
) -> Result<(), MoveError> {
    for resting in [Resting::ClusterClass, Resting::Cluster] {
        let keys = keys.iter().filter(|key| Resting::of(key) == Some(resting));
        let at_most = cluster.server.max_in_flight();
        let (_, failures) = side_by_side(at_most, keys, |key| async move {
            let kind = GroupKind::new(&*key.group, &*key.kind);
            let kind = cluster.server.kind(&kind).await.map_err(|error| (key.clone(), error))?;
            patch(cluster, &kind, key, &resting.resume()).await
        })
        .await;
        no_failures("resumed", failures)?;
    }
    Ok(())
}

/// Patches an object if the object exists.
pub(super) async fn patch(
    cluster: &ManagementCluster,
    kind: &ApiKind,
    key: &ObjectKey,
    patch: &Value,
) -> Result<(), (ObjectKey, ApiError)> {
    let patched = cluster
        .server
        .patch(kind, &key.namespace, &key.name, patch, FIELD_MANAGER, PatchTarget::Object)
        .await;
    match patched {
        Err(error) if !error.is_not_found() => Err((key.clone(), error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        value.try_into().unwrap()
    }

    #[test]
    fn only_clusters_and_classes_of_cluster_api_rest() {
        let key = |group: &str, kind: &str| ObjectKey {
            group: group.into(),
            kind: kind.into(),
            ..ObjectKey::default()
        };
        for (group, kind, resting) in [
            ("cluster.x-k8s.io", "Cluster", Some(Resting::Cluster)),
            ("cluster.x-k8s.io", "ClusterClass", Some(Resting::ClusterClass)),
            ("cluster.x-k8s.io", "Machine", None),
            ("management.cattle.io", "Cluster", None),
        ] {
            assert_eq!(Resting::of(&key(group, kind)), resting, "{group} {kind}");
        }
    }

    #[test]
    fn a_copy_is_put_to_rest_like_the_patch_does_it() {
        let mut cluster = object(json!({"metadata": {"name": "a"}, "spec": {"topology": {}}}));
        Resting::Cluster.put_to_rest(&mut cluster, "r1");
        let expected = json!({
            "metadata": {"name": "a", "annotations": {MARK: "r1"}}, "spec": {"topology": {}, "paused": true}
        });
        assert_eq!(cluster.into_value(), expected);
        let mut class = object(json!({"metadata": {"name": "c", "annotations": {"mine": "1"}}}));
        Resting::ClusterClass.put_to_rest(&mut class, "r1");
        let annotations = json!({"mine": "1", MARK: "r1", PAUSED: ""});
        assert_eq!(class.get(&["metadata", "annotations"]), Some(&annotations));
    }

    #[test]
    fn resuming_takes_off_all_that_pausing_put_on() {
        for resting in [Resting::Cluster, Resting::ClusterClass] {
            let (pause, resume) = (resting.pause("r1"), resting.resume());
            let mut paths = Vec::new();
            leaves(&pause, "", &mut paths);
            for path in paths {
                assert_eq!(resume.pointer(&path), Some(&Value::Null), "{resting:?}: {path}");
            }
        }
    }

    fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
        match value.as_object() {
            Some(fields) => fields.iter().for_each(|(key, value)| {
                leaves(value, &format!("{path}/{}", key.replace('/', "~1")), found);
            }),
            None => found.push(path.to_owned()),
        }
    }
}
