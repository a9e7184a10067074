//! Tests of the creation, the change and the deletion of Clusters.

use std::collections::BTreeSet;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    super::object::*,
    fixture::{CONTRACTS, PLACE, World, is_owned_by, object},
};
use crate::store::Revision;

#[tokio::test]
async fn a_cluster_comes_up_with_all_its_machines() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        world.apply_and_settle(world.cluster("a", 3, 2)).await;
        let cluster = world.get("Cluster", "a");
        assert_eq!(cluster["status"]["phase"], "Provisioned", "{contract}");
        assert_eq!(
            cluster["spec"]["controlPlaneEndpoint"],
            world.get("DockerCluster", "a")["spec"]["controlPlaneEndpoint"]
        );
        for condition in ["Available", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"] {
            assert!(
                world.holding(&cluster).iter().any(|one| one == condition),
                "{contract} {condition}: {cluster:#}"
            );
        }
        let machines = world.list("Machine");
        assert_eq!(machines.len(), 5, "{contract}");
        for machine in &machines {
            assert_eq!(machine["status"]["phase"], "Running", "{contract}");
            assert_eq!(machine["status"]["nodeRef"]["name"], name(machine), "{contract}");
            let behind = world.get("DockerMachine", name(machine));
            assert_eq!(machine["spec"]["providerID"], behind["spec"]["providerID"], "{contract}");
            for part in [behind, world.get("KubeadmConfig", name(machine))] {
                assert!(is_controlled_by(&part, machine) && owners(&part).len() == 1, "{contract}: {part:#}");
            }
            assert!(
                world.find("Secret", text(machine, "/spec/bootstrap/dataSecretName")).is_some(),
                "{contract}"
            );
        }
        for (kind, wanted) in [("KubeadmControlPlane", 3), ("MachineDeployment", 2), ("MachineSet", 2)] {
            let holder = &world.list(kind)[0];
            assert_eq!(
                *world.at(holder, "/status/v1beta2/availableReplicas", "/status/availableReplicas"),
                wanted,
                "{kind}"
            );
            assert_eq!(holder["status"]["replicas"], wanted, "{kind}");
        }
    }
}

#[tokio::test]
async fn the_secrets_of_a_cluster_belong_to_its_control_plane() {
    let world = World::new("v1beta2").await;
    world.apply_and_settle(world.cluster("a", 1, 0)).await;
    let control_plane = world.get("KubeadmControlPlane", "a-cp");
    for purpose in ["ca", "etcd", "proxy", "sa", "kubeconfig"] {
        let secret = world.get("Secret", &format!("a-{purpose}"));
        assert_eq!(secret["type"], "cluster.x-k8s.io/secret", "{purpose}");
        assert_eq!(label(&secret, CLUSTER_NAME), Some("a"), "{purpose}");
        assert!(is_controlled_by(&secret, &control_plane), "{purpose}");
    }
    let secret = world.get("Secret", "a-kubeconfig");
    let bytes = BASE64_STANDARD.decode(text(&secret, "/data/value")).unwrap();
    let config = String::from_utf8(bytes).unwrap();
    let port = &world.get("Cluster", "a")["spec"]["controlPlaneEndpoint"]["port"];
    assert!(config.contains(&format!("    server: https://127.0.0.1:{port}\n  name: a\n")), "{config}");
    assert!(config.contains("current-context: a-admin@a\n"), "{config}");
}

#[tokio::test]
async fn the_authority_a_user_brings_signs_for_the_kubeconfig() {
    let world = World::new("v1beta2").await;
    world.apply_and_settle(world.cluster("a", 1, 0)).await;
    let mut brought = world.get("Secret", "a-ca");
    brought["metadata"] = json!({"name": "b-ca", "namespace": PLACE});
    let certificate = text(&brought, "/data/tls.crt").to_owned();
    world.create(brought).await;
    world.apply_and_settle(world.cluster("b", 1, 0)).await;
    assert_eq!(owners(&world.get("Secret", "b-ca")), &[] as &[Value]);
    let config = BASE64_STANDARD.decode(text(&world.get("Secret", "b-kubeconfig"), "/data/value")).unwrap();
    assert!(String::from_utf8(config).unwrap().contains(&certificate));
}

