//! Clusters that would run twice, paused restores, and the providers that a restore needs.

use std::collections::BTreeSet;

use api::{ProviderId, ProviderType};
use inventory::{ManagementCluster, PreflightProblem};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{cluster_api::cluster, fixture::Fixture, kind};
use workload::MOVE_MARK;

use super::{everything, restore};
use crate::{
    BackupProvider, ClusterChoice, MoveError, MoveRequest, SaveMode, plan_restore,
    restore::{RestoreOptions, SavedObjects, restore_objects},
    save::tests::{Files, as_saved, save},
    testing::Lab,
    testing::move_world::{World, runtime},
};

/// Requests only Cluster `c`, and maps the namespace `team` to `tests`.
fn elsewhere() -> MoveRequest {
    MoveRequest { namespace_map: [("team".to_owned(), "tests".to_owned())].into(), ..alone("c") }
}

fn alone(cluster: &str) -> MoveRequest {
    MoveRequest { clusters: ClusterChoice::Named(BTreeSet::from([cluster.to_owned()])), ..everything() }
}

/// Returns a backup of the source.
async fn backup(lab: &Lab, files: &Files) -> SavedObjects {
    let mut objects = SavedObjects::read(as_saved(files)).unwrap();
    objects.source = Some(lab.lines().source().await.identity().await.unwrap());
    objects
}

/// Returns the problems of a plan, otherwise its warnings.
async fn problem_texts(
    target: &ManagementCluster,
    objects: &SavedObjects,
    request: &MoveRequest,
    options: RestoreOptions<'_>,
) -> Vec<String> {
    let (problems, warnings) = findings(target, objects, request, options).await;
    if problems.is_empty() { warnings } else { problems }
}

/// Returns the problems and the warnings of a plan.
async fn findings(
    target: &ManagementCluster,
    objects: &SavedObjects,
    request: &MoveRequest,
    options: RestoreOptions<'_>,
) -> (Vec<String>, Vec<String>) {
    let texts = |found: Vec<PreflightProblem>| found.into_iter().map(|problem| problem.text).collect();
    match Box::pin(plan_restore(target, objects, request, options)).await {
        Ok(plan) => (Vec::new(), texts(plan.warnings)),
        Err(MoveError::Problems(problems)) => (texts(problems.problems), Vec::new()),
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns the problems of a plan. Clusters that would run twice are the only problems of these tests.
async fn duplicate_problems(
    target: &ManagementCluster,
    objects: &SavedObjects,
    request: &MoveRequest,
    options: RestoreOptions<'_>,
) -> Vec<String> {
    findings(target, objects, request, options).await.0
}

async fn set_paused(side: &Fixture, place: &str, paused: Value) {
    side.merge(kind::CLUSTER, place, &json!({"spec": {"paused": paused}})).await;
}

// Row: D-303
#[test]
fn a_copy_beside_the_running_cluster_is_refused_unless_one_is_paused() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let objects = backup(lab, &save(lab, SaveMode::Paused).await).await;
        let source = lab.lines().source().await;
        let before = lab.source.sandbox().revision();
        let refused = duplicate_problems(&source, &objects, &elsewhere(), RestoreOptions::default()).await;
        assert_data_eq!(
            refused.join("\n"),
            str!["Cluster tests/c would run twice: Cluster team/c runs on this cluster with the same uid"]
        );
        assert_eq!(lab.source.sandbox().revision(), before);
        let paused = RestoreOptions { paused: true, ..RestoreOptions::default() };
        assert_eq!(duplicate_problems(&source, &objects, &elsewhere(), paused).await, Vec::<String>::new());
        set_paused(&lab.source, "team/c", json!(true)).await;
        let beside_paused =
            duplicate_problems(&source, &objects, &elsewhere(), RestoreOptions::default()).await;
        assert_eq!(beside_paused, Vec::<String>::new());
        // A restore in place runs no Cluster twice.
        set_paused(&lab.source, "team/c", Value::Null).await;
        let in_place = duplicate_problems(&source, &objects, &alone("c"), RestoreOptions::default()).await;
        assert_eq!(in_place, Vec::<String>::new());
    });
}

