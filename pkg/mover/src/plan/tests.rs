use std::{fmt::Write as _, time::Duration};

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{cluster, cluster_class, install, object, provider},
    fixture::Fixture,
    kind::{
        AWS_CLUSTER_STATIC_IDENTITY, CLUSTER, CONFIG_MAP, DOCKER_CLUSTER, DOCKER_MACHINE, MACHINE, NAMESPACE,
        SECRET,
    },
    request_counter::RequestCounter,
};

use super::*;
use crate::{
    ClusterChoice, DifferencePolicy,
    testing::{self, NEW_VERSION, OLD_VERSION, bootstrap, control_plane, core, docker},
};

/// Starts a management cluster with the kinds and the inventory of four providers.
async fn side(version: &str) -> Fixture {
    let side = Fixture::start().await;
    install(&side).await;
    let ids = [core(), bootstrap(), control_plane(), docker()];
    side.create(ids.map(|id| provider(&id, version))).await;
    side
}

/// Starts a source with a Cluster of two machines and an unrelated ConfigMap, and a target with the namespace.
async fn two_sides() -> (Fixture, Fixture) {
    let (source, target) = (Box::pin(side(NEW_VERSION)).await, Box::pin(side(NEW_VERSION)).await);
    source.create(cluster("team/demo").control_plane(1).machine_deployment("work", 1)).await;
    source.create([object(CONFIG_MAP, "team/stray")]).await;
    target.create([object(NAMESPACE, "team")]).await;
    (source, target)
}

fn everything() -> MoveRequest {
    MoveRequest {
        namespaces: ["team".to_owned()].into(),
        clusters: ClusterChoice::All,
        namespace_map: BTreeMap::new(),
        include_status: BTreeSet::new(),
        timeout: Duration::from_secs(20),
        on_difference: DifferencePolicy::Stop,
        overwrite: false,
        server_dry_run: true,
    }
}

fn named(name: &str) -> MoveRequest {
    MoveRequest { clusters: ClusterChoice::Named([name.to_owned()].into()), ..everything() }
}

async fn planned(source: &Fixture, target: &Fixture, request: &MoveRequest) -> Result<MovePlan, MoveError> {
    let (source, target) = (testing::cluster(source).await, testing::cluster(target).await);
    Box::pin(plan_move(&source, Some(&target), request)).await
}

