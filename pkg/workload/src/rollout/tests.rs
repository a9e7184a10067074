use std::time::Duration;

use api::output::{ProgressEvent, RolloutState, RolloutStatus};
use apply::{EventSink, WriteMode};
use inventory::ManagementCluster;
use manifest::Value;
use sandbox::ControllerSwitches;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{self, cluster, object},
    fixture::Fixture,
    kind::{self, Kind},
};

use super::*;
use crate::testing::cluster as management_cluster;

const FOO: Kind =
    Kind::new("controlplane.cluster.x-k8s.io", "v1beta2", "FooControlPlane", "foocontrolplanes");
const OLD: Kind =
    Kind::new("infrastructure.cluster.x-k8s.io", "v1beta1", "OldControlPlane", "oldcontrolplanes");
const POOL: Kind = Kind::new("cluster.x-k8s.io", "v1beta2", "MachinePool", "machinepools");

async fn lab(controllers: ControllerSwitches) -> (Fixture, ManagementCluster) {
    // The machines are years old before a restart, because a restart does not replace machines of the same second.
    let lab = Fixture::builder().controllers(controllers).clock_at("2020-01-01T00:00:00Z").start().await;
    cluster_api::install(&lab).await;
    let management = management_cluster(&lab).await;
    (lab, management)
}

/// Returns a definition with these fields in its `spec`.
fn definition(kind: Kind, spec: &Value) -> cluster_api::Object {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": spec},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}});
    let version = json!({"name": kind.version, "served": true, "storage": true, "schema": schema});
    object(kind::CUSTOM_RESOURCE_DEFINITION, &format!("{}.{}", kind.plural, kind.group)).field(
        "spec",
        json!({"group": kind.group, "names": {"kind": kind.kind, "plural": kind.plural}, "scope": "Namespaced",
            "versions": [version]}),
    )
}

async fn resource(management: &ManagementCluster, word: &str) -> Result<RolloutResource, RolloutError> {
    let typed = [ResourceRef::parse(word).unwrap()];
    let mut resources = rollout_resources(management, "team", &typed).await?;
    Ok(resources.remove(0))
}

async fn change(
    management: &ManagementCluster,
    change: RolloutChange,
    word: &str,
) -> Result<(), RolloutError> {
    change_rollout(management, &resource(management, word).await?, change, WriteMode::Real).await
}

async fn texts(management: &ManagementCluster, of: RolloutChange, word: &str) -> String {
    change(management, of, word).await.unwrap_err().to_string()
}

async fn spec(lab: &Fixture, kind: Kind, name: &str) -> Value {
    lab.get(kind, &format!("team/{name}")).await.unwrap()["spec"].clone()
}

#[test]
fn a_resource_is_a_case_insensitive_type_and_a_name() {
    let md = ResourceRef { resource: "machinedeployment".to_owned(), name: "md-1".to_owned() };
    assert_eq!(ResourceRef::parse("MachineDeployment/MD-1"), Ok(md));
    for word in ["", "md", "md/", "/md-1", "md/a/b", "/"] {
        assert!(ResourceRef::parse(word).is_err(), "{word}");
    }
}

// Row: D-156
#[tokio::test]
async fn known_types_need_no_discovery() {
    let (_lab, management) = lab(ControllerSwitches::none()).await;
    for (words, kind) in [
        (
            ["md", "machinedeployment", "machinedeployments", "machinedeployments.cluster.x-k8s.io"],
            "MachineDeployment",
        ),
        (
            [
                "kcp",
                "KubeadmControlPlane",
                "kubeadmcontrolplanes",
                "kubeadmcontrolplane.controlplane.cluster.x-k8s.io",
            ],
            "KubeadmControlPlane",
        ),
        (["mp", "machinepool", "machinepools", "MachinePool.cluster.x-k8s.io"], "MachinePool"),
    ] {
        for word in words {
            let found = resource(&management, &format!("{word}/a")).await.unwrap();
            assert_eq!(found.key().to_string(), format!("{kind} team/a"), "{word}");
        }
    }
    assert_eq!(management.server.requests(), 0);
}

