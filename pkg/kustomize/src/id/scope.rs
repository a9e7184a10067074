//! Kinds of the whole cluster that are known without their definitions.

/// Whether objects of a kind have no namespace for certain.
/// Source: kyaml 0.21 openapi (precomputedIsNamespaceScoped).
pub(super) fn is_cluster_scoped(group: &str, version: &str, kind: &str) -> bool {
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