async fn problems(source: &Fixture, target: &Fixture, request: &MoveRequest) -> Vec<String> {
    match planned(source, target, request).await {
        Err(MoveError::Problems(PreflightProblems { problems })) => {
            problems.into_iter().map(|problem| problem.text).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Formats moving objects like `1 move Cluster team/demo (moves by itself)`.
fn lines(plan: &MovePlan, request: &MoveRequest) -> Vec<String> {
    let report = plan.report("here", Some("there"), request);
    let line = |moving: &api::output::MovingObject| {
        let object = &moving.object;
        let namespace = moving.target_namespace.as_deref().unwrap_or(&object.namespace);
        let (group, action) = (moving.group, moving.action.as_str());
        format!("{group} {action} {} {namespace}/{} ({})", object.kind, object.name, moving.why)
    };
    report.moving.iter().map(line).collect()
}

fn warning_texts(plan: &MovePlan) -> Vec<&str> {
    plan.warnings.iter().map(|warning| warning.text.as_str()).collect()
}

#[tokio::test]
async fn a_plan_lists_an_action_and_a_reason_for_every_object() {
    let (source, target) = two_sides().await;
    let plan = planned(&source, &target, &everything()).await.unwrap();
    let lines = lines(&plan, &everything());
    assert_data_eq!(lines[0].as_str(), str!["1 move Cluster team/demo (is a root object)"]);
    let machine = lines.iter().find(|line| line.contains(" Machine team/demo-work-1-0 ")).unwrap();
    assert_data_eq!(
        machine.as_str(),
        str!["4 move Machine team/demo-work-1-0 (belongs to Cluster team/demo)"]
    );
    assert!(lines.iter().any(|line| line.contains(" move Secret team/demo-ca ")), "{lines:#?}");
    let staying = plan.report("", None, &everything()).staying;
    let stray = staying.iter().find(|one| one.object.name == "stray").unwrap();
    assert_data_eq!(stray.why.as_str(), str!["it is not linked to a moving object"]);
    assert!(plan.new_namespaces.is_empty() && plan.warnings.is_empty(), "{:?}", plan.warnings);
    assert_eq!(lines.len(), plan.target_effects.len());
}

#[tokio::test]
async fn a_plan_leaves_no_objects() {
    let (source, target) = two_sides().await;
    let (here, there) = (RequestCounter::start(source.sandbox()), RequestCounter::start(target.sandbox()));
    planned(&source, &target, &everything()).await.unwrap();
    assert_eq!(here.writes().to_string(), "1 create selfsubjectaccessreviews");
    let writes = there.writes().to_string();
    let kept: Vec<&str> = writes.split(", ").filter(|write| !write.contains("(dry run)")).collect();
    assert_eq!(kept, ["1 create selfsubjectaccessreviews"], "{writes}");
    assert!(writes.contains("create machines (dry run)"), "{writes}");
    assert!(target.list(MACHINE).await.is_empty());
}

// Row: D-145
#[tokio::test]
async fn a_plan_without_a_target_reads_only_the_source() {
    let (source, _) = two_sides().await;
    let plan = plan_move(&testing::cluster(&source).await, None, &everything()).await.unwrap();
    assert!(plan.target_effects.is_empty() && !plan.groups.is_empty());
    let lines = lines(&plan, &everything());
    assert!(lines.iter().all(|line| line.contains(" move ")), "{lines:#?}");
}

// Row: D-143
#[tokio::test]
async fn a_cluster_is_not_moved_onto_itself() {
    let (source, _) = two_sides().await;
    let counter = RequestCounter::start(source.sandbox());
    let refused = planned(&source, &source, &everything()).await;
    assert!(matches!(refused, Err(MoveError::SameCluster)), "{refused:?}");
    assert_eq!(counter.writes().total(), 0);
}

// Row: D-142
#[tokio::test]
async fn problems_of_both_clusters_are_reported_at_once() {
    let (source, target) = (side(NEW_VERSION).await, side(OLD_VERSION).await);
    source.create(cluster("team/demo").machines(1)).await;
    let not_yet = json!({"status": {"initialization": {"infrastructureProvisioned": false}}});
    status(&source, CLUSTER, "team/demo", &not_yet).await;
    status(&source, MACHINE, "team/demo-machine-0", &json!({"status": {"nodeRef": null}})).await;
    target
        .delete(support::kind::CUSTOM_RESOURCE_DEFINITION, "dockermachines.infrastructure.cluster.x-k8s.io")
        .await;
    let reported = problems(&source, &target, &everything()).await;
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
the infrastructure is not provisioned yet: Cluster team/demo
Machines have no node yet: Machine team/demo-machine-0
`bootstrap-kubeadm` is v1.14.0 on the source and v1.13.5 on the target
`cluster-api` is v1.14.0 on the source and v1.13.5 on the target
`control-plane-kubeadm` is v1.14.0 on the source and v1.13.5 on the target
`infrastructure-docker` is v1.14.0 on the source and v1.13.5 on the target
the target does not serve kind `DockerMachine.infrastructure.cluster.x-k8s.io`
"#]]
    );
}

async fn status(on: &Fixture, kind: support::kind::Kind, place: &str, patch: &serde_json::Value) {
    let cluster = testing::cluster(on).await;
    let (namespace, name) = place.split_once('/').unwrap();
    let kind = inventory::known_kind(kind.group, kind.version, kind.kind, kind.plural, true);
    let of = apply::PatchTarget::Status;
    cluster.server.patch(&kind, namespace, name, patch, "test", of).await.unwrap();
}

#[tokio::test]
async fn missing_permissions_are_reported_before_the_dry_run() {
    let (source, target) = two_sides().await;
    source.inject_fault("forbid,verb=delete,resource=cluster.x-k8s.io/machines");
    target.inject_fault("forbid,verb=create,resource=secrets");
    let quick = MoveRequest { server_dry_run: false, ..everything() };
    assert_data_eq!(
        problems(&source, &target, &quick).await.join("\n"),
        str![[r#"
missing permission on the source cluster: delete `machines.cluster.x-k8s.io` in namespace `team`
missing permission on the target cluster: create `secrets` in namespace `team`
"#]]
    );
}

// Row: D-148
#[tokio::test]
async fn a_target_without_providers_is_refused_and_not_changed() {
    let (source, _) = two_sides().await;
    let bare = Fixture::start().await;
    let definition = support::cluster_api::definition(CLUSTER);
    bare.create([definition]).await;
    let counter = RequestCounter::start(bare.sandbox());
    let reported = problems(&source, &bare, &everything()).await;
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
the target has no providers; the source has `bootstrap-kubeadm`, `cluster-api`, `control-plane-kubeadm`, `infrastructure-docker`
the target does not serve kind `KubeadmConfig.bootstrap.cluster.x-k8s.io`
the target does not serve kind `KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io`
the target does not serve kind `Machine.cluster.x-k8s.io`
the target does not serve kind `MachineDeployment.cluster.x-k8s.io`
the target does not serve kind `MachineSet.cluster.x-k8s.io`
the target does not serve kind `KubeadmControlPlane.controlplane.cluster.x-k8s.io`
the target does not serve kind `DockerCluster.infrastructure.cluster.x-k8s.io`
the target does not serve kind `DockerMachine.infrastructure.cluster.x-k8s.io`
the target does not serve kind `DockerMachineTemplate.infrastructure.cluster.x-k8s.io`
"#]]
    );
    assert!(!counter.writes().to_string().contains("customresourcedefinitions"));
}

#[tokio::test]
async fn a_cluster_of_another_contract_is_refused_as_source_or_target() {
    let (source, _) = two_sides().await;
    let none = Fixture::start().await;
    let refused = planned(&source, &none, &everything()).await;
    let is_of_target = matches!(refused, Err(MoveError::Contract { side: MoveSide::Target, .. }));
    assert!(is_of_target, "{refused:?}");
}

// Row: D-145
#[tokio::test]
async fn the_dry_run_finds_objects_that_the_target_rejects() {
    let (source, target) = two_sides().await;
    target
        .apply(
            "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dockermachines.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: DockerMachine, listKind: DockerMachineList, plural: dockermachines, singular: dockermachine}
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, required: [mandatory], x-kubernetes-preserve-unknown-fields: true}}
",
        )
        .await;
    let reported = problems(&source, &target, &everything()).await;
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
dry run failed on the target: cannot create DockerMachine team/demo-control-plane-0: mandatory: Required value
dry run failed on the target: cannot create DockerMachine team/demo-work-1-0: mandatory: Required value
"#]]
    );
    assert!(target.list(DOCKER_MACHINE).await.is_empty());
    let quick = MoveRequest { server_dry_run: false, ..everything() };
    assert!(planned(&source, &target, &quick).await.is_ok());
}

