//! Clusters: provisioning from infrastructure and control plane to phase `Provisioned`, and ordered deletion.
//!
//! Source: Cluster API v1.14 `core/reconcilers/cluster`, run.

mod deletion;
mod status;

use serde_json::{Value, json};

use super::{
    contract::{Contract, referenced_object},
    object::{
        CLUSTER_NAME, add_finalizer, ensure_owner, group, is_deleting, kind, name, non_null, owner_reference,
        set, set_label,
    },
    plan::{ObjectReader, WritePlan},
    topology,
};

const FINALIZER: &str = "cluster.cluster.x-k8s.io";

/// Plans the writes for a Cluster.
pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    if is_deleting(live) {
        return deletion::plan(reader, live);
    }
    let mut plan = WritePlan::default();
    let mut cluster = live.clone();
    add_finalizer(&mut cluster, FINALIZER);
    let topology = topology::is_managed(live).then(|| topology::build(reader, &mut cluster, &mut plan));
    let parts = ClusterParts::of(reader, &cluster);
    for part in [&parts.infrastructure, &parts.control_plane].into_iter().flatten() {
        plan.update(part, with_owner(part, &cluster));
    }
    copy_endpoint(reader, &mut cluster, &parts);
    status::write(reader, &mut cluster, &parts, topology.as_ref());
    plan.update(live, cluster);
    plan
}

/// The existing infrastructure and control plane of a Cluster.
pub(super) struct ClusterParts {
    infrastructure: Option<Value>,
    control_plane: Option<Value>,
}

impl ClusterParts {
    fn of(reader: &ObjectReader<'_>, cluster: &Value) -> Self {
        Self {
            infrastructure: referenced_object(reader, cluster, "/spec/infrastructureRef"),
            control_plane: referenced_object(reader, cluster, "/spec/controlPlaneRef"),
        }
    }
}

/// Adds the Cluster as owner of its infrastructure or control plane. Under contract v1beta2, the Cluster controls only
/// objects of a managed topology, so that user-created objects may have another controller.
fn with_owner(part: &Value, cluster: &Value) -> Value {
    let mut part = part.clone();
    if is_deleting(&part) {
        return part;
    }
    let controls = topology::is_managed(cluster) || Contract::of(cluster) == Contract::V1Beta1;
    ensure_owner(&mut part, owner_reference(cluster, controls));
    set_label(&mut part, CLUSTER_NAME, name(cluster));
    part
}

/// Copies the control plane endpoint from the infrastructure, or else from the control plane.
fn copy_endpoint(reader: &ObjectReader<'_>, cluster: &mut Value, parts: &ClusterParts) {
    if non_null(cluster, "/spec/controlPlaneEndpoint/host").is_some_and(|host| host != "") {
        return;
    }
    let ready = parts
        .infrastructure
        .iter()
        .filter(|part| reader.contract(group(part), kind(part)).is_provisioned(part));
    let endpoint = ready
        .chain(&parts.control_plane)
        .map(|part| &part["spec"]["controlPlaneEndpoint"])
        .find(|endpoint| endpoint["host"].as_str().is_some_and(|host| !host.is_empty()));
    if let Some(endpoint) = endpoint {
        let endpoint = json!({"host": endpoint["host"], "port": endpoint["port"]});
        set(cluster, &["spec", "controlPlaneEndpoint"], endpoint);
    }
}
