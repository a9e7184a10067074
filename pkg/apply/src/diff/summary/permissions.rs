//! The rules of roles.

use std::collections::{BTreeMap, BTreeSet};

use api::output::{ChangedPart, ObjectChange};
use manifest::Value;

use super::change;

/// The maximum of resources in the rules of a role. The diff shows larger rules.
const MAX_RESOURCES: usize = 10_000;

/// Verbs by resource.
type VerbsByResource = BTreeMap<String, BTreeSet<String>>;

pub(super) fn extract(before: &mut Value, after: &mut Value, changes: &mut Vec<ObjectChange>) {
    if !is_role(before) && !is_role(after) {
        return;
    }
    let (Some(old), Some(new)) = (verbs_by_resource(before), verbs_by_resource(after)) else { return };
    let resources: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for resource in resources {
        let verbs = |allowed: &VerbsByResource| allowed.get(resource).cloned().unwrap_or_default();
        let (old, new) = (verbs(&old), verbs(&new));
        let difference = |from: &BTreeSet<String>, other: &BTreeSet<String>| {
            let verbs: Vec<_> = from.difference(other).cloned().collect();
            (!verbs.is_empty()).then(|| verbs.join(", "))
        };
        if let Some(lost) = difference(&old, &new) {
            changes.push(change(ChangedPart::Permission, resource, Some(lost), None));
        }
        if let Some(gained) = difference(&new, &old) {
            changes.push(change(ChangedPart::Permission, resource, None, Some(gained)));
        }
    }
    for object in [before, after] {
        if let Some(fields) = object.as_object_mut() {
            fields.remove("rules");
        }
    }
}

fn is_role(object: &Value) -> bool {
    let group = object["apiVersion"].as_str().unwrap_or_default();
    group.starts_with("rbac.authorization.k8s.io/")
        && matches!(object["kind"].as_str(), Some("Role" | "ClusterRole"))
}

/// Returns everything that a role allows. None if the rules exceed `MAX_RESOURCES`.
fn verbs_by_resource(role: &Value) -> Option<VerbsByResource> {
    let mut allowed = VerbsByResource::new();
    for rule in role["rules"].as_array().map_or(&[][..], Vec::as_slice) {
        let (groups, resources) = (texts(rule, "apiGroups"), texts(rule, "resources"));
        if groups.len().saturating_mul(resources.len()) > MAX_RESOURCES {
            return None;
        }
        let named = match texts(rule, "resourceNames").join(", ") {
            names if names.is_empty() => String::new(),
            names => format!(" named {names}"),
        };
        let of_groups =
            groups.iter().flat_map(|group| resources.iter().map(move |resource| (group, resource)));
        let of_groups = of_groups.map(|(group, resource)| match *group {
            "" => format!("{resource}{named}"),
            group => format!("{resource}.{group}{named}"),
        });
        let urls = texts(rule, "nonResourceURLs").into_iter().map(str::to_owned);
        for resource in of_groups.chain(urls) {
            let verbs = texts(rule, "verbs").into_iter().map(str::to_owned);
            allowed.entry(resource).or_default().extend(verbs);
        }
        if allowed.len() > MAX_RESOURCES {
            return None;
        }
    }
    Some(allowed)
}

fn texts<'a>(rule: &'a Value, field: &str) -> Vec<&'a str> {
    rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
