//! Tests of Clusters with a ClusterClass.

use serde_json::{Value, json};

use super::{
    super::object::*,
    fixture::{CONTRACTS, TestServer, is_owned_by, object},
};

const DEPLOYMENT: &str = "topology.cluster.x-k8s.io/deployment-name";

fn class(server: &TestServer) -> Vec<Value> {
    let template = |kind: &str, name: &str| {
        let api_version = json!({"apiVersion": format!("{}/{}", group_of_template(kind), server.version), "kind": kind, "name": name});
        if server.is_v1beta1() { json!({"ref": api_version}) } else { json!({"templateRef": api_version}) }
    };
    let parts = json!({
        "bootstrap": template("KubeadmConfigTemplate", "workers"),
        "infrastructure": template("DockerMachineTemplate", "machines"),
    });
    let mut worker = if server.is_v1beta1() { json!({"template": parts}) } else { parts };
    worker["class"] = json!("default");
    let mut control_plane = template("KubeadmControlPlaneTemplate", "cp");
    control_plane["machineInfrastructure"] = template("DockerMachineTemplate", "machines");
    vec![
        object("DockerClusterTemplate", "infra", json!({"template": {"spec": {"zone": "x"}}})),
        object("DockerMachineTemplate", "machines", json!({"template": {"spec": {"image": "one"}}})),
        object("KubeadmConfigTemplate", "workers", json!({"template": {"spec": {}}})),
        object("KubeadmControlPlaneTemplate", "cp", json!({"template": {"spec": {"kubeadmConfigSpec": {}}}})),
        object(
            "ClusterClass",
            "class",
            json!({
                "infrastructure": template("DockerClusterTemplate", "infra"), "controlPlane": control_plane,
                "workers": {"machineDeployments": [worker]},
            }),
        ),
    ]
}

fn group_of_template(kind: &str) -> &'static str {
    match kind {
        "KubeadmConfigTemplate" => BOOTSTRAP,
        "KubeadmControlPlaneTemplate" => CONTROL_PLANE,
        _ => INFRASTRUCTURE,
    }
}

fn cluster(server: &TestServer) -> Value {
    let mut cluster = object(
        "Cluster",
        "a",
        json!({"topology": {
            "version": "v1.35.0", "controlPlane": {"replicas": 1},
            "workers": {"machineDeployments": [{"class": "default", "name": "md-0", "replicas": 2}]},
        }}),
    );
    let place: &[&str] = if server.is_v1beta1() { &["class"] } else { &["classRef", "name"] };
    set(&mut cluster, &[&["spec", "topology"], place].concat(), json!("class"));
    cluster
}

async fn world_with_cluster(contract: &'static str) -> TestServer {
    let server = TestServer::new(contract).await;
    server.apply(class(&server)).await;
    server.apply_and_wait([cluster(&server)]).await;
    server
}

fn only(server: &TestServer, kind: &str) -> Value {
    let mut all = server.list(kind);
    assert_eq!(all.len(), 1, "{kind}: {all:#?}");
    all.remove(0)
}

#[tokio::test]
async fn a_class_creates_the_objects_of_a_cluster() {
    for contract in CONTRACTS {
        let server = world_with_cluster(contract).await;
        let live = server.get("Cluster", "a");
        assert_eq!(live["status"]["phase"], "Provisioned", "{contract}: {live:#}");
        for condition in ["TopologyReconciled", "Available"] {
            assert!(
                server.true_conditions(&live).iter().any(|one| one == condition),
                "{contract} {condition}: {live:#}"
            );
        }
        for kind in ["DockerCluster", "KubeadmControlPlane", "MachineDeployment"] {
            let part = only(&server, kind);
            assert!(name(&part).starts_with("a-"), "{contract}: {part:#}");
            assert!(
                label(&part, TOPOLOGY_OWNED).is_some() && is_owned_by(&part, &live),
                "{contract}: {part:#}"
            );
        }
        assert_eq!(only(&server, "DockerCluster")["spec"]["zone"], "x", "{contract}");
        let deployment = only(&server, "MachineDeployment");
        assert_eq!(label(&deployment, DEPLOYMENT), Some("md-0"), "{contract}");
        assert_eq!(server.list("Machine").len(), 3, "{contract}");
        // The template of the class, and the copies for the control plane and the workers.
        assert_eq!(server.list("DockerMachineTemplate").len(), 3, "{contract}");
        let class = server.get("ClusterClass", "class");
        let templates = [
            ("DockerClusterTemplate", "infra"),
            ("DockerMachineTemplate", "machines"),
            ("KubeadmConfigTemplate", "workers"),
            ("KubeadmControlPlaneTemplate", "cp"),
        ];
        for (kind, name) in templates {
            assert!(is_owned_by(&server.get(kind, name), &class), "{contract} {kind}");
        }
    }
}

