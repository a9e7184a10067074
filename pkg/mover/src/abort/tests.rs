use std::sync::Arc;

use inventory::ClusterIdentity;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{ClusterBuilder, cluster, cluster_class, object, outline},
    fixture::Fixture,
    kind::{CLUSTER, CLUSTER_CLASS, CONFIG_MAP, MACHINE, NAMESPACE, SECRET},
};

use super::*;
use crate::{
    JournalError, JournalHolder,
    testing::{Lab, LabConnections},
};

const RUN: &str = "r1";
const JOURNAL: &str = "capi-system/capstan-move";
const PATIENCE: Duration = Duration::from_mins(10);

fn keeper(process: &str) -> JournalStore {
    JournalStore {
        holder: JournalHolder { host: "here".to_owned(), process: process.to_owned(), write_number: 0 },
        has_ended: Arc::new(|_| true),
        write_journal: Arc::new(|_| Ok(())),
        write_report: Arc::new(|_| Ok(())),
    }
}

fn team() -> ClusterBuilder {
    cluster("team/one").control_plane(1).machine_deployment("md", 2).of_class("class")
}

/// An interrupted move of the namespace `team`.
struct StartedMove {
    lab: Lab,
    cluster: ClusterBuilder,
    /// The objects of the source before the move.
    source: Vec<Value>,
}

impl StartedMove {
    /// Starts a move that has paused its objects. `before` changes the target before the move.
    async fn new(cluster: ClusterBuilder, before: impl AsyncFnOnce(&Fixture)) -> Self {
        let lab = Box::pin(Lab::with_kinds()).await;
        lab.source.create(cluster_class("team/class")).await;
        lab.source.create(cluster.clone()).await;
        lab.source.create([object(CLUSTER, "team/resting").field("spec", json!({"paused": true}))]).await;
        before(&lab.target).await;
        let begun = Self { source: specs(&lab.source).await, lab, cluster };
        begun.rest(&begun.lab.source).await;
        begun
    }

    /// Starts a move that has created every object.
    async fn new_whole() -> Self {
        Box::pin(Self::created(team())).await
    }

    async fn created(cluster: ClusterBuilder) -> Self {
        let begun = Box::pin(Self::new(cluster, async |_| {})).await;
        begun.create().await;
        begun.note(&json!({"phase": "verifying", "madeNamespaces": ["team"]})).await;
        begun
    }

    async fn create(&self) {
        self.lab.target.create(cluster_class("team/class")).await;
        self.lab.target.create(self.cluster.clone()).await;
        self.rest(&self.lab.target).await;
    }

    async fn rest(&self, fixture: &Fixture) {
        let (cluster, class) =
            (PausableKind::Cluster.pause_patch(RUN), PausableKind::ClusterClass.pause_patch(RUN));
        fixture.merge(CLUSTER, "team/one", &cluster).await;
        fixture.merge(CLUSTER_CLASS, "team/class", &class).await;
    }

    /// Writes the journal, with some fields replaced.
    async fn note(&self, fields: &Value) {
        let lines = self.lab.lines();
        let (source, target) = (lines.source().await, lines.target().await);
        let mut journal = json!({
            "format": 1, "run": RUN, "begun": "2026-01-01T00:00:00Z",
            "source": source.identity().await.unwrap(), "target": target.identity().await.unwrap(),
            "namespaces": ["team"], "phase": "creating", "objects": 20,
            "paused": [
                paused("Cluster", "one", false), paused("ClusterClass", "class", false),
                paused("Cluster", "resting", true),
            ],
            "holder": {"host": "here", "process": "gone", "sign": 7},
        });
        journal.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        for fixture in [&self.lab.source, &self.lab.target] {
            let data = json!({"journal": journal.to_string()});
            fixture.create([object(CONFIG_MAP, JOURNAL).field("data", data)]).await;
        }
    }

    async fn abort(&self) -> Result<MoveAborted, MoveError> {
        abort(&self.lab.lines()).await
    }

    /// Fails if the source differs from its state before the move, apart from the journal.
    async fn assert_source_is_as_it_was(&self, when: &str) {
        assert_eq!(specs(&self.lab.source).await, self.source, "{when}");
    }
}

async fn abort(lines: &LabConnections) -> Result<MoveAborted, MoveError> {
    let (source, target) = (lines.source().await, lines.target().await);
    let route = MoveRoute { source: &source, target: &target };
    Box::pin(abort_move(route, PATIENCE, &keeper("2"))).await
}

