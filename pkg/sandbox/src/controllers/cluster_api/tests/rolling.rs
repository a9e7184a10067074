//! Tests of the replacement and the scaling of Machines.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    super::object::*,
    fixture::{CONTRACTS, TestServer, object},
};
use crate::store::Revision;

/// The largest and the smallest number of Machines with a label since a revision.
fn extremes(server: &TestServer, since: Revision, with_label: &str) -> (usize, usize) {
    let is_one = |object: &Value| label(object, with_label).is_some();
    let mut count = server.list("Machine").iter().filter(|machine| is_one(machine)).count();
    let mut watch = server.store().watch_all(since).unwrap();
    let mut steps = Vec::new();
    while let Some(change) = watch.try_next().unwrap() {
        let body: Value = serde_json::from_slice(&change.after.body).unwrap();
        if &*change.after.key.resource.plural == "machines" && is_one(&body) {
            steps.push((change.before.is_none(), change.deleted));
        }
    }
    // Counts backwards from the current number.
    let (mut most, mut fewest) = (count, count);
    for (made, deleted) in steps.into_iter().rev() {
        match (made, deleted) {
            (_, true) => count += 1,
            (true, _) => count -= 1,
            _ => {}
        }
        (most, fewest) = (most.max(count), fewest.min(count));
    }
    (most, fewest)
}

fn versions(server: &TestServer, kind: &str) -> Vec<Value> {
    let mut versions: Vec<Value> =
        server.list(kind).iter().map(|one| one["spec"]["version"].clone()).collect();
    versions.dedup();
    versions
}

#[tokio::test]
async fn a_control_plane_is_upgraded_one_machine_at_a_time() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 3, 0)).await;
        let (old, start) = (server.names("Machine"), server.store().revision());
        server.edit("KubeadmControlPlane", "a-cp", |it| it["spec"]["version"] = json!("v1.36.0")).await;
        assert_eq!(versions(&server, "Machine"), ["v1.36.0"], "{contract}");
        assert!(server.names("Machine").iter().all(|name| !old.contains(name)), "{contract}");
        assert_eq!(extremes(&server, start, IS_CONTROL_PLANE), (4, 3), "{contract}");
        let control_plane = server.get("KubeadmControlPlane", "a-cp");
        assert_eq!(control_plane["status"]["version"], "v1.36.0", "{contract}");
        assert!(!server.true_conditions(&control_plane).contains(&"RollingOut".to_owned()), "{contract}");
        // The infrastructure of the old Machines is deleted too.
        assert_eq!(server.names("DockerMachine"), server.names("Machine"), "{contract}");
    }
}

#[tokio::test]
async fn control_plane_counts_belong_to_the_generation_it_observed() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 3, 0)).await;
        let start = server.store().revision();
        server.edit("KubeadmControlPlane", "a-cp", |it| it["spec"]["version"] = json!("v1.36.0")).await;
        let mut watch = server.store().watch_all(start).unwrap();
        let mut counts = Vec::new();
        while let Some(change) = watch.try_next().unwrap() {
            let body: Value = serde_json::from_slice(&change.after.body).unwrap();
            let is_control_plane = &*change.after.key.resource.plural == "kubeadmcontrolplanes";
            if is_control_plane && body["status"]["observedGeneration"] == body["metadata"]["generation"] {
                let count =
                    server.field_at(&body, "/status/v1beta2/upToDateReplicas", "/status/upToDateReplicas");
                counts.push(count.as_u64().unwrap());
            }
        }
        assert_eq!((counts.first(), counts.last()), (Some(&0), Some(&3)), "{contract}: {counts:?}");
    }
}

#[tokio::test]
async fn a_control_plane_without_surge_deletes_first() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 3, 0)).await;
        let start = server.store().revision();
        let place: &[&str] =
            if contract == "v1beta1" { &["rolloutStrategy"] } else { &["rollout", "strategy"] };
        server
            .edit("KubeadmControlPlane", "a-cp", |it| {
                set(it, &[&["spec"], place, &["rollingUpdate", "maxSurge"]].concat(), json!(0));
                it["spec"]["kubeadmConfigSpec"]["files"] = json!([{"path": "/x"}]);
            })
            .await;
        assert_eq!(extremes(&server, start, IS_CONTROL_PLANE), (3, 2), "{contract}");
        assert!(server.list("KubeadmConfig").iter().all(|config| config["spec"]["files"][0]["path"] == "/x"));
    }
}

#[tokio::test]
async fn a_control_plane_rollout_starts_at_its_time() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 1)).await;
        let old = server.names("Machine");
        server.clock.advance(SignedDuration::from_secs(60));
        let place: &[&str] = if contract == "v1beta1" { &["rolloutAfter"] } else { &["rollout", "after"] };
        for (kind, name) in [("KubeadmControlPlane", "a-cp"), ("MachineDeployment", "a-md")] {
            let before = json!("2026-01-01T00:00:30Z");
            server.edit(kind, name, |it| set(it, &[&["spec"], place].concat(), before)).await;
        }
        assert!(server.names("Machine").iter().all(|name| !old.contains(name)), "{contract}");
        assert_eq!(server.list("Machine").len(), 2, "{contract}");
    }
}

