//! A Cluster with all objects below it.

mod infrastructure;
mod machines;

pub use self::infrastructure::Infrastructure;

use serde_json::{Value, json};

use super::{
    Object, VERSION, conditions, in_same_namespace, kubeadm, object, reference, split_namespaced_name,
};
use crate::kind::{self, Kind};

const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";

/// A provisioned Cluster to create. Iterates over its objects, owners first.
#[derive(Clone, Debug)]
pub struct ClusterBuilder {
    namespaced_name: String,
    control_plane: Option<usize>,
    machines: usize,
    deployments: Vec<(String, usize)>,
    class: Option<String>,
    infrastructure: Infrastructure,
}

/// A provisioned Cluster at `namespace/name`, with infrastructure and without machines. Its certificate authority is a
/// user-provided Secret without owner, found by name.
pub fn cluster(namespaced_name: &str) -> ClusterBuilder {
    let place = namespaced_name.to_owned();
    ClusterBuilder {
        namespaced_name: place,
        control_plane: None,
        machines: 0,
        deployments: Vec::new(),
        class: None,
        infrastructure: Infrastructure::docker(),
    }
}

impl ClusterBuilder {
    /// Adds a control plane `CLUSTER-control-plane` with machines `CLUSTER-control-plane-0` and so on. The control
    /// plane owns the Secrets.
    #[must_use]
    pub fn control_plane(mut self, machines: usize) -> Self {
        self.control_plane = Some(machines);
        self
    }

    /// Adds standalone machines `CLUSTER-machine-0` and so on, without a controller.
    #[must_use]
    pub fn machines(mut self, machines: usize) -> Self {
        self.machines = machines;
        self
    }

    /// Adds a MachineDeployment `CLUSTER-NAME` with one MachineSet `CLUSTER-NAME-1` and machines `CLUSTER-NAME-1-0` and
    /// so on.
    #[must_use]
    pub fn machine_deployment(mut self, name: &str, machines: usize) -> Self {
        self.deployments.push((name.to_owned(), machines));
        self
    }

    /// Makes the Cluster a managed topology of this ClusterClass, given as `name` or `namespace/name`.
    #[must_use]
    pub fn of_class(mut self, class: &str) -> Self {
        self.class = Some(class.to_owned());
        self
    }

    /// Uses these kinds instead of those of docker and kubeadm.
    #[must_use]
    pub fn with_infrastructure(mut self, infrastructure: Infrastructure) -> Self {
        self.infrastructure = infrastructure;
        self
    }

    fn name(&self) -> &str {
        split_namespaced_name(&self.namespaced_name).1
    }

    fn cluster(&self) -> Object {
        let mut spec = json!({
            "controlPlaneEndpoint": self.endpoint(),
            "infrastructureRef": reference(self.infrastructure.cluster, self.name()),
        });
        if self.control_plane.is_some() {
            spec["controlPlaneRef"] = reference(kind::KUBEADM_CONTROL_PLANE, &self.control_plane_name());
        }
        if let Some(class) = &self.class {
            spec["topology"] = self.topology(class);
        }
        let hold = ["Available", "InfrastructureReady", "ControlPlaneInitialized", "ControlPlaneAvailable"];
        let cluster = object(kind::CLUSTER, &self.namespaced_name).label(CLUSTER_NAME, self.name());
        cluster.finalizer("cluster.cluster.x-k8s.io").field("spec", spec).status(json!({
            "phase": "Provisioned",
            "initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true},
            "conditions": conditions(&hold),
        }))
    }

    fn topology(&self, class: &str) -> Value {
        let (namespace, class) = split_namespaced_name(class);
        let mut topology = json!({"classRef": {"name": class}, "version": VERSION});
        if !namespace.is_empty() {
            topology["classRef"]["namespace"] = json!(namespace);
        }
        if let Some(machines) = self.control_plane {
            topology["controlPlane"] = json!({"replicas": machines});
        }
        let deployment =
            |(name, machines): &_| json!({"class": "worker", "name": name, "replicas": machines});
        if !self.deployments.is_empty() {
            let deployments: Value = self.deployments.iter().map(deployment).collect();
            topology["workers"] = json!({"machineDeployments": deployments});
        }
        topology
    }

    /// A part of the Cluster. Labelled as owned by the topology, if there is one.
    fn part(&self, kind: Kind, name: &str) -> Object {
        let part =
            object(kind, &in_same_namespace(&self.namespaced_name, name)).label(CLUSTER_NAME, self.name());
        if self.class.is_some() { part.label(TOPOLOGY_OWNED, "") } else { part }
    }

    /// A part to which the Cluster refers. In a topology, the Cluster is its controller.
    fn referenced_part(&self, kind: Kind, name: &str) -> Object {
        self.part(kind, name).owned(kind::CLUSTER, self.name(), self.class.is_some())
    }

