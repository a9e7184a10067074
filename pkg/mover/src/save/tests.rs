//! Saves of three Clusters: the content of the files, and the source afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use inventory::ManagementCluster;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::kind;
use workload::{MOVE_MARK, PAUSED_ANNOTATION};

use super::{
    LeftOutObject, SaveFormat, SaveMode, SaveOutcome, SavedObject, UnfinishedSave, find_unfinished_saves,
    plan_save, resume_interrupted_save, save_objects,
};
use crate::{
    JournalStore, MoveError, MovePlan, MoveRequest, SavedFile, plan_move,
    testing::Lab,
    testing::move_world::{World, keeper, move_lab, request, runtime, state},
};

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

async fn save_as(
    source: &ManagementCluster,
    request: &MoveRequest,
    how: SaveMode,
    keeper: &JournalStore,
    files: &mut Files,
) -> Result<SaveOutcome, MoveError> {
    let plan = Box::pin(plan_save(source, request, how, SaveFormat::Files, keeper)).await?;
    let names = plan.file_names();
    let mut keep = |object: SavedObject| {
        assert!(names.contains(&object.file), "{}", object.file);
        files.insert(object.file, object.content);
        Ok(())
    };
    Box::pin(save_objects(source, request, plan, how, keeper, &mut keep)).await
}

/// Saves the namespace `team` of a world.
pub(crate) async fn save(lab: &Lab, how: SaveMode) -> Files {
    let mut files = Files::new();
    let lines = lab.lines();
    save_as(&lines.source().await, &request(), how, &keeper("1"), &mut files).await.unwrap();
    files
}

pub(crate) fn as_saved(files: &Files) -> impl Iterator<Item = SavedFile> {
    files.iter().map(|(name, content)| SavedFile { name: name.clone(), content: content.clone() })
}

fn parsed(files: &Files, name: &str) -> Value {
    serde_json::from_slice(&files[name]).unwrap()
}

// Row: D-160
#[test]
fn files_hold_the_moving_objects_as_clusterctl_writes_them() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let before = state(&started.lab).await;
        let files = save(&started.lab, SaveMode::Paused).await;
        state(&started.lab).await.assert_same(&before, "after a save");
        for (name, content) in &files {
            let text = std::str::from_utf8(content).unwrap();
            assert!(text.ends_with("}\n") && text.lines().count() == 1, "{name}");
            assert!(!text.contains(MOVE_MARK), "{name}: {text}");
            let object: Value = serde_json::from_str(text).unwrap();
            let metadata = &object["metadata"];
            let namespace = metadata["namespace"].as_str().unwrap_or_default();
            let (kind, plain) = (object["kind"].as_str().unwrap(), metadata["name"].as_str().unwrap());
            assert_eq!(*name, format!("{kind}_{namespace}_{plain}.yaml"));
            assert!(metadata["uid"].is_string() && metadata["resourceVersion"].is_string(), "{name}");
        }
        // All objects are paused in the files: those of the user, those of the save, and the shared ClusterClass.
        for name in ["a", "b", "c"] {
            assert_eq!(
                parsed(&files, &format!("Cluster_team_{name}.yaml"))["spec"]["paused"],
                true,
                "{name}"
            );
        }
        let class = parsed(&files, "ClusterClass_team_shared.yaml");
        assert_eq!(class["metadata"]["annotations"][PAUSED_ANNOTATION], "");
        assert!(files.contains_key("Secret_team_c-apiserver-etcd-client.yaml"));
        assert!(files.contains_key("AWSClusterStaticIdentity__account.yaml"));
        assert!(!files.contains_key("Secret_team_unrelated.yaml"));
    });
}

#[test]
fn a_live_save_writes_nothing_to_the_source() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let before = started.lab.source.sandbox().revision();
        let files = save(&started.lab, SaveMode::Live).await;
        assert_eq!(started.lab.source.sandbox().revision(), before);
        assert_eq!(parsed(&files, "Cluster_team_a.yaml")["spec"]["paused"], Value::Null);
        assert_eq!(parsed(&files, "Cluster_team_b.yaml")["spec"]["paused"], true);
    });
}

// Row: D-161
#[test]
fn an_interrupted_save_can_be_repeated_or_undone() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let before = state(&world.start().await.lab).await;
        let expected = save(&world.start().await.lab, SaveMode::Paused).await;
        for writes in 1.. {
            let started = world.start().await;
            let lab = &started.lab;
            let lines = lab.breaking_after_writes(writes);
            let source = lines.source().await;
            let mut lost = Files::new();
            let (request, keeper) = (request(), keeper("1"));
            let cut = save_as(&source, &request, SaveMode::Paused, &keeper, &mut lost);
            if lines.until_broken(cut).await.is_some() {
                assert!(writes > 4, "{writes}");
                return;
            }
            if writes % 2 == 0 {
                let lines = lab.lines();
                resume_interrupted_save(&lines.source().await, &request, &keeper).await.unwrap();
            } else {
                let files = save(lab, SaveMode::Paused).await;
                assert!(files.keys().eq(expected.keys()), "{writes}");
            }
            state(lab).await.assert_same(&before, &format!("cut off after {writes} writes"));
        }
    });
}

