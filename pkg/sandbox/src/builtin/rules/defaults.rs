//! Defaults that depend on other fields. `defaults.txt` has the independent defaults.
//!
//! Source: the `SetDefaults_…` functions of Kubernetes 1.36, and the conversions that derive a field from another
//! field.

use serde_json::{Map, Value, json};

use super::normalization::is_empty;

type Object = Map<String, Value>;

/// Sets the computed defaults of a type, which is named by the last three parts of its definition. Runs before the
/// table.
pub(super) fn set_computed_defaults(definition: &str, object: &mut Object) {
    match definition {
        "apps.v1.DaemonSetUpdateStrategy" | "apps.v1.DeploymentStrategy" => rolling_update(object),
        "apps.v1.StatefulSetSpec" => claim_templates(object),
        "apps.v1.StatefulSetUpdateStrategy" => stateful_set_strategy(object),
        "batch.v1.Job" => job(object),
        "core.v1.Container" | "core.v1.EphemeralContainer" => pull_policy(object, "image", "imagePullPolicy"),
        "core.v1.ImageVolumeSource" => pull_policy(object, "reference", "pullPolicy"),
        "core.v1.Namespace" => namespace_label(object),
        "core.v1.NodeSpec" => {
            set_if_missing(object, "podCIDRs", |spec| Some(json!([spec.get("podCIDR")?])));
        }
        "core.v1.NodeStatus" => {
            set_if_missing(object, "allocatable", |status| status.get("capacity").cloned());
        }
        "core.v1.Pod" => pod(object),
        "core.v1.PodSpec" => service_account(object),
        "core.v1.Secret" => string_data(object),
        "core.v1.ServicePort" => set_if_missing(object, "targetPort", |port| port.get("port").cloned()),
        "core.v1.ServiceSpec" => service(object),
        "core.v1.Volume" => volume(object),
        "networking.v1.NetworkPolicySpec" => policy_types(object),
        "rbac.v1.Subject" => subject(object),
        _ => {}
    }
}

/// Sets a missing or empty field to the result of `value`, if any.
fn set_if_missing(object: &mut Object, field: &str, value: impl FnOnce(&Object) -> Option<Value>) {
    if object.get(field).is_none_or(is_empty)
        && let Some(value) = value(object)
    {
        object.insert(field.to_owned(), value);
    }
}

fn text<'a>(object: &'a Object, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a child object and creates a missing one: `None` if the field has another type.
pub(super) fn child<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    object.entry(field).or_insert_with(|| json!({})).as_object_mut()
}

fn rolling_update(strategy: &mut Object) {
    if matches!(text(strategy, "type"), "" | "RollingUpdate") {
        strategy.entry("rollingUpdate").or_insert_with(|| json!({}));
    }
}

fn stateful_set_strategy(strategy: &mut Object) {
    if text(strategy, "type").is_empty() {
        strategy.insert("type".into(), "RollingUpdate".into());
        strategy.entry("rollingUpdate").or_insert_with(|| json!({}));
    }
}

/// Sets `apiVersion` and `kind` of claim templates, which are complete objects.
fn claim_templates(spec: &mut Object) {
    let templates = spec.get_mut("volumeClaimTemplates").and_then(Value::as_array_mut);
    for template in templates.into_iter().flatten().filter_map(Value::as_object_mut) {
        template.insert("apiVersion".into(), "v1".into());
        template.insert("kind".into(), "PersistentVolumeClaim".into());
    }
}

fn job(object: &mut Object) {
    let labels = object.get("spec").map(|spec| spec["template"]["metadata"]["labels"].clone());
    if let (Some(labels @ Value::Object(_)), Some(metadata)) = (labels, child(object, "metadata"))
        && metadata.get("labels").is_none_or(is_empty)
    {
        metadata.insert("labels".into(), labels);
    }
    let Some(spec) = child(object, "spec") else { return };
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        spec.insert("completions".into(), 1.into());
    }
    let backoff = if spec.contains_key("backoffLimitPerIndex") { i32::MAX } else { 6 };
    let replacement = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    for (field, value) in [
        ("parallelism", Value::from(1)),
        ("backoffLimit", backoff.into()),
        ("completionMode", "NonIndexed".into()),
        ("suspend", false.into()),
        ("podReplacementPolicy", replacement.into()),
        ("manualSelector", false.into()),
    ] {
        spec.entry(field).or_insert(value);
    }
}

