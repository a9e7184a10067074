//! Fields that the server controls at creations and updates: status, generation and others.
//!
//! Source: the `strategy.go` files of kube-apiserver 1.36 and its default admission plugins, except the plugins that
//! need other objects (ServiceAccount, LimitRanger, ResourceQuota, DefaultStorageClass).

mod pod;
mod service;

use serde_json::{Map, Value, json};

use super::defaults::child;
use crate::kinds::ResourceType;

/// Kinds with `metadata.generation`, and the fields whose changes increase the generation.
const GENERATION_FIELDS: [(&str, &str, &[&str]); 25] = [
    ("", "pods", &["spec"]),
    ("", "podtemplates", &["template"]),
    ("", "replicationcontrollers", &["spec"]),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies", &["spec"]),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", &["spec"]),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", &["webhooks"]),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies", &["spec"]),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings", &["spec"]),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", &["webhooks"]),
    ("apiextensions.k8s.io", "customresourcedefinitions", &["spec"]),
    ("apps", "daemonsets", &["spec"]),
    ("apps", "deployments", &["spec"]),
    ("apps", "replicasets", &["spec"]),
    ("apps", "statefulsets", &["spec"]),
    ("batch", "cronjobs", &["spec"]),
    ("batch", "jobs", &["spec"]),
    ("discovery.k8s.io", "endpointslices", &["addressType", "endpoints", "ports"]),
    ("flowcontrol.apiserver.k8s.io", "flowschemas", &["spec"]),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", &["spec"]),
    ("networking.k8s.io", "ingressclasses", &["spec"]),
    ("networking.k8s.io", "ingresses", &["spec"]),
    ("networking.k8s.io", "networkpolicies", &["spec"]),
    ("policy", "poddisruptionbudgets", &["spec"]),
    ("scheduling.k8s.io", "priorityclasses", &[]),
    ("storage.k8s.io", "csidrivers", &["spec"]),
];

/// The annotation with the generation of the Pod template of a DaemonSet.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

type Object = Map<String, Value>;

fn generation_fields(resource: &ResourceType) -> Option<&'static [&'static str]> {
    let found = GENERATION_FIELDS
        .iter()
        .find(|(group, plural, _)| *group == &*resource.group && *plural == &*resource.plural);
    found.map(|(_, _, fields)| *fields)
}

fn is_resource(resource: &ResourceType, group: &str, plural: &str) -> bool {
    &*resource.group == group && &*resource.plural == plural
}

fn has_status(resource: &ResourceType) -> bool {
    resource.schema.schema().field("status").is_some()
}

/// Copies a field from the stored object, or removes a field that is missing there.
fn copy_from_stored(object: &mut Object, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => object.insert(field.to_owned(), value.clone()),
        None => object.remove(field),
    };
}

/// Prepares a new object for storage.
pub(super) fn prepare_for_create(resource: &ResourceType, object: &mut Value) {
    let Some(object) = object.as_object_mut() else { return };
    // A CSIDriver gets its generation at the first change.
    if generation_fields(resource).is_some()
        && !is_resource(resource, "storage.k8s.io", "csidrivers")
        && let Some(metadata) = child(object, "metadata")
    {
        metadata.insert("generation".into(), 1.into());
    }
    if has_status(resource) && !is_resource(resource, "", "nodes") {
        object.insert("status".into(), json!({}));
    }
    match (&*resource.group, &*resource.plural) {
        ("", "namespaces") => prepare_namespace(object),
        ("", "nodes") => prepare_node(object),
        ("", "persistentvolumes") => prepare_volume(object),
        ("", "persistentvolumeclaims") => {
            object.insert("status".into(), json!({"phase": "Pending"}));
            add_finalizer(object, "kubernetes.io/pvc-protection");
        }
        ("", "pods") => pod::prepare(object),
        ("", "services") => service::sync_cluster_ips(object),
        ("apiregistration.k8s.io", "apiservices") => prepare_api_service(object),
        ("apps", "daemonsets") => set_template_generation(object, 1),
        ("batch", "jobs") => generate_job_selector(object),
        _ => {}
    }
}

