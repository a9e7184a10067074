//! What the server refuses, kind by kind.
//!
//! Source: the `validation.go` files of kube-apiserver 1.36; order and words are theirs. Where they have more rules than
//! stand here, those about values nobody writes by hand are left out.

mod batch;
mod config;
mod extension;
mod networking;
mod pod;
mod policy;
mod rbac;
mod selector;
mod service;
mod storage;
mod workload;

use serde_json::Value;

use super::faults::{Faults, Path};
use crate::{kinds::ResourceType, status::FieldError};

const SPEC: Path<'static> = Path::Root("spec");

/// Everything that is wrong with an object; `old` at an update of the object itself.
pub(super) fn validate(resource: &ResourceType, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut faults = Faults::default();
    let to = &mut faults;
    match (&*resource.group, &*resource.plural) {
        ("", "configmaps") => config::config_map(object, old, to),
        ("", "limitranges") => config::limit_range(object, to),
        ("", "persistentvolumeclaims") => storage::claim(object, old, to),
        ("", "persistentvolumes") => storage::volume(object, old, to),
        ("", "pods") => pod::pod(object, old, to),
        ("", "podtemplates") => pod::template(&object["template"], &Path::Root("template"), to),
        ("", "replicationcontrollers") => workload::replication_controller(object, to),
        ("", "resourcequotas") => config::quota(object, to),
        ("", "secrets") => config::secret(object, old, to),
        ("", "services") => service::service(object, old, to),
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations" | "validatingwebhookconfigurations",
        ) => {
            extension::webhooks(object, to);
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => extension::policy(object, to),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings") => {
            extension::policy_binding(object, to);
        }
        ("apiregistration.k8s.io", "apiservices") => extension::api_service(object, to),
        ("apps", "controllerrevisions") => workload::revision(object, old, to),
        ("apps", "daemonsets") => workload::daemon_set(object, old, to),
        ("apps", "deployments") => workload::deployment(object, old, to),
        ("apps", "replicasets") => workload::replica_set(object, old, to),
        ("apps", "statefulsets") => workload::stateful_set(object, old, to),
        ("autoscaling", "horizontalpodautoscalers") => policy::autoscaler(object, to),
        ("batch", "cronjobs") => batch::cron_job(object, to),
        ("batch", "jobs") => batch::job(object, old, to),
        ("certificates.k8s.io", "certificatesigningrequests") => extension::signing_request(object, to),
        ("coordination.k8s.io", "leases") => config::lease(object, to),
        ("discovery.k8s.io", "endpointslices") => networking::endpoint_slice(object, old, to),
        ("networking.k8s.io", "ingresses") => networking::ingress(object, to),
        ("networking.k8s.io", "ingressclasses") => networking::ingress_class(object, old, to),
        ("networking.k8s.io", "networkpolicies") => networking::policy(object, to),
        ("policy", "poddisruptionbudgets") => policy::disruption_budget(object, to),
        ("rbac.authorization.k8s.io", "clusterrolebindings") => rbac::binding(object, old, true, to),
        ("rbac.authorization.k8s.io", "clusterroles") => rbac::role(object, true, to),
        ("rbac.authorization.k8s.io", "rolebindings") => rbac::binding(object, old, false, to),
        ("rbac.authorization.k8s.io", "roles") => rbac::role(object, false, to),
        ("scheduling.k8s.io", "priorityclasses") => policy::priority_class(object, old, to),
        ("storage.k8s.io", "storageclasses") => storage::class(object, old, to),
        _ => {}
    }
    faults.into_errors()
}
