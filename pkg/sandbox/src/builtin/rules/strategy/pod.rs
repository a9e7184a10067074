//! Fields of Pods that the server and the default admission plugins set.

use serde_json::{Value, json};

use super::{Object, child};

/// Prepares a new Pod, which is not yet scheduled.
pub(super) fn prepare(object: &mut Object) {
    let class = qos_class(object.get("spec").unwrap_or(&Value::Null));
    object.insert("status".into(), json!({"phase": "Pending", "qosClass": class}));
    let Some(spec) = child(object, "spec") else { return };
    spec.entry("priority").or_insert(0.into());
    spec.entry("preemptionPolicy").or_insert("PreemptLowerPriority".into());
    add_default_tolerations(spec);
}

/// Adds tolerations of five minutes for lost Nodes, unless the Pod already tolerates lost Nodes.
fn add_default_tolerations(spec: &mut Object) {
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(tolerations) = tolerations.as_array_mut() else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covered = tolerations.iter().any(|toleration| {
            matches!(toleration["key"].as_str(), None | Some(""))
                || (toleration["key"] == key
                    && matches!(toleration["effect"].as_str(), None | Some("" | "NoExecute")))
        });
        if !covered {
            tolerations.push(
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}),
            );
        }
    }
}

/// The QoS class: `Guaranteed` if each container has CPU and memory limits equal to its requests. `BestEffort` if no
/// container has CPU or memory limits or requests, else `Burstable`.
fn qos_class(spec: &Value) -> &'static str {
    let containers = ["containers", "initContainers"];
    let all = containers.iter().filter_map(|list| spec[*list].as_array()).flatten();
    let (mut any, mut guaranteed) = (false, true);
    for container in all {
        for name in ["cpu", "memory"] {
            let (limit, request) =
                (&container["resources"]["limits"][name], &container["resources"]["requests"][name]);
            any |= !limit.is_null() || !request.is_null();
            guaranteed &= !limit.is_null() && limit == request;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Restores fields that the server had set and the client omitted.
pub(super) fn restore_server_fields(old: &Value, object: &mut Object) {
    let Some(spec) = child(object, "spec") else { return };
    for field in ["priority", "preemptionPolicy"] {
        if let (None, Some(value)) = (spec.get(field), old["spec"].get(field)) {
            spec.insert(field.to_owned(), value.clone());
        }
    }
    add_default_tolerations(spec);
}