// Row: D-156
#[tokio::test]
async fn control_planes_of_all_providers_are_found_by_discovery() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    let elsewhere = Kind { group: "infrastructure.cluster.x-k8s.io", ..FOO };
    lab.create([definition(FOO, &json!({})), definition(OLD, &json!({}))]).await;
    assert_eq!(
        resource(&management, "foocontrolplanes/a").await.unwrap().key().to_string(),
        "FooControlPlane team/a"
    );
    let unknown = resource(&management, "machine/a").await.unwrap_err();
    assert_data_eq!(unknown.to_string(), str!["resource type `machine` does not support rollouts"]);
    assert!(matches!(unknown, RolloutError::UnknownResource { valid, .. } if valid
        == ["foocontrolplane", "kubeadmcontrolplane", "machinedeployment", "machinepool", "oldcontrolplane"]));
    lab.create([definition(elsewhere, &json!({}))]).await;
    management.server.forget_kinds();
    assert_data_eq!(
        resource(&management, "foocontrolplane/a").await.unwrap_err().to_string(),
        str![
            "resource type `foocontrolplane` is ambiguous: foocontrolplane.controlplane.cluster.x-k8s.io or foocontrolplane.infrastructure.cluster.x-k8s.io"
        ]
    );
    assert!(resource(&management, "foocontrolplane.infrastructure.cluster.x-k8s.io/a").await.is_ok());
}

#[tokio::test]
async fn restart_pause_and_resume_take_two_requests_each() {
    use RolloutChange::{Pause, Restart, Resume};
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").machine_deployment("md", 1)).await;
    let before = management.server.requests();
    change(&management, Restart, "md/a-md").await.unwrap();
    assert_eq!(management.server.requests() - before, 2);
    let after = spec(&lab, kind::MACHINE_DEPLOYMENT, "a-md").await["rollout"]["after"].clone();
    let age = jiff::Timestamp::now().duration_since(after.as_str().unwrap().parse().unwrap());
    assert!(age.as_secs() < 600 && !after.as_str().unwrap().contains('.'), "{after}");

    assert_data_eq!(
        texts(&management, Resume, "md/a-md").await,
        str!["cannot resume MachineDeployment team/a-md: it is not paused"]
    );
    change(&management, Pause, "md/a-md").await.unwrap();
    assert_eq!(spec(&lab, kind::MACHINE_DEPLOYMENT, "a-md").await["paused"], true);
    assert_data_eq!(
        texts(&management, Pause, "md/a-md").await,
        str!["cannot pause MachineDeployment team/a-md: it is already paused"]
    );
    assert_data_eq!(
        texts(&management, Restart, "md/a-md").await,
        str!["cannot restart MachineDeployment team/a-md: it is paused"]
    );
    change(&management, Resume, "md/a-md").await.unwrap();
    assert_eq!(spec(&lab, kind::MACHINE_DEPLOYMENT, "a-md").await["paused"], false);
}

#[tokio::test]
async fn a_control_plane_is_paused_by_its_annotation_whatever_the_value() {
    use RolloutChange::{Pause, Restart, Resume};
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").control_plane(1)).await;
    let (kind, place) = (kind::KUBEADM_CONTROL_PLANE, "team/a-control-plane");
    let annotations = async || lab.get(kind, place).await.unwrap()["metadata"]["annotations"].clone();
    change(&management, Pause, "kcp/a-control-plane").await.unwrap();
    assert_eq!(annotations().await["cluster.x-k8s.io/paused"], "true");
    lab.merge(kind, place, &json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}})).await;
    let paused = change(&management, Restart, "kcp/a-control-plane").await.unwrap_err();
    assert!(matches!(paused, RolloutError::Paused { by_annotation: true, .. }), "{paused}");
    change(&management, Resume, "kcp/a-control-plane").await.unwrap();
    assert_eq!(annotations().await["cluster.x-k8s.io/paused"], Value::Null);
    assert!(change(&management, Resume, "kcp/a-control-plane").await.is_err());
    change(&management, Restart, "kcp/a-control-plane").await.unwrap();
    assert!(spec(&lab, kind, "a-control-plane").await["rollout"]["after"].is_string());
}

