//! Tests of Deployments and their ReplicaSets.

use serde_json::{Value, json};

use super::{Lab, TIME, images, pods, set_annotation, set_image, workload};
use crate::{
    controllers::{
        ObjectRef,
        workloads::children::{BURST, NEVER_READY},
    },
    meta,
};

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": TIME, "lastUpdateTime": TIME,
    })
}

fn available() -> Value {
    condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
}

/// The ReplicaSets: image, revision, revision history and desired number of Pods.
fn sets(lab: &Lab) -> Vec<(String, String, String, i64)> {
    let mut sets: Vec<_> = lab
        .list("ReplicaSet")
        .iter()
        .map(|set| {
            let annotation = |name: &str| {
                let name = format!("deployment.kubernetes.io/{name}");
                set["metadata"]["annotations"][name].as_str().unwrap_or_default().to_owned()
            };
            let image =
                set["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().to_owned();
            (
                image,
                annotation("revision"),
                annotation("revision-history"),
                set["spec"]["replicas"].as_i64().unwrap(),
            )
        })
        .collect();
    sets.sort();
    sets
}

fn row(image: &str, revision: &str, history: &str, replicas: i64) -> (String, String, String, i64) {
    (image.to_owned(), revision.to_owned(), history.to_owned(), replicas)
}

#[tokio::test]
async fn a_deployment_becomes_available_through_a_replica_set_of_running_pods() {
    let lab = Lab::new().await;
    let mut deployment = workload("Deployment", "web", &json!({"replicas": 2}));
    set_annotation(&mut deployment, "note", "hello");
    lab.create(deployment).await;

    let set = lab.only("ReplicaSet");
    let hash = set["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(meta::name(&set), format!("web-{hash}"));
    assert_eq!(set["spec"]["selector"]["matchLabels"], json!({"app": "web", "pod-template-hash": hash}));
    assert_eq!(
        set["metadata"]["annotations"],
        json!({
            "deployment.kubernetes.io/desired-replicas": "2", "deployment.kubernetes.io/max-replicas": "3",
            "deployment.kubernetes.io/revision": "1", "note": "hello",
        })
    );
    assert_eq!(
        set["status"],
        json!({
            "availableReplicas": 2, "fullyLabeledReplicas": 2, "observedGeneration": 1, "readyReplicas": 2,
            "replicas": 2, "terminatingReplicas": 0,
        })
    );
    let deployment = lab.get("Deployment", "web");
    assert_eq!(deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert_eq!(meta::generation(&deployment), 1);
    let message = format!("ReplicaSet \"web-{hash}\" has successfully progressed.");
    assert_eq!(
        deployment["status"],
        json!({
            "availableReplicas": 2, "observedGeneration": 1, "readyReplicas": 2, "replicas": 2,
            "terminatingReplicas": 0, "updatedReplicas": 2,
            "conditions": [available(), condition("Progressing", "True", "NewReplicaSetAvailable", &message)],
        })
    );
    assert_eq!(pods(&lab), images("web:1", 2));
}

#[tokio::test]
async fn a_pod_runs_on_the_node_with_its_own_address() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 2}))).await;
    let all = lab.list("Pod");
    assert_ne!(all[0]["status"]["podIP"], all[1]["status"]["podIP"]);
    for pod in all {
        assert_eq!((&pod["spec"]["nodeName"], meta::generation(&pod)), (&json!("sandbox"), 1));
        assert_eq!(pod["status"]["phase"], "Running");
        assert_eq!(pod["status"]["qosClass"], "BestEffort");
        let container = &pod["status"]["containerStatuses"][0];
        assert_eq!(container["state"], json!({"running": {"startedAt": TIME}}));
        assert_eq!((&container["image"], &container["ready"]), (&json!("web:1"), &json!(true)));
    }
    let node = lab.client.get(&ObjectRef::new("", "Node", "", "sandbox")).unwrap();
    assert!(node["spec"].get("taints").is_none(), "{node:#}");
}

#[tokio::test]
async fn a_rolled_back_template_gets_a_new_revision() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 3}))).await;
    lab.change("Deployment", "web", |web| set_image(web, "web:2")).await;
    assert_eq!(sets(&lab), [row("web:1", "1", "", 0), row("web:2", "2", "", 3)]);
    assert_eq!(pods(&lab), images("web:2", 3));
    lab.change("Deployment", "web", |web| set_image(web, "web:1")).await;
    assert_eq!(sets(&lab), [row("web:1", "3", "1", 3), row("web:2", "2", "", 0)]);
    let deployment = lab.get("Deployment", "web");
    assert_eq!(deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "3");
    assert_eq!(deployment["status"]["conditions"][1]["reason"], "NewReplicaSetAvailable");
}

#[tokio::test]
async fn old_replica_sets_are_kept_up_to_the_history_limit() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 1, "revisionHistoryLimit": 1}))).await;
    for image in ["web:2", "web:3"] {
        lab.change("Deployment", "web", |web| set_image(web, image)).await;
    }
    assert_eq!(sets(&lab), [row("web:2", "2", "", 0), row("web:3", "3", "", 1)]);
}