// Row: D-303
#[test]
fn a_duplicate_cluster_is_detected_by_four_properties() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let machine = "team/c-control-plane-0";
        let of_provider = json!({"spec": {"providerID": "docker:////c-0"}});
        lab.source.merge(kind::MACHINE, machine, &of_provider).await;
        let objects = backup(lab, &save(lab, SaveMode::Paused).await).await;
        let (source, target) = (lab.lines().source().await, lab.lines().target().await);
        let options = RestoreOptions::default();
        // After an earlier restore, the target runs a Cluster under its own name.
        let files = save(lab, SaveMode::Paused).await;
        restore(lab, &files, &alone("c")).await.unwrap();
        let by_machine = duplicate_problems(&target, &objects, &elsewhere(), options).await;
        assert_data_eq!(by_machine.join("\n"), str!["Cluster tests/c would run twice: Cluster team/c runs on this cluster with the same provider ID `docker:////c-0`"]);
        lab.target.merge(kind::MACHINE, machine, &json!({"spec": {"providerID": "docker:////d-0"}})).await;
        let by_endpoint = duplicate_problems(&target, &objects, &elsewhere(), options).await;
        assert_data_eq!(by_endpoint.join("\n"), str!["Cluster tests/c would run twice: Cluster team/c runs on this cluster with the same endpoint `c.example.org:6443`"]);
        let endpoint = json!({"spec": {"controlPlaneEndpoint": {"host": "d.example.org"}}});
        lab.target.merge(kind::CLUSTER, "team/c", &endpoint).await;
        // Names are ignored on a cluster that is not the source of the backup.
        assert_eq!(duplicate_problems(&target, &objects, &elsewhere(), options).await, Vec::<String>::new());
        lab.source.merge(kind::MACHINE, machine, &json!({"spec": {"providerID": null}})).await;
        lab.source.merge(kind::CLUSTER, "team/c", &json!({"metadata": {"finalizers": null}})).await;
        lab.source.delete(kind::CLUSTER, "team/c").await;
        lab.source.wait_until_idle().await;
        let [anew, ..] = &cluster("team/c").into_iter().collect::<Vec<_>>()[..] else { panic!("no Cluster") };
        lab.source.create([anew.clone()]).await;
        lab.source.merge(kind::CLUSTER, "team/c", &endpoint).await;
        let by_name = duplicate_problems(&source, &objects, &elsewhere(), options).await;
        assert_data_eq!(by_name.join("\n"), str!["Cluster tests/c would run twice: Cluster team/c runs on this cluster with the same infrastructure `DockerCluster team/c`"]);
        let other = json!({"spec": {"infrastructureRef": {"name": "d"}}});
        lab.source.merge(kind::CLUSTER, "team/c", &other).await;
        let by_name = duplicate_problems(&source, &objects, &elsewhere(), options).await;
        assert_data_eq!(by_name.join("\n"), str!["Cluster tests/c would run twice: Cluster team/c runs on this cluster with the same name"]);
    });
}

// Row: D-303
#[test]
fn the_source_cluster_is_checked_if_given_otherwise_a_warning_follows() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let objects = backup(lab, &save(lab, SaveMode::Paused).await).await;
        let (source, target) = (lab.lines().source().await, lab.lines().target().await);
        let address = source.server().address();
        let options = RestoreOptions { paused: false, source: Some(&source), ..RestoreOptions::default() };
        assert_data_eq!(
            problem_texts(&target, &objects, &alone("c"), options).await.join("\n").replace(address, "ADDRESS"),
            str!["Cluster team/c would run twice: Cluster team/c runs on `ADDRESS` with the same uid"]
        );
        let alone = alone("c");
        let shown = |texts: Vec<String>| texts.join("\n").replace(address, "ADDRESS");
        let unnamed = problem_texts(&target, &objects, &alone, RestoreOptions::default()).await;
        assert_data_eq!(shown(unnamed), str![[r#"
objects without a link to a Cluster are not restored (9 of 56): ClusterClass team/shared, ClusterResourceSet team/addons, ConfigMap team/addons, DockerClusterTemplate team/shared, DockerMachineTemplate team/shared-control-plane, DockerMachineTemplate team/shared-worker, KubeadmConfigTemplate team/shared-worker, KubeadmControlPlaneTemplate team/shared, Secret team/addons
cannot check whether the Clusters still run on the source cluster `ADDRESS`
"#]]);
        let paused = RestoreOptions { paused: true, ..RestoreOptions::default() };
        assert_data_eq!(shown(problem_texts(&target, &objects, &alone, paused).await), str!["objects without a link to a Cluster are not restored (9 of 56): ClusterClass team/shared, ClusterResourceSet team/addons, ConfigMap team/addons, DockerClusterTemplate team/shared, DockerMachineTemplate team/shared-control-plane, DockerMachineTemplate team/shared-worker, KubeadmConfigTemplate team/shared-worker, KubeadmControlPlaneTemplate team/shared, Secret team/addons"]);
        set_paused(&lab.source, "team/c", json!(true)).await;
        assert_eq!(duplicate_problems(&target, &objects, &alone, options).await, Vec::<String>::new());
    });
}