#[tokio::test]
async fn a_scheduled_restart_is_not_changed() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").machine_deployment("md", 1)).await;
    let later = json!({"spec": {"rollout": {"after": "2999-01-01T00:00:00Z"}}});
    lab.merge(kind::MACHINE_DEPLOYMENT, "team/a-md", &later).await;
    assert_data_eq!(
        texts(&management, RolloutChange::Restart, "md/a-md").await,
        str![
            "cannot restart MachineDeployment team/a-md: a rollout is already scheduled for 2999-01-01T00:00:00Z"
        ]
    );
}

// Row: D-156
#[tokio::test]
async fn other_kinds_are_restarted_by_the_field_in_their_definition() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    let time = json!({"type": "string"});
    let rollout = json!({"rollout": {"type": "object", "properties": {"after": time}}});
    lab.create([
        definition(FOO, &rollout),
        definition(OLD, &json!({"rolloutAfter": time})),
        definition(POOL, &json!({"replicas": {"type": "integer"}})),
    ])
    .await;
    lab.create([FOO, OLD, POOL].map(|kind| object(kind, "team/a").field("spec", json!({})))).await;
    change(&management, RolloutChange::Restart, "foocontrolplane/a").await.unwrap();
    assert!(spec(&lab, FOO, "a").await["rollout"]["after"].is_string());
    change(&management, RolloutChange::Restart, "oldcontrolplane/a").await.unwrap();
    assert!(spec(&lab, OLD, "a").await["rolloutAfter"].is_string());
    assert_data_eq!(
        texts(&management, RolloutChange::Restart, "mp/a").await,
        str!["cannot restart MachinePool team/a: its definition has no `spec.rollout.after`"]
    );
    change(&management, RolloutChange::Pause, "mp/a").await.unwrap();
}

#[tokio::test]
async fn missing_objects_are_reported_with_similar_names_or_the_contract() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").machine_deployment("workers", 1)).await;
    let missing = change(&management, RolloutChange::Restart, "md/a-workesr").await.unwrap_err();
    assert_data_eq!(missing.to_string(), str!["MachineDeployment team/a-workesr does not exist"]);
    assert!(matches!(missing, RolloutError::NotFound { suggestions, .. } if suggestions == ["a-workers"]));

    let older = Kind { version: "v1beta1", ..POOL };
    lab.create([definition(older, &json!({}))]).await;
    assert_data_eq!(
        texts(&management, RolloutChange::Pause, "mp/a").await,
        str!["the cluster runs Cluster API with contract v1beta1; this command requires v1beta2"]
    );
}

// Row: D-158
#[tokio::test]
async fn a_restart_in_a_managed_topology_gives_a_warning() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").of_class("quick").machine_deployment("md", 1)).await;
    let warnings = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let reported = warnings.clone();
    let sink = EventSink::new(move |event| {
        if let ProgressEvent::Warning { text } = event {
            reported.lock().unwrap().push(text.clone());
        }
    });
    let management = ManagementCluster::new(management.server, sink);
    change(&management, RolloutChange::Restart, "md/a-md").await.unwrap();
    change(&management, RolloutChange::Pause, "md/a-md").await.unwrap();
    let warnings = warnings.lock().unwrap();
    assert_data_eq!(
        warnings.join("\n"),
        str![
            "MachineDeployment team/a-md belongs to the managed topology of Cluster `a`: a `rollout.after` in its `spec.topology` reverts this change"
        ]
    );
}

#[tokio::test]
async fn rollout_is_not_complete_while_its_status_counts_outdated_machines() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").control_plane(1).machine_deployment("md", 2)).await;
    let kinds = [(kind::MACHINE_DEPLOYMENT, "a-md"), (kind::KUBEADM_CONTROL_PLANE, "a-control-plane")];
    let version = json!({"spec": {"template": {"spec": {"version": "v1.99.0"}}}});
    for (restarted, expected) in [(false, [Some(0), Some(1)]), (true, [Some(0), Some(0)])] {
        if restarted {
            for word in ["md/a-md", "kcp/a-control-plane"] {
                change(&management, RolloutChange::Restart, word).await.unwrap();
            }
        } else {
            lab.merge(kind::MACHINE_DEPLOYMENT, "team/a-md", &version).await;
        }
        let mut progress = Vec::new();
        for (kind, name) in kinds {
            // The controller has seen the change, and its counts are still the old ones.
            let live = lab.get(kind, &format!("team/{name}")).await.unwrap();
            let mut status = live["status"].clone();
            status["observedGeneration"] = live["metadata"]["generation"].clone();
            lab.merge_status(kind, &format!("team/{name}"), &json!({"status": status})).await;
            let typed = format!("{}/{name}", kind.plural);
            let resources = [resource(&management, &typed).await.unwrap()];
            progress.extend(rollout_progress(&management, &resources).await.unwrap());
        }
        let up_to_date: Vec<_> = progress.iter().map(|one| one.up_to_date).collect();
        assert_eq!(up_to_date, expected, "{progress:?}");
        for one in progress {
            let is_current = one.up_to_date == one.desired;
            assert_eq!(one.is_complete(), is_current, "{one:?}");
        }
    }
}

