//! A server with permissive Cluster API definitions, and test objects.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json};

use super::super::object::*;
use crate::{
    client::Client, clock::Clock, controllers::ObjectRef, options::Options,
    request::options::PropagationPolicy, server::Sandbox, store::Store,
};

/// The API versions and contracts of the tests.
pub(super) const CONTRACTS: [&str; 2] = ["v1beta1", "v1beta2"];
pub(super) const NAMESPACE: &str = "clusters";

/// A server with running controllers.
pub(super) struct TestServer {
    pub(super) version: &'static str,
    pub(super) clock: Clock,
    pub(super) client: Client,
    sandbox: Sandbox,
}

impl TestServer {
    pub(super) async fn new(version: &'static str) -> Self {
        let clock = Clock::fixed("2026-01-01T00:00:00Z".parse().unwrap());
        let sandbox = Sandbox::start_with_clock(Options::default(), clock.clone()).await.unwrap();
        let client = sandbox.client("test");
        let server = Self { version, clock, client, sandbox };
        for definition in definitions(version) {
            server.create(definition).await;
        }
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        server.create(namespace).await;
        server
    }

    pub(super) async fn create(&self, object: Value) -> Value {
        self.client.create(object.clone()).await.unwrap_or_else(|status| panic!("{status:?}: {object}"))
    }

    /// Creates Cluster API objects in the namespace and the version of the test.
    pub(super) async fn apply(&self, objects: impl IntoIterator<Item = Value>) {
        for mut object in objects {
            let (group, _) = split(&object);
            object["apiVersion"] = json!(format!("{group}/{}", self.version));
            object["metadata"]["namespace"] = json!(NAMESPACE);
            self.create(object).await;
        }
    }

    /// Waits until the controllers settle. Fails after five minutes, far more than any test needs.
    pub(super) async fn wait_until_idle(&self) {
        tokio::time::timeout(Duration::from_mins(5), self.sandbox.wait_until_idle())
            .await
            .expect("the controllers settle");
    }

    pub(super) async fn apply_and_wait(&self, objects: impl IntoIterator<Item = Value>) {
        self.apply(objects).await;
        self.wait_until_idle().await;
    }

    pub(super) fn find(&self, kind: &str, name: &str) -> Option<Value> {
        self.client.get(&ObjectRef::new(group_of_kind(kind), kind, NAMESPACE, name))
    }

    pub(super) fn get(&self, kind: &str, name: &str) -> Value {
        self.find(kind, name).unwrap_or_else(|| panic!("there is no {kind} {name}"))
    }

    pub(super) fn list(&self, kind: &str) -> Vec<Value> {
        self.client.list(group_of_kind(kind), kind, Some(NAMESPACE))
    }

    pub(super) fn names(&self, kind: &str) -> Vec<String> {
        self.list(kind).iter().map(|object| name(object).to_owned()).collect()
    }

    /// Changes an object and waits until the controllers settle.
    pub(super) async fn edit(&self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(kind, name);
        change(&mut object);
        self.client.update(object).await.unwrap();
        self.wait_until_idle().await;
    }

    pub(super) async fn delete(&self, kind: &str, name: &str) {
        let object = ObjectRef::new(group_of_kind(kind), kind, NAMESPACE, name);
        self.client.delete(&object, PropagationPolicy::Background).await.unwrap();
        self.wait_until_idle().await;
    }

    /// Returns all Cluster API objects and Secrets with their resource versions.
    pub(super) fn all_objects(&self) -> Vec<(ObjectRef, String)> {
        let objects = self.client.list_namespace(NAMESPACE);
        let live =
            objects.into_iter().filter(|object| object.group.ends_with(CORE) || object.kind == "Secret");
        live.filter_map(|object| {
            let version = text(&self.client.get(&object)?, "/metadata/resourceVersion").to_owned();
            Some((object, version))
        })
        .collect()
    }

    /// Adds a label to each object, which triggers a reconciliation, and returns the number of writes.
    pub(super) async fn touch_all(&self) -> u64 {
        let everything = self.all_objects();
        for (object, _) in &everything {
            let mut live = self.client.get(object).unwrap();
            set_label(&mut live, "touched", "");
            self.client.update(live).await.unwrap();
            self.wait_until_idle().await;
        }
        everything.len() as u64
    }

    /// Recreates all objects of another server like a move: owners first, without status, with new uids.
    pub(super) async fn move_from(&self, source: &Self) {
        let mut waiting: Vec<Value> =
            source.all_objects().iter().filter_map(|(object, _)| source.client.get(object)).collect();
        let mut uids: HashMap<String, Value> = HashMap::new();
        while !waiting.is_empty() {
            let is_ready =
                |object: &Value| owners(object).iter().all(|owner| uids.contains_key(text(owner, "/uid")));
            let at = waiting.iter().position(is_ready).expect("owners form no ring");
            let mut object = waiting.swap_remove(at);
            let old = uid(&object).to_owned();
            unset(&mut object, &["metadata", "resourceVersion"]);
            for owner in object["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
                owner["uid"] = uids[text(owner, "/uid")].clone();
            }
            let made = self.create(object).await;
            uids.insert(old, made["metadata"]["uid"].clone());
        }
    }

