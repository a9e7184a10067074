use std::collections::BTreeMap;

use manifest::{Map, Object, Value};

/// Common settings of controllers. Absent settings are left unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerSettings {
    /// The name of the container that receives arguments, feature gates and resources.
    pub container: String,
    /// The number of Pods.
    pub replicas: Option<u64>,
    /// Arguments. Each replaces an argument with the same flag, or is appended.
    pub arguments: Vec<String>,
    /// Feature gates, merged into `--feature-gates`.
    pub feature_gates: BTreeMap<String, bool>,
    /// Requests and limits, merged into the existing resources.
    pub resources: Option<Value>,
    /// Tolerations, appended to the existing tolerations.
    pub tolerations: Vec<Value>,
    /// Node labels, merged into the existing node selector.
    pub node_selector: Option<Value>,
}

const FEATURE_GATES: &str = "--feature-gates";

impl ControllerSettings {
    /// The container of the controllers in most providers, as defined in the provider contract.
    pub const CONTAINER: &'static str = "manager";
    /// The kinds that run containers.
    pub const WORKLOADS: [&'static str; 3] = ["Deployment", "DaemonSet", "StatefulSet"];

    /// True if an object is a workload with the container.
    pub(super) fn matches(&self, object: &Object) -> bool {
        let containers = object.get(&["spec", "template", "spec", "containers"]).and_then(Value::as_array);
        Self::WORKLOADS.contains(&object.kind())
            && containers.into_iter().flatten().any(|container| self.is_target_container(container))
    }

    /// Applies all settings to a matching object.
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
        for container in containers.filter(|container| self.is_target_container(container)) {
            if let Value::Object(container) = container {
                self.apply_to_container(container);
            }
        }
    }

    fn is_target_container(&self, container: &Value) -> bool {
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
                let gates = merged_feature_gates(arguments, &self.feature_gates);
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

/// The flag name in `--flag=value` or `-flag value`. Go's flag package treats one and two dashes alike.
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

fn merged_feature_gates(arguments: &[Value], set: &BTreeMap<String, bool>) -> String {
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
