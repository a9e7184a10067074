//! Pauses Clusters and ClusterClasses during a move. One patch pauses and marks an object, and one patch resumes the
//! object.

mod acknowledgement;

use std::collections::BTreeSet;

use api::labels::FIELD_MANAGER;
use api::output::MovePhase;
use apply::{ApiError, ApiKind, GroupKind, ObjectKey, PatchTarget};
use inventory::ManagementCluster;
use manifest::{Object, Value};
use serde_json::json;
use workload::{MOVE_MARK, NodeId, PAUSED_ANNOTATION};

use crate::{
    MoveError, MoveJournal, MoveSide, PausedObject,
    concurrency::run_concurrently,
    error::{api_error, check_failures},
    mark::marked_objects,
    request::MAX_DISCOVERIES,
    run::MoveContext,
};

/// A kind that a move pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PausableKind {
    /// Paused by a field. Resuming removes the field, because an empty value would leave a field manager behind.
    Cluster,
    /// Paused by an annotation.
    ClusterClass,
}

impl PausableKind {
    /// Returns the type of pause for an object. None for other kinds, which pause with their Cluster.
    pub(super) fn of(key: &ObjectKey) -> Option<Self> {
        match (&*key.group, &*key.kind) {
            ("cluster.x-k8s.io", "Cluster") => Some(Self::Cluster),
            ("cluster.x-k8s.io", "ClusterClass") => Some(Self::ClusterClass),
            _ => None,
        }
    }

    /// Returns the patch that pauses and marks an object.
    pub(super) fn pause_patch(self, run: &str) -> Value {
        match self {
            Self::Cluster => json!({"metadata": {"annotations": {MOVE_MARK: run}}, "spec": {"paused": true}}),
            Self::ClusterClass => {
                json!({"metadata": {"annotations": {MOVE_MARK: run, PAUSED_ANNOTATION: ""}}})
            }
        }
    }

    /// Returns the patch that removes pause and mark.
    pub(super) fn resume_patch(self) -> Value {
        match self {
            Self::Cluster => {
                json!({"metadata": {"annotations": {MOVE_MARK: null}}, "spec": {"paused": null}})
            }
            Self::ClusterClass => {
                json!({"metadata": {"annotations": {MOVE_MARK: null, PAUSED_ANNOTATION: null}}})
            }
        }
    }

    /// Pauses and marks an object before its creation.
    pub(super) fn pause_object(self, object: &mut Object, run: &str) {
        object.set_annotation(MOVE_MARK, run);
        match self {
            Self::ClusterClass => object.set_annotation(PAUSED_ANNOTATION, ""),
            Self::Cluster => {
                let spec = object.as_map_mut().entry("spec").or_insert_with(|| json!({}));
                if let Some(spec) = spec.as_object_mut() {
                    spec.insert("paused".to_owned(), true.into());
                }
            }
        }
    }
}

impl MoveContext<'_> {
    /// Pauses the moving Clusters and ClusterClasses, discovers the source again, and waits until controllers report
    /// the pause. Then waits for providers that block the move.
    pub(super) async fn wait_for_pause(&mut self) -> Result<(), MoveError> {
        for _ in 0..MAX_DISCOVERIES {
            if self.pause().await? == 0 && self.unacknowledged().is_empty() {
                return self.wait_until_unblocked().await;
            }
            self.rediscover_with_pause_status().await?;
            self.wait_for_acknowledgement().await?;
        }
        Err(self.keeps_changing_error())
    }

    /// Pauses objects that are not paused yet, and returns their number. The journal lists the objects first.
    async fn pause(&mut self) -> Result<usize, MoveError> {
        let new = self.unrecorded_objects();
        if !new.is_empty() {
            self.journal_lease.update(|journal| journal.paused.extend(new)).await?;
        }
        let work = &*self;
        let awake = work.plan.selection.moving().filter_map(|node| work.pause_needed(node));
        let at_most = work.source.server.max_in_flight();
        let (paused, failures) = run_concurrently(at_most, awake, |(node, resting)| async move {
            let facts = work.plan.facts(node);
            patch_if_exists(
                &work.source,
                &facts.object_type.kind,
                &facts.key,
                &resting.pause_patch(&work.journal_lease.journal.run),
            )
            .await
        })
        .await;
        check_failures("pause", failures)?;
        if !paused.is_empty() {
            self.report_progress(MovePhase::Pausing, paused.len(), paused.len());
        }
        Ok(paused.len())
    }

    /// Returns the type of pause for an object that still needs one. None for paused objects, and for a ClusterClass
    /// that remaining Clusters use.
    fn pause_needed(&self, node: NodeId) -> Option<(NodeId, PausableKind)> {
        let facts = self.plan.facts(node);
        let is_used = self.plan.is_still_used(node);
        let resting = PausableKind::of(&facts.key).filter(|_| !is_used && !facts.is_paused)?;
        Some((node, resting))
    }

    /// Returns the moving objects that need a pause and that the journal does not list yet.
    fn unrecorded_objects(&self) -> Vec<PausedObject> {
        let listed: BTreeSet<&ObjectKey> =
            self.journal_lease.journal.paused.iter().map(|paused| &paused.object).collect();
        let rests = |node| {
            let facts = self.plan.facts(node);
            let is_new = PausableKind::of(&facts.key).is_some() && !listed.contains(&facts.key);
            is_new.then(|| PausedObject {
                object: facts.key.clone(),
                was_paused: facts.is_paused && facts.paused_by.is_none(),
                is_kept: !self.plan.leaves_source(node),
            })
        };
        self.plan.selection.moving().filter_map(rests).collect()
    }

    /// Resumes the objects that this move paused on the source, and their copies on the target. ClusterClasses are
    /// resumed before the Clusters that use them.
    pub(super) async fn resume(&mut self) -> Result<(), MoveError> {
        let run = &self.journal_lease.journal.run;
        let nodes = self.plan.discovered.graph.iter().map(|(_, node)| &node.facts);
        let keys: BTreeSet<ObjectKey> = nodes
            .filter(|facts| facts.paused_by.as_ref() == Some(run))
            .map(|facts| facts.key.clone())
            .collect();
        resume_all(&self.source, keys).await?;
        let resumed = resume_target(&self.target, &self.journal_lease.journal).await?.len();
        self.report_progress(MovePhase::Resuming, resumed, resumed);
        Ok(())
    }
}

