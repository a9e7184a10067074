use std::collections::BTreeMap;

use manifest::{Map, Object, Value};

/// What controllers are commonly set. What is absent is left as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerSettings {
    /// The container arguments, gates and resources are of.
    pub container: String,
    /// How many Pods.
    pub replicas: Option<u64>,
    /// Arguments: each takes the place of one of the same flag, or stands behind the others.
    pub arguments: Vec<String>,
    /// Feature gates, put into `--feature-gates` beside those that are there.
    pub feature_gates: BTreeMap<String, bool>,
    /// Requests and limits, merged into those that are there.
    pub resources: Option<Value>,
    /// Tolerations, behind those that are there.
    pub tolerations: Vec<Value>,
    /// Labels of nodes, beside those that are there.
    pub node_selector: Option<Value>,
}

const FEATURE_GATES: &str = "--feature-gates";

impl ControllerSettings {
    /// The container most providers run their controllers in, by contract.
    pub const CONTAINER: &'static str = "manager";
    /// Kinds that run containers.
    pub const WORKLOADS: [&'static str; 3] = ["Deployment", "DaemonSet", "StatefulSet"];

    /// Whether an object is a workload with the container.
    pub(super) fn fit(&self, object: &Object) -> bool {
        let containers = object.get(&["spec", "template", "spec", "containers"]).and_then(Value::as_array);
        Self::WORKLOADS.contains(&object.kind())
            && containers.into_iter().flatten().any(|container| self.is_its_name(container))
    }

    /// Sets everything on an object they fit.
    pub(super) fn apply(&self, object: &mut Object) {
        if let (Some(replicas), Some(Value::Object(spec))) = (self.replicas, object.get_mut(&["spec"])) {
            spec.insert("replicas".to_owned(), replicas.into());
        }
        let Some(Value::Object(pod)) = object.get_mut(&["spec", "template", "spec"]) else { return };
        if !self.tolerations.is_empty() {
            let tolerations = list_at(pod, "tolerations");
            let new: Vec<Value> =
                self.tolerations.iter().filter(|new| !tolerations.contains(new)).cloned().collect();
            tolerations.extend(new);
        }
        if let Some(selector) = &self.node_selector {
            manifest::patch::merge(pod.entry("nodeSelector").or_insert(Value::Null), selector);
        }
        let containers = pod.get_mut("containers").and_then(Value::as_array_mut).into_iter().flatten();
        for container in containers.filter(|container| self.is_its_name(container)) {
            if let Value::Object(container) = container {
                self.apply_to_container(container);
            }
        }
    }

    fn is_its_name(&self, container: &Value) -> bool {
        container.get("name").and_then(Value::as_str) == Some(&self.container)
    }

    fn apply_to_container(&self, container: &mut Map<String, Value>) {
        if let Some(resources) = &self.resources {
            manifest::patch::merge(container.entry("resources").or_insert(Value::Null), resources);
        }
        if !self.arguments.is_empty() || !self.feature_gates.is_empty() {
            let arguments = list_at(container, "args");
            for argument in &self.arguments {
                set_argument(arguments, argument);
            }
            if !self.feature_gates.is_empty() {
                let gates = gates_with(arguments, &self.feature_gates);
                set_argument(arguments, &gates);
            }
        }
    }
}

fn list_at<'m>(fields: &'m mut Map<String, Value>, key: &str) -> &'m mut Vec<Value> {
    let value = fields.entry(key).or_insert(Value::Null);
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(list) => list,
        _ => unreachable!("invariant: it was made a list above"),
    }
}

/// `--flag` of `--flag=value` and of `-flag value`, which Go's flag package takes for the same.
fn flag_of(argument: &str) -> &str {
    argument.split('=').next().unwrap_or_default().trim_start_matches('-')
}

fn set_argument(arguments: &mut Vec<Value>, argument: &str) {
    let is_same = |old: &Value| old.as_str().is_some_and(|old| flag_of(old) == flag_of(argument));
    match arguments.iter().position(is_same) {
        Some(at) => {
            let had_value_behind = arguments[at].as_str().is_some_and(|old| !old.contains('='))
                && arguments.get(at + 1).and_then(Value::as_str).is_some_and(|next| !next.starts_with('-'));
            arguments[at] = argument.into();
            if had_value_behind && argument.contains('=') {
                arguments.remove(at + 1);
            }
        }
        None => arguments.push(argument.into()),
    }
}

fn gates_with(arguments: &[Value], set: &BTreeMap<String, bool>) -> String {
    let old = arguments.iter().filter_map(Value::as_str).find(|old| flag_of(old) == flag_of(FEATURE_GATES));
    let old = old.and_then(|old| old.split_once('=')).map_or("", |(_, gates)| gates);
    let mut gates: Vec<String> = old
        .split(',')
        .filter(|gate| {
            !gate.is_empty() && !set.contains_key(gate.split('=').next().unwrap_or_default().trim())
        })
        .map(str::to_owned)
        .collect();
    gates.extend(set.iter().map(|(gate, on)| format!("{gate}={on}")));
    format!("{FEATURE_GATES}={}", gates.join(","))
}
