//! Restores to another cluster, after interruptions, and of invalid files.

mod duplicate_clusters;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::object,
    kind,
    scripted_connection::{OutgoingRequest, PausePoint, ScriptedConnection},
};
use workload::PAUSED_ANNOTATION;

use super::{RestoreOptions, RestoreOutcome, SavedFile, SavedObjects, restore_objects};
use crate::{
    ClusterChoice, MoveError, MoveRequest, SaveMode, plan_restore, recorded_runs, restoring_objects,
    save::tests::{Files, as_saved, save},
    testing::move_world::{State, World, move_lab, request, runtime, state},
    testing::{Lab, LabConnections},
};

/// Requests all saved objects.
fn everything() -> MoveRequest {
    MoveRequest { namespaces: BTreeSet::new(), ..request() }
}

async fn restore_through(
    lines: &LabConnections,
    files: &Files,
    request: &MoveRequest,
) -> Result<RestoreOutcome, MoveError> {
    let target = lines.target().await;
    let objects = SavedObjects::read(as_saved(files))?;
    let options = RestoreOptions::default();
    let plan = Box::pin(plan_restore(&target, &objects, request, options)).await?;
    Box::pin(restore_objects(&target, request, &plan, &objects, options)).await
}

async fn restore(lab: &Lab, files: &Files, request: &MoveRequest) -> Result<RestoreOutcome, MoveError> {
    restore_through(&lab.lines(), files, request).await
}

async fn problems(lab: &Lab, files: &Files) -> Vec<String> {
    match restore(lab, files, &everything()).await {
        Err(MoveError::Problems(problems)) => problems.problems.into_iter().map(|one| one.text).collect(),
        other => panic!("{other:?}"),
    }
}

/// Returns the target after a move of the same world.
async fn moved_target(world: &World) -> State {
    let started = world.start().await;
    move_lab(&started.lab, &request(), "1").await.unwrap();
    let state = state(&started.lab).await;
    State { source: BTreeMap::default(), target: state.target }
}

async fn target_of(lab: &Lab) -> State {
    State { source: BTreeMap::default(), target: state(lab).await.target }
}

// Row: D-165, D-166
#[test]
fn a_restore_creates_the_same_objects_as_a_move() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let expected = moved_target(&world).await;
        for how in [SaveMode::Paused, SaveMode::Live] {
            let started = world.start().await;
            let files = save(&started.lab, how).await;
            let restored = restore(&started.lab, &files, &everything()).await.unwrap();
            assert_eq!(restored.created.len() + restored.kept.len(), files.len());
            // The target already has the cluster-scoped identity.
            assert_eq!(restored.kept.len(), 1, "{:?}", restored.kept);
            assert_eq!(restored.paused.len(), 1, "{:?}", restored.paused);
            let found = target_of(&started.lab).await;
            found.check("after a restore");
            found.assert_same(&expected, &format!("{how:?}"));
        }
    });
}

#[test]
fn a_restore_interrupted_after_any_write_is_completed_by_a_rerun() {
    let world = runtime().block_on(World::build());
    let (files, expected) = runtime().block_on(async {
        let started = world.start().await;
        let files = save(&started.lab, SaveMode::Paused).await;
        (files, moved_target(&world).await)
    });
    runtime().block_on(async {
        for writes in (1..).step_by(7) {
            let started = world.start().await;
            let lab = &started.lab;
            let lines = lab.breaking_after_writes(writes);
            let cut = lines.until_broken(Box::pin(restore_through(&lines, &files, &everything()))).await;
            if let Some(ended) = cut {
                ended.unwrap();
                assert!(writes > 30, "{writes}");
                return;
            }
            lab.target.wait_until_idle().await;
            let when = format!("cut off after {writes} writes");
            restore(lab, &files, &everything()).await.unwrap_or_else(|error| panic!("{when}: {error:?}"));
            let found = target_of(lab).await;
            found.check(&when);
            found.assert_same(&expected, &when);
        }
    });
}