#[tokio::test]
async fn a_paused_cluster_is_only_said_to_be_paused() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        world.apply_and_settle(world.cluster("a", 1, 1)).await;
        world.edit("Cluster", "a", |cluster| cluster["spec"]["paused"] = json!(true)).await;
        for kind in
            ["Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "Machine", "DockerMachine"]
        {
            if (contract, kind) != ("v1beta1", "DockerMachine") {
                let paused = world.holding(&world.list(kind)[0]).contains(&"Paused".to_owned());
                assert!(paused, "{contract} {kind}");
            }
        }
        let before = world.everything();
        world.edit("MachineDeployment", "a-md", |deployment| deployment["spec"]["replicas"] = json!(5)).await;
        world.delete("DockerMachine", &world.names("DockerMachine")[0]).await;
        let changed: BTreeSet<_> = before
            .iter()
            .filter(|now| !world.everything().contains(now))
            .map(|(object, _)| object.kind.clone())
            .collect();
        // The two objects that the user changed.
        assert_eq!(changed, BTreeSet::from(["DockerMachine".to_owned(), "MachineDeployment".to_owned()]));
        assert_eq!((world.list("Machine").len(), world.list("DockerMachine").len()), (2, 2), "{contract}");
        world.edit("Cluster", "a", |cluster| unset(cluster, &["spec", "paused"])).await;
        assert_eq!(world.list("Machine").len(), 6, "{contract}");
        assert!(!world.holding(&world.get("Cluster", "a")).contains(&"Paused".to_owned()), "{contract}");
    }
}

#[tokio::test]
async fn a_cluster_goes_workers_first_and_infrastructure_last() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        world.apply_and_settle(world.cluster("a", 2, 1)).await;
        let start = world.store().revision();
        world.delete("Cluster", "a").await;
        let left = world.everything();
        // No object stays: the Secrets are deleted with their owner, the control plane.
        assert_eq!(left, [], "{contract}");
        let gone = deletions(&world, start);
        let at = |kind: &str, last: bool| {
            let mut all = gone.iter().enumerate().filter(|(_, (found, _))| found == kind).map(|(at, _)| at);
            if last { all.next_back() } else { all.next() }
                .unwrap_or_else(|| panic!("no {kind} went: {gone:?}"))
        };
        assert!(at("machinedeployments", true) < at("kubeadmcontrolplanes", false), "{gone:?}");
        assert!(at("machines", true) < at("kubeadmcontrolplanes", false), "{gone:?}");
        assert!(at("kubeadmcontrolplanes", true) < at("dockerclusters", false), "{gone:?}");
        assert!(at("dockerclusters", true) < at("clusters", false), "{gone:?}");
        for (number, (kind, name)) in gone.iter().enumerate().filter(|(_, (kind, _))| kind == "machines") {
            let before = |part: &str| gone[..number].contains(&(part.to_owned(), name.clone()));
            assert!(before("dockermachines") && before("kubeadmconfigs"), "{kind} {name}: {gone:?}");
        }
    }
}

/// The deletions since a revision in order: plural and name.
fn deletions(world: &World, since: Revision) -> Vec<(String, String)> {
    let mut watch = world.store().watch_all(since).unwrap();
    let mut gone = Vec::new();
    while let Some(change) = watch.try_next().unwrap() {
        if change.deleted {
            gone.push((change.after.key.resource.plural.to_string(), change.after.key.name.to_string()));
        }
    }
    gone
}

#[tokio::test]
async fn what_settled_is_left_alone_when_it_is_looked_at_again() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        world.apply_and_settle(world.cluster("a", 3, 2)).await;
        let before = world.store().revision();
        let touched = world.touch_everything().await;
        assert_eq!(world.store().revision(), Revision(before.0 + touched), "{contract}");
    }
}