fn paused(kind: &str, name: &str, was_paused: bool) -> Value {
    let object = json!({"group": "cluster.x-k8s.io", "kind": kind, "namespace": "team", "name": name});
    json!({"object": object, "wasPaused": was_paused, "isKept": false})
}

/// Returns all fields of the namespace `team` that a user may set, by kind and name.
async fn specs(fixture: &Fixture) -> Vec<Value> {
    let mut all = Vec::new();
    for kind in [CLUSTER, CLUSTER_CLASS, MACHINE, SECRET] {
        all.extend(fixture.list(kind).await);
    }
    for object in &mut all {
        let metadata = object["metadata"].as_object_mut().unwrap();
        for field in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(field);
        }
        let annotations = metadata.remove("annotations").unwrap_or_default();
        if annotations.as_object().is_some_and(|annotations| !annotations.is_empty()) {
            metadata.insert("annotations".to_owned(), annotations);
        }
    }
    all
}

async fn phases(lab: &Lab) -> Vec<String> {
    let mut phases = Vec::new();
    for fixture in [&lab.source, &lab.target] {
        let found = fixture.get(CONFIG_MAP, JOURNAL).await.unwrap();
        let journal: Value = serde_json::from_str(found["data"]["journal"].as_str().unwrap()).unwrap();
        phases.push(journal["phase"].as_str().unwrap().to_owned());
    }
    phases
}

#[tokio::test(start_paused = true)]
async fn an_abort_removes_copies_and_resumes_paused_clusters() {
    let begun = Box::pin(StartedMove::new_whole()).await;
    let aborted = begun.abort().await.unwrap();
    let names: Vec<_> = aborted.resumed.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Cluster team/one", "ClusterClass team/class"]);
    assert!(aborted.removed > 20, "{aborted:?}");
    assert_eq!((aborted.overwritten.len(), aborted.namespaces_left.len()), (0, 0));
    begun.lab.target.wait_until_idle().await;
    assert_eq!(outline(&begun.lab.target, "team").await, "");
    assert!(begun.lab.target.get(NAMESPACE, "team").await.is_none());
    begun.assert_source_is_as_it_was("").await;
    assert_eq!(phases(&begun.lab).await, ["aborted", "aborted"]);
    let error = begun.abort().await.unwrap_err();
    assert_data_eq!(error.to_string(), str!["cannot abort the move: no move found"]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_keeps_objects_that_existed_on_the_target() {
    let begun =
        StartedMove::new(team(), async |target| target.create([object(SECRET, "team/one-extra")]).await)
            .await;
    begun.lab.source.create([object(SECRET, "team/one-extra").owned_by(CLUSTER, "one")]).await;
    begun.create().await;
    let existed = json!({"group": "", "kind": "Secret", "namespace": "team", "name": "one-extra"});
    begun.note(&json!({"existed": [existed], "madeNamespaces": ["team"]})).await;
    let aborted = begun.abort().await.unwrap();
    assert_eq!(
        aborted.overwritten.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["Secret team/one-extra"]
    );
    assert_eq!(aborted.namespaces_left, ["team"]);
    begun.lab.target.wait_until_idle().await;
    assert_eq!(outline(&begun.lab.target, "team").await, "Secret one-extra\n");
}

#[tokio::test(start_paused = true)]
async fn an_abort_keeps_objects_that_others_created_since_the_move_began() {
    let begun = Box::pin(StartedMove::new_whole()).await;
    let keys = |from: &str| object(SECRET, "team/one-extra").field("stringData", json!({"from": from}));
    begun.lab.source.create([keys("source").owned_by(CLUSTER, "one")]).await;
    begun.lab.target.advance(Duration::from_mins(1));
    begun.lab.target.create([keys("target")]).await;
    let aborted = begun.abort().await.unwrap();
    let names = |keys: &[ObjectKey]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&aborted.foreign), ["Secret team/one-extra"]);
    assert_eq!((names(&aborted.overwritten), aborted.namespaces_left), (vec![], vec!["team".to_owned()]));
    begun.lab.target.wait_until_idle().await;
    assert_eq!(outline(&begun.lab.target, "team").await, "Secret one-extra\n");
}

