//! Tests of the other workloads and of the objects of Services and Namespaces.

use serde_json::{Value, json};

use super::{Lab, TIME, images, pods, set_annotation, set_image, workload};
use crate::{
    Options,
    controllers::{ObjectRef, workloads::children::NEVER_READY},
    meta,
};

#[tokio::test]
async fn a_daemon_set_has_one_pod_with_the_newest_template() {
    let lab = Lab::new().await;
    lab.create(workload("DaemonSet", "agent", &json!({}))).await;
    let expected = |generation: i64| {
        json!({
            "currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberAvailable": 1, "numberMisscheduled": 0,
            "numberReady": 1, "observedGeneration": generation, "updatedNumberScheduled": 1,
        })
    };
    assert_eq!(lab.get("DaemonSet", "agent")["status"], expected(1));
    let pod = lab.only("Pod");
    assert_eq!(pod["metadata"]["labels"]["pod-template-generation"], "1");

    lab.change("DaemonSet", "agent", |agent| set_image(agent, "web:2")).await;
    assert_eq!(pods(&lab), images("web:2", 1));
    lab.change("DaemonSet", "agent", |agent| set_image(agent, "web:1")).await;
    assert_eq!(lab.get("DaemonSet", "agent")["status"], expected(3));
}

#[tokio::test]
async fn a_stateful_set_has_numbered_pods_and_updates_them_all() {
    let lab = Lab::new().await;
    lab.create(workload("StatefulSet", "db", &json!({"replicas": 2, "serviceName": "db"}))).await;
    lab.change("StatefulSet", "db", |db| set_image(db, "web:2")).await;
    lab.change("StatefulSet", "db", |db| db["spec"]["replicas"] = 3.into()).await;
    assert_eq!(pods(&lab), images("web:2", 3));
    let pod = lab.get("Pod", "db-2");
    assert_eq!((&pod["spec"]["hostname"], &pod["spec"]["subdomain"]), (&json!("db-2"), &json!("db")));
    let revision = &pod["metadata"]["labels"]["controller-revision-hash"];
    assert_eq!(
        lab.get("StatefulSet", "db")["status"],
        json!({
            "availableReplicas": 3, "collisionCount": 0, "currentReplicas": 3, "currentRevision": revision,
            "observedGeneration": 3, "readyReplicas": 3, "replicas": 3, "updateRevision": revision,
            "updatedReplicas": 3,
        })
    );
    lab.change("StatefulSet", "db", |db| db["spec"]["replicas"] = 1.into()).await;
    assert_eq!(meta::name(&lab.only("Pod")), "db-0");
}

#[tokio::test]
async fn a_stateful_set_stops_at_its_first_unready_pod() {
    let lab = Lab::new().await;
    let mut set = workload("StatefulSet", "db", &json!({"replicas": 3, "serviceName": "db"}));
    set_annotation(&mut set, NEVER_READY, "true");
    lab.create(set).await;
    assert_eq!(meta::name(&lab.only("Pod")), "db-0");
}

fn job(spec: &Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "task", "namespace": "t"}, "spec": spec,
    });
    job["spec"]["template"] = json!({
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "task:1"}]},
    });
    job
}

