//! Endpoints and one EndpointSlice for each Service that selects Pods.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/endpoint` and `endpointslice`, run. Differs: all Pods of a
//! Service are in one IPv4 slice and have the ports of the first Pod.

use serde_json::{Map, Value, json};

use super::children::{controller_reference, is_active, is_ready};
use crate::{
    client::Client,
    controllers::{ObjectRef, Requeue},
    meta,
    request::options::PropagationPolicy,
    selector::LabelSelector,
    status::Status,
};

const SERVICE_LABEL: &str = "kubernetes.io/service-name";
const HEADLESS: &str = "service.kubernetes.io/headless";
const SLICE_MANAGER: (&str, &str) =
    ("endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io");
const MANAGER: (&str, &str) = ("endpoints.kubernetes.io/managed-by", "endpoint-controller");

pub(super) async fn reconcile(client: &Client, service: &Value) -> Result<Requeue, Status> {
    let selector = LabelSelector::of_map(&service["spec"]["selector"]);
    if selector.is_empty() || service["spec"]["type"] == "ExternalName" {
        return Ok(Requeue::AwaitChange);
    }
    let mut pods = client.list("", "Pod", Some(meta::namespace(service)));
    pods.retain(|pod| selector.matches_object(pod) && is_active(pod) && pod["status"]["podIP"].is_string());
    write_endpoints(client, service, &pods).await?;
    write_slice(client, service, &pods).await?;
    Ok(Requeue::AwaitChange)
}

/// Deletes the Endpoints of a deleted Service; garbage collection deletes the slices.
pub(super) async fn delete_endpoints(client: &Client, service: &ObjectRef) -> Result<(), Status> {
    let endpoints = ObjectRef::new("", "Endpoints", &service.namespace, &service.name);
    let ours = |live: Value| live["metadata"]["labels"][MANAGER.0] == MANAGER.1;
    if client.get(service).is_none() && client.get(&endpoints).is_some_and(ours) {
        client.delete(&endpoints, PropagationPolicy::Background).await?;
    }
    Ok(())
}

async fn write_endpoints(client: &Client, service: &Value, pods: &[Value]) -> Result<(), Status> {
    let (namespace, name) = (meta::namespace(service), meta::name(service));
    let live = client.get(&ObjectRef::new("", "Endpoints", namespace, name));
    let mut wanted = live.clone().unwrap_or_else(|| {
        json!({
            "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": name, "namespace": namespace},
        })
    });
    meta::set(&mut wanted, "labels", labels(service, MANAGER));
    let mut subset = Map::new();
    for (field, ready) in [("addresses", true), ("notReadyAddresses", false)] {
        let some = pods.iter().filter(|pod| selects(service, pod) == ready);
        let addresses: Vec<Value> = some.map(|pod| address(service, pod)).collect();
        if !addresses.is_empty() {
            subset.insert(field.to_owned(), addresses.into());
        }
    }
    if let (Some(fields), Some(pod)) = (wanted.as_object_mut(), pods.first()) {
        subset.insert("ports".to_owned(), ports(service, pod).into());
        fields.insert("subsets".to_owned(), json!([subset]));
    } else if let Some(fields) = wanted.as_object_mut() {
        fields.remove("subsets");
    }
    write(client, live, wanted).await
}

async fn write_slice(client: &Client, service: &Value, pods: &[Value]) -> Result<(), Status> {
    let (namespace, name) = (meta::namespace(service), meta::name(service));
    let slices = client.list("discovery.k8s.io", "EndpointSlice", Some(namespace));
    let live = slices.into_iter().find(|slice| {
        let labels = &slice["metadata"]["labels"];
        labels[SERVICE_LABEL] == name && labels[SLICE_MANAGER.0] == SLICE_MANAGER.1
    });
    let mut wanted = live.clone().unwrap_or_else(|| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {
                "generateName": format!("{name}-"), "namespace": namespace,
                "ownerReferences": [controller_reference(service)],
            },
        })
    });
    let mut labels = labels(service, SLICE_MANAGER);
    labels[SERVICE_LABEL] = name.into();
    meta::set(&mut wanted, "labels", labels);
    wanted["endpoints"] = list(pods.iter().map(|pod| endpoint(service, pod)).collect());
    wanted["ports"] = list(pods.first().map(|pod| ports(service, pod)).unwrap_or_default());
    write(client, live, wanted).await
}

/// Returns null for an empty list: lists of slices are required.
fn list(items: Vec<Value>) -> Value {
    if items.is_empty() { Value::Null } else { items.into() }
}

async fn write(client: &Client, live: Option<Value>, desired: Value) -> Result<(), Status> {
    match live {
        Some(live) if live == desired => Ok(()),
        Some(_) => client.update(desired).await.map(drop),
        None => client.create(desired).await.map(drop),
    }
}

fn labels(service: &Value, (manager_label, manager): (&str, &str)) -> Value {
    let mut labels = meta::field(service, "labels").cloned().unwrap_or_else(|| json!({}));
    labels[manager_label] = manager.into();
    if service["spec"]["clusterIP"] == "None" {
        labels[HEADLESS] = "".into();
    }
    labels
}

fn selects(service: &Value, pod: &Value) -> bool {
    is_ready(pod) || service["spec"]["publishNotReadyAddresses"] == true
}

fn target(pod: &Value) -> Value {
    json!({"kind": "Pod", "namespace": meta::namespace(pod), "name": meta::name(pod), "uid": meta::uid(pod)})
}

/// The host name of a Pod in the domain of a Service, if any.
fn hostname<'a>(service: &Value, pod: &'a Value) -> Option<&'a Value> {
    let spec = &pod["spec"];
    spec.get("hostname").filter(|_| spec["subdomain"] == meta::name(service))
}

fn address(service: &Value, pod: &Value) -> Value {
    let mut address = json!({
        "ip": pod["status"]["podIP"], "nodeName": pod["spec"]["nodeName"], "targetRef": target(pod),
    });
    if let Some(name) = hostname(service, pod) {
        address["hostname"] = name.clone();
    }
    address
}

fn endpoint(service: &Value, pod: &Value) -> Value {
    let mut endpoint = json!({
        "addresses": [pod["status"]["podIP"]],
        "conditions": {"ready": selects(service, pod), "serving": is_ready(pod), "terminating": false},
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": target(pod),
    });
    if let Some(name) = hostname(service, pod) {
        endpoint["hostname"] = name.clone();
    }
    endpoint
}

/// The ports of a Service on a Pod, sorted by name. Omits ports that the Pod does not define.
fn ports(service: &Value, pod: &Value) -> Vec<Value> {
    let mut ports: Vec<Value> = Vec::new();
    for port in service["spec"]["ports"].as_array().into_iter().flatten() {
        let Some(number) = target_port(port, pod) else { continue };
        let mut entry = json!({"port": number, "protocol": port["protocol"]});
        for field in ["name", "appProtocol"] {
            if let Some(text) = port.get(field) {
                entry[field] = text.clone();
            }
        }
        ports.push(entry);
    }
    ports.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    ports
}

fn target_port(port: &Value, pod: &Value) -> Option<i64> {
    let Some(name) = port["targetPort"].as_str() else { return port["targetPort"].as_i64() };
    let containers = pod["spec"]["containers"].as_array()?;
    let open = containers.iter().filter_map(|container| container["ports"].as_array()).flatten();
    open.into_iter()
        .find(|open| open["name"] == name && open["protocol"] == port["protocol"])?["containerPort"]
        .as_i64()
}