/// Sets a missing pull policy: `Always` for images without tag and digest or with tag `latest`, else `IfNotPresent`.
fn pull_policy(object: &mut Object, image: &str, policy: &str) {
    set_if_missing(object, policy, |object| {
        let image = text(object, image);
        let last = image.rsplit('/').next().unwrap_or(image);
        let (name, digest) = last.split_once('@').map_or((last, None), |(name, digest)| (name, Some(digest)));
        let latest = match name.split_once(':') {
            Some((_, tag)) => tag == "latest",
            None => digest.is_none() && !image.is_empty(),
        };
        Some(if latest { "Always" } else { "IfNotPresent" }.into())
    });
}

/// Moves `stringData`, which is write-only, into `data`.
fn string_data(secret: &mut Object) {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    let Some(data) = child(secret, "data") else { return };
    for (key, text) in texts {
        data.insert(key, STANDARD.encode(text.as_str().unwrap_or_default()).into());
    }
}

fn namespace_label(namespace: &mut Object) {
    let Some(metadata) = child(namespace, "metadata") else { return };
    let name = text(metadata, "name").to_owned();
    if !name.is_empty()
        && let Some(labels) = child(metadata, "labels")
    {
        labels.insert("kubernetes.io/metadata.name".into(), name.into());
    }
}

fn pod(pod: &mut Object) {
    let Some(spec) = child(pod, "spec") else { return };
    spec.entry("enableServiceLinks").or_insert(true.into());
    let host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            request_limits(container);
            if host_network {
                host_ports(container);
            }
        }
    }
}

/// Sets missing requests to the limits of a container. Pod templates stay unchanged.
fn request_limits(container: &mut Object) {
    let Some(Value::Object(limits)) = container.get("resources").and_then(|r| r.get("limits")).cloned()
    else {
        return;
    };
    let Some(requests) = child(container, "resources").and_then(|resources| child(resources, "requests"))
    else {
        return;
    };
    for (name, limit) in limits {
        requests.entry(name).or_insert(limit);
    }
}

fn host_ports(container: &mut Object) {
    let ports = container.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        set_if_missing(port, "hostPort", |port| port.get("containerPort").cloned());
    }
}

/// Sets `serviceAccountName` and the deprecated `serviceAccount` to the same value.
fn service_account(spec: &mut Object) {
    let name = match (text(spec, "serviceAccountName"), text(spec, "serviceAccount")) {
        ("", "") => return,
        ("", old) => old.to_owned(),
        (new, _) => new.to_owned(),
    };
    spec.insert("serviceAccountName".into(), name.clone().into());
    spec.insert("serviceAccount".into(), name.into());
}

fn service(spec: &mut Object) {
    let kind = match text(spec, "type") {
        "" => "ClusterIP".to_owned(),
        kind => kind.to_owned(),
    };
    match text(spec, "sessionAffinity") {
        "ClientIP" => {
            let timeout =
                spec.get("sessionAffinityConfig").map(|config| &config["clientIP"]["timeoutSeconds"]);
            if timeout.is_none_or(Value::is_null) {
                spec.insert("sessionAffinityConfig".into(), json!({"clientIP": {"timeoutSeconds": 10800}}));
            }
        }
        "" | "None" => {
            spec.remove("sessionAffinityConfig");
        }
        _ => {}
    }
    let external_ips = spec.get("externalIPs").is_some_and(|list| !is_empty(list));
    let external = matches!(&*kind, "NodePort" | "LoadBalancer") || (kind == "ClusterIP" && external_ips);
    if external {
        set_if_missing(spec, "externalTrafficPolicy", |_| Some("Cluster".into()));
    }
    if matches!(&*kind, "NodePort" | "LoadBalancer" | "ClusterIP") {
        spec.entry("internalTrafficPolicy").or_insert("Cluster".into());
    }
    if kind == "LoadBalancer" {
        spec.entry("allocateLoadBalancerNodePorts").or_insert(true.into());
    }
}

fn volume(volume: &mut Object) {
    if volume.keys().all(|field| field == "name") {
        volume.insert("emptyDir".into(), json!({}));
    }
}

fn policy_types(spec: &mut Object) {
    set_if_missing(spec, "policyTypes", |spec| {
        let egress = spec.get("egress").is_some_and(|rules| !is_empty(rules));
        Some(if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) })
    });
}

fn subject(subject: &mut Object) {
    if matches!(text(subject, "kind"), "User" | "Group") {
        set_if_missing(subject, "apiGroup", |_| Some("rbac.authorization.k8s.io".into()));
    }
}