    pub(super) fn store(&self) -> &Store {
        self.sandbox.store()
    }

    pub(super) fn is_v1beta1(&self) -> bool {
        self.version == "v1beta1"
    }

    /// Returns the value of a field with a different pointer in each contract.
    pub(super) fn field_at<'a>(&self, object: &'a Value, v1beta1: &str, v1beta2: &str) -> &'a Value {
        object.pointer(if self.is_v1beta1() { v1beta1 } else { v1beta2 }).unwrap_or(&Value::Null)
    }

    /// The types of the true `metav1` conditions.
    pub(super) fn true_conditions(&self, object: &Value) -> Vec<String> {
        let conditions = self.field_at(object, "/status/v1beta2/conditions", "/status/conditions");
        let all = conditions.as_array().into_iter().flatten();
        all.filter(|condition| condition["status"] == "True")
            .map(|one| text(one, "/type").to_owned())
            .collect()
    }

    /// Creates a reference in the form of the contract.
    pub(super) fn reference(&self, kind: &str, name: &str) -> Value {
        let group = group_of_kind(kind);
        if self.is_v1beta1() {
            json!({"apiVersion": format!("{group}/v1beta1"), "kind": kind, "name": name, "namespace": NAMESPACE})
        } else {
            json!({"apiGroup": group, "kind": kind, "name": name})
        }
    }

    /// A Cluster with its control plane and one MachineDeployment.
    pub(super) fn cluster(&self, name: &str, masters: usize, workers: usize) -> Vec<Value> {
        let mut control_plane = object(
            "KubeadmControlPlane",
            &format!("{name}-cp"),
            json!({
                "replicas": masters, "version": "v1.35.0", "kubeadmConfigSpec": {"clusterConfiguration": {"certificatesDir": "/pki"}},
            }),
        );
        let machines = self.reference("DockerMachineTemplate", &format!("{name}-machines"));
        let inside: &[&str] =
            if self.is_v1beta1() { &["infrastructureRef"] } else { &["spec", "infrastructureRef"] };
        set(&mut control_plane, &[&["spec", "machineTemplate"], inside].concat(), machines.clone());
        vec![
            object("DockerCluster", name, json!({})),
            object(
                "DockerMachineTemplate",
                &format!("{name}-machines"),
                json!({"template": {"spec": {"image": "one"}}}),
            ),
            object("KubeadmConfigTemplate", &format!("{name}-workers"), json!({"template": {"spec": {}}})),
            object(
                "Cluster",
                name,
                json!({
                    "infrastructureRef": self.reference("DockerCluster", name),
                    "controlPlaneRef": self.reference("KubeadmControlPlane", &format!("{name}-cp")),
                }),
            ),
            control_plane,
            object(
                "MachineDeployment",
                &format!("{name}-md"),
                json!({
                    "clusterName": name, "replicas": workers, "selector": {},
                    "template": {"spec": {
                        "clusterName": name, "version": "v1.35.0", "infrastructureRef": machines,
                        "bootstrap": {"configRef": self.reference("KubeadmConfigTemplate", &format!("{name}-workers"))},
                    }},
                }),
            ),
        ]
    }
}

pub(super) fn object(kind: &str, name: &str, spec: Value) -> Value {
    let group = group_of_kind(kind);
    let mut object = json!({"apiVersion": format!("{group}/"), "kind": kind, "metadata": {"name": name}});
    object["spec"] = spec;
    object
}

pub(super) fn is_owned_by(object: &Value, owner: &Value) -> bool {
    owners(object).iter().any(|found| text(found, "/uid") == uid(owner))
}

fn split(object: &Value) -> (&str, &str) {
    text(object, "/apiVersion").split_once('/').unwrap_or_default()
}

fn group_of_kind(kind: &str) -> &'static str {
    match kind {
        "Secret" | "ConfigMap" => "",
        kind if kind.contains("ControlPlane") => CONTROL_PLANE,
        kind if kind.contains("Config") => BOOTSTRAP,
        kind if kind.starts_with("Docker") || kind.starts_with("AWS") => INFRASTRUCTURE,
        _ => CORE,
    }
}

fn definitions(version: &str) -> Vec<Value> {
    let kinds = [
        "Cluster",
        "ClusterClass",
        "DockerCluster",
        "DockerClusterTemplate",
        "DockerMachine",
        "DockerMachinePool",
        "DockerMachineTemplate",
        "AWSManagedCluster",
        "AWSManagedControlPlane",
        "KubeadmConfig",
        "KubeadmConfigTemplate",
        "KubeadmControlPlane",
        "KubeadmControlPlaneTemplate",
        "Machine",
        "MachineDeployment",
        "MachineHealthCheck",
        "MachinePool",
        "MachineSet",
    ];
    kinds.into_iter().map(|kind| definition(group_of_kind(kind), kind, version)).collect()
}

fn definition(group: &str, kind: &str, version: &str) -> Value {
    let singular = kind.to_lowercase();
    let plural = if kind.ends_with("Class") { format!("{singular}es") } else { format!("{singular}s") };
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": open},
            }],
        },
    });
    set(&mut definition, &["metadata", "labels", &format!("cluster.x-k8s.io/{version}")], json!(version));
    definition
}