#[tokio::test]
async fn a_job_completes_as_its_pods_succeed() {
    let lab = Lab::new().await;
    lab.create(job(&json!({"completions": 3, "parallelism": 2}))).await;
    let condition = |kind: &str| {
        json!({
            "type": kind, "status": "True", "reason": "CompletionsReached",
            "message": "Reached expected number of succeeded pods",
            "lastProbeTime": TIME, "lastTransitionTime": TIME,
        })
    };
    assert_eq!(
        lab.get("Job", "task")["status"],
        json!({
            "completionTime": TIME, "startTime": TIME, "ready": 0, "succeeded": 3, "terminating": 0,
            "uncountedTerminatedPods": {},
            "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        })
    );
    let phases: Vec<_> = lab.list("Pod").iter().map(|pod| pod["status"]["phase"].clone()).collect();
    assert_eq!(phases, ["Succeeded"; 3]);
}

#[tokio::test]
async fn a_suspended_job_has_no_pods() {
    let lab = Lab::new().await;
    lab.create(job(&json!({"suspend": true}))).await;
    assert_eq!(lab.get("Job", "task")["status"]["conditions"][0]["reason"], "JobSuspended");
    assert!(lab.list("Pod").is_empty());
    lab.change("Job", "task", |job| job["spec"]["suspend"] = false.into()).await;
    assert_eq!(lab.get("Job", "task")["status"]["succeeded"], 1);
}

#[tokio::test]
async fn a_job_with_a_ttl_is_deleted_with_its_pods() {
    let lab = Lab::new().await;
    lab.create(job(&json!({"ttlSecondsAfterFinished": 0}))).await;
    assert!(lab.list("Job").is_empty() && lab.list("Pod").is_empty());
}

#[tokio::test]
async fn a_service_has_endpoints_that_are_deleted_with_it() {
    let lab = Lab::new().await;
    lab.create(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "t", "labels": {"l": "m"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    }))
    .await;
    assert_eq!(lab.only("EndpointSlice")["endpoints"], Value::Null);
    lab.create(workload("Deployment", "web", &json!({"replicas": 1}))).await;

    let pod = lab.only("Pod");
    let (address, uid, name) = (&pod["status"]["podIP"], meta::uid(&pod), meta::name(&pod));
    let target = json!({"kind": "Pod", "namespace": "t", "name": name, "uid": uid});
    let ports = json!([{"name": "http", "port": 8080, "protocol": "TCP"}]);
    let endpoints = lab.get("Endpoints", "web");
    let addresses = json!([{"ip": address, "nodeName": "sandbox", "targetRef": target}]);
    assert_eq!(endpoints["subsets"], json!([{"addresses": addresses, "ports": ports}]));
    assert_eq!(
        endpoints["metadata"]["labels"],
        json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller", "l": "m"})
    );
    let slice = lab.only("EndpointSlice");
    let conditions = json!({"ready": true, "serving": true, "terminating": false});
    assert_eq!(
        slice["endpoints"],
        json!([{"addresses": [address], "conditions": conditions, "nodeName": "sandbox", "targetRef": target}])
    );
    assert_eq!(
        (&slice["ports"], &slice["metadata"]["labels"]["kubernetes.io/service-name"]),
        (&ports, &json!("web"))
    );

    lab.change("Deployment", "web", |web| set_annotation(web, NEVER_READY, "true")).await;
    assert_eq!(lab.get("Endpoints", "web")["subsets"][0].get("addresses"), None);
    assert_eq!(lab.only("EndpointSlice")["endpoints"][0]["conditions"]["ready"], false);
    lab.delete("Service", "web").await;
    assert!(lab.list("Endpoints").is_empty() && lab.list("EndpointSlice").is_empty());
}

#[tokio::test]
async fn a_namespace_regains_its_service_account_and_ca() {
    let lab = Lab::new().await;
    for (kind, name) in [("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")] {
        let before = meta::uid(&lab.get(kind, name)).to_owned();
        lab.delete(kind, name).await;
        assert_ne!(meta::uid(&lab.get(kind, name)), before);
    }
}

#[tokio::test]
async fn an_aggregated_role_follows_the_roles_it_selects() {
    let lab = Lab::new().await;
    let role = |name: &str, more: Value| {
        let mut role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": {"part": name}},
        });
        role.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        role
    };
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let selectors = json!([{"matchLabels": {"part": "part"}}]);
    lab.create(role("whole", json!({"aggregationRule": {"clusterRoleSelectors": selectors}, "rules": []})))
        .await;
    lab.create(role("part", json!({"rules": rules}))).await;
    let whole = ObjectRef::new("rbac.authorization.k8s.io", "ClusterRole", "", "whole");
    let live = lab.client.get(&whole).unwrap();
    assert_eq!(live["rules"], rules);
    let writers = live["metadata"]["managedFields"].as_array().unwrap();
    let gathered = |writer: &&Value| writer["manager"] == "clusterrole-aggregation-controller";
    assert_eq!(writers.iter().find(gathered).unwrap()["operation"], "Apply");
}

#[tokio::test]
async fn restarted_controllers_write_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let options = || Options { data_dir: Some(directory.path().to_owned()), ..Options::default() };
    let lab = Lab::with(options()).await;
    lab.create(workload("Deployment", "web", &json!({"replicas": 2}))).await;
    lab.create(workload("DaemonSet", "agent", &json!({}))).await;
    lab.create(workload("StatefulSet", "db", &json!({"replicas": 2, "serviceName": "db"}))).await;
    lab.create(job(&json!({}))).await;
    lab.create(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "t"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }))
    .await;
    let revision = lab.sandbox.revision();
    lab.sandbox.stop().await;
    drop(lab);
    let lab = Lab::with(options()).await;
    lab.sandbox.wait_until_idle().await;
    assert_eq!(lab.sandbox.revision(), revision);
}

#[tokio::test]
async fn a_claim_is_kept_until_its_pod_is_deleted() {
    let lab = Lab::new().await;
    let claim = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "t"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        })
    };
    lab.create(claim("used")).await;
    lab.create(claim("free")).await;
    lab.create(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "t"},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "used"}}],
        },
    }))
    .await;
    lab.delete("PersistentVolumeClaim", "used").await;
    lab.delete("PersistentVolumeClaim", "free").await;
    let names =
        |claims: Vec<Value>| -> Vec<String> { claims.iter().map(|c| meta::name(c).to_owned()).collect() };
    assert_eq!(names(lab.list("PersistentVolumeClaim")), ["used"]);
    lab.delete("Pod", "p").await;
    assert_eq!(names(lab.list("PersistentVolumeClaim")), [""; 0]);
}