#[tokio::test]
async fn objects_of_missing_namespaces_cannot_be_dry_run() {
    let (source, target) = two_sides().await;
    let request =
        MoveRequest { namespace_map: [("team".to_owned(), "other".to_owned())].into(), ..everything() };
    let plan = planned(&source, &target, &request).await.unwrap();
    assert_eq!(plan.new_namespaces, ["other"]);
    assert_data_eq!(
        warning_texts(&plan).join("\n"),
        str![
            "cannot dry-run objects because their namespace does not exist on the target yet: Cluster other/demo, DockerCluster other/demo, DockerMachine other/demo-control-plane-0, DockerMachine other/demo-work-1-0, DockerMachineTemplate other/demo-control-plane, DockerMachineTemplate other/demo-work, KubeadmConfig other/demo-control-plane-0, KubeadmConfig other/demo-work-1-0, KubeadmConfigTemplate other/demo-work, KubeadmControlPlane other/demo-control-plane and 11 more"
        ]
    );
    assert!(lines(&plan, &request)[0].contains("Cluster other/demo"));
}

// Row: D-147
#[tokio::test]
async fn existing_namespaced_objects_are_overwritten_cluster_scoped_are_not() {
    let (source, target) = two_sides().await;
    source.create([object(AWS_CLUSTER_STATIC_IDENTITY, "main")]).await;
    let secret = object(SECRET, "team/demo-ca").field("type", json!("cluster.x-k8s.io/secret"));
    target.create([object(AWS_CLUSTER_STATIC_IDENTITY, "main"), secret]).await;
    let told_of_secrets = problems(&source, &target, &everything()).await;
    assert_data_eq!(
        told_of_secrets.join("\n"),
        str!["objects on the target have other content and no move created them: Secret team/demo-ca"]
    );
    let overwriting = MoveRequest { overwrite: true, ..everything() };
    let plan = planned(&source, &target, &overwriting).await.unwrap();
    let lines = lines(&plan, &everything());
    assert!(lines.iter().any(|line| line.contains(" leave AWSClusterStaticIdentity ")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains(" overwrite Secret team/demo-ca ")), "{lines:#?}");
    assert_data_eq!(
        warning_texts(&plan).join("\n"),
        str!["objects exist on the target and are overwritten: Secret team/demo-ca"]
    );
}