#[tokio::test]
async fn a_recreate_deployment_ends_with_new_pods_only() {
    let lab = Lab::new().await;
    let spec = json!({"replicas": 2, "strategy": {"type": "Recreate"}});
    lab.create(workload("Deployment", "web", &spec)).await;
    lab.change("Deployment", "web", |web| set_image(web, "web:2")).await;
    assert_eq!(pods(&lab), images("web:2", 2));
}

#[tokio::test]
async fn a_paused_deployment_is_scaled_but_not_rolled_out() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 1}))).await;
    lab.change("Deployment", "web", |web| {
        set_image(web, "web:2");
        web["spec"]["paused"] = true.into();
        web["spec"]["replicas"] = 2.into();
    })
    .await;
    assert_eq!(pods(&lab), images("web:1", 2));
    let status = lab.get("Deployment", "web")["status"].take();
    assert_eq!(status.get("updatedReplicas"), None);
    assert_eq!(
        status["conditions"][1],
        condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
    );
    lab.change("Deployment", "web", |web| web["spec"]["paused"] = false.into()).await;
    assert_eq!(pods(&lab), images("web:2", 2));
}

#[tokio::test]
async fn a_never_ready_template_keeps_the_old_pods() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 2}))).await;
    lab.change("Deployment", "web", |web| {
        set_image(web, "web:2");
        set_annotation(&mut web["spec"]["template"], NEVER_READY, "true");
    })
    .await;
    let mut expected = images("web:1", 2);
    expected.push(("web:2".to_owned(), false));
    assert_eq!(pods(&lab), expected);
    let status = lab.get("Deployment", "web")["status"].take();
    assert_eq!(status["conditions"][0], available());
    assert_eq!(status["conditions"][1]["reason"], "ReplicaSetUpdated");
    assert_eq!((&status["updatedReplicas"], &status["unavailableReplicas"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn removing_the_annotation_makes_a_deployment_available() {
    let lab = Lab::new().await;
    let mut deployment = workload("Deployment", "web", &json!({"replicas": 1}));
    set_annotation(&mut deployment, NEVER_READY, "true");
    lab.create(deployment).await;
    let unavailable = "Deployment does not have minimum availability.";
    let conditions = |lab: &Lab| lab.get("Deployment", "web")["status"]["conditions"][0].take();
    assert_eq!(conditions(&lab), condition("Available", "False", "MinimumReplicasUnavailable", unavailable));
    let waiting = &lab.only("Pod")["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(waiting["reason"], "ImagePullBackOff");
    lab.change("Deployment", "web", |web| {
        web["metadata"]["annotations"].as_object_mut().unwrap().remove(NEVER_READY);
    })
    .await;
    assert_eq!(conditions(&lab), available());
}

#[tokio::test]
async fn failed_pod_creation_is_a_deployment_condition() {
    let lab = Lab::new().await;
    let mut deployment = workload("Deployment", "web", &json!({"replicas": 1}));
    // A Pod template may contain this finalizer, but a Pod may not.
    deployment["spec"]["template"]["metadata"]["finalizers"] = json!(["not-qualified"]);
    lab.create(deployment).await;
    let conditions = lab.get("Deployment", "web")["status"]["conditions"].take();
    assert_eq!(
        (&conditions[2]["type"], &conditions[2]["reason"]),
        (&json!("ReplicaFailure"), &json!("FailedCreate"))
    );
}

#[tokio::test]
async fn deleted_pods_are_recreated_until_the_deployment_is_deleted() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 2}))).await;
    let name = meta::name(&lab.list("Pod")[0]).to_owned();
    lab.delete("Pod", &name).await;
    let names: Vec<_> = lab.list("Pod").iter().map(|pod| meta::name(pod).to_owned()).collect();
    assert!(names.len() == 2 && !names.contains(&name), "{names:?}");
    lab.delete("Deployment", "web").await;
    assert!(lab.list("ReplicaSet").is_empty() && lab.list("Pod").is_empty());
}

#[tokio::test]
async fn matching_pods_are_adopted_and_others_released() {
    let lab = Lab::new().await;
    lab.create(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine", "namespace": "t", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "web:1"}]},
    }))
    .await;
    lab.create(workload("ReplicaSet", "web", &json!({"replicas": 1}))).await;
    assert_eq!(lab.only("Pod")["metadata"]["ownerReferences"][0]["name"], "web");
    lab.change("Pod", "mine", |pod| pod["metadata"]["labels"]["app"] = "other".into()).await;
    assert_eq!(lab.get("Pod", "mine")["metadata"].get("ownerReferences"), None);
    assert_eq!(lab.list("Pod").len(), 2);
}

#[tokio::test]
async fn pods_over_the_batch_size_are_created_and_deleted() {
    let lab = Lab::new().await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 3 * BURST}))).await;
    assert_eq!(pods(&lab), images("web:1", 3 * BURST));
    lab.change("Deployment", "web", |web| web["spec"]["replicas"] = 1.into()).await;
    assert_eq!(pods(&lab), images("web:1", 1));
}