#[tokio::test]
async fn a_restart_is_watched_until_every_machine_is_replaced() {
    let (lab, management) = lab(ControllerSwitches::default()).await;
    let made_by_controllers =
        [kind::SECRET, kind::MACHINE_SET, kind::MACHINE, kind::KUBEADM_CONFIG, kind::DOCKER_MACHINE];
    let objects = cluster("team/a").control_plane(1).machine_deployment("md", 2);
    lab.create(objects.into_iter().filter(|object| !made_by_controllers.contains(&object.kind()))).await;
    lab.wait_until_idle().await;
    lab.advance(Duration::from_hours(24 * 365 * 100));
    let machines = async || {
        let all = lab.list(kind::MACHINE).await;
        let names = all.iter().map(|machine| machine["metadata"]["name"].as_str().unwrap().to_owned());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let old = machines().await;
    assert_eq!(old.len(), 3);
    let typed = ["md/a-md", "kcp/a-control-plane"].map(|word| ResourceRef::parse(word).unwrap());
    let resources = rollout_resources(&management, "team", &typed).await.unwrap();
    assert!(rollout_progress(&management, &resources).await.unwrap().iter().all(RolloutStatus::is_complete));
    for resource in &resources {
        change_rollout(&management, resource, RolloutChange::Restart, WriteMode::Real).await.unwrap();
    }
    let minute = Some(Duration::from_mins(1));
    let end = watch_rollouts(&management, &resources, minute, |_| {}).await.unwrap();
    assert!(end.iter().all(RolloutStatus::is_complete), "{end:?}");
    assert!(machines().await.is_disjoint(&old));
}

#[tokio::test]
async fn an_incomplete_rollout_is_reported_on_timeout() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").machine_deployment("md", 2)).await;
    lab.merge(kind::MACHINE_DEPLOYMENT, "team/a-md", &json!({"spec": {"replicas": 3, "paused": true}})).await;
    let resources = [resource(&management, "md/a-md").await.unwrap()];
    let end = watch_rollouts(&management, &resources, Some(Duration::ZERO), |_| {}).await.unwrap();
    assert_eq!(end[0].state, RolloutState::Paused);
    assert_eq!((end[0].desired, end[0].up_to_date), (Some(3), Some(2)));
}

#[tokio::test]
async fn a_deleted_object_ends_the_wait() {
    let (lab, management) = lab(ControllerSwitches::none()).await;
    lab.create(cluster("team/a").machine_deployment("md", 2)).await;
    let kind = kind::MACHINE_DEPLOYMENT;
    let wanted = |replicas: u64| json!({"metadata": {"finalizers": null}, "spec": {"replicas": replicas}});
    lab.merge(kind, "team/a-md", &wanted(3)).await;
    let resources = [resource(&management, "md/a-md").await.unwrap()];
    let reported = tokio::sync::Notify::new();
    let watched = watch_rollouts(&management, &resources, None, |_| reported.notify_one());
    let goes = async {
        reported.notified().await;
        lab.merge(kind, "team/a-md", &wanted(4)).await;
        // The watch now reports the object.
        reported.notified().await;
        lab.delete(kind, "team/a-md").await;
    };
    let (missing, ()) = futures::join!(watched, goes);
    assert!(matches!(missing, Err(RolloutError::Deleted { .. })), "{missing:?}");
}
