//! Facts about built-in kinds: cluster-scoped kinds, and the legacy order.

use std::cmp::Ordering;

const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Returns the rank of a kind in the legacy order.
pub(crate) fn rank(kind: &str) -> (Ordering, usize) {
    rank_in(&FIRST, &LAST, kind)
}

/// Returns the rank of a kind, given the lists of the first and the last kinds.
pub(crate) fn rank_in(first: &[impl AsRef<str>], last: &[impl AsRef<str>], kind: &str) -> (Ordering, usize) {
    let place = |position: Option<usize>, side| position.map(|at| (side, at));
    place(last.iter().position(|of| of.as_ref() == kind), Ordering::Greater)
        .or_else(|| place(first.iter().position(|of| of.as_ref() == kind), Ordering::Less))
        .unwrap_or((Ordering::Equal, 0))
}

/// Returns the text that sorts kinds of equal rank: an empty part sorts like `~`.
pub(crate) fn sort_text(group: &str, version: &str, kind: &str) -> String {
    let or = |text: &str, none: &str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
    format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K"))
}

/// True if a kind is known to be cluster-scoped.
/// Source: kyaml 0.21 openapi (precomputedIsNamespaceScoped).
pub(crate) fn is_cluster_scoped(group: &str, version: &str, kind: &str) -> bool {
    match (group, version) {
        ("", "v1") => {
            matches!(kind, "ComponentStatus" | "Namespace" | "Node" | "NodeProxyOptions" | "PersistentVolume")
        }
        ("policy", "v1beta1") => kind == "PodSecurityPolicy",
        ("flowcontrol.apiserver.k8s.io", "v1beta1") => {
            matches!(kind, "FlowSchema" | "PriorityLevelConfiguration")
        }
        (group, "v1" | "v1beta1") => in_stable_group(group, kind),
        _ => false,
    }
}

fn in_stable_group(group: &str, kind: &str) -> bool {
    match group {
        "admissionregistration.k8s.io" => {
            matches!(kind, "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration")
        }
        "apiextensions.k8s.io" => kind == "CustomResourceDefinition",
        "apiregistration.k8s.io" => kind == "APIService",
        "certificates.k8s.io" => kind == "CertificateSigningRequest",
        "networking.k8s.io" => kind == "IngressClass",
        "node.k8s.io" => kind == "RuntimeClass",
        "rbac.authorization.k8s.io" => matches!(kind, "ClusterRole" | "ClusterRoleBinding"),
        "scheduling.k8s.io" => kind == "PriorityClass",
        "storage.k8s.io" => matches!(kind, "CSIDriver" | "CSINode" | "StorageClass" | "VolumeAttachment"),
        _ => false,
    }
}