#[test]
fn an_interrupted_restore_records_the_command_that_completes_it() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let files = save(lab, SaveMode::Paused).await;
        let (objects, request) = (SavedObjects::read(as_saved(&files)).unwrap(), everything());
        let command = ["capstan", "restore", "b; id.tar.gz"].map(str::to_owned);
        let options = RestoreOptions { command: &command, ..RestoreOptions::default() };
        let recorded = async || {
            let target = lab.lines().target().await;
            recorded_runs(&target, &target.inventory().await.unwrap()).await.unwrap().restore_command
        };
        let lines = lab.breaking_after_writes(12);
        let target = lines.target().await;
        let plan = Box::pin(plan_restore(&target, &objects, &request, options)).await.unwrap();
        let cut = Box::pin(restore_objects(&target, &request, &plan, &objects, options));
        assert!(lines.until_broken(cut).await.is_none());
        lab.target.wait_until_idle().await;
        assert_eq!(recorded().await.as_deref(), Some("capstan restore 'b; id.tar.gz'"));
        assert!(!restoring_objects(&lab.lines().target().await).await.unwrap().is_empty());
        restore(lab, &files, &request).await.unwrap();
        assert_eq!(recorded().await, None);
    });
}

// Row: D-167
#[test]
fn an_active_cluster_on_the_target_blocks_a_restore_of_its_objects() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let files = save(lab, SaveMode::Paused).await;
        restore(lab, &files, &everything()).await.unwrap();
        // All objects exist: nothing is created, and nothing is wrong.
        let again = restore(lab, &files, &everything()).await.unwrap();
        assert_eq!(again.created, []);
        lab.target.delete(kind::SECRET, "team/c-ca").await;
        assert_data_eq!(
            problems(lab, &files).await.join("\n"),
            str!["Cluster team/c is active on the target and lacks saved objects"]
        );
        lab.target.merge(kind::CLUSTER, "team/c", &json!({"spec": {"paused": true}})).await;
        let mended = restore(lab, &files, &everything()).await.unwrap();
        assert_eq!(mended.created.len(), 1);
        assert_eq!(lab.target.get(kind::CLUSTER, "team/c").await.unwrap()["spec"]["paused"], Value::Null);
    });
}

#[test]
fn damage_on_the_target_stops_a_restore_before_it_resumes_clusters() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        for number in 0..3 {
            let started = world.start().await;
            let lab = &started.lab;
            let files = save(lab, SaveMode::Paused).await;
            let objects = SavedObjects::read(as_saved(&files)).unwrap();
            let request = everything();
            let plan =
                plan_restore(&lab.lines().target().await, &objects, &request, RestoreOptions::default())
                    .await
                    .unwrap();
            let moment = PausePoint::default();
            let is_list = |request: &OutgoingRequest<'_>| {
                request.method == "GET" && request.path.ends_with("/team/secrets")
            };
            let target = crate::testing::cluster_behind(&ScriptedConnection::pausing_before(
                &lab.target,
                &moment,
                is_list,
            ))
            .await;
            let damage = async {
                if number < 2 {
                    lab.target.delete(kind::SECRET, "team/c-ca").await;
                }
                match number {
                    0 => {}
                    1 => lab.target.create([object(kind::SECRET, "team/c-ca")]).await,
                    _ => {
                        let bare = json!({"metadata": {"ownerReferences": null}});
                        lab.target.merge(kind::SECRET, "team/c-ca", &bare).await;
                    }
                }
            };
            let restore =
                Box::pin(restore_objects(&target, &request, &plan, &objects, RestoreOptions::default()));
            let MoveError::TargetDiffers { differences } =
                Box::pin(moment.run_with_change(restore, damage)).await.unwrap_err()
            else {
                panic!("{number}: another failure")
            };
            let keys: Vec<String> = differences.iter().map(|(key, _)| key.to_string()).collect();
            assert_eq!(keys, ["Secret team/c-ca"], "{number}");
            assert_eq!(lab.target.get(kind::CLUSTER, "team/c").await.unwrap()["spec"]["paused"], true);
        }
    });
}

// Row: D-272
#[test]
fn another_cluster_of_the_same_name_gets_nothing_restored() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let mut reported = String::new();
        for host in [json!("elsewhere.example.org"), json!("")] {
            let started = world.start().await;
            let lab = &started.lab;
            let files = save(lab, SaveMode::Paused).await;
            let spec = json!({"paused": true, "controlPlaneEndpoint": {"host": host, "port": 6443}});
            lab.target.create([object(kind::CLUSTER, "team/c").field("spec", spec)]).await;
            let before = lab.target.sandbox().revision();
            let _ = writeln!(reported, "{}", problems(lab, &files).await.join("\n"));
            assert_eq!(lab.target.sandbox().revision(), before);
        }
        assert_data_eq!(reported, str![[r#"
Cluster team/c on the target may be another cluster: its endpoint is elsewhere.example.org:6443, but the endpoint on the source is c.example.org:6443
Cluster team/c on the target may be another cluster: its endpoint is unknown, but the endpoint on the source is c.example.org:6443

"#]]);
    });
}