/// Resumes the copies that carry the mark of a move on the target, and returns their keys. A copy without the mark was
/// resumed already, and may have been paused by a user since.
pub(super) async fn resume_target(
    target: &ManagementCluster,
    journal: &MoveJournal,
) -> Result<BTreeSet<ObjectKey>, MoveError> {
    let marked = marked_objects(target).await.map_err(api_error(MoveSide::Target))?;
    let marked = marked.into_iter().filter(|(_, run)| *run == journal.run);
    let there: BTreeSet<ObjectKey> = marked.map(|(key, _)| key).collect();
    resume_all(target, there.clone()).await?;
    Ok(there)
}

/// Resumes these objects, ClusterClasses first. Missing objects are ignored.
pub(super) async fn resume_all(
    cluster: &ManagementCluster,
    keys: BTreeSet<ObjectKey>,
) -> Result<(), MoveError> {
    for resting in [PausableKind::ClusterClass, PausableKind::Cluster] {
        let keys = keys.iter().filter(|key| PausableKind::of(key) == Some(resting));
        let at_most = cluster.server.max_in_flight();
        let (_, failures) = run_concurrently(at_most, keys, |key| async move {
            let kind = GroupKind::new(&*key.group, &*key.kind);
            let kind = cluster.server.kind(&kind).await.map_err(|error| (key.clone(), error))?;
            patch_if_exists(cluster, &kind, key, &resting.resume_patch()).await
        })
        .await;
        check_failures("resume", failures)?;
    }
    Ok(())
}

/// Patches an object if the object exists.
pub(super) async fn patch_if_exists(
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
    fn only_clusters_and_classes_of_cluster_api_are_paused() {
        let key = |group: &str, kind: &str| ObjectKey {
            group: group.into(),
            kind: kind.into(),
            ..ObjectKey::default()
        };
        for (group, kind, resting) in [
            ("cluster.x-k8s.io", "Cluster", Some(PausableKind::Cluster)),
            ("cluster.x-k8s.io", "ClusterClass", Some(PausableKind::ClusterClass)),
            ("cluster.x-k8s.io", "Machine", None),
            ("management.cattle.io", "Cluster", None),
        ] {
            assert_eq!(PausableKind::of(&key(group, kind)), resting, "{group} {kind}");
        }
    }

    #[test]
    fn a_copy_is_paused_like_the_patched_source() {
        let mut cluster = object(json!({"metadata": {"name": "a"}, "spec": {"topology": {}}}));
        PausableKind::Cluster.pause_object(&mut cluster, "r1");
        let expected = json!({
            "metadata": {"name": "a", "annotations": {MOVE_MARK: "r1"}}, "spec": {"topology": {}, "paused": true}
        });
        assert_eq!(cluster.into_value(), expected);
        let mut class = object(json!({"metadata": {"name": "c", "annotations": {"mine": "1"}}}));
        PausableKind::ClusterClass.pause_object(&mut class, "r1");
        let annotations = json!({"mine": "1", MOVE_MARK: "r1", PAUSED_ANNOTATION: ""});
        assert_eq!(class.get(&["metadata", "annotations"]), Some(&annotations));
    }

    #[test]
    fn resuming_reverts_every_change_of_pausing() {
        for resting in [PausableKind::Cluster, PausableKind::ClusterClass] {
            let (pause, resume) = (resting.pause_patch("r1"), resting.resume_patch());
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
