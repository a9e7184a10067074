//! Allocation of Service addresses: cluster IPs of 10.0.0.0/24 and node ports from 30000 to 32767.
//!
//! Differs: the real server keeps allocation bitmaps. Here the allocated addresses are read from the existing Services,
//! which the caller passes while holding the write lock for the new Service.

use std::{
    collections::{BTreeSet, HashSet},
    net::{IpAddr, Ipv4Addr},
};

use serde_json::{Map, Value, json};

use super::normalization::is_empty;
use crate::status::{FieldError, FieldErrorKind};

/// The first three octets of every cluster IP.
const NETWORK: [u8; 3] = [10, 0, 0];
/// The last octet of the cluster IP of Service `kubernetes`.
const FIRST_HOST: u8 = 1;
/// The first last octet of dynamic allocation. As in the real server, lower addresses are meant for explicit requests.
const FIRST_DYNAMIC_HOST: u8 = 16;
const LAST_HOST: u8 = 254;
const NODE_PORTS: std::ops::RangeInclusive<u64> = 30000..=32767;

/// Assigns missing cluster IPs and node ports to a new or changed Service. `old` is the stored Service, `others` are
/// all other Services. Assigns the lowest free address, so equal input gives equal addresses.
pub(crate) fn assign_addresses<'a>(
    service: &mut Value,
    old: Option<&Value>,
    others: impl IntoIterator<Item = &'a Value>,
) -> Result<(), FieldError> {
    let (mut ips, mut ports) = (HashSet::new(), BTreeSet::new());
    for other in others {
        ips.extend(other["spec"]["clusterIPs"].as_array().into_iter().flatten().filter_map(Value::as_str));
        ports.extend(node_ports(&other["spec"]));
    }
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else { return Ok(()) };
    if spec.get("type").and_then(Value::as_str) == Some("ExternalName") {
        return Ok(());
    }
    set_ip_families(spec);
    assign_cluster_ip(spec, old, &ips)?;
    assign_node_ports(spec, old, &mut ports)
}

fn node_ports(spec: &Value) -> impl Iterator<Item = u64> {
    let ports = spec["ports"].as_array().into_iter().flatten();
    ports.filter_map(|port| port["nodePort"].as_u64()).chain(spec["healthCheckNodePort"].as_u64())
}