#[tokio::test]
async fn workers_are_upgraded_after_the_control_plane() {
    for contract in CONTRACTS {
        let server = world_with_cluster(contract).await;
        let start = server.store().revision();
        server.edit("Cluster", "a", |it| set(it, &["spec", "topology", "version"], json!("v1.36.0"))).await;
        assert!(
            server.list("Machine").iter().all(|machine| machine["spec"]["version"] == "v1.36.0"
                || machine["metadata"]["deletionTimestamp"].is_string()),
            "{contract}"
        );
        assert_eq!(server.list("Machine").len(), 3, "{contract}");
        assert!(
            server.true_conditions(&server.get("Cluster", "a")).contains(&"TopologyReconciled".to_owned()),
            "{contract}"
        );
        let mut watch = server.store().watch_all(start).unwrap();
        let mut upgraded = false;
        while let Some(change) = watch.try_next().unwrap() {
            let body: Value = serde_json::from_slice(&change.after.body).unwrap();
            match &*change.after.key.resource.plural {
                "kubeadmcontrolplanes" => upgraded = upgraded || text(&body, "/status/version") == "v1.36.0",
                "machinedeployments" => {
                    assert!(
                        upgraded || text(&body, "/spec/template/spec/version") == "v1.35.0",
                        "{contract}"
                    );
                }
                _ => {}
            }
        }
        assert!(upgraded, "{contract}");
    }
}

#[tokio::test]
async fn workers_follow_the_topology() {
    for contract in CONTRACTS {
        let server = world_with_cluster(contract).await;
        let workers = ["spec", "topology", "workers", "machineDeployments"];
        let two = json!([
            {"class": "default", "name": "md-0", "replicas": 1}, {"class": "default", "name": "md-1", "replicas": 3},
        ]);
        server.edit("Cluster", "a", |it| set(it, &workers, two)).await;
        assert_eq!(
            (server.list("MachineDeployment").len(), server.list("Machine").len()),
            (2, 5),
            "{contract}"
        );
        let one = json!([{"class": "default", "name": "md-1", "replicas": 3}]);
        server.edit("Cluster", "a", |it| set(it, &workers, one)).await;
        assert_eq!(label(&only(&server, "MachineDeployment"), DEPLOYMENT), Some("md-1"), "{contract}");
        assert_eq!(server.list("Machine").len(), 4, "{contract}");
    }
}

#[tokio::test]
async fn another_template_in_the_class_replaces_the_machines() {
    for contract in CONTRACTS {
        let server = world_with_cluster(contract).await;
        let old = server.names("Machine");
        server
            .edit("DockerMachineTemplate", "machines", |it| {
                it["spec"]["template"]["spec"]["image"] = json!("two");
            })
            .await;
        assert!(server.names("Machine").iter().all(|name| !old.contains(name)), "{contract}");
        assert!(server.list("DockerMachine").iter().all(|it| it["spec"]["image"] == "two"), "{contract}");
        assert_eq!(server.list("DockerMachineTemplate").len(), 3, "{contract}");
    }
}

#[tokio::test]
async fn a_cluster_waits_for_its_class() {
    for contract in CONTRACTS {
        let server = TestServer::new(contract).await;
        server.apply_and_wait([cluster(&server)]).await;
        let live = server.get("Cluster", "a");
        assert!(!server.true_conditions(&live).contains(&"TopologyReconciled".to_owned()), "{contract}");
        assert_eq!(live["status"]["phase"], "Pending", "{contract}");
        let (class_itself, templates) = (class(&server).pop(), class(&server));
        server.apply(class_itself).await;
        server.apply_and_wait(templates.into_iter().take(4)).await;
        assert_eq!(server.get("Cluster", "a")["status"]["phase"], "Provisioned", "{contract}");
    }
}

#[tokio::test]
async fn a_managed_cluster_is_deleted_with_its_templates() {
    for contract in CONTRACTS {
        let server = world_with_cluster(contract).await;
        server.delete("Cluster", "a").await;
        let left: Vec<String> = server.all_objects().into_iter().map(|(object, _)| object.kind).collect();
        let of_class = [
            "ClusterClass",
            "DockerClusterTemplate",
            "DockerMachineTemplate",
            "KubeadmConfigTemplate",
            "KubeadmControlPlaneTemplate",
        ];
        assert!(
            left.len() == 5 && left.iter().all(|kind| of_class.contains(&kind.as_str())),
            "{contract}: {left:?}"
        );
    }
}
