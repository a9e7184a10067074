//! Objects shared by Clusters, and entries of the provider inventory.

use api::ProviderId;
use serde_json::{Value, json};

use super::{Object, TIME, conditions, in_same_namespace, kubeadm, object, split_namespaced_name};
use crate::kind::{self, Kind};

/// A ClusterClass at `namespace/name` with its templates. It defines the worker class `worker`.
pub fn cluster_class(namespaced_name: &str) -> [Object; 6] {
    let name = split_namespaced_name(namespaced_name).1;
    let (control_plane, worker) = (format!("{name}-control-plane"), format!("{name}-worker"));
    let machines = kind::DOCKER_MACHINE_TEMPLATE;
    let to = |kind: Kind, name: &str| json!({"templateRef": {"apiVersion": kind.api_version(), "kind": kind.kind, "name": name}});
    let mut spec = json!({
        "infrastructure": to(kind::DOCKER_CLUSTER_TEMPLATE, name),
        "controlPlane": to(kind::KUBEADM_CONTROL_PLANE_TEMPLATE, name),
        "workers": {"machineDeployments": [{
            "class": "worker",
            "bootstrap": to(kind::KUBEADM_CONFIG_TEMPLATE, &worker),
            "infrastructure": to(machines, &worker),
        }]},
    });
    spec["controlPlane"]["machineInfrastructure"] = to(machines, &control_plane);
    let status = json!({"conditions": conditions(&["RefVersionsUpToDate", "VariablesReady"])});
    let template = |kind, its_name: &str, spec: Value| {
        let template =
            object(kind, &in_same_namespace(namespaced_name, its_name)).owned_by(kind::CLUSTER_CLASS, name);
        template.field("spec", json!({"template": {"spec": spec}}))
    };
    [
        object(kind::CLUSTER_CLASS, namespaced_name).field("spec", spec).status(status),
        template(kind::DOCKER_CLUSTER_TEMPLATE, name, json!({})),
        template(kind::KUBEADM_CONTROL_PLANE_TEMPLATE, name, json!({"kubeadmConfigSpec": kubeadm()})),
        template(machines, &control_plane, json!({})),
        template(kind::KUBEADM_CONFIG_TEMPLATE, &worker, kubeadm()),
        template(machines, &worker, json!({})),
    ]
}

/// A ClusterResourceSet at `namespace/name` with a ConfigMap and a Secret of the same name. Each of these Clusters has
/// a binding, as if the resources were applied.
pub fn resource_set(namespaced_name: &str, clusters: &[&str]) -> Vec<Object> {
    let name = split_namespaced_name(namespaced_name).1;
    let kinds = [kind::CONFIG_MAP, kind::SECRET];
    let spec = json!({
        "clusterSelector": {"matchLabels": {"resources": name}},
        "strategy": "ApplyOnce",
        "resources": kinds.map(|kind| json!({"kind": kind.kind, "name": name})),
    });
    let set = object(kind::CLUSTER_RESOURCE_SET, namespaced_name)
        .finalizer("addons.cluster.x-k8s.io")
        .field("spec", spec);
    let resource = |kind| {
        let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: added}\n";
        let field = if kind == kind::SECRET { "stringData" } else { "data" };
        object(kind, namespaced_name)
            .owned_by(kind::CLUSTER_RESOURCE_SET, name)
            .field(field, json!({"objects.yaml": text}))
    };
    let applied = kinds.map(|kind| {
        json!({"kind": kind.kind, "name": name, "applied": true, "hash": "sha256:0", "lastAppliedTime": TIME})
    });
    let binding = |cluster: &&str| {
        let bindings = json!([{"clusterResourceSetName": name, "resources": applied}]);
        object(kind::CLUSTER_RESOURCE_SET_BINDING, &in_same_namespace(namespaced_name, cluster))
            .owned_by(kind::CLUSTER_RESOURCE_SET, name)
            .field("spec", json!({"clusterName": cluster, "bindings": bindings}))
    };
    let set = set.status(json!({"conditions": conditions(&["ResourcesApplied"])}));
    let secret = resource(kind::SECRET).field("type", json!("addons.cluster.x-k8s.io/resource-set"));
    [set, resource(kind::CONFIG_MAP), secret].into_iter().chain(clusters.iter().map(binding)).collect()
}

/// An entry of the provider inventory, in the namespace of the provider.
pub fn provider(id: &ProviderId, version: &str) -> Object {
    let label = id.label();
    object(kind::PROVIDER, &format!("{label}-system/{label}"))
        .label("cluster.x-k8s.io/provider", &label)
        .label("clusterctl.cluster.x-k8s.io", "")
        .label("clusterctl.cluster.x-k8s.io/core", "inventory")
        .field("providerName", json!(id.name))
        .field("type", json!(id.provider_type))
        .field("version", json!(version))
}