#[tokio::test(start_paused = true)]
async fn aborting_a_pausing_move_does_not_change_the_target() {
    let begun = StartedMove::new(team(), async |target| {
        target.create(cluster_class("team/class")).await;
        target.create(team()).await;
    })
    .await;
    let before = outline(&begun.lab.target, "team").await;
    begun.note(&json!({"phase": "pausing", "objects": 0})).await;
    assert_eq!(begun.abort().await.unwrap().removed, 0);
    assert_eq!(outline(&begun.lab.target, "team").await, before);
    begun.assert_source_is_as_it_was("").await;
}

#[tokio::test(start_paused = true)]
async fn a_move_with_possible_deletions_cannot_be_aborted() {
    for phase in ["deleting", "resuming"] {
        let begun = Box::pin(StartedMove::new(team(), async |_| {})).await;
        begun.note(&json!({"phase": phase})).await;
        let error = begun.abort().await.unwrap_err();
        assert!(matches!(error, MoveError::AlreadyDeleting), "{error:?}");
        assert_eq!(phases(&begun.lab).await, [phase, phase]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_move_between_other_clusters_is_not_undone() {
    let begun = Box::pin(StartedMove::new(team(), async |_| {})).await;
    let other = ClusterIdentity { uid: "other".to_owned(), address: "https://other".to_owned() };
    begun.note(&json!({"target": other})).await;
    let error = begun.abort().await.unwrap_err();
    assert!(matches!(error, MoveError::Journal(JournalError::Conflict { .. })), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn an_abort_keeps_replaced_copies_and_pauses_of_the_user() {
    let begun = Box::pin(StartedMove::new_whole()).await;
    // The user has resumed the Cluster by hand, and paused the Cluster again.
    let own = json!({"metadata": {"annotations": {MOVE_MARK: null}}, "spec": {"paused": true}});
    begun.lab.source.merge(CLUSTER, "team/one", &own).await;
    let aborted = begun.abort().await.unwrap();
    assert_eq!(aborted.resumed.len(), 1);
    assert_eq!(begun.lab.source.get(CLUSTER, "team/one").await.unwrap()["spec"]["paused"], true);
}

#[tokio::test(start_paused = true)]
async fn terminating_copies_lose_their_finalizers() {
    let begun = Box::pin(StartedMove::new_whole()).await;
    begun.lab.target.delete(MACHINE, "team/one-md-1-0").await;
    assert!(begun.lab.target.get(MACHINE, "team/one-md-1-0").await.is_some());
    begun.abort().await.unwrap();
    begun.lab.target.wait_until_idle().await;
    assert_eq!(outline(&begun.lab.target, "team").await, "");
}

#[tokio::test(start_paused = true)]
async fn an_unremovable_copy_is_named_and_nothing_is_resumed() {
    let begun = Box::pin(StartedMove::new_whole()).await;
    begun.lab.target.inject_fault("forbid,verb=delete,resource=cluster.x-k8s.io/machines");
    let error = begun.abort().await.unwrap_err();
    let MoveError::ObjectFailures { action: "remove", failures } = &error else { panic!("{error:?}") };
    assert_eq!(failures[0].0.kind, "Machine");
    assert_eq!(begun.lab.source.get(CLUSTER, "team/one").await.unwrap()["spec"]["paused"], true);
    assert_eq!(phases(&begun.lab).await, ["aborting", "aborting"]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_killed_after_any_write_is_completed_by_the_same_call() {
    for writes in 1.. {
        let begun = Box::pin(StartedMove::created(cluster("team/one").machines(1))).await;
        let lines = begun.lab.breaking_after_writes(writes);
        if let Some(ended) = lines.until_broken(Box::pin(abort(&lines))).await {
            ended.unwrap();
            assert!(writes > 20, "{writes}");
            return;
        }
        let when = format!("killed after {writes} writes");
        match begun.abort().await {
            Err(MoveError::NoMove { .. }) => {}
            aborted => drop(aborted.unwrap_or_else(|error| panic!("{when}: {error:?}"))),
        }
        begun.lab.target.wait_until_idle().await;
        assert_eq!(outline(&begun.lab.target, "team").await, "", "{when}");
        assert!(begun.lab.target.get(NAMESPACE, "team").await.is_none(), "{when}");
        begun.assert_source_is_as_it_was(&when).await;
        assert_eq!(phases(&begun.lab).await, ["aborted", "aborted"], "{when}");
    }
}
