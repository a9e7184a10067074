//! How objects of a kind may be named, and which writes need no version.

use super::formats::NameRule;
use crate::kinds::ResourceType;

/// How a new object of this kind may be named.
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

/// Whether an update may leave out the `resourceVersion`.
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

/// Whether a PUT of an object that is not there makes it.
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
