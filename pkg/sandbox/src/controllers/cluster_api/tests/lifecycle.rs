//! Tests of the creation, the change and the deletion of Clusters.

use std::collections::BTreeSet;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    super::object::*,
    fixture::{CONTRACTS, NAMESPACE, TestServer, is_owned_by, object},
};
use crate::store::Revision;

#[tokio::test]
async fn a_cluster_becomes_ready_with_all_machines() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 3, 2)).await;
        let cluster = server.get("Cluster", "a");
        assert_eq!(cluster["status"]["phase"], "Provisioned", "{contract}");
        assert_eq!(
            cluster["spec"]["controlPlaneEndpoint"],
            server.get("DockerCluster", "a")["spec"]["controlPlaneEndpoint"]
        );
        for condition in ["Available", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"] {
            assert!(
                server.true_conditions(&cluster).iter().any(|one| one == condition),
                "{contract} {condition}: {cluster:#}"
            );
        }
        let machines = server.list("Machine");
        assert_eq!(machines.len(), 5, "{contract}");
        for machine in &machines {
            assert_eq!(machine["status"]["phase"], "Running", "{contract}");
            assert_eq!(machine["status"]["nodeRef"]["name"], name(machine), "{contract}");
            let behind = server.get("DockerMachine", name(machine));
            assert_eq!(machine["spec"]["providerID"], behind["spec"]["providerID"], "{contract}");
            for part in [behind, server.get("KubeadmConfig", name(machine))] {
                assert!(is_controlled_by(&part, machine) && owners(&part).len() == 1, "{contract}: {part:#}");
            }
            assert!(
                server.find("Secret", text(machine, "/spec/bootstrap/dataSecretName")).is_some(),
                "{contract}"
            );
        }
        for (kind, wanted) in [("KubeadmControlPlane", 3), ("MachineDeployment", 2), ("MachineSet", 2)] {
            let holder = &server.list(kind)[0];
            assert_eq!(
                *server.field_at(holder, "/status/v1beta2/availableReplicas", "/status/availableReplicas"),
                wanted,
                "{kind}"
            );
            assert_eq!(holder["status"]["replicas"], wanted, "{kind}");
        }
    }
}

#[tokio::test]
async fn the_secrets_of_a_cluster_belong_to_its_control_plane() {
    let server = TestServer::new("v1beta2").await;
    server.apply_and_wait(server.cluster("a", 1, 0)).await;
    let control_plane = server.get("KubeadmControlPlane", "a-cp");
    for purpose in ["ca", "etcd", "proxy", "sa", "kubeconfig"] {
        let secret = server.get("Secret", &format!("a-{purpose}"));
        assert_eq!(secret["type"], "cluster.x-k8s.io/secret", "{purpose}");
        assert_eq!(label(&secret, CLUSTER_NAME), Some("a"), "{purpose}");
        assert!(is_controlled_by(&secret, &control_plane), "{purpose}");
    }
    let secret = server.get("Secret", "a-kubeconfig");
    let bytes = BASE64_STANDARD.decode(text(&secret, "/data/value")).unwrap();
    let config = String::from_utf8(bytes).unwrap();
    let port = &server.get("Cluster", "a")["spec"]["controlPlaneEndpoint"]["port"];
    assert!(config.contains(&format!("    server: https://127.0.0.1:{port}\n  name: a\n")), "{config}");
    assert!(config.contains("current-context: a-admin@a\n"), "{config}");
}

#[tokio::test]
async fn a_user_provided_ca_signs_the_kubeconfig() {
    let server = TestServer::new("v1beta2").await;
    server.apply_and_wait(server.cluster("a", 1, 0)).await;
    let mut brought = server.get("Secret", "a-ca");
    brought["metadata"] = json!({"name": "b-ca", "namespace": NAMESPACE});
    let certificate = text(&brought, "/data/tls.crt").to_owned();
    server.create(brought).await;
    server.apply_and_wait(server.cluster("b", 1, 0)).await;
    assert_eq!(owners(&server.get("Secret", "b-ca")), &[] as &[Value]);
    let config = BASE64_STANDARD.decode(text(&server.get("Secret", "b-kubeconfig"), "/data/value")).unwrap();
    assert!(String::from_utf8(config).unwrap().contains(&certificate));
}