fn set_ip_families(spec: &mut Map<String, Value>) {
    let headless = spec.get("clusterIP").and_then(Value::as_str) == Some("None");
    let unselective = spec.get("selector").is_none_or(is_empty);
    let dual = headless && unselective && !spec.contains_key("ipFamilyPolicy");
    let policy = if dual { "RequireDualStack" } else { "SingleStack" };
    spec.entry("ipFamilyPolicy").or_insert(policy.into());
    let families = if dual { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
    if spec.get("ipFamilies").is_none_or(is_empty) {
        spec.insert("ipFamilies".into(), families);
    }
}

fn assign_cluster_ip(
    spec: &mut Map<String, Value>,
    old: Option<&Value>,
    taken: &HashSet<&str>,
) -> Result<(), FieldError> {
    let given = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default();
    if given == "None" {
        spec.insert("clusterIPs".into(), json!(["None"]));
        return Ok(());
    }
    if !given.is_empty() {
        let kept = old.is_some_and(|old| old["spec"]["clusterIP"] == *given);
        if !kept {
            check_cluster_ip(given, taken)?;
        }
        let all = json!([given]);
        spec.entry("clusterIPs").or_insert(all);
        return Ok(());
    }
    let hosts = (FIRST_DYNAMIC_HOST..=LAST_HOST).chain(FIRST_HOST..FIRST_DYNAMIC_HOST);
    let [a, b, c] = NETWORK;
    let free = hosts.map(|host| Ipv4Addr::new(a, b, c, host).to_string()).find(|ip| !taken.contains(&**ip));
    let Some(ip) = free else {
        return Err(FieldError {
            kind: FieldErrorKind::Internal,
            path: "spec.clusterIPs".to_owned(),
            value: Value::Null,
            detail: "failed to allocate a serviceIP: range is full".to_owned(),
        });
    };
    spec.insert("clusterIPs".into(), json!([ip]));
    spec.insert("clusterIP".into(), ip.into());
    Ok(())
}

fn check_cluster_ip(ip: &str, taken: &HashSet<&str>) -> Result<(), FieldError> {
    let [a, b, c] = NETWORK;
    let detail = match ip.parse::<IpAddr>() {
        Ok(IpAddr::V4(parsed)) if parsed.octets()[..3] == [a, b, c] => {
            if !taken.contains(ip) {
                return Ok(());
            }
            format!("failed to allocate IP {ip}: provided IP is already allocated")
        }
        // Later checks refuse text that is no IP address.
        Err(_) => return Ok(()),
        Ok(_) => format!(
            "failed to allocate IP {ip}: the provided IP ({ip}) is not in the valid range. The range of valid IPs is \
             {a}.{b}.{c}.0/24"
        ),
    };
    let value = json!([ip]);
    Err(FieldError { kind: FieldErrorKind::Invalid, path: "spec.clusterIPs".to_owned(), value, detail })
}

fn assign_node_ports(
    spec: &mut Map<String, Value>,
    old: Option<&Value>,
    taken: &mut BTreeSet<u64>,
) -> Result<(), FieldError> {
    let wanted = match spec.get("type").and_then(Value::as_str) {
        Some("NodePort") => true,
        Some("LoadBalancer") => spec.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false)),
        _ => return Ok(()),
    };
    let kept: BTreeSet<u64> = old.map(|old| node_ports(&old["spec"]).collect()).unwrap_or_default();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        let Some(port) = port.as_object_mut() else { continue };
        match port.get("nodePort").and_then(Value::as_u64) {
            Some(given) if kept.contains(&given) => {}
            Some(given) => check_node_port(index, given, taken)?,
            None if wanted => {
                let Some(free) = allocate_lowest(taken, &kept) else {
                    return Err(node_port_error(index, 0, "failed to allocate a nodePort: range is full"));
                };
                port.insert("nodePort".into(), free.into());
            }
            None => {}
        }
    }
    let is = |field: &str, value: &str| spec.get(field).is_some_and(|given| given == value);
    if is("type", "LoadBalancer")
        && is("externalTrafficPolicy", "Local")
        && !spec.contains_key("healthCheckNodePort")
        && let Some(free) = allocate_lowest(taken, &kept)
    {
        spec.insert("healthCheckNodePort".into(), free.into());
    }
    Ok(())
}

/// Takes the lowest port that is neither used by another Service nor kept by this one.
fn allocate_lowest(taken: &mut BTreeSet<u64>, kept: &BTreeSet<u64>) -> Option<u64> {
    let free = NODE_PORTS.into_iter().find(|port| !taken.contains(port) && !kept.contains(port))?;
    taken.insert(free);
    Some(free)
}

fn check_node_port(index: usize, port: u64, taken: &mut BTreeSet<u64>) -> Result<(), FieldError> {
    if !NODE_PORTS.contains(&port) {
        let (low, high) = (NODE_PORTS.start(), NODE_PORTS.end());
        let detail =
            format!("provided port is not in the valid range. The range of valid ports is {low}-{high}");
        return Err(node_port_error(index, port, &detail));
    }
    if !taken.insert(port) {
        return Err(node_port_error(index, port, "provided port is already allocated"));
    }
    Ok(())
}

fn node_port_error(index: usize, port: u64, detail: &str) -> FieldError {
    FieldError {
        kind: FieldErrorKind::Invalid,
        path: format!("spec.ports[{index}].nodePort"),
        value: port.into(),
        detail: detail.to_owned(),
    }
}
