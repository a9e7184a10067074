//! The objects that a change concerns, because their plan may change.

use serde_json::Value;

use super::{
    contract::{has_control_plane, has_infrastructure, resolve},
    object::{CONTROL_PLANE, CORE, namespace, owner_ref, owners},
    plan::{ObjectReader, objects_of_cluster},
    topology,
};
use crate::controllers::ObjectRef;

const CORE_PARTS: [&str; 5] =
    ["Machine", "MachineSet", "MachineDeployment", "MachinePool", "MachineHealthCheck"];
/// JSON pointers to references.
const REFERENCES: [&str; 6] = [
    "/spec/bootstrap/configRef",
    "/spec/infrastructureRef",
    "/spec/controlPlaneRef",
    "/spec/template/spec/bootstrap/configRef",
    "/spec/template/spec/infrastructureRef",
    "/spec/clusterRef",
];

/// Returns the objects that a change concerns, the changed object first.
pub(super) fn affected_objects(
    reader: &ObjectReader<'_>,
    object: &ObjectRef,
    before: Option<&Value>,
    after: &Value,
    deleted: bool,
) -> Vec<ObjectRef> {
    let place = object.namespace.as_str();
    let mut concerned = vec![object.clone()];
    concerned.extend(owners(after).iter().map(|owner| owner_ref(owner, place)));
    concerned.extend(REFERENCES.iter().filter_map(|at| resolve(after.pointer(at)?, place)));
    if let Some(cluster) = super::object::cluster_name(after) {
        concerned.push(ObjectRef::new(CORE, "Cluster", place, cluster));
    }
    let respecified = deleted || before.is_none_or(|before| before["spec"] != after["spec"]);
    match (object.group.as_str(), object.kind.as_str()) {
        (CORE, "Cluster") if !deleted && before.is_some_and(|before| !affects_parts(before, after)) => {}
        (CORE, "Cluster") => {
            concerned.extend(parts(reader, after));
        }
        (CORE, "Machine") => concerned.extend(objects_counting_machine(reader, after, place, deleted)),
        (CORE, "ClusterClass") if respecified => concerned.extend(clusters_of_class(reader, object)),
        (CORE | CONTROL_PLANE, _) if respecified => {
            concerned.extend(machines_of_cluster(reader, after, place));
        }
        (_, kind) if kind.ends_with("Template") && respecified => {
            concerned.extend(template_users(reader, place));
        }
        _ => {}
    }
    concerned.retain(|object| object.group.ends_with(CORE) && !object.name.is_empty());
    concerned
}

/// True if a change of a Cluster affects the plans of its parts.
fn affects_parts(before: &Value, after: &Value) -> bool {
    let facts = |cluster: &Value| {
        (
            super::paused::reason(cluster, None),
            has_infrastructure(cluster),
            has_control_plane(cluster),
            cluster["spec"]["controlPlaneEndpoint"].clone(),
            cluster["metadata"]["labels"].clone(),
            cluster["metadata"]["deletionTimestamp"].clone(),
        )
    };
    facts(before) != facts(after)
}

fn parts(reader: &ObjectReader<'_>, cluster: &Value) -> Vec<ObjectRef> {
    let mut parts = Vec::new();
    for kind in CORE_PARTS {
        for part in objects_of_cluster(reader, kind, cluster) {
            parts.push(ObjectRef::of(&part));
            let behind = REFERENCES.iter().filter_map(|at| resolve(part.pointer(at)?, namespace(&part)));
            parts.extend(behind);
        }
    }
    parts
}

/// Returns the MachineHealthChecks and the MachineDeployment that count a Machine. A deletion also concerns the control
/// plane, which waits for its Machines.
fn objects_counting_machine(
    reader: &ObjectReader<'_>,
    machine: &Value,
    namespace: &str,
    deleted: bool,
) -> Vec<ObjectRef> {
    let mut beside: Vec<ObjectRef> =
        reader.list(CORE, "MachineHealthCheck", Some(namespace)).iter().map(ObjectRef::of).collect();
    if let Some(cluster) = super::object::cluster_name(machine).filter(|_| deleted) {
        let cluster = reader.get(&ObjectRef::new(CORE, "Cluster", namespace, cluster));
        beside.extend(
            cluster.and_then(|cluster| resolve(cluster.pointer("/spec/controlPlaneRef")?, namespace)),
        );
    }
    let deployment = super::object::label(machine, super::object::DEPLOYMENT_NAME);
    beside.extend(
        deployment.map(|deployment| ObjectRef::new(CORE, "MachineDeployment", namespace, deployment)),
    );
    beside
}

/// Returns the Machines of the same Cluster, because a change of their owner may make Machines outdated.
fn machines_of_cluster(reader: &ObjectReader<'_>, holder: &Value, namespace: &str) -> Vec<ObjectRef> {
    let cluster = super::object::cluster_name(holder).map(str::to_owned);
    let machines = reader.list(CORE, "Machine", Some(namespace));
    machines
        .iter()
        .filter(|machine| super::object::cluster_name(machine) == cluster.as_deref())
        .map(ObjectRef::of)
        .collect()
}

fn clusters_of_class(reader: &ObjectReader<'_>, class: &ObjectRef) -> Vec<ObjectRef> {
    let clusters = reader.list(CORE, "Cluster", None);
    clusters
        .iter()
        .filter(|cluster| topology::class_of(cluster).as_ref() == Some(class))
        .map(ObjectRef::of)
        .collect()
}

/// Returns the objects that may wait for a template or be created from a template.
fn template_users(reader: &ObjectReader<'_>, place: &str) -> Vec<ObjectRef> {
    let holders = [
        (CORE, "ClusterClass"),
        (CORE, "MachineDeployment"),
        (CORE, "MachineSet"),
        (CONTROL_PLANE, "KubeadmControlPlane"),
    ];
    let holders = holders.into_iter().flat_map(|(group, kind)| reader.list(group, kind, Some(place)));
    let clusters = reader.list(CORE, "Cluster", None);
    let managed = clusters
        .into_iter()
        .filter(|cluster| topology::class_of(cluster).is_some_and(|class| class.namespace == place));
    holders
        .chain(managed)
        .map(|holder| ObjectRef::of(&holder))
        .filter(|found| !found.name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_status_counts_trigger_no_reconciliation() {
        let before = serde_json::json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "status": {"workers": {"replicas": 1}}});
        let mut after = before.clone();
        after["status"]["workers"]["replicas"] = 2.into();
        assert!(!affects_parts(&before, &after));
        after["spec"]["paused"] = true.into();
        assert!(affects_parts(&before, &after));
    }
}