// Row: D-147, D-272
#[tokio::test]
async fn another_cluster_of_the_same_name_is_never_overwritten() {
    let mut refusals = String::new();
    for endpoint in [json!({"host": "elsewhere.example.org", "port": 6443}), json!(null)] {
        let (source, target) = two_sides().await;
        let other = object(CLUSTER, "team/demo").field("spec", json!({"controlPlaneEndpoint": endpoint}));
        target.create([other]).await;
        for overwrite in [false, true] {
            let reported = problems(&source, &target, &MoveRequest { overwrite, ..everything() }).await;
            let _ = writeln!(refusals, "{}", reported.join("\n"));
        }
    }
    assert_data_eq!(
        refusals,
        str![[r#"
Cluster team/demo on the target may be another cluster: its endpoint is elsewhere.example.org:6443, but the endpoint on the source is demo.example.org:6443
Cluster team/demo on the target may be another cluster: its endpoint is elsewhere.example.org:6443, but the endpoint on the source is demo.example.org:6443
Cluster team/demo on the target may be another cluster: its endpoint is unknown, but the endpoint on the source is demo.example.org:6443
Cluster team/demo on the target may be another cluster: its endpoint is unknown, but the endpoint on the source is demo.example.org:6443

"#]]
    );
}

// Row: D-272
#[tokio::test]
async fn the_same_cluster_is_overwritten_only_on_demand() {
    let (source, target) = two_sides().await;
    let same = cluster("team/demo").control_plane(1).machine_deployment("work", 1);
    target.create(same.into_iter().take(1)).await;
    planned(&source, &target, &everything()).await.unwrap();
    target
        .merge(CLUSTER, "team/demo", &json!({"spec": {"clusterNetwork": {"serviceDomain": "other"}}}))
        .await;
    let reported = problems(&source, &target, &everything()).await;
    assert_data_eq!(
        reported.join("\n"),
        str!["objects on the target have other content and no move created them: Cluster team/demo"]
    );
    planned(&source, &target, &MoveRequest { overwrite: true, ..everything() }).await.unwrap();
}

// Row: D-149
#[tokio::test]
async fn clusters_are_chosen_by_name_and_by_label() {
    let (source, target) = two_sides().await;
    source.create(cluster("team/other")).await;
    source.merge(CLUSTER, "team/other", &json!({"metadata": {"labels": {"env": "test"}}})).await;
    let clusters = |plan: &MovePlan, request: &MoveRequest| -> Vec<String> {
        lines(plan, request).into_iter().filter(|line| line.contains(" move Cluster ")).collect()
    };
    let one = named("team/demo");
    let plan = planned(&source, &target, &one).await.unwrap();
    assert_data_eq!(clusters(&plan, &one).join("\n"), str!["1 move Cluster team/demo (is a root object)"]);
    assert_eq!(plan.clusters, Some(["team/demo".to_owned()].into()));
    let labelled = |selector: &str| MoveRequest {
        clusters: ClusterChoice::Labelled(selector.to_owned()),
        ..everything()
    };
    let plan = planned(&source, &target, &labelled("env in (test)")).await.unwrap();
    assert_data_eq!(clusters(&plan, &one).join("\n"), str!["1 move Cluster team/other (is a root object)"]);
    assert_data_eq!(
        problems(&source, &target, &labelled("env=prod")).await.join("\n"),
        str!["no Cluster in namespace `team` matches the selector `env=prod`"]
    );
    assert_data_eq!(
        problems(&source, &target, &named("dem")).await.join("\n"),
        str!["Cluster `dem` does not exist in the selected namespaces"]
    );
}

// Row: D-149
#[tokio::test]
async fn clusters_that_share_moving_objects_are_both_named() {
    let (source, target) = two_sides().await;
    source.create(cluster("team/other")).await;
    let demo = source.get(CLUSTER, "team/demo").await.unwrap()["metadata"]["uid"].clone();
    let other = source.get(CLUSTER, "team/other").await.unwrap()["metadata"]["uid"].clone();
    let owner = |name: &str, uid| json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": uid});
    let owners = json!([owner("demo", demo), owner("other", other)]);
    source.create([object(SECRET, "team/both")]).await;
    source.merge(SECRET, "team/both", &json!({"metadata": {"ownerReferences": owners}})).await;
    assert_data_eq!(
        problems(&source, &target, &named("demo")).await.join("\n"),
        str!["Secret team/both is shared with Cluster team/other, which does not move"]
    );
    assert!(planned(&source, &target, &everything()).await.is_ok());
}

// Row: D-150
#[tokio::test]
async fn objects_that_stay_are_reported_with_their_owner() {
    let (source, target) = two_sides().await;
    let demo = source.get(CLUSTER, "team/demo").await.unwrap()["metadata"]["uid"].clone();
    let stray = source.get(CONFIG_MAP, "team/stray").await.unwrap()["metadata"]["uid"].clone();
    let owners = json!([
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "demo", "uid": demo},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "stray", "uid": stray},
    ]);
    source.create([object(SECRET, "team/both")]).await;
    source.merge(SECRET, "team/both", &json!({"metadata": {"ownerReferences": owners}})).await;
    let plan = planned(&source, &target, &everything()).await.unwrap();
    assert_data_eq!(
        warning_texts(&plan).join("\n"),
        str!["objects stay because an owner stays: Secret team/both (owner ConfigMap team/stray)"]
    );
    assert!(!lines(&plan, &everything()).iter().any(|line| line.contains("Secret team/both")));
}

