//! The order of kinds inside a wave. Pure.

use crate::ObjectKey;

const ADMISSION: &str = "admissionregistration.k8s.io";
const DEFINITIONS: &str = "apiextensions.k8s.io";
const AGGREGATION: &str = "apiregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

/// Returns the rank of a kind inside a wave of writes; lower first.
/// Source: component-operator-runtime (apply order inside a wave).
pub(crate) fn apply_priority(key: &ObjectKey) -> i8 {
    match (key.group.as_str(), key.kind.as_str()) {
        ("", "Namespace") => -4,
        (ADMISSION, "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => -3,
        (DEFINITIONS, "CustomResourceDefinition") | (RBAC, "ClusterRole" | "Role") => -2,
        _ if is_class(key) => -2,
        ("", "ConfigMap" | "Secret") | (RBAC, "ClusterRoleBinding" | "RoleBinding") => -1,
        (AGGREGATION, "APIService") => 1,
        _ => 0,
    }
}

/// Returns the rank of a kind inside a wave of deletions; lower first.
/// Source: component-operator-runtime (delete order inside a wave).
pub fn delete_priority(key: &ObjectKey) -> i8 {
    match (key.group.as_str(), key.kind.as_str()) {
        (DEFINITIONS, "CustomResourceDefinition") | (AGGREGATION, "APIService") => -1,
        (ADMISSION, "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => 1,
        ("", "Service" | "ConfigMap" | "Secret") => 2,
        ("", "Namespace") => 3,
        _ if is_class(key) => 4,
        _ => 0,
    }
}

/// True for kinds to which other objects refer by name for their whole life.
fn is_class(key: &ObjectKey) -> bool {
    matches!(
        (key.group.as_str(), key.kind.as_str()),
        ("networking.k8s.io", "IngressClass")
            | ("node.k8s.io", "RuntimeClass")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("storage.k8s.io", "StorageClass")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(group: &str, kind: &str) -> ObjectKey {
        ObjectKey { group: group.to_owned(), kind: kind.to_owned(), ..ObjectKey::default() }
    }

    /// Checks the order of kinds: from first to last, one line for each rank.
    fn places(order: fn(&ObjectKey) -> i8, table: &[&[(&str, &str)]]) {
        let last = table.windows(2).all(|pair| {
            let (before, after) = (pair[0], pair[1]);
            before.iter().all(|b| after.iter().all(|a| order(&key(b.0, b.1)) < order(&key(a.0, a.1))))
        });
        assert!(last, "a line is not before the next");
        for line in table {
            assert!(line.iter().all(|kind| order(&key(kind.0, kind.1)) == order(&key(line[0].0, line[0].1))));
        }
    }

    // Row: ENG-45
    // Row: ENG-66
    #[test]
    fn writes_start_with_dependencies() {
        places(
            apply_priority,
            &[
                &[("", "Namespace")],
                &[(ADMISSION, "ValidatingWebhookConfiguration"), (ADMISSION, "MutatingWebhookConfiguration")],
                &[
                    (DEFINITIONS, "CustomResourceDefinition"),
                    ("networking.k8s.io", "IngressClass"),
                    ("node.k8s.io", "RuntimeClass"),
                    ("scheduling.k8s.io", "PriorityClass"),
                    ("storage.k8s.io", "StorageClass"),
                    (RBAC, "ClusterRole"),
                    (RBAC, "Role"),
                ],
                &[("", "ConfigMap"), ("", "Secret"), (RBAC, "ClusterRoleBinding"), (RBAC, "RoleBinding")],
                &[("apps", "Deployment"), ("", "Service"), ("other.example", "Namespace")],
                &[(AGGREGATION, "APIService")],
            ],
        );
    }

    // Row: ENG-73
    #[test]
    fn deletions_end_with_dependencies() {
        places(
            delete_priority,
            &[
                &[(DEFINITIONS, "CustomResourceDefinition"), (AGGREGATION, "APIService")],
                &[("apps", "Deployment"), (RBAC, "ClusterRole")],
                &[(ADMISSION, "ValidatingWebhookConfiguration"), (ADMISSION, "MutatingWebhookConfiguration")],
                &[("", "Service"), ("", "ConfigMap"), ("", "Secret")],
                &[("", "Namespace")],
                &[
                    ("networking.k8s.io", "IngressClass"),
                    ("node.k8s.io", "RuntimeClass"),
                    ("scheduling.k8s.io", "PriorityClass"),
                    ("storage.k8s.io", "StorageClass"),
                ],
            ],
        );
    }
}
