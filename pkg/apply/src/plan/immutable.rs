//! Immutable fields: an object must be deleted and created again to change them.
//!
//! The list only has kinds that can be replaced without harm. A deletion of a definition, a volume claim or a namespace
//! would delete data of others. For those kinds, the server's refusal is the better answer.

use manifest::{Object, Value};

/// The comparison of a field. An empty or absent value on either side counts as equal: the server fills in omitted
/// fields, or only metadata was read.
#[derive(Clone, Copy)]
enum Compare {
    /// The values must be equal.
    Equal,
    /// The live value must include the manifest's value; the server adds its own fields.
    Within,
    /// Like `Within`, except for numbers and quantities, which the server normalises: `0.5` becomes `500m`. If only
    /// these differ, the write is tried, and the server may refuse it.
    Roughly,
}

use Compare::{Equal, Roughly, Within};

type Rule = (&'static str, &'static str, &'static [&'static str], Compare, &'static str);

/// The rules: group, kind, path, comparison and the name of the field.
/// Source: Kubernetes v1.36 `ValidateDeploymentUpdate` and its like.
const RULES: &[Rule] = &[
    ("apps", "Deployment", &["spec", "selector"], Equal, "selector"),
    ("apps", "DaemonSet", &["spec", "selector"], Equal, "selector"),
    ("apps", "ReplicaSet", &["spec", "selector"], Equal, "selector"),
    ("apps", "StatefulSet", &["spec", "selector"], Equal, "selector"),
    ("apps", "StatefulSet", &["spec", "serviceName"], Equal, "service name"),
    ("apps", "StatefulSet", &["spec", "podManagementPolicy"], Equal, "pod management policy"),
    ("apps", "StatefulSet", &["spec", "volumeClaimTemplates"], Roughly, "volume claim templates"),
    ("batch", "Job", &["spec", "selector"], Within, "selector"),
    ("batch", "Job", &["spec", "template"], Roughly, "template"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"], Within, "role reference"),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"], Within, "role reference"),
    ("", "Service", &["spec", "clusterIP"], Equal, "cluster IP"),
    ("", "Secret", &["type"], Equal, "type"),
    ("networking.k8s.io", "IngressClass", &["spec", "controller"], Equal, "controller"),
    ("node.k8s.io", "RuntimeClass", &["handler"], Equal, "handler"),
    ("scheduling.k8s.io", "PriorityClass", &["value"], Equal, "value"),
    ("scheduling.k8s.io", "PriorityClass", &["preemptionPolicy"], Equal, "preemption policy"),
    ("storage.k8s.io", "StorageClass", &["provisioner"], Equal, "provisioner"),
    ("storage.k8s.io", "StorageClass", &["parameters"], Equal, "parameters"),
    ("storage.k8s.io", "StorageClass", &["reclaimPolicy"], Equal, "reclaim policy"),
    ("storage.k8s.io", "StorageClass", &["volumeBindingMode"], Equal, "volume binding mode"),
];

/// True if objects of a kind may be recreated to change an immutable field, because their manifests are their whole
/// state. Workloads start again from their manifests. Bindings, Services, classes, ConfigMaps and Secrets have no other
/// state.
pub(crate) fn may_be_recreated(group: &str, kind: &str) -> bool {
    can_be_immutable(group, kind) || RULES.iter().any(|rule| (rule.0, rule.1) == (group, kind))
}

fn can_be_immutable(group: &str, kind: &str) -> bool {
    group.is_empty() && matches!(kind, "ConfigMap" | "Secret")
}

/// Returns the name of the first immutable field of a manifest that differs from the live object.
pub(super) fn cannot_be_changed(wanted: &Object, live: &Object) -> Option<&'static str> {
    if can_be_immutable(wanted.group(), wanted.kind()) && changes_immutable_data(wanted, live) {
        return Some("data is immutable and");
    }
    let rules = RULES.iter().filter(|rule| rule.0 == wanted.group() && rule.1 == wanted.kind());
    rules.into_iter().find(|rule| differs(wanted.get(rule.2), live.get(rule.2), rule.3)).map(|rule| rule.4)
}

fn differs(wanted: Option<&Value>, live: Option<&Value>, compare: Compare) -> bool {
    let (Some(wanted), Some(live)) = (wanted, live) else { return false };
    if is_empty(wanted) || is_empty(live) {
        return false;
    }
    match compare {
        Equal => !(within(wanted, live, PartialEq::eq) && within(live, wanted, PartialEq::eq)),
        Within => !within(wanted, live, PartialEq::eq),
        Roughly => !within(wanted, live, may_be_equal),
    }
}

/// True if an immutable ConfigMap or Secret has other data, or is to become mutable again.
fn changes_immutable_data(wanted: &Object, live: &Object) -> bool {
    let sealed = |object: &Object| object.get(&["immutable"]) == Some(&Value::Bool(true));
    let content = |object: &Object, field| object.get(&[field]).filter(|value| !is_empty(value)).cloned();
    let same = |field| content(wanted, field) == content(live, field);
    sealed(live) && (!sealed(wanted) || !same("data") || !same("binaryData"))
}