#[tokio::test]
async fn a_paused_cluster_only_gets_a_condition() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 1, 1)).await;
        server.edit("Cluster", "a", |cluster| cluster["spec"]["paused"] = json!(true)).await;
        for kind in
            ["Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "Machine", "DockerMachine"]
        {
            if (contract, kind) != ("v1beta1", "DockerMachine") {
                let paused = server.true_conditions(&server.list(kind)[0]).contains(&"Paused".to_owned());
                assert!(paused, "{contract} {kind}");
            }
        }
        let before = server.all_objects();
        server
            .edit("MachineDeployment", "a-md", |deployment| deployment["spec"]["replicas"] = json!(5))
            .await;
        server.delete("DockerMachine", &server.names("DockerMachine")[0]).await;
        let changed: BTreeSet<_> = before
            .iter()
            .filter(|now| !server.all_objects().contains(now))
            .map(|(object, _)| object.kind.clone())
            .collect();
        // The two objects that the user changed.
        assert_eq!(changed, BTreeSet::from(["DockerMachine".to_owned(), "MachineDeployment".to_owned()]));
        assert_eq!((server.list("Machine").len(), server.list("DockerMachine").len()), (2, 2), "{contract}");
        server.edit("Cluster", "a", |cluster| unset(cluster, &["spec", "paused"])).await;
        assert_eq!(server.list("Machine").len(), 6, "{contract}");
        assert!(
            !server.true_conditions(&server.get("Cluster", "a")).contains(&"Paused".to_owned()),
            "{contract}"
        );
    }
}

#[tokio::test]
async fn a_cluster_is_deleted_from_workers_to_infrastructure() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 2, 1)).await;
        let start = server.store().revision();
        server.delete("Cluster", "a").await;
        let left = server.all_objects();
        // No object stays: the Secrets are deleted with their owner, the control plane.
        assert_eq!(left, [], "{contract}");
        let deleted = deletions(&server, start);
        let at = |kind: &str, last: bool| {
            let mut all =
                deleted.iter().enumerate().filter(|(_, (found, _))| found == kind).map(|(at, _)| at);
            if last { all.next_back() } else { all.next() }
                .unwrap_or_else(|| panic!("no {kind} went: {deleted:?}"))
        };
        assert!(at("machinedeployments", true) < at("kubeadmcontrolplanes", false), "{deleted:?}");
        assert!(at("machines", true) < at("kubeadmcontrolplanes", false), "{deleted:?}");
        assert!(at("kubeadmcontrolplanes", true) < at("dockerclusters", false), "{deleted:?}");
        assert!(at("dockerclusters", true) < at("clusters", false), "{deleted:?}");
        for (number, (kind, name)) in deleted.iter().enumerate().filter(|(_, (kind, _))| kind == "machines") {
            let before = |part: &str| deleted[..number].contains(&(part.to_owned(), name.clone()));
            assert!(before("dockermachines") && before("kubeadmconfigs"), "{kind} {name}: {deleted:?}");
        }
    }
}

/// The deletions since a revision in order: plural and name.
fn deletions(server: &TestServer, since: Revision) -> Vec<(String, String)> {
    let mut watch = server.store().watch_all(since).unwrap();
    let mut deleted = Vec::new();
    while let Some(change) = watch.try_next().unwrap() {
        if change.deleted {
            deleted.push((change.after.key.resource.plural.to_string(), change.after.key.name.to_string()));
        }
    }
    deleted
}

#[tokio::test]
async fn reconciling_a_settled_cluster_writes_nothing() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait(server.cluster("a", 3, 2)).await;
        let before = server.store().revision();
        let touched = server.touch_all().await;
        assert_eq!(server.store().revision(), Revision(before.0 + touched), "{contract}");
    }
}