// Row: D-272
#[test]
fn a_new_cluster_gets_no_existing_object_with_other_content() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let files = save(lab, SaveMode::Paused).await;
        let same = |name: &str| {
            let saved: Value = serde_json::from_slice(&files[&format!("Secret_team_{name}.yaml")]).unwrap();
            let secret = object(kind::SECRET, &format!("team/{name}")).field("data", saved["data"].clone());
            secret.field("type", saved["type"].clone())
        };
        let other = |name: &str| object(kind::SECRET, name).field("stringData", json!({"tls.crt": "other"}));
        lab.target.create([other("team/c-ca"), other("team/c-etcd")]).await;
        lab.target.create([same("c-sa")]).await;
        let before = lab.target.sandbox().revision();
        assert_data_eq!(
            problems(lab, &files).await.join("\n"),
            str!["objects of new Clusters exist on the target with other content: Secret team/c-ca, Secret team/c-etcd"]
        );
        assert_eq!(lab.target.sandbox().revision(), before);
        lab.target.delete(kind::SECRET, "team/c-ca").await;
        lab.target.delete(kind::SECRET, "team/c-etcd").await;
        restore(lab, &files, &everything()).await.unwrap();
        // The controllers of a Cluster that exists may have changed its objects.
        lab.target.merge(kind::SECRET, "team/c-ca", &json!({"stringData": {"tls.crt": "renewed"}})).await;
        assert_eq!(restore(lab, &files, &everything()).await.unwrap().created, []);
    });
}

#[test]
fn an_object_created_during_a_restore_is_not_taken_for_the_saved_one() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let files = save(lab, SaveMode::Paused).await;
        let objects = SavedObjects::read(as_saved(&files)).unwrap();
        let (request, options) = (everything(), RestoreOptions::default());
        let target = lab.lines().target().await;
        let plan = plan_restore(&target, &objects, &request, options).await.unwrap();
        lab.target
            .create([object(kind::SECRET, "team/c-ca").field("stringData", json!({"tls.crt": "other"}))])
            .await;
        let error = restore_objects(&target, &request, &plan, &objects, options).await.unwrap_err();
        let shown = format!("{error:?}");
        assert!(shown.contains("another program created it with other content"), "{shown}");
        assert_eq!(lab.target.get(kind::CLUSTER, "team/c").await.unwrap()["spec"]["paused"], true);
    });
}

// Row: D-168
#[test]
fn selected_clusters_are_restored_into_another_namespace() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let mut files = save(lab, SaveMode::Paused).await;
        let mut cluster: Value = serde_json::from_slice(&files["Cluster_team_a.yaml"]).unwrap();
        cluster["spec"]["topology"]["classRef"]["namespace"] = json!("team");
        files.insert("Cluster_team_a.yaml".to_owned(), cluster.to_string().into_bytes());
        let alone = MoveRequest {
            clusters: ClusterChoice::Named(BTreeSet::from(["a".to_owned()])),
            namespace_map: [("team".to_owned(), "tests".to_owned())].into(),
            server_dry_run: true,
            ..everything()
        };
        restore(lab, &files, &alone).await.unwrap();
        let clusters = lab.target.list(kind::CLUSTER).await;
        assert_eq!(clusters.len(), 1);
        assert_eq!(clusters[0]["spec"]["topology"]["classRef"]["namespace"], "tests");
        let class = lab.target.get(kind::CLUSTER_CLASS, "tests/shared").await.unwrap();
        assert!(class["metadata"]["annotations"].get(PAUSED_ANNOTATION).is_none(), "{class}");
        let unknown = MoveRequest { clusters: ClusterChoice::Named(["z".to_owned()].into()), ..everything() };
        assert!(matches!(restore(lab, &files, &unknown).await, Err(MoveError::Problems(_))));
    });
}