/// True if `large` includes everything of `small`.
fn within(small: &Value, large: &Value, same: fn(&Value, &Value) -> bool) -> bool {
    match (small, large) {
        (Value::Object(small), Value::Object(large)) => small
            .iter()
            .filter(|(_, value)| !is_empty(value))
            .all(|(key, value)| large.get(key).is_some_and(|other| within(value, other, same))),
        (Value::Array(small), Value::Array(large)) => {
            small.len() == large.len() && small.iter().zip(large).all(|(a, b)| within(a, b, same))
        }
        (small, large) => same(small, large),
    }
}

fn may_be_equal(one: &Value, other: &Value) -> bool {
    let may_be_quantity = |value: &Value| match value {
        Value::Number(_) => true,
        Value::String(text) => {
            text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        }
        _ => false,
    };
    one == other || (may_be_quantity(one) && may_be_quantity(other))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::model::named;

    fn with(what: &str, path: &[&str], value: &Value) -> Object {
        let mut made = named(what, &json!({}));
        let nested = path[1..].iter().rfold(value.clone(), |value, key| json!({ *key: value }));
        made.as_map_mut().insert(path[0].to_owned(), nested);
        made
    }

    #[test]
    fn an_immutable_field_is_named() {
        let (selector, template): (&[&str], &[&str]) = (&["spec", "selector"], &["spec", "template"]);
        let (deployment, job, binding) =
            ("apps/v1 Deployment a", "batch/v1 Job a", "rbac.authorization.k8s.io/v1 ClusterRoleBinding a");
        for (what, path, wanted, live, expected) in [
            (deployment, selector, json!({"a": "1"}), json!({"a": "2"}), Some("selector")),
            (deployment, selector, json!({"a": "1"}), json!({"a": "1", "b": "2"}), Some("selector")),
            (deployment, selector, json!({"a": "1", "b": []}), json!({"a": "1"}), None),
            (deployment, &["spec", "replicas"], json!(1), json!(2), None),
            (
                "batch/v1 Job a",
                template,
                json!({"a": [{"b": "i"}]}),
                json!({"a": [{"b": "i", "c": 2}]}),
                None,
            ),
            (
                "batch/v1 Job a",
                template,
                json!({"a": [{"b": "i"}]}),
                json!({"a": [{"b": "j"}]}),
                Some("template"),
            ),
            (job, template, json!({"a": [1]}), json!({"a": [1, 2]}), Some("template")),
            (job, template, json!({"cpu": "0.5"}), json!({"cpu": "500m"}), None),
            (job, template, json!({"cpu": 1}), json!({"cpu": "1"}), None),
            ("v1 Service a", &["spec", "clusterIP"], json!("None"), json!("10.0.0.1"), Some("cluster IP")),
            ("v1 Service a", &["spec", "clusterIP"], json!(""), json!("10.0.0.1"), None),
            (
                binding,
                &["roleRef"],
                json!({"kind": "ClusterRole", "name": "a"}),
                json!({"kind": "ClusterRole", "name": "b", "apiGroup": "rbac.authorization.k8s.io"}),
                Some("role reference"),
            ),
            (
                "storage.k8s.io/v1 StorageClass a",
                &["provisioner"],
                json!("a"),
                json!("b"),
                Some("provisioner"),
            ),
            ("storage.k8s.io/v1 StorageClass a", &["parameters"], json!({"a": "1"}), json!({"a": "1"}), None),
            ("example.org/v1 Deployment a", selector, json!({"a": "1"}), json!({"a": "2"}), None),
        ] {
            let found = cannot_be_changed(&with(what, path, &wanted), &with(what, path, &live));
            assert_eq!(found, expected, "{what} {wanted} {live}");
        }
    }

    #[test]
    fn metadata_alone_is_no_immutable_change() {
        let wanted = with("apps/v1 Deployment a", &["spec", "selector"], &json!({"a": "1"}));
        assert_eq!(cannot_be_changed(&wanted, &named("apps/v1 Deployment a", &json!({}))), None);
    }

    #[test]
    fn immutable_data_cannot_be_changed_or_unlocked() {
        let map = |data: &str, sealed: bool| {
            let mut map = with("v1 ConfigMap a", &["data"], &json!({ "k": data }));
            map.as_map_mut().insert("immutable".to_owned(), sealed.into());
            map
        };
        let found = |wanted: &Object, live: &Object| cannot_be_changed(wanted, live).is_some();
        assert!(found(&map("1", true), &map("2", true)));
        assert!(found(&map("1", false), &map("1", true)));
        assert!(!found(&map("1", true), &map("1", true)));
        assert!(!found(&map("1", true), &map("2", false)));
    }
}