#[tokio::test]
async fn replicas_follow_the_spec() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 1)).await;
        for (masters, workers) in [(3, 5), (1, 2), (3, 0)] {
            server.edit("KubeadmControlPlane", "a-cp", |it| it["spec"]["replicas"] = json!(masters)).await;
            server.edit("MachineDeployment", "a-md", |it| it["spec"]["replicas"] = json!(workers)).await;
            assert_eq!(server.list("Machine").len(), masters + workers, "{contract}");
            assert_eq!(server.list("MachineSet").len(), 1, "{contract}");
            assert_eq!(
                server.get("KubeadmControlPlane", "a-cp")["status"]["replicas"],
                masters,
                "{contract}"
            );
            assert_eq!(server.get("MachineDeployment", "a-md")["status"]["replicas"], workers, "{contract}");
        }
    }
}

#[tokio::test]
async fn a_deployment_replaces_its_machines_within_its_limits() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 4)).await;
        let (old, start) = (server.names("MachineSet"), server.store().revision());
        let place: &[&str] = if contract == "v1beta1" { &["strategy"] } else { &["rollout", "strategy"] };
        server
            .edit("MachineDeployment", "a-md", |it| {
                let limits = json!({"maxSurge": "50%", "maxUnavailable": 1});
                set(it, &[&["spec"], place, &["rollingUpdate"]].concat(), limits);
                set(it, &["spec", "template", "spec", "version"], json!("v1.36.0"));
            })
            .await;
        let workers: Vec<Value> =
            server.list("Machine").into_iter().filter(|it| label(it, DEPLOYMENT_NAME).is_some()).collect();
        assert_eq!(workers.len(), 4, "{contract}");
        assert!(workers.iter().all(|machine| machine["spec"]["version"] == "v1.36.0"), "{contract}");
        let (most, fewest) = extremes(&server, start, DEPLOYMENT_NAME);
        assert!(most <= 6 && fewest >= 3, "{contract}: {most} {fewest}");
        // Contract v1beta1 keeps one old MachineSet for a rollback.
        let sets = server.names("MachineSet");
        assert_eq!(sets.len(), if server.is_v1beta1() { 2 } else { 1 }, "{contract}");
        assert_eq!(old.iter().all(|name| sets.contains(name)), server.is_v1beta1(), "{contract}");
    }
}

#[tokio::test]
async fn in_place_fields_replace_no_machine() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 2)).await;
        let machines = server.names("Machine");
        server
            .edit("MachineDeployment", "a-md", |it| {
                set(it, &["spec", "template", "metadata", "labels", "zone"], json!("x"));
            })
            .await;
        assert_eq!(server.names("Machine"), machines, "{contract}");
        let labelled =
            server.list("Machine").iter().filter(|machine| label(machine, "zone") == Some("x")).count();
        assert_eq!(labelled, 2, "{contract}");
    }
}

#[tokio::test]
async fn a_paused_deployment_creates_no_machines() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 1)).await;
        server
            .edit("MachineDeployment", "a-md", |it| {
                it["spec"]["paused"] = json!(true);
                set(it, &["spec", "template", "spec", "version"], json!("v1.36.0"));
            })
            .await;
        assert_eq!(versions(&server, "Machine"), ["v1.35.0"], "{contract}");
        server.edit("MachineDeployment", "a-md", |it| it["spec"]["paused"] = json!(false)).await;
        assert_eq!(server.get("MachineDeployment", "a-md")["status"]["phase"], "Running", "{contract}");
        assert!(versions(&server, "Machine").contains(&json!("v1.36.0")), "{contract}");
    }
}

#[tokio::test]
async fn a_machine_deleted_by_hand_is_replaced() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 3, 1)).await;
        for machine in server.names("Machine") {
            server.delete("Machine", &machine).await;
            assert_eq!(server.find("Machine", &machine), None, "{contract}");
            assert_eq!(server.find("DockerMachine", &machine), None, "{contract}");
            assert_eq!(server.list("Machine").len(), 4, "{contract}");
        }
    }
}

#[tokio::test]
async fn a_machine_deletion_waits_for_hooks() {
    let hook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/backup";
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 0)).await;
        server
            .apply_and_wait([
                object("DockerMachine", "m", json!({})),
                object(
                    "Machine",
                    "m",
                    json!({
                        "clusterName": "a", "infrastructureRef": server.reference("DockerMachine", "m"),
                        "bootstrap": {"dataSecretName": "mine"},
                    }),
                ),
            ])
            .await;
        server.edit("Machine", "m", |it| set(it, &["metadata", "annotations", hook], json!(""))).await;
        server.delete("Machine", "m").await;
        assert_eq!(server.get("Machine", "m")["status"]["phase"], "Deleting", "{contract}");
        server.edit("Machine", "m", |it| unset(it, &["metadata", "annotations", hook])).await;
        assert_eq!(
            (server.find("Machine", "m"), server.find("DockerMachine", "m")),
            (None, None),
            "{contract}"
        );
    }
}
