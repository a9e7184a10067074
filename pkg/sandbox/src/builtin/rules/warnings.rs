//! Warnings of built-in kinds.
//!
//! Source: kube-apiserver 1.36 `pkg/api/*/warnings.go` and the strategies; only warnings that occur on management
//! clusters.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::field_path::{FieldPath, entries, items, text};
use crate::kinds::ResourceType;

const DEPRECATED_NODE_LABELS: [(&str, &str); 8] = [
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
];

/// The warning of every request for a deprecated kind.
pub(crate) fn deprecation(resource: &ResourceType) -> Option<&'static str> {
    match (&*resource.group, &*resource.plural) {
        ("", "endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        }
        ("", "componentstatuses") => Some("v1 ComponentStatus is deprecated in v1.19+"),
        _ => None,
    }
}

pub(crate) fn warnings(resource: &ResourceType, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match (&*resource.group, &*resource.plural) {
        ("", "pods") => pod(object, None, &mut found),
        ("", "podtemplates") => pod(&object["template"], Some(&FieldPath::Root("template")), &mut found),
        ("", "replicationcontrollers")
        | ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
        | ("batch", "jobs") => {
            pod(&object["spec"]["template"], Some(&FieldPath::Root("spec.template")), &mut found);
        }
        ("batch", "cronjobs") => {
            let template = &object["spec"]["jobTemplate"]["spec"]["template"];
            pod(template, Some(&FieldPath::Root("spec.jobTemplate.spec.template")), &mut found);
        }
        _ => {}
    }
    found
}

fn pod(pod: &Value, path: Option<&FieldPath<'_>>, found: &mut Vec<String>) {
    let at = |field: &str| path.map_or_else(|| field.to_owned(), |path| format!("{path}.{field}"));
    let spec = &pod["spec"];
    for (label, _) in entries(&spec["nodeSelector"]) {
        if let Some(warning) = node_label_warning(label) {
            found.push(format!("{}[{label}]: {warning}", at("spec.nodeSelector")));
        }
    }
    node_affinity(&spec["affinity"]["nodeAffinity"], &at("spec.affinity.nodeAffinity"), found);
    for (index, secret) in items(&spec["imagePullSecrets"]) {
        if text(&secret["name"]).is_empty() {
            found.push(format!("{}[{index}].name: invalid empty name \"\"", at("spec.imagePullSecrets")));
        }
    }
    for list in ["initContainers", "containers"] {
        let place = at(&format!("spec.{list}"));
        for (index, container) in items(&spec[list]) {
            repeated_variables(container, &format!("{place}[{index}]"), found);
            repeated_ports(container, &format!("{place}[{index}]"), found);
        }
    }
}

fn node_label_warning(label: &str) -> Option<&'static str> {
    DEPRECATED_NODE_LABELS.iter().find(|(old, _)| *old == label).map(|(_, warning)| *warning)
}

fn node_affinity(affinity: &Value, path: &str, found: &mut Vec<String>) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let mut terms = |term: &Value, place: String| {
        for (index, expression) in items(&term["matchExpressions"]) {
            let label = text(&expression["key"]);
            if let Some(warning) = node_label_warning(label) {
                found.push(format!("{place}.matchExpressions[{index}].key: {label} is {warning}"));
            }
        }
    };
    for (index, term) in items(&affinity[REQUIRED]["nodeSelectorTerms"]) {
        terms(term, format!("{path}.{REQUIRED}.nodeSelectorTerms[{index}]"));
    }
    for (index, term) in items(&affinity[PREFERRED]) {
        terms(&term["preference"], format!("{path}.{PREFERRED}[{index}].preference"));
    }
}

/// Warns of environment variables that are set twice, unless the second value refers to the first.
fn repeated_variables(container: &Value, path: &str, found: &mut Vec<String>) {
    let mut seen = HashSet::new();
    for (index, variable) in items(&container["env"]) {
        let name = text(&variable["name"]);
        let extends = text(&variable["value"]).contains(&format!("$({name})"));
        if !seen.insert(name) && !extends {
            found.push(format!(
                "{path}.env[{index}]: hides previous definition of {name:?}, which may be dropped when using apply"
            ));
        }
    }
}

fn repeated_ports(container: &Value, path: &str, found: &mut Vec<String>) {
    let mut seen: HashMap<(i64, &str), usize> = HashMap::new();
    for (index, port) in items(&container["ports"]) {
        let key = (port["containerPort"].as_i64().unwrap_or_default(), text(&port["protocol"]));
        if let Some(first) = seen.get(&key) {
            // Validation refuses duplicate host ports.
            if port["hostPort"].is_null() {
                found.push(format!(
                    "{path}.ports[{index}]: duplicate port definition with {path}.ports[{first}]"
                ));
            }
        } else {
            seen.insert(key, index);
        }
    }
}
