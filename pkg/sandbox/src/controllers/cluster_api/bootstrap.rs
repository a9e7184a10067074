//! Bootstrap configurations of all providers: Secrets with the bootstrap data of a Machine.
//!
//! Source: the contract for bootstrap providers in the Cluster API book, and the kubeadm provider v1.14, run.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_control_plane, has_infrastructure},
    object::{
        CLUSTER_NAME, IS_CONTROL_PLANE, ObjectRef, generation, group, is_deleting, kind, label, name,
        namespace, owner_of_kind, owner_reference, set, text,
    },
    plan::{ObjectReader, WritePlan},
};

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let owner = ["Machine", "MachinePool"].into_iter().find_map(|kind| owner_of_kind(live, kind));
    let Some(owner) = owner.and_then(|owner| reader.get(&owner)).filter(|_| !is_deleting(live)) else {
        return plan;
    };
    let first = label(&owner, IS_CONTROL_PLANE).is_some();
    let can = has_infrastructure(cluster) && (first || has_control_plane(cluster));
    let mut config = live.clone();
    let contract = reader.contract(group(live), kind(live));
    if can {
        if reader.get(&ObjectRef::new("", "Secret", namespace(live), name(live))).is_none() {
            plan.create(secret(live, cluster));
        }
        set(&mut config, &["status", "dataSecretName"], json!(name(live)));
        contract.set_initialized(&mut config, "ready", "dataSecretCreated");
    }
    set(&mut config, &["status", "observedGeneration"], json!(generation(live)));
    let reason = if has_infrastructure(cluster) {
        "WaitingForControlPlaneAvailable"
    } else {
        "WaitingForClusterInfrastructure"
    };
    let new = [
        Condition::positive("Ready", "Ready", can),
        Condition::positive("DataSecretAvailable", "Available", can),
        Condition::new("CertificatesAvailable", true, "Available"),
        Condition::activity("Paused", false),
    ];
    // `v1beta1` kinds outside Cluster API have no fields for the newer conditions.
    let new =
        if contract == Contract::V1Beta2 || kind(live) == "KubeadmConfig" { new.as_slice() } else { &[] };
    let mut old = vec![legacy("Ready", can, reason), legacy("DataSecretAvailable", can, reason)];
    if can {
        old.push(legacy("CertificatesAvailable", true, ""));
    }
    conditions::write(&mut config, contract, new, &old, &reader.now());
    plan.update(live, config);
    plan
}

/// The Secret with bootstrap data, which no machine uses.
fn secret(config: &Value, cluster: &Value) -> Value {
    let format = match text(config, "/spec/format") {
        "" => "cloud-config",
        format => format,
    };
    let data = format!("## template: jinja\n#cloud-config\n# {}/{}\n", namespace(config), name(config));
    let mut owner = owner_reference(config, false);
    owner["controller"] = json!(true);
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {
            "name": name(config), "namespace": namespace(config), "labels": {CLUSTER_NAME: name(cluster)},
            "ownerReferences": [owner],
        },
        "data": {"format": BASE64_STANDARD.encode(format), "value": BASE64_STANDARD.encode(data)},
    })
}