/// Restores the fields that the request may not write, and increases the generation if needed.
pub(crate) fn prepare_for_update(
    resource: &ResourceType,
    subresource: &str,
    old: &Value,
    object: &mut Value,
) {
    let Some(object) = object.as_object_mut() else { return };
    restore_metadata(object, old, "generation");
    match subresource {
        "status" => restore_for_status(resource, old, object),
        // The server itself writes the changes of a binding.
        "binding" => return,
        "finalize" => copy_from_stored(object, old, "status"),
        "ephemeralcontainers" => restore_all_except(object, old, "ephemeralContainers"),
        _ => restore_for_object(resource, old, object),
    }
    if subresource == "status" {
        return;
    }
    if let Some(fields) = generation_fields(resource)
        && (fields.iter().any(|field| object.get(*field) != old.get(*field))
            || increases_generation(resource, old, object))
        && let Some(metadata) = child(object, "metadata")
    {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or_default();
        metadata.insert("generation".into(), generation.saturating_add(1).into());
    }
}

/// True if a change of metadata also increases the generation.
fn increases_generation(resource: &ResourceType, old: &Value, object: &Object) -> bool {
    let field = match &*resource.plural {
        "deployments" => "annotations",
        "endpointslices" => "labels",
        _ => return false,
    };
    let new = object.get("metadata").and_then(|metadata| metadata.get(field));
    new != old["metadata"].get(field)
}

fn restore_metadata(object: &mut Object, old: &Value, field: &str) {
    if let Some(metadata) = child(object, "metadata") {
        copy_from_stored(metadata, &old["metadata"], field);
    }
}

fn restore_for_object(resource: &ResourceType, old: &Value, object: &mut Object) {
    if has_status(resource) {
        copy_from_stored(object, old, "status");
    }
    match (&*resource.group, &*resource.plural) {
        ("", "namespaces") => {
            if let Some(spec) = child(object, "spec") {
                copy_from_stored(spec, &old["spec"], "finalizers");
            }
        }
        ("", "pods") => pod::restore_server_fields(old, object),
        ("", "services") => service::retain_addresses(old, object),
        ("apps", "daemonsets") => {
            let old_generation = old["metadata"]["annotations"][TEMPLATE_GENERATION].as_str();
            let generation = old_generation.and_then(|text| text.parse().ok()).unwrap_or(1_i64);
            let changed = object.get("spec").map(|spec| &spec["template"]) != Some(&old["spec"]["template"]);
            set_template_generation(object, generation.saturating_add(i64::from(changed)));
        }
        _ => {}
    }
}

/// Restores all fields except metadata and status, and the metadata fields that the kind protects from status writes.
fn restore_for_status(resource: &ResourceType, old: &Value, object: &mut Object) {
    let others: Vec<String> = object
        .keys()
        .chain(old.as_object().into_iter().flat_map(Map::keys))
        .filter(|field| !matches!(&***field, "apiVersion" | "kind" | "metadata" | "status"))
        .cloned()
        .collect();
    for field in others {
        copy_from_stored(object, old, &field);
    }
    let kept: &[&str] = match (&*resource.group, &*resource.plural) {
        ("apps", "deployments") => &["labels"],
        ("", "pods") => &["ownerReferences"],
        (
            "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "apiregistration.k8s.io"
            | "flowcontrol.apiserver.k8s.io",
            _,
        ) => &["labels", "annotations", "finalizers", "ownerReferences"],
        _ => &[],
    };
    for field in kept {
        restore_metadata(object, old, field);
    }
}

fn restore_all_except(object: &mut Object, old: &Value, field: &str) {
    let given = object.get("spec").map(|spec| spec[field].clone());
    copy_from_stored(object, old, "spec");
    copy_from_stored(object, old, "status");
    if let (Some(given @ Value::Array(_)), Some(spec)) = (given, child(object, "spec")) {
        spec.insert(field.to_owned(), given);
    }
}

