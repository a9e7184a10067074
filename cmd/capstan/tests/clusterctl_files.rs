//! Tests of a folder in the layout of clusterctl, and of a second folder written after its restore.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::kind::{CLUSTER, DOCKER_CLUSTER, SECRET};

use crate::testing::ClusterPair;

/// Returns a JSON line as clusterctl v1.14 writes it: paused, with uids and versions of the source.
fn line(api_version: &str, kind: &str, name: &str, owner: Option<&str>, rest: &Value) -> String {
    let owned = owner.map(|uid| {
        json!([{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "blue", "uid": uid}])
    });
    let mut object = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {
            "creationTimestamp": "2026-01-02T03:04:05Z", "generation": 3, "name": name, "namespace": "team",
            "resourceVersion": "4711", "uid": format!("{kind}-{name}"),
            "labels": {"cluster.x-k8s.io/cluster-name": "blue"},
        },
    });
    if let Some(owned) = owned {
        object["metadata"]["ownerReferences"] = owned;
    }
    for (field, value) in rest.as_object().unwrap() {
        object[field] = value.clone();
    }
    format!("{object}\n")
}

fn folder() -> BTreeMap<&'static str, String> {
    let cluster = json!({
        "spec": {
            "paused": true,
            "controlPlaneEndpoint": {"host": "blue.example.org", "port": 6443},
            "infrastructureRef": {
                "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DockerCluster", "name": "blue",
            },
        },
        "status": {"phase": "Provisioned"},
    });
    let mut of_cluster: Value =
        serde_json::from_str(&line("cluster.x-k8s.io/v1beta2", "Cluster", "blue", None, &cluster)).unwrap();
    of_cluster["metadata"]["managedFields"] = json!([{
        "manager": "clusterctl", "operation": "Update", "apiVersion": "cluster.x-k8s.io/v1beta2",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:paused": {}}},
    }]);
    let group = "infrastructure.cluster.x-k8s.io";
    let docker = line(
        &format!("{group}/{}", DOCKER_CLUSTER.version),
        "DockerCluster",
        "blue",
        Some("Cluster-blue"),
        &json!({"spec": {}}),
    );
    let data = json!({"data": {"tls.crt": "Y3J0"}, "type": "cluster.x-k8s.io/secret"});
    BTreeMap::from([
        ("Cluster_team_blue.yaml", format!("{of_cluster}\n")),
        ("DockerCluster_team_blue.yaml", docker),
        ("Secret_team_blue-ca.yaml", line("v1", "Secret", "blue-ca", Some("Cluster-blue"), &data)),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clusterctl_folder_round_trips_with_the_same_file_names() {
    let two = ClusterPair::start().await;
    let folder = folder();
    for (name, line) in &folder {
        two.world.write(format!("theirs/{name}"), line);
    }
    assert_data_eq!(
        two.there("move --from-directory theirs --to-kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stderr
created 3 objects on the target
verified 3 objects on the target
resumed 1 Cluster or ClusterClass
done in [..]: restored 3 objects from `theirs`

"#]]
    );
    let cluster = two.target.get(CLUSTER, "team/blue").await.unwrap();
    assert!(cluster["spec"]["paused"].is_null(), "the pause was that of clusterctl: {cluster}");
    for (kind, name) in [(DOCKER_CLUSTER, "team/blue"), (SECRET, "team/blue-ca")] {
        let object = two.target.get(kind, name).await.unwrap();
        assert_eq!(object["metadata"]["ownerReferences"][0]["uid"], cluster["metadata"]["uid"], "{name}");
    }
    // Controllers set the status, and no controllers run here.
    assert_data_eq!(
        two.there("move --to-directory ours -n team --kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: found 2 problems; nothing was written
  cause: the infrastructure is not provisioned yet: Cluster team/blue
  cause: the control plane is not initialized yet: Cluster team/blue
hint: check its progress with `capstan describe cluster blue -n team --kubeconfig [TARGET]`, and move when it is ready

"#]]
    );
    let provisioned = json!({"status": {
        "initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true},
        "conditions": [{
            "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized",
            "lastTransitionTime": "2026-01-02T03:04:05Z", "message": "",
        }],
    }});
    two.target.merge_status(CLUSTER, "team/blue", &provisioned).await;
    assert_data_eq!(
        two.there("move --to-directory ours -n team --kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stderr
paused 1 Cluster or ClusterClass
resumed 1 Cluster or ClusterClass
done in [..]: saved 3 objects to `ours`

"#]]
    );
    for (name, theirs) in &folder {
        let ours: Value = serde_json::from_slice(&fs::read(two.path("ours").join(name)).unwrap()).unwrap();
        let theirs: Value = serde_json::from_str(theirs).unwrap();
        for field in ["apiVersion", "kind", "spec", "data", "type"] {
            assert_eq!(ours[field], theirs[field], "{name}: {field}");
        }
    }
}