// Row: D-161
#[test]
fn the_source_is_resumed_when_the_disk_is_full() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let before = state(&started.lab).await;
        let lines = started.lab.lines();
        let (source, request, keeper) = (lines.source().await, request(), keeper("1"));
        let plan = plan_save(&source, &request, SaveMode::Paused, SaveFormat::Files, &keeper).await.unwrap();
        let mut room = 3;
        let mut keep = |_| {
            room -= 1;
            if room > 0 { Ok(()) } else { Err(io::Error::from(io::ErrorKind::StorageFull)) }
        };
        let error = save_objects(&source, &request, plan, SaveMode::Paused, &keeper, &mut keep).await;
        assert!(matches!(error, Err(MoveError::WriteSaved(_))), "{error:?}");
        state(&started.lab).await.assert_same(&before, "after a full disk");
    });
}

#[test]
fn objects_of_an_active_save_are_neither_saved_nor_moved() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let mark = json!({"metadata": {"annotations": {MOVE_MARK: "save-7"}}, "spec": {"paused": true}});
        lab.source.merge(kind::CLUSTER, "team/a", &mark).await;
        let lines = lab.lines();
        let (source, target) = (lines.source().await, lines.target().await);
        let at_work = JournalStore { has_ended: Arc::new(|_| false), ..keeper("1") };
        for how in [SaveMode::Paused, SaveMode::Live] {
            let refused = plan_save(&source, &request(), how, SaveFormat::Files, &at_work).await;
            assert!(
                matches!(refused, Err(MoveError::SaveInProgress { ref process }) if process == "7"),
                "{refused:?}"
            );
        }
        let refused = resume_interrupted_save(&source, &request(), &at_work).await;
        assert!(matches!(refused, Err(MoveError::SaveInProgress { .. })), "{refused:?}");
        let Err(MoveError::Problems(problems)) = plan_move(&source, Some(&target), &request()).await else {
            panic!("it is moved")
        };
        assert_data_eq!(
            problems.problems[0].text.as_str(),
            str!["objects are being saved to files: Cluster team/a"]
        );
        resume_interrupted_save(&source, &request(), &keeper("1")).await.unwrap();
        move_lab(lab, &request(), "1").await.unwrap();
    });
}

// Row: D-162
#[test]
fn file_name_collisions_are_reported_before_pausing() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        // File names contain no group.
        let twin = kind::Kind { group: "twin.example.org", ..kind::DOCKER_CLUSTER };
        lab.source.create([support::cluster_api::definition(twin)]).await;
        lab.source.create([support::cluster_api::object(twin, "team/a").owned_by(kind::CLUSTER, "a")]).await;
        let before = lab.source.sandbox().revision();
        let lines = lab.lines();
        let source = lines.source().await;
        let keeper = keeper("1");
        let request = request();
        let plan = |into| plan_save(&source, &request, SaveMode::Paused, into, &keeper);
        let Err(MoveError::Problems(problems)) = plan(SaveFormat::Files).await else { panic!("it is saved") };
        assert_data_eq!(problems.problems[0].text.as_str(), str!["cannot save DockerCluster team/a to `DockerCluster_team_a.yaml`: several kinds share this file name: DockerCluster.infrastructure.cluster.x-k8s.io, DockerCluster.twin.example.org"]);
        plan(SaveFormat::Archive).await.unwrap();
        assert_eq!(lab.source.sandbox().revision(), before);
    });
}

#[test]
fn active_and_interrupted_saves_are_reported_with_paused_objects() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        for (place, run) in
            [("team/a", "save-7"), ("team/c", "save-7"), ("other/x", "save-8"), ("team/b", "restore")]
        {
            lab.source
                .merge(kind::CLUSTER, place, &json!({"metadata": {"annotations": {MOVE_MARK: run}}}))
                .await;
        }
        let keeper = JournalStore { has_ended: Arc::new(|holder| holder.process == "7"), ..keeper("1") };
        let lines = lab.lines();
        let open = find_unfinished_saves(&lines.source().await, &keeper).await.unwrap();
        let reported = |UnfinishedSave { process, has_ended: is_over, paused }: &UnfinishedSave| {
            let paused: Vec<_> = paused.iter().map(ToString::to_string).collect();
            (process.clone(), *is_over, paused.join(", "))
        };
        let expected = [("7", true, "Cluster team/a, Cluster team/c"), ("8", false, "Cluster other/x")]
            .map(|(process, is_over, paused)| (process.to_owned(), is_over, paused.to_owned()));
        assert_eq!(open.saves.iter().map(reported).collect::<Vec<_>>(), expected);
        assert_eq!(open.restoring.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Cluster team/b"]);
    });
}