#[tokio::test]
async fn a_moved_cluster_keeps_its_machines() {
    for contract in CONTRACTS {
        let (source, target) = (TestServer::new(contract).await, TestServer::new(contract).await);
        source.apply_and_wait(source.cluster("a", 3, 2)).await;
        source.edit("Cluster", "a", |cluster| cluster["spec"]["paused"] = json!(true)).await;
        target.move_from(&source).await;
        target.wait_until_idle().await;
        let machines = target.names("Machine");
        assert_eq!(machines, source.names("Machine"), "{contract}");
        target.edit("Cluster", "a", |cluster| unset(cluster, &["spec", "paused"])).await;
        assert_eq!(target.names("Machine"), machines, "{contract}");
        assert_eq!(target.names("MachineSet"), source.names("MachineSet"), "{contract}");
        let cluster = target.get("Cluster", "a");
        assert!(
            target.true_conditions(&cluster).contains(&"Available".to_owned()),
            "{contract}: {cluster:#}"
        );
    }
}

#[tokio::test]
async fn machine_pools_have_nodes_but_no_machines() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply(server.cluster("a", 1, 0)).await;
        let pool = object(
            "MachinePool",
            "a-mp",
            json!({
                "clusterName": "a", "replicas": 3,
                "template": {"spec": {
                    "clusterName": "a", "version": "v1.35.0", "infrastructureRef": server.reference("DockerMachinePool", "a-mp"),
                    "bootstrap": {"configRef": server.reference("KubeadmConfig", "a-mp")},
                }},
            }),
        );
        let parts = [
            object("DockerMachinePool", "a-mp", json!({})),
            object("KubeadmConfig", "a-mp", json!({})),
            pool,
        ];
        server.apply_and_wait(parts).await;
        let pool = server.get("MachinePool", "a-mp");
        assert_eq!(pool["status"]["phase"], "Running", "{contract}: {pool:#}");
        assert_eq!(pool["status"]["nodeRefs"].as_array().map(Vec::len), Some(3), "{contract}");
        assert_eq!(server.list("Machine").len(), 1, "{contract}");
        server.delete("MachinePool", "a-mp").await;
        assert_eq!(
            (server.find("DockerMachinePool", "a-mp"), server.find("KubeadmConfig", "a-mp")),
            (None, None)
        );
    }
}

#[tokio::test]
async fn unknown_providers_fulfil_only_their_contract() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        let cluster = json!({
            "infrastructureRef": server.reference("AWSManagedCluster", "e"),
            "controlPlaneRef": server.reference("AWSManagedControlPlane", "e"),
        });
        server
            .apply_and_wait([
                object("AWSManagedCluster", "e", json!({})),
                object("AWSManagedControlPlane", "e", json!({"version": "v1.35.0"})),
                object("Cluster", "e", cluster),
            ])
            .await;
        let cluster = server.get("Cluster", "e");
        assert_eq!(cluster["status"]["phase"], "Provisioned", "{contract}");
        assert!(
            server.true_conditions(&cluster).contains(&"Available".to_owned()),
            "{contract}: {cluster:#}"
        );
        assert!(is_controlled_by(
            &server.get("Secret", "e-kubeconfig"),
            &server.get("AWSManagedControlPlane", "e")
        ));
        server.delete("Cluster", "e").await;
        assert_eq!(server.all_objects(), [], "{contract}");
    }
}

#[tokio::test]
async fn a_health_check_counts_the_machines_it_selects() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply(server.cluster("a", 1, 3)).await;
        let selector = json!({"matchLabels": {DEPLOYMENT_NAME: "a-md"}});
        server
            .apply_and_wait([object(
                "MachineHealthCheck",
                "h",
                json!({"clusterName": "a", "selector": selector}),
            )])
            .await;
        let check = server.get("MachineHealthCheck", "h");
        assert_eq!(check["status"]["expectedMachines"], 3, "{contract}");
        assert_eq!(check["status"]["currentHealthy"], 3, "{contract}");
        assert!(is_owned_by(&check, &server.get("Cluster", "a")), "{contract}");
    }
}