    fn infrastructure(&self) -> Object {
        let of = &self.infrastructure;
        let mut spec = of.cluster_spec.clone();
        spec["controlPlaneEndpoint"] = self.endpoint();
        self.referenced_part(of.cluster, self.name())
            .finalizer(&infrastructure::finalizer(of.cluster))
            .field("spec", spec)
            .status(of.status.clone())
    }

    fn template(&self, kind: Kind, name: &str, spec: &Value) -> Object {
        let spec = json!({"template": {"spec": spec}});
        self.part(kind, name).owned_by(kind::CLUSTER, self.name()).field("spec", spec)
    }

    fn machine_template(&self, name: &str) -> Object {
        self.template(self.infrastructure.machine_template, name, &self.infrastructure.machine_spec)
    }

    fn control_plane_objects(&self, machines: usize) -> Vec<Object> {
        let name = &self.control_plane_name();
        let template =
            json!({"spec": {"infrastructureRef": reference(self.infrastructure.machine_template, name)}});
        let control_plane = self
            .referenced_part(kind::KUBEADM_CONTROL_PLANE, name)
            .finalizer("kubeadm.controlplane.cluster.x-k8s.io")
            .field(
                "spec",
                json!({
                    "replicas": machines,
                    "version": VERSION,
                    "kubeadmConfigSpec": kubeadm(),
                    "machineTemplate": template,
                }),
            )
            .status(replicated(
                machines,
                json!({
                    "initialization": {"controlPlaneInitialized": true},
                    "version": VERSION,
                    "conditions": conditions(&["Available", "Initialized", "MachinesReady", "MachinesUpToDate"]),
                }),
            ));
        let mut objects = vec![control_plane, self.machine_template(name)];
        let labels = [("cluster.x-k8s.io/control-plane", ""), ("cluster.x-k8s.io/control-plane-name", name)];
        let owner = (kind::KUBEADM_CONTROL_PLANE, &**name, true);
        objects.extend(self.machines_of(name, machines, owner, &labels));
        objects
    }

    /// Without a control plane, the user owns the certificate authority, and the Cluster owns the kubeconfig.
    fn secrets(&self) -> Vec<Object> {
        let secret = |purpose: &str, data: Value| {
            object(kind::SECRET, &format!("{}-{purpose}", self.namespaced_name))
                .label(CLUSTER_NAME, self.name())
                .field("type", json!("cluster.x-k8s.io/secret"))
                .field("stringData", data)
        };
        let pair = |purpose: &str| {
            let text = format!("{purpose} of {}", self.name());
            secret(purpose, json!({"tls.crt": text, "tls.key": text}))
        };
        let kubeconfig = secret("kubeconfig", json!({"value": self.kubeconfig()}));
        if self.control_plane.is_none() {
            return vec![pair("ca"), kubeconfig.owned_by(kind::CLUSTER, self.name())];
        }
        let (all, owner) =
            ([pair("ca"), pair("etcd"), pair("proxy"), pair("sa"), kubeconfig], self.control_plane_name());
        all.map(|secret| secret.controlled_by(kind::KUBEADM_CONTROL_PLANE, &owner)).into()
    }

    fn kubeconfig(&self) -> String {
        let (name, user) = (self.name(), format!("{}-admin", self.name()));
        let context = format!("{user}@{name}");
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "clusters": [{"name": name, "cluster": {"server": format!("https://{name}.example.org:6443")}}],
            "users": [{"name": user, "user": {"token": name}}],
            "contexts": [{"name": context, "context": {"cluster": name, "user": user}}],
        })
        .to_string()
    }

    fn endpoint(&self) -> Value {
        json!({"host": format!("{}.example.org", self.name()), "port": 6443})
    }

    fn control_plane_name(&self) -> String {
        format!("{}-control-plane", self.name())
    }
}

impl IntoIterator for ClusterBuilder {
    type Item = Object;
    type IntoIter = std::vec::IntoIter<Object>;

    fn into_iter(self) -> Self::IntoIter {
        let mut objects = vec![self.cluster(), self.infrastructure()];
        if let Some(machines) = self.control_plane {
            objects.extend(self.control_plane_objects(machines));
        }
        objects.extend(self.secrets());
        let alone = format!("{}-machine", self.name());
        objects.extend(self.machines_of(&alone, self.machines, (kind::CLUSTER, self.name(), false), &[]));
        objects.extend(self.deployments.iter().flat_map(|(name, machines)| self.deployment(name, *machines)));
        objects.into_iter()
    }
}

/// Adds replica counts to a status, with all machines ready.
fn replicated(machines: usize, mut status: Value) -> Value {
    for count in ["replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"] {
        status[count] = json!(machines);
    }
    status
}
