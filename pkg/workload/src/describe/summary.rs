use api::output::{PartRole, ReplicaCounts};
use apply::key_of;
use manifest::{Object, Value};

use super::{
    conditions::{self, ConditionSet},
    extract::InternedTexts,
    tree::{ObjectSummary, is_core},
};

impl ObjectSummary {
    /// Extracts the shown fields of an object.
    pub(super) fn new(object: &Object, role: PartRole, set: ConditionSet, texts: &mut InternedTexts) -> Self {
        let of = if is_core(role) { conditions::core_conditions } else { conditions::provider_conditions };
        Self {
            key: key_of(object),
            api_version: texts.intern(object.api_version()),
            version: version(object, role).map(|version| texts.intern(version)),
            is_terminating: object
                .get(&["metadata", "deletionTimestamp"])
                .is_some_and(|time| !time.is_null()),
            replicas: machine_counts(object, role),
            conditions: of(object, set, texts),
        }
    }
}

/// Returns the Kubernetes version, from the field for the kind.
fn version(object: &Object, role: PartRole) -> Option<&str> {
    let text = |path: &[&str]| object.get(path)?.as_str();
    match role {
        PartRole::Cluster => {
            let topology = object.get(&["spec", "topology"])?.as_object()?;
            let has_one = !topology.is_empty();
            has_one.then(|| text(&["spec", "topology", "version"]).unwrap_or_default())
        }
        PartRole::ControlPlane => text(&["spec", "version"]),
        PartRole::Machine => Some(text(&["spec", "version"]).unwrap_or_default()),
        PartRole::MachineDeployment | PartRole::MachineSet | PartRole::MachinePool => {
            Some(text(&["spec", "template", "spec", "version"]).unwrap_or_default())
        }
        _ => None,
    }
}

fn machine_counts(object: &Object, role: PartRole) -> ReplicaCounts {
    let number = |path: &[&str]| object.get(path).and_then(Value::as_i64);
    let status = |field: &str| number(&["status", field]);
    match role {
        PartRole::Cluster => {
            let sum = |field: &str| {
                let parts = ["controlPlane", "workers"].map(|part| number(&["status", part, field]));
                parts.into_iter().flatten().reduce(i64::saturating_add)
            };
            ReplicaCounts {
                desired: sum("desiredReplicas"),
                current: sum("replicas"),
                available: sum("availableReplicas"),
                ready: sum("readyReplicas"),
                up_to_date: sum("upToDateReplicas"),
            }
        }
        PartRole::ControlPlane
        | PartRole::MachineDeployment
        | PartRole::MachineSet
        | PartRole::MachinePool => ReplicaCounts {
            desired: number(&["spec", "replicas"]),
            current: status("replicas"),
            available: status("availableReplicas"),
            ready: status("readyReplicas"),
            up_to_date: status("upToDateReplicas"),
        },
        PartRole::MachineHealthCheck => ReplicaCounts {
            desired: status("expectedMachines"),
            current: status("currentHealthy"),
            ..ReplicaCounts::default()
        },
        _ => ReplicaCounts::default(),
    }
}

/// Reads the counts of a control plane of contract v1beta1, which names one of them differently.
pub(super) fn v1beta1_control_plane_counts(object: &Object) -> ReplicaCounts {
    let up_to_date = object.get(&["status", "updatedReplicas"]).and_then(Value::as_i64);
    ReplicaCounts { up_to_date, ..machine_counts(object, PartRole::ControlPlane) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(spec: &Value, status: &Value) -> Object {
        Object::try_from(json!({
            "apiVersion": "a.b/v1", "kind": "A", "metadata": {"name": "n"}, "spec": spec, "status": status
        }))
        .unwrap()
    }

    fn seen(spec: &Value, status: &Value, role: PartRole) -> ObjectSummary {
        ObjectSummary::new(&object(spec, status), role, ConditionSet::V1Beta2, &mut InternedTexts::default())
    }

    #[test]
    fn a_cluster_has_totals_and_a_version_only_with_a_topology() {
        let status = json!({
            "controlPlane": {"desiredReplicas": 3, "replicas": 2, "readyReplicas": 1},
            "workers": {"desiredReplicas": 4, "readyReplicas": 0},
        });
        let cluster = seen(&json!({"topology": {}}), &status, PartRole::Cluster);
        let counts =
            ReplicaCounts { desired: Some(7), current: Some(2), ready: Some(1), ..Default::default() };
        assert_eq!((cluster.replicas, cluster.version), (counts, None));
        let topology = json!({"topology": {"classRef": {"name": "c"}}});
        assert_eq!(seen(&topology, &json!({}), PartRole::Cluster).version.as_deref(), Some(""));
    }

    #[test]
    fn each_kind_has_its_own_version_field() {
        for (role, spec, version) in [
            (PartRole::ControlPlane, json!({"version": "v1"}), Some("v1")),
            (PartRole::ControlPlane, json!({}), None),
            (PartRole::Machine, json!({}), Some("")),
            (PartRole::MachinePool, json!({"template": {"spec": {"version": "v2"}}}), Some("v2")),
            (PartRole::MachineInfrastructure, json!({"version": "v1"}), None),
        ] {
            assert_eq!(seen(&spec, &json!({}), role).version.as_deref(), version, "{role:?}");
        }
    }

    #[test]
    fn a_v1beta1_control_plane_has_another_up_to_date_field() {
        let both = object(&json!({"replicas": 3}), &json!({"updatedReplicas": 1, "upToDateReplicas": 2}));
        assert_eq!(machine_counts(&both, PartRole::ControlPlane).up_to_date, Some(2));
        let older = v1beta1_control_plane_counts(&both);
        assert_eq!((older.desired, older.up_to_date), (Some(3), Some(1)));
    }
}
