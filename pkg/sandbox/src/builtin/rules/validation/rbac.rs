//! Validation of roles and role bindings.

use serde_json::{Value, json};

use super::selector;
use crate::builtin::rules::{
    field_path::{FieldPath, items, text},
    formats,
};
use crate::status::{FieldError, FieldErrors};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(object: &Value, cluster: bool, errors: &mut Vec<FieldError>) {
    let list = FieldPath::Root("rules");
    for (index, rule) in items(&object["rules"]) {
        policy_rule(rule, cluster, &list.index(index), errors);
    }
    let aggregation = &object["aggregationRule"];
    if aggregation.is_object() {
        let root = FieldPath::Root("aggregationRule");
        let list = root.field("clusterRoleSelectors");
        if items(&aggregation["clusterRoleSelectors"]).next().is_none() {
            errors.required(list, "at least one clusterRoleSelector required if aggregationRule is non-nil");
        }
        for (index, one) in items(&aggregation["clusterRoleSelectors"]) {
            selector::validate(one, &list.index(index), errors);
        }
    }
}

fn policy_rule(rule: &Value, cluster: bool, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let has = |field: &str| items(&rule[field]).next().is_some();
    if !has("verbs") {
        errors.required(path.field("verbs"), "verbs must contain at least one value");
    }
    if has("nonResourceURLs") {
        let (path, urls) = (path.field("nonResourceURLs"), &rule["nonResourceURLs"]);
        if !cluster {
            errors.invalid(path, urls.clone(), "namespaced rules cannot apply to non-resource URLs");
        }
        if has("apiGroups") || has("resources") || has("resourceNames") {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid(path, urls.clone(), detail);
        }
        return;
    }
    if !has("apiGroups") {
        errors.required(path.field("apiGroups"), "resource rules must supply at least one api group");
    }
    if !has("resources") {
        errors.required(path.field("resources"), "resource rules must supply at least one resource");
    }
}

/// Validates a RoleBinding or a ClusterRoleBinding.
pub(super) fn binding(object: &Value, old: Option<&Value>, cluster: bool, errors: &mut Vec<FieldError>) {
    let path = FieldPath::Root("roleRef");
    let role = &object["roleRef"];
    errors.one_of(path.field("apiGroup"), &role["apiGroup"], &[GROUP]);
    let kinds: &[&str] = if cluster { &["ClusterRole"] } else { &["Role", "ClusterRole"] };
    errors.one_of(path.field("kind"), &role["kind"], kinds);
    let name = text(&role["name"]);
    if name.is_empty() {
        errors.required(path.field("name"), "");
    } else {
        errors.format(path.field("name"), name, formats::path_segment(name, false));
    }
    let list = FieldPath::Root("subjects");
    for (index, one) in items(&object["subjects"]) {
        subject(one, cluster, &list.index(index), errors);
    }
    if let Some(old) = old
        && old["roleRef"] != *role
    {
        // The real server prints its internal field names.
        let printed = json!({"APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"]});
        errors.invalid(path, printed, "cannot change roleRef");
    }
}

fn subject(subject: &Value, cluster: bool, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let name = text(&subject["name"]);
    if name.is_empty() {
        errors.required(path.field("name"), "");
    }
    let group = text(&subject["apiGroup"]);
    match text(&subject["kind"]) {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.format(path.field("name"), name, formats::dns_subdomain(name));
            }
            if !group.is_empty() {
                errors.not_supported(path.field("apiGroup"), group, &[""]);
            }
            if cluster && text(&subject["namespace"]).is_empty() {
                errors.required(path.field("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                errors.not_supported(path.field("apiGroup"), group, &[GROUP]);
            }
        }
        kind => errors.not_supported(path.field("kind"), kind, &["ServiceAccount", "User", "Group"]),
    }
}
