//! The Pods of workloads.

use manifest::{Object, Value};

/// The Pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodSelector {
    pub(super) namespace: String,
    /// The selector of their labels; never empty.
    pub(super) selector: String,
}

/// Returns the Pods of a Deployment, StatefulSet, DaemonSet, ReplicaSet or Job. None for other kinds, and for workloads
/// without a selector.
pub(super) fn pod_selector(object: &Object) -> Option<PodSelector> {
    match (object.group(), object.kind()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") | ("batch", "Job") => {}
        _ => return None,
    }
    let labels = object.get(&["spec", "selector", "matchLabels"]).and_then(Value::as_object);
    let labels = labels.into_iter().flatten().map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let expressions = object.get(&["spec", "selector", "matchExpressions"]).and_then(Value::as_array);
    let expressions = expressions.into_iter().flatten().map(requirement);
    let selector = labels.chain(expressions).collect::<Option<Vec<_>>>()?.join(",");
    let namespace = object.namespace().to_owned();
    (!selector.is_empty()).then_some(PodSelector { namespace, selector })
}

fn requirement(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str()?;
    let values = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let values = values.collect::<Vec<_>>().join(",");
    match expression["operator"].as_str()? {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selector(api_version: &str, kind: &str, selector: &Value) -> Option<String> {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "n"}, "spec": {"selector": selector}});
        pod_selector(&object.try_into().unwrap()).map(|pods| format!("{}: {}", pods.namespace, pods.selector))
    }

    #[test]
    fn pods_are_selected_by_the_labels_of_their_workload() {
        let labels = json!({"matchLabels": {"a": "1", "b": "2"}});
        let expressions = json!({"matchExpressions": [
            {"key": "a", "operator": "In", "values": ["1", "2"]}, {"key": "b", "operator": "NotIn", "values": ["3"]},
            {"key": "c", "operator": "Exists"}, {"key": "d", "operator": "DoesNotExist"}
        ]});
        for (api_version, kind, labels, expected) in [
            ("apps/v1", "Deployment", labels.clone(), Some("n: a=1,b=2")),
            ("batch/v1", "Job", labels.clone(), Some("n: a=1,b=2")),
            ("apps/v1", "DaemonSet", expressions, Some("n: a in (1,2),b notin (3),c,!d")),
            ("apps/v1", "StatefulSet", json!({}), None),
            ("apps/v1", "StatefulSet", json!({"matchExpressions": [{"key": "a", "operator": "Like"}]}), None),
            ("example.com/v1", "Deployment", labels.clone(), None),
            ("v1", "Service", labels, None),
        ] {
            assert_eq!(selector(api_version, kind, &labels).as_deref(), expected, "{kind}");
        }
    }
}
