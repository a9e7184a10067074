//! Tests of the workload controllers on a sandbox. The expected objects come from the real controllers.

mod rolling;
mod workload_kinds;

use serde_json::{Value, json};

use crate::{Clock, ControllerSwitches, Options, Sandbox, client::Client, controllers::ObjectRef};

const TIME: &str = "2026-01-02T03:04:05Z";

/// A sandbox with a namespace `t`, the workload controllers and the garbage collector.
struct Lab {
    sandbox: Sandbox,
    client: Client,
}

impl Lab {
    async fn new() -> Self {
        Self::with(Options::default()).await
    }

    async fn with(options: Options) -> Self {
        let controllers =
            ControllerSwitches { garbage_collection: true, workloads: true, ..ControllerSwitches::none() };
        let clock = Clock::fixed(TIME.parse().unwrap());
        let sandbox = Sandbox::start_with_clock(Options { controllers, ..options }, clock).await.unwrap();
        let client = sandbox.client("test");
        let lab = Self { sandbox, client };
        if lab.client.get(&ObjectRef::new("", "Namespace", "", "t")).is_none() {
            lab.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "t"}})).await;
        }
        lab
    }

    /// Creates an object and waits until the controllers settle.
    async fn create(&self, object: Value) {
        self.client.create(object).await.unwrap();
        self.sandbox.wait_until_idle().await;
    }

    /// Changes an object and waits until the controllers settle.
    async fn change(&self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(kind, name);
        change(&mut object);
        self.client.update(object).await.unwrap();
        self.sandbox.wait_until_idle().await;
    }

    async fn delete(&self, kind: &str, name: &str) {
        self.client
            .delete(&reference(kind, name), crate::request::options::PropagationPolicy::Background)
            .await
            .unwrap();
        self.sandbox.wait_until_idle().await;
    }

    fn get(&self, kind: &str, name: &str) -> Value {
        self.client.get(&reference(kind, name)).unwrap()
    }

    fn list(&self, kind: &str) -> Vec<Value> {
        self.client.list(group(kind), kind, Some("t"))
    }

    /// Returns the single object of a kind.
    fn only(&self, kind: &str) -> Value {
        let mut all = self.list(kind);
        assert_eq!(all.len(), 1, "{all:#?}");
        all.remove(0)
    }
}

fn reference(kind: &str, name: &str) -> ObjectRef {
    ObjectRef::new(group(kind), kind, "t", name)
}

fn group(kind: &str) -> &'static str {
    match kind {
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "ControllerRevision" => "apps",
        "Job" => "batch",
        "EndpointSlice" => "discovery.k8s.io",
        _ => "",
    }
}

/// An object of the group `apps` whose Pods have the label `app` and one container.
fn workload(kind: &str, name: &str, spec: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "t"}, "spec": spec,
    });
    object["spec"]["selector"] = json!({"matchLabels": {"app": name}});
    object["spec"]["template"] = json!({
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{
            "name": "c", "image": "web:1", "ports": [{"name": "http", "containerPort": 8080}],
        }]},
    });
    object
}

fn set_image(object: &mut Value, image: &str) {
    object["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
}

fn set_annotation(object: &mut Value, name: &str, value: &str) {
    object["metadata"]["annotations"][name] = value.into();
}

/// The container image and the readiness of each Pod, sorted.
fn pods(lab: &Lab) -> Vec<(String, bool)> {
    let mut pods: Vec<_> = lab
        .list("Pod")
        .iter()
        .map(|pod| {
            let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
            (image.to_owned(), super::children::is_ready(pod))
        })
        .collect();
    pods.sort();
    pods
}

fn images(image: &str, count: usize) -> Vec<(String, bool)> {
    vec![(image.to_owned(), true); count]
}
