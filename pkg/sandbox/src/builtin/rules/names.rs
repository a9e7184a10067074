//! The name formats of kinds, and the kinds whose updates need no `resourceVersion`.

use super::formats::NameRule;
use crate::kinds::ResourceType;

/// The name format of new objects of this kind.
pub(crate) fn name_rule(resource: &ResourceType) -> NameRule {
    match (&*resource.group, &*resource.plural) {
        ("" | "apps", "namespaces" | "services" | "statefulsets") => NameRule::DnsLabel,
        ("rbac.authorization.k8s.io", _) | ("apiregistration.k8s.io", "apiservices") => NameRule::PathSegment,
        ("certificates.k8s.io", "clustertrustbundles") | ("networking.k8s.io", "ipaddresses") => {
            NameRule::Any
        }
        _ => NameRule::DnsSubdomain,
    }
}

/// True if an update may omit `resourceVersion`.
///
/// Source: `AllowUnconditionalUpdate` of the strategies of kube-apiserver 1.36.
pub(crate) fn allows_unconditional_update(resource: &ResourceType) -> bool {
    let plural = &*resource.plural;
    let versioned = match &*resource.group {
        "admissionregistration.k8s.io"
        | "apiextensions.k8s.io"
        | "apiregistration.k8s.io"
        | "coordination.k8s.io" => true,
        "certificates.k8s.io" => matches!(plural, "clustertrustbundles" | "podcertificaterequests"),
        "node.k8s.io" => plural == "runtimeclasses",
        "policy" => plural == "poddisruptionbudgets",
        "storage.k8s.io" => {
            matches!(plural, "csidrivers" | "csinodes" | "csistoragecapacities" | "volumeattachments")
        }
        _ => false,
    };
    !versioned
}

/// True if a PUT of a missing object creates the object.
///
/// Source: `AllowCreateOnUpdate` of the strategies of kube-apiserver 1.36.
pub(crate) fn allows_create_on_update(resource: &ResourceType) -> bool {
    matches!(
        (&*resource.group, &*resource.plural),
        ("coordination.k8s.io" | "rbac.authorization.k8s.io", _)
            | ("" | "events.k8s.io", "endpoints" | "events" | "limitranges" | "services")
            | ("node.k8s.io", "runtimeclasses")
    )
}