/// Returns the archived objects and the objects that are left out, one per line.
async fn archive_plan(
    source: &ManagementCluster,
    plan: MovePlan,
    how: SaveMode,
) -> (Vec<String>, Vec<String>) {
    let mut kept = Vec::new();
    let mut keep = |object: SavedObject| {
        kept.push(object.key.to_string());
        Ok(())
    };
    let (request, keeper) = (request(), keeper("1"));
    let saved = save_objects(source, &request, plan, how, &keeper, &mut keep).await.unwrap();
    let reported = |left: LeftOutObject| format!("{}: {}", left.object, left.why);
    let mut left: Vec<String> = saved.left_out.into_iter().map(reported).collect();
    left.sort();
    (kept, left)
}

const HELD: &str = "team/b-machine-0";

async fn delete_held(lab: &Lab, of: kind::Kind) {
    lab.source.merge(of, HELD, &json!({"metadata": {"finalizers": ["hold"]}})).await;
    lab.source.delete(of, HELD).await;
}

// Row: D-176
#[test]
fn an_archive_excludes_terminating_objects_and_files_reject_them() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        delete_held(&started.lab, kind::MACHINE).await;
        let lines = started.lab.lines();
        let (source, request, keeper) = (lines.source().await, request(), keeper("1"));
        let mut texts = BTreeSet::new();
        for how in [SaveMode::Paused, SaveMode::Live] {
            let refused = plan_save(&source, &request, how, SaveFormat::Files, &keeper).await;
            let Err(MoveError::Problems(problems)) = refused else { panic!("it is saved") };
            texts.insert(problems.problems[0].text.clone());
            let plan = plan_save(&source, &request, how, SaveFormat::Archive, &keeper).await.unwrap();
            texts.extend(plan.warnings.iter().map(|warning| warning.text.clone()));
            let (kept, left) = archive_plan(&source, plan, how).await;
            assert!(
                kept.contains(&"Cluster team/b".to_owned()) && !kept.iter().any(|key| key.ends_with(HELD))
            );
            texts.insert(left.join("\n"));
        }
        // Both modes refuse, warn and exclude in the same way.
        assert_data_eq!(
            texts.into_iter().collect::<Vec<_>>().join("\n\n"),
            str![[r#"
DockerMachine team/b-machine-0: its owner Machine team/b-machine-0 stays
KubeadmConfig team/b-machine-0: its owner Machine team/b-machine-0 stays
Machine team/b-machine-0: it is being deleted
Secret team/b-machine-0: its owner KubeadmConfig team/b-machine-0 stays

objects are being deleted: Machine team/b-machine-0

objects in deletion are excluded with their dependents: Machine team/b-machine-0

paused, and stays paused after a restore: Cluster team/b
"#]]
        );
    });
}

// Row: D-176
#[test]
fn objects_deleted_during_an_archive_are_excluded() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lines = started.lab.lines();
        let source = lines.source().await;
        let how = SaveMode::Live;
        let (request, keeper) = (request(), keeper("1"));
        let plan = plan_save(&source, &request, how, SaveFormat::Archive, &keeper).await.unwrap();
        delete_held(&started.lab, kind::KUBEADM_CONFIG).await;
        started.lab.source.delete(kind::CONFIG_MAP, "team/labelled").await;
        let (_, left) = archive_plan(&source, plan, how).await;
        assert_data_eq!(
            left.join("\n"),
            str![[r#"
ConfigMap team/labelled: it was deleted while it was read
KubeadmConfig team/b-machine-0: it is being deleted
Secret team/b-machine-0: its owner KubeadmConfig team/b-machine-0 is excluded
"#]]
        );
    });
}

// Row: D-300
#[test]
fn an_archive_accepts_all_namespaces_and_rejects_empty_ones() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lines = started.lab.lines();
        let (source, target, keeper) = (lines.source().await, lines.target().await, keeper("1"));
        let of = |namespaces: &[&str]| MoveRequest {
            namespaces: namespaces.iter().map(ToString::to_string).collect(),
            ..request()
        };
        let plan = async |cluster: &ManagementCluster, request: &MoveRequest| {
            plan_save(cluster, request, SaveMode::Live, SaveFormat::Archive, &keeper).await
        };
        let all = plan(&source, &of(&[])).await.unwrap();
        let clusters = all.selection.moving().map(|node| all.facts(node).key.to_string());
        let clusters: Vec<String> = clusters.filter(|key| key.starts_with("Cluster ")).collect();
        assert_eq!(clusters, ["Cluster other/x", "Cluster team/a", "Cluster team/b", "Cluster team/c"]);
        let problems =
            async |cluster: &ManagementCluster, request: &MoveRequest| match plan(cluster, request).await {
                Err(MoveError::Problems(found)) => {
                    found.problems.into_iter().map(|one| one.text).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            };
        assert_data_eq!(
            problems(&source, &of(&["team", "taem", "kube-system"])).await.join("\n"),
            str![[r#"
cannot back up namespace `kube-system`: it has no Clusters
cannot back up namespace `taem`: it does not exist
"#]]
        );
        started.lab.target.delete(kind::AWS_CLUSTER_STATIC_IDENTITY, "account").await;
        assert_data_eq!(
            problems(&target, &of(&[])).await.join("\n"),
            str!["cannot back up the management cluster: it has no Clusters"]
        );
    });
}