// Row: D-164
#[test]
fn handwritten_objects_need_no_uids() {
    runtime().block_on(async {
        let lab = Box::pin(Lab::with_kinds()).await;
        lab.target.create([support::cluster_api::provider(&crate::testing::core(), crate::testing::NEW_VERSION)]).await;
        let cluster = |name: &str| {
            format!(
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: {name}, namespace: team}}\n\
                 spec: {{controlPlaneEndpoint: {{host: h, port: 1}}, paused: false}}\n---\n\
                 apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}-ca\n  namespace: team\n  ownerReferences:\n  \
                 - {{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: {name}}}\n"
            )
        };
        let files: Files =
            ["one", "two"].map(|name| (format!("{name}.yaml"), cluster(name).into_bytes())).into();
        let restored = restore(&lab, &files, &everything()).await.unwrap();
        assert_eq!(restored.created.len(), 4);
        for name in ["one", "two"] {
            let cluster = lab.target.get(kind::CLUSTER, &format!("team/{name}")).await.unwrap();
            let secret = lab.target.get(kind::SECRET, &format!("team/{name}-ca")).await.unwrap();
            assert_eq!(secret["metadata"]["ownerReferences"][0]["uid"], cluster["metadata"]["uid"]);
            assert!(cluster["spec"].get("paused").is_none(), "{cluster}");
        }
    });
}

// Row: D-167
#[test]
fn invalid_files_are_reported_at_once() {
    let file = |name: &str, content: &str| SavedFile { name: name.to_owned(), content: content.into() };
    let reported = |files: Vec<SavedFile>| -> Vec<String> {
        let problems = SavedObjects::read(files).unwrap_err().problems;
        problems.into_iter().map(|problem| problem.text).collect()
    };
    let object = |name: &str, uid: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "n", "uid": uid}})
            .to_string()
    };
    assert_data_eq!(
        reported(vec![
            file("a.yaml", "[1]"),
            file("b.yaml", "{\"kind\": \"X\"}"),
            file("c.yaml", "{} {secret")
        ])
        .join("\n"),
        str![[r#"
cannot read `a.yaml`: document 1, line 1, column 1: expected a mapping, found a list
an object in `b.yaml` has no apiVersion
cannot read `c.yaml`: document 1, line 1, column 4: did not find expected `,` or `}`
"#]]
    );
    assert_data_eq!(
        reported(vec![file("a.yaml", &object("a", "1")), file("a.json", &object("a", "1"))]).join("\n"),
        str!["Secret n/a is in both `a.yaml` and `a.json`"]
    );
    assert_data_eq!(
        reported(vec![file("a.yaml", &object("a", "1")), file("b.yaml", &object("b", "1"))]).join("\n"),
        str!["Secret n/a in `a.yaml` and Secret n/b in `b.yaml` have the same uid"]
    );
    assert!(SavedObjects::read([]).unwrap().is_empty());
}

// Row: D-167
#[test]
fn an_incompatible_target_is_not_changed() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let mut files = save(lab, SaveMode::Paused).await;
        let mut odd: Value = serde_json::from_slice(&files["DockerCluster_team_a.yaml"]).unwrap();
        odd["apiVersion"] = json!("infrastructure.cluster.x-k8s.io/v9");
        files.insert("DockerCluster_team_a.yaml".to_owned(), odd.to_string().into_bytes());
        let homeless =
            json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "h"}});
        files.insert("h.yaml".to_owned(), homeless.to_string().into_bytes());
        let before = lab.target.sandbox().revision();
        let reported = problems(lab, &files).await;
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
the target does not serve `DockerCluster.infrastructure.cluster.x-k8s.io` in v9; it serves v1beta2
objects have no namespace: Cluster h
"#]]
        );
        assert_eq!(lab.target.sandbox().revision(), before);
    });
}

#[test]
fn a_restore_creates_only_kinds_that_move() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let mut files = save(lab, SaveMode::Paused).await;
        let cluster: Value = serde_json::from_slice(&files["Cluster_team_a.yaml"]).unwrap();
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {
                "name": "more", "namespace": "team", "uid": "more",
                "ownerReferences": [{
                    "apiVersion": cluster["apiVersion"], "kind": "Cluster",
                    "name": "a", "uid": cluster["metadata"]["uid"],
                }],
            },
        });
        files.insert("Role_team_more.yaml".to_owned(), role.to_string().into_bytes());
        let before = lab.target.sandbox().revision();
        let reported = problems(lab, &files).await;
        assert_data_eq!(
            reported.join("\n"),
            str!["cannot restore objects of kinds that never move: Role.rbac.authorization.k8s.io"]
        );
        assert_eq!(lab.target.sandbox().revision(), before);
    });
}