fn prepare_namespace(object: &mut Object) {
    object.insert("status".into(), json!({"phase": "Active"}));
    let Some(spec) = child(object, "spec") else { return };
    match spec.get_mut("finalizers").and_then(Value::as_array_mut) {
        Some(finalizers) if finalizers.iter().any(|name| name == "kubernetes") => {}
        Some(finalizers) => finalizers.push("kubernetes".into()),
        None => {
            spec.insert("finalizers".into(), json!(["kubernetes"]));
        }
    }
}

/// Taints a new Node as not ready, so that the Node accepts no Pods until its kubelet reports readiness.
fn prepare_node(object: &mut Object) {
    let Some(spec) = child(object, "spec") else { return };
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    match spec.get_mut("taints").and_then(Value::as_array_mut) {
        Some(taints) => {
            let known = |old: &Value| old["key"] == taint["key"] && old["effect"] == taint["effect"];
            if !taints.iter().any(known) {
                taints.push(taint);
            }
        }
        None => {
            spec.insert("taints".into(), json!([taint]));
        }
    }
}

fn prepare_volume(object: &mut Object) {
    let created = object.get("metadata").map(|metadata| metadata["creationTimestamp"].clone());
    let mut status = json!({"phase": "Pending"});
    if let Some(time @ Value::String(_)) = created {
        status["lastPhaseTransitionTime"] = time;
    }
    object.insert("status".into(), status);
    add_finalizer(object, "kubernetes.io/pv-protection");
}

fn add_finalizer(object: &mut Object, name: &str) {
    let Some(metadata) = child(object, "metadata") else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(list) = finalizers.as_array_mut()
        && !list.iter().any(|known| known == name)
    {
        list.push(name.into());
    }
}

/// Marks an APIService without a Service as available, because the API server itself serves its group.
fn prepare_api_service(object: &mut Object) {
    if object.get("spec").is_some_and(|spec| spec["service"].is_object()) {
        return;
    }
    let created =
        object.get("metadata").map_or(Value::Null, |metadata| metadata["creationTimestamp"].clone());
    let condition = json!({
        "type": "Available",
        "status": "True",
        "lastTransitionTime": created,
        "reason": "Local",
        "message": "Local APIServices are always available",
    });
    object.insert("status".into(), json!({"conditions": [condition]}));
}

fn set_template_generation(object: &mut Object, generation: i64) {
    if let Some(annotations) = child(object, "metadata").and_then(|metadata| child(metadata, "annotations")) {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), generation.to_string().into());
    }
}

/// Generates the selector of a Job from its uid, unless `manualSelector` is set.
fn generate_job_selector(object: &mut Object) {
    let metadata = object.get("metadata").cloned().unwrap_or_default();
    let Some(spec) = child(object, "spec") else { return };
    if spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let (name, uid) = (metadata["name"].clone(), metadata["uid"].clone());
    let template = child(spec, "template").and_then(|template| child(template, "metadata"));
    let Some(labels) = template.and_then(|metadata| child(metadata, "labels")) else { return };
    let copied = metadata["labels"].as_object().is_none_or(|own| own == &*labels);
    for (label, value) in [
        ("batch.kubernetes.io/job-name", &name),
        ("job-name", &name),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("controller-uid", &uid),
    ] {
        labels.entry(label).or_insert_with(|| value.clone());
    }
    let labels = labels.clone();
    if let Some(selector) = child(spec, "selector").and_then(|selector| child(selector, "matchLabels")) {
        selector.entry("batch.kubernetes.io/controller-uid").or_insert(uid);
    }
    // A Job without labels gets the labels of its template.
    if copied && let Some(metadata) = child(object, "metadata") {
        metadata.insert("labels".into(), labels.into());
    }
}