// Row: D-304
#[test]
fn a_paused_restore_leaves_clusters_paused_and_unmarked() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let files = save(lab, SaveMode::Paused).await;
        let objects = backup(lab, &files).await;
        let lines = lab.breaking_after_writes(12);
        let options = RestoreOptions { paused: true, ..RestoreOptions::default() };
        let run = async |target: &ManagementCluster| {
            let plan = Box::pin(plan_restore(target, &objects, &everything(), options)).await?;
            Box::pin(restore_objects(target, &everything(), &plan, &objects, options)).await
        };
        let target = lines.target().await;
        assert!(lines.until_broken(Box::pin(run(&target))).await.is_none(), "it is interrupted");
        lab.target.wait_until_idle().await;
        let done = run(&lab.lines().target().await).await.unwrap();
        let paused: BTreeSet<String> = done.paused.iter().map(ToString::to_string).collect();
        let expected = ["Cluster team/a", "Cluster team/b", "Cluster team/c", "ClusterClass team/shared"];
        assert_eq!(paused, expected.map(str::to_owned).into());
        let clusters = lab.target.list(kind::CLUSTER).await;
        assert_eq!(clusters.len(), 3);
        for one in clusters.iter().chain(&lab.target.list(kind::CLUSTER_CLASS).await) {
            assert_eq!(one["metadata"]["annotations"].get(MOVE_MARK), None, "{one}");
            assert!(one["spec"]["paused"] == true || one["kind"] == "ClusterClass", "{one}");
        }
        // The next restore keeps the pause and says so.
        let again =
            problem_texts(&lab.lines().target().await, &objects, &everything(), RestoreOptions::default())
                .await;
        assert_data_eq!(
            again.join("\n"),
            str![[r#"
already paused on this cluster, and stays paused: Cluster team/a, Cluster team/c
cannot check whether the Clusters still run on the source cluster `the API server`
"#]]
        );
        let again = restore(lab, &files, &everything()).await.unwrap();
        assert_eq!(again.created, []);
        assert_eq!(lab.target.get(kind::CLUSTER, "team/a").await.unwrap()["spec"]["paused"], true);
    });
}

// Row: D-305
#[test]
fn only_providers_whose_kinds_are_restored_are_required() {
    let world = runtime().block_on(World::build());
    runtime().block_on(async {
        let started = world.start().await;
        let lab = &started.lab;
        let mut objects = backup(lab, &save(lab, SaveMode::Paused).await).await;
        let provider = |name: &str, kinds: &[&str]| BackupProvider {
            provider: ProviderId::new(ProviderType::Infrastructure, name),
            version: "v99.0.0".to_owned(),
            namespace: format!("{name}-system"),
            kinds: kinds.iter().map(|kind| format!("{kind}.infrastructure.cluster.x-k8s.io")).collect(),
        };
        objects.providers =
            vec![provider("azure", &["AzureCluster"]), provider("docker", &["DockerCluster"])];
        let reported =
            problem_texts(&lab.lines().target().await, &objects, &alone("c"), RestoreOptions::default())
                .await;
        assert_data_eq!(
            reported.join("\n"),
            str!["`infrastructure-docker` is v99.0.0 on the source and v1.14.0 on the target"]
        );
    });
}