#[tokio::test]
async fn a_moved_cluster_comes_up_with_the_machines_it_had() {
    for contract in CONTRACTS {
        let (source, target) = (World::new(contract).await, World::new(contract).await);
        source.apply_and_settle(source.cluster("a", 3, 2)).await;
        source.edit("Cluster", "a", |cluster| cluster["spec"]["paused"] = json!(true)).await;
        target.take_over(&source).await;
        target.settle().await;
        let machines = target.names("Machine");
        assert_eq!(machines, source.names("Machine"), "{contract}");
        target.edit("Cluster", "a", |cluster| unset(cluster, &["spec", "paused"])).await;
        assert_eq!(target.names("Machine"), machines, "{contract}");
        assert_eq!(target.names("MachineSet"), source.names("MachineSet"), "{contract}");
        let cluster = target.get("Cluster", "a");
        assert!(target.holding(&cluster).contains(&"Available".to_owned()), "{contract}: {cluster:#}");
    }
}

#[tokio::test]
async fn pools_of_machines_have_nodes_but_no_machines() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        world.apply(world.cluster("a", 1, 0)).await;
        let pool = object(
            "MachinePool",
            "a-mp",
            json!({
                "clusterName": "a", "replicas": 3,
                "template": {"spec": {
                    "clusterName": "a", "version": "v1.35.0", "infrastructureRef": world.reference("DockerMachinePool", "a-mp"),
                    "bootstrap": {"configRef": world.reference("KubeadmConfig", "a-mp")},
                }},
            }),
        );
        let parts = [
            object("DockerMachinePool", "a-mp", json!({})),
            object("KubeadmConfig", "a-mp", json!({})),
            pool,
        ];
        world.apply_and_settle(parts).await;
        let pool = world.get("MachinePool", "a-mp");
        assert_eq!(pool["status"]["phase"], "Running", "{contract}: {pool:#}");
        assert_eq!(pool["status"]["nodeRefs"].as_array().map(Vec::len), Some(3), "{contract}");
        assert_eq!(world.list("Machine").len(), 1, "{contract}");
        world.delete("MachinePool", "a-mp").await;
        assert_eq!(
            (world.find("DockerMachinePool", "a-mp"), world.find("KubeadmConfig", "a-mp")),
            (None, None)
        );
    }
}

#[tokio::test]
async fn providers_nobody_heard_of_keep_their_contract_alone() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        let cluster = json!({
            "infrastructureRef": world.reference("AWSManagedCluster", "e"),
            "controlPlaneRef": world.reference("AWSManagedControlPlane", "e"),
        });
        world
            .apply_and_settle([
                object("AWSManagedCluster", "e", json!({})),
                object("AWSManagedControlPlane", "e", json!({"version": "v1.35.0"})),
                object("Cluster", "e", cluster),
            ])
            .await;
        let cluster = world.get("Cluster", "e");
        assert_eq!(cluster["status"]["phase"], "Provisioned", "{contract}");
        assert!(world.holding(&cluster).contains(&"Available".to_owned()), "{contract}: {cluster:#}");
        assert!(is_controlled_by(
            &world.get("Secret", "e-kubeconfig"),
            &world.get("AWSManagedControlPlane", "e")
        ));
        world.delete("Cluster", "e").await;
        assert_eq!(world.everything(), [], "{contract}");
    }
}

#[tokio::test]
async fn a_health_check_counts_the_machines_it_selects() {
    for contract in CONTRACTS {
        let world = World::new(contract).await;
        world.apply(world.cluster("a", 1, 3)).await;
        let selector = json!({"matchLabels": {DEPLOYMENT_NAME: "a-md"}});
        world
            .apply_and_settle([object(
                "MachineHealthCheck",
                "h",
                json!({"clusterName": "a", "selector": selector}),
            )])
            .await;
        let check = world.get("MachineHealthCheck", "h");
        assert_eq!(check["status"]["expectedMachines"], 3, "{contract}");
        assert_eq!(check["status"]["currentHealthy"], 3, "{contract}");
        assert!(is_owned_by(&check, &world.get("Cluster", "a")), "{contract}");
    }
}
