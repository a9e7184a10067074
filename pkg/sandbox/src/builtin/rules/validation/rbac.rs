//! Validation of roles and role bindings.

use serde_json::{Value, json};

use super::selector;
use crate::builtin::rules::{
    faults::{Faults, Path, items, text},
    formats,
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Validates a Role or a ClusterRole.
pub(super) fn role(object: &Value, cluster: bool, to: &mut Faults) {
    let list = Path::Root("rules");
    for (index, rule) in items(&object["rules"]) {
        policy_rule(rule, cluster, &list.index(index), to);
    }
    let aggregation = &object["aggregationRule"];
    if aggregation.is_object() {
        let root = Path::Root("aggregationRule");
        let list = root.field("clusterRoleSelectors");
        if items(&aggregation["clusterRoleSelectors"]).next().is_none() {
            to.required(&list, "at least one clusterRoleSelector required if aggregationRule is non-nil");
        }
        for (index, one) in items(&aggregation["clusterRoleSelectors"]) {
            selector::validate(one, &list.index(index), to);
        }
    }
}

fn policy_rule(rule: &Value, cluster: bool, path: &Path<'_>, to: &mut Faults) {
    let has = |field: &str| items(&rule[field]).next().is_some();
    if !has("verbs") {
        to.required(&path.field("verbs"), "verbs must contain at least one value");
    }
    if has("nonResourceURLs") {
        let (path, urls) = (path.field("nonResourceURLs"), &rule["nonResourceURLs"]);
        if !cluster {
            to.invalid(&path, urls.clone(), "namespaced rules cannot apply to non-resource URLs");
        }
        if has("apiGroups") || has("resources") || has("resourceNames") {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            to.invalid(&path, urls.clone(), detail);
        }
        return;
    }
    if !has("apiGroups") {
        to.required(&path.field("apiGroups"), "resource rules must supply at least one api group");
    }
    if !has("resources") {
        to.required(&path.field("resources"), "resource rules must supply at least one resource");
    }
}

/// Validates a RoleBinding or a ClusterRoleBinding.
pub(super) fn binding(object: &Value, old: Option<&Value>, cluster: bool, to: &mut Faults) {
    let path = Path::Root("roleRef");
    let role = &object["roleRef"];
    to.one_of(&path.field("apiGroup"), &role["apiGroup"], &[GROUP]);
    let kinds: &[&str] = if cluster { &["ClusterRole"] } else { &["Role", "ClusterRole"] };
    to.one_of(&path.field("kind"), &role["kind"], kinds);
    let name = text(&role["name"]);
    if name.is_empty() {
        to.required(&path.field("name"), "");
    } else {
        to.format(&path.field("name"), name, formats::path_segment(name, false));
    }
    let list = Path::Root("subjects");
    for (index, one) in items(&object["subjects"]) {
        subject(one, cluster, &list.index(index), to);
    }
    if let Some(old) = old
        && old["roleRef"] != *role
    {
        // The real server prints its internal field names.
        let printed = json!({"APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"]});
        to.invalid(&path, printed, "cannot change roleRef");
    }
}

fn subject(subject: &Value, cluster: bool, path: &Path<'_>, to: &mut Faults) {
    let name = text(&subject["name"]);
    if name.is_empty() {
        to.required(&path.field("name"), "");
    }
    let group = text(&subject["apiGroup"]);
    match text(&subject["kind"]) {
        "ServiceAccount" => {
            if !name.is_empty() {
                to.format(&path.field("name"), name, formats::dns_subdomain(name));
            }
            if !group.is_empty() {
                to.unsupported(&path.field("apiGroup"), group, &[""]);
            }
            if cluster && text(&subject["namespace"]).is_empty() {
                to.required(&path.field("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                to.unsupported(&path.field("apiGroup"), group, &[GROUP]);
            }
        }
        kind => to.unsupported(&path.field("kind"), kind, &["ServiceAccount", "User", "Group"]),
    }
}