#[tokio::test]
async fn classes_in_other_namespaces_move_and_create_their_namespace() {
    let (source, target) = two_sides().await;
    source.create(cluster_class("classes/fast")).await;
    source.create(cluster("team/managed").of_class("classes/fast").control_plane(1)).await;
    let plan = planned(&source, &target, &everything()).await.unwrap();
    assert_eq!(plan.new_namespaces, ["classes"]);
    let lines = lines(&plan, &everything());
    assert!(lines.iter().any(|line| line.contains(" copy ClusterClass classes/fast ")), "{lines:#?}");
}

#[tokio::test]
async fn a_status_is_copied_only_for_moving_kinds() {
    let (source, target) = two_sides().await;
    let with = |kinds: &[&str]| MoveRequest {
        include_status: kinds.iter().map(ToString::to_string).collect(),
        ..everything()
    };
    let both = with(&["dockermachine", "machine.cluster.x-k8s.io"]);
    assert!(planned(&source, &target, &both).await.is_ok());
    assert_data_eq!(
        problems(&source, &target, &with(&["dockermaschine", "secret"])).await.join("\n"),
        str![[r#"
cannot copy the status of kind `dockermaschine`: no object of this kind moves
cannot copy the status of kind `secret`: its objects have no status
"#]]
    );
}

// Row: D-182
#[tokio::test]
async fn overwritten_objects_are_dry_run_too() {
    let (source, target) = two_sides().await;
    let labelled = |value: &str, is_immutable: bool| {
        let secret = object(SECRET, "team/login").label("clusterctl.cluster.x-k8s.io/move", "");
        secret.field("stringData", json!({"password": value})).field("immutable", json!(is_immutable))
    };
    source.create([labelled("new", false)]).await;
    target.create([labelled("old", true)]).await;
    let reported = problems(&source, &target, &MoveRequest { overwrite: true, ..everything() }).await;
    assert_data_eq!(
        reported.join("\n"),
        str![
            "dry run failed on the target: cannot replace Secret team/login: [immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: field is immutable when `immutable` is set]"
        ]
    );
    assert!(!reported[0].contains("password"), "{reported:?}");
}

// Row: D-181
#[tokio::test]
async fn missing_credentials_on_the_target_are_reported_with_their_users() {
    let (source, target) = two_sides().await;
    let reference = |name: &str| json!({"spec": {"identityRef": {"kind": "Secret", "name": name}}});
    source.create([object(SECRET, "team/login")]).await;
    source.merge(DOCKER_CLUSTER, "team/demo", &reference("login")).await;
    let plan = planned(&source, &target, &everything()).await.unwrap();
    assert_data_eq!(
        warning_texts(&plan).join("\n"),
        str![
            "Secret team/login does not move and does not exist on the target; it is referenced by DockerCluster team/demo"
        ]
    );
    target.create([object(SECRET, "team/login")]).await;
    let plan = planned(&source, &target, &everything()).await.unwrap();
    assert_eq!(warning_texts(&plan), Vec::<&str>::new());
    source.merge(DOCKER_CLUSTER, "team/demo", &reference("demo-ca")).await;
    target.delete(SECRET, "team/login").await;
    let plan = planned(&source, &target, &everything()).await.unwrap();
    assert_eq!(warning_texts(&plan), Vec::<&str>::new(), "it moves along");
}
