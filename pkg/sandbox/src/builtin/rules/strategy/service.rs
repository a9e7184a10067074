//! Fields that a Service keeps or loses when its type or its ports change.

use serde_json::{Value, json};

use super::{Object, child, copy_from_stored};

/// Copies the first cluster IP between `clusterIP` and `clusterIPs`.
pub(super) fn sync_cluster_ips(object: &mut Object) {
    let Some(spec) = child(object, "spec") else { return };
    if spec.get("clusterIPs").is_none()
        && let Some(ip) = spec.get("clusterIP").cloned()
    {
        spec.insert("clusterIPs".into(), json!([ip]));
    }
    if spec.get("clusterIP").is_none()
        && let Some(ip) = spec.get("clusterIPs").map(|ips| ips[0].clone()).filter(Value::is_string)
    {
        spec.insert("clusterIP".into(), ip);
    }
}

/// Keeps the addresses of a Service if the client sends none, and releases the addresses when the type becomes
/// `ExternalName`.
pub(super) fn retain_addresses(old: &Value, object: &mut Object) {
    let Some(spec) = child(object, "spec") else { return };
    let old = &old["spec"];
    let kind = spec.get("type").cloned().unwrap_or_default();
    if kind == "ExternalName" {
        if old["type"] != "ExternalName" {
            for field in ["clusterIP", "clusterIPs"] {
                if spec.get(field) == old.get(field) {
                    spec.remove(field);
                }
            }
        }
        for field in ["ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"] {
            if spec.get(field) == old.get(field) {
                spec.remove(field);
            }
        }
    } else if old["type"] != "ExternalName" {
        let sent = spec.get("clusterIP").is_some_and(|ip| ip != "");
        for field in ["clusterIP", "clusterIPs"] {
            if !sent {
                copy_from_stored(spec, old, field);
            }
        }
        for field in ["ipFamilies", "ipFamilyPolicy"] {
            if spec.get(field).is_none() {
                copy_from_stored(spec, old, field);
            }
        }
        retain_node_ports(old, spec, &kind);
    }
    drop_external_fields(old, spec, &kind);
    sync_cluster_ips(object);
}

/// Removes unchanged fields that the type of the Service does not allow.
fn drop_external_fields(old: &Value, spec: &mut Object, kind: &Value) {
    let balanced = kind == "LoadBalancer";
    let reachable = balanced || kind == "NodePort" || spec.contains_key("externalIPs");
    for (field, allowed) in [
        ("externalTrafficPolicy", reachable),
        ("healthCheckNodePort", balanced),
        ("allocateLoadBalancerNodePorts", balanced),
        ("loadBalancerClass", balanced),
    ] {
        if !allowed && spec.get(field) == old.get(field) {
            spec.remove(field);
        }
    }
}

fn retain_node_ports(old: &Value, spec: &mut Object, kind: &Value) {
    let keeps = kind == "NodePort" || kind == "LoadBalancer";
    let loses = !keeps && (old["type"] == "NodePort" || old["type"] == "LoadBalancer");
    let old_ports: Vec<&Value> = old["ports"].as_array().into_iter().flatten().collect();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        let before = old_ports.iter().find(|before| {
            Some(&before["port"]) == port.get("port") && Some(&before["protocol"]) == port.get("protocol")
        });
        let Some(number) = before.map(|before| &before["nodePort"]).filter(|number| number.is_u64()) else {
            continue;
        };
        if keeps {
            port.entry("nodePort").or_insert_with(|| number.clone());
        } else if loses && port.get("nodePort") == Some(number) {
            port.remove("nodePort");
        }
    }
}
