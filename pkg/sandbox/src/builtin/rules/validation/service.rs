//! Validation of Services, except their addresses.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::selector;
use crate::builtin::rules::{
    field_path::{FieldPath, SPEC, items, text},
    formats,
};
use crate::status::{FieldError, FieldErrors};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

pub(super) fn service(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let kind = text(&spec["type"]);
    let headless = spec["clusterIP"] == "None";
    if let Some(old) = old {
        same_cluster_ip(spec, &old["spec"], errors);
    }
    if items(&spec["ports"]).next().is_none() && !headless && kind != "ExternalName" {
        errors.required(SPEC.field("ports"), "");
    }
    let ips = SPEC.field("clusterIPs");
    match kind {
        "LoadBalancer" | "NodePort" if headless => {
            let detail = format!("may not be set to 'None' for {kind} services");
            errors.invalid(ips.index(0), "None", detail);
        }
        "ExternalName" => {
            if !text(&spec["clusterIP"]).is_empty() {
                errors.forbidden(ips, "may not be set for ExternalName services");
            }
            let name = text(&spec["externalName"]).trim_end_matches('.');
            if name.is_empty() {
                errors.required(SPEC.field("externalName"), "");
            } else {
                errors.format(SPEC.field("externalName"), name, formats::dns_subdomain(name));
            }
        }
        _ => {}
    }
    ports(spec, errors);
    selector::labels(&spec["selector"], &SPEC.field("selector"), errors);
    errors.one_of(SPEC.field("sessionAffinity"), &spec["sessionAffinity"], &["ClientIP", "None"]);
    for (index, ip) in items(&spec["clusterIPs"]) {
        if text(ip) != "None" {
            errors.format(ips.index(index), text(ip), formats::ip_address(text(ip)));
        }
    }
    let external = SPEC.field("externalIPs");
    for (index, ip) in items(&spec["externalIPs"]) {
        errors.format(external.index(index), text(ip), formats::ip_address(text(ip)));
    }
    if !TYPES.contains(&kind) {
        errors.not_supported(SPEC.field("type"), kind, &TYPES);
    }
    if kind == "ClusterIP" {
        for (index, port) in items(&spec["ports"]) {
            if port["nodePort"].as_i64().is_some_and(|number| number != 0) {
                let path = SPEC.field("ports");
                errors.forbidden(
                    path.index(index).field("nodePort"),
                    "may not be used when `type` is 'ClusterIP'",
                );
            }
        }
    }
    traffic_policies(spec, kind, errors);
    repeated_ports(spec, errors);
    families(spec, errors);
}

fn same_cluster_ip(spec: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let stays = |spec: &Value| spec["type"] != "ExternalName" && !text(&spec["clusterIP"]).is_empty();
    if stays(spec) && stays(old) && spec["clusterIP"] != old["clusterIP"] {
        let ips = SPEC.field("clusterIPs");
        errors.invalid(ips.index(0), spec["clusterIPs"].clone(), "may not change once set");
    }
}

fn ports(spec: &Value, errors: &mut Vec<FieldError>) {
    let list = SPEC.field("ports");
    let several = items(&spec["ports"]).count() > 1;
    let mut names = HashSet::new();
    let mut node_ports = HashSet::new();
    for (index, port) in items(&spec["ports"]) {
        let path = list.index(index);
        let name = text(&port["name"]);
        if name.is_empty() {
            if several {
                errors.required(path.field("name"), "");
            }
        } else {
            errors.format(path.field("name"), name, formats::dns_label(name));
            if !names.insert(name) {
                errors.duplicate(path.field("name"), name);
            }
        }
        let number = port["port"].as_i64().unwrap_or_default();
        for problem in formats::port_number(number) {
            errors.invalid(path.field("port"), number, problem);
        }
        errors.one_of(path.field("protocol"), &port["protocol"], &["SCTP", "TCP", "UDP"]);
        let target = &port["targetPort"];
        let at = path.field("targetPort");
        match target {
            Value::String(name) => errors.format(at, name, formats::port_name(name)),
            Value::Number(_) => {
                let number = target.as_i64().unwrap_or_default();
                for problem in formats::port_number(number) {
                    errors.invalid(at, number, problem);
                }
            }
            _ => {}
        }
        if let Some(number) = port["nodePort"].as_i64().filter(|number| *number != 0)
            && !node_ports.insert((number, text(&port["protocol"])))
        {
            errors.duplicate(path.field("nodePort"), number);
        }
    }
}

fn traffic_policies(spec: &Value, kind: &str, errors: &mut Vec<FieldError>) {
    const POLICIES: [&str; 2] = ["Cluster", "Local"];
    let external = &spec["externalTrafficPolicy"];
    let path = SPEC.field("externalTrafficPolicy");
    let reachable =
        matches!(kind, "NodePort" | "LoadBalancer") || items(&spec["externalIPs"]).next().is_some();
    match (reachable, external.is_null()) {
        (true, true) => errors.required(path, ""),
        (true, false) => errors.one_of(path, external, &POLICIES),
        (false, true) => {}
        (false, false) => {
            errors.invalid(path, external.clone(), "may only be set for externally-accessible services");
        }
    }
    for (field, supported) in [
        ("internalTrafficPolicy", &POLICIES[..]),
        ("ipFamilyPolicy", &["PreferDualStack", "RequireDualStack", "SingleStack"]),
    ] {
        if !spec[field].is_null() {
            errors.one_of(SPEC.field(field), &spec[field], supported);
        }
    }
}

fn repeated_ports(spec: &Value, errors: &mut Vec<FieldError>) {
    let list = SPEC.field("ports");
    let mut seen = HashSet::new();
    for (index, port) in items(&spec["ports"]) {
        let protocol = text(&port["protocol"]);
        if !seen.insert((protocol, port["port"].as_i64())) {
            // The real server prints its internal field names.
            let printed = json!({
                "Name": "",
                "Protocol": protocol,
                "AppProtocol": null,
                "Port": port["port"],
                "TargetPort": 0,
                "NodePort": 0,
            });
            errors.duplicate(list.index(index), printed);
        }
    }
}

/// Checks IP families; the cluster has only IPv4 addresses.
fn families(spec: &Value, errors: &mut Vec<FieldError>) {
    let headless = spec["clusterIP"] == "None";
    let path: FieldPath<'_> = SPEC.field("ipFamilies");
    for (index, family) in items(&spec["ipFamilies"]) {
        match text(family) {
            "IPv4" => {}
            "IPv6" if headless => {}
            "IPv6" => errors.invalid(path.index(index), "IPv6", "not configured on this cluster"),
            other => errors.not_supported(path.index(index), other, &["IPv4", "IPv6"]),
        }
    }
}
