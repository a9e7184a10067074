//! How lists of built-in kinds are merged.
//! Source: the `patchMergeKey` and `patchStrategy` of Kubernetes 1.36 API types, for what manifests can hold.

/// How the elements of a list are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListMerge {
    /// Mappings with this key.
    By(&'static str),
    /// Single values, each once.
    Set,
    /// Not at all: the list is replaced.
    Replace,
}

/// Whether a kind of this group comes with Kubernetes.
/// Definitions of custom resources have no merge keys that matter and are among them.
pub(super) fn is_built_in(group: &str) -> bool {
    matches!(group, "" | "apps" | "batch" | "autoscaling" | "policy" | "extensions")
        || group.ends_with(".k8s.io")
}

/// How the list in a field is merged; `parent` is the field the mapping around it stands in, or the kind of the object
/// for its own fields.
pub(super) fn list_merge(parent: &str, field: &str) -> ListMerge {
    use ListMerge::{By, Replace, Set};
    let in_container = matches!(parent, "containers" | "initContainers" | "ephemeralContainers");
    match (parent, field) {
        (_, "containers" | "initContainers" | "ephemeralContainers" | "volumes" | "imagePullSecrets")
        | ("spec", "resourceClaims" | "schedulingGates")
        | ("ServiceAccount", "secrets")
        | ("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration", "webhooks") => By("name"),
        (_, "env") if in_container => By("name"),
        (_, "ports") if in_container => By("containerPort"),
        (_, "volumeMounts") if in_container => By("mountPath"),
        (_, "volumeDevices") if in_container => By("devicePath"),
        ("spec", "hostAliases") => By("ip"),
        ("spec", "topologySpreadConstraints") => By("topologyKey"),
        // Of Services; Pods have none at this place.
        ("spec", "ports") => By("port"),
        ("metadata", "ownerReferences") => By("uid"),
        ("metadata", "finalizers") => Set,
        ("status", "conditions") => By("type"),
        _ => Replace,
    }
}
