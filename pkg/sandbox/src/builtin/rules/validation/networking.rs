//! Ingresses, NetworkPolicies, EndpointSlices.

use std::net::IpAddr;

use serde_json::Value;

use super::{SPEC, selector};
use crate::builtin::rules::{
    faults::{Faults, Path, items, text},
    formats,
};

/// Ingress.
pub(super) fn ingress(object: &Value, to: &mut Faults) {
    let spec = &object["spec"];
    if items(&spec["rules"]).next().is_none() && spec["defaultBackend"].is_null() {
        to.invalid(&SPEC, spec["rules"].clone(), "either `defaultBackend` or `rules` must be specified");
    }
    if !spec["defaultBackend"].is_null() {
        backend(&spec["defaultBackend"], &SPEC.field("defaultBackend"), to);
    }
    let list = SPEC.field("rules");
    for (index, rule) in items(&spec["rules"]) {
        let path = list.index(index);
        let name = text(&rule["host"]);
        if !name.is_empty() {
            if name.parse::<IpAddr>().is_ok() {
                to.invalid(&path.field("host"), name, "must be a DNS name, not an IP address");
            }
            host(name, &path.field("host"), to);
        }
        if rule["http"].is_object() {
            let path = path.field("http");
            let path = path.field("paths");
            if items(&rule["http"]["paths"]).next().is_none() {
                to.required(&path, "");
            }
            for (index, one) in items(&rule["http"]["paths"]) {
                http_path(one, &path.index(index), to);
            }
        }
    }
    let list = SPEC.field("tls");
    for (index, tls) in items(&spec["tls"]) {
        let path = list.index(index);
        let hosts = path.field("hosts");
        for (index, name) in items(&tls["hosts"]) {
            host(text(name), &hosts.index(index), to);
        }
        let secret = text(&tls["secretName"]);
        if !secret.is_empty() {
            to.format(&path.field("secretName"), secret, formats::dns_subdomain(secret));
        }
    }
    if let Some(class) = spec["ingressClassName"].as_str() {
        to.format(&SPEC.field("ingressClassName"), class, formats::dns_subdomain(class));
    }
}

fn host(name: &str, path: &Path<'_>, to: &mut Faults) {
    let problems =
        if name.contains('*') { formats::wildcard_dns_subdomain(name) } else { formats::dns_subdomain(name) };
    to.format(path, name, problems);
}

fn http_path(given: &Value, path: &Path<'_>, to: &mut Faults) {
    if given["pathType"].is_null() {
        to.required(&path.field("pathType"), "pathType must be specified");
        return;
    }
    let at = path.field("path");
    let place = text(&given["path"]);
    match text(&given["pathType"]) {
        "Exact" | "Prefix" => {
            if !place.starts_with('/') {
                to.invalid(&at, place, "must be an absolute path");
            }
            for bad in ["//", "/./", "/../", "%2f", "%2F"] {
                if place.contains(bad) {
                    to.invalid(&at, place, format!("must not contain '{bad}'"));
                }
            }
            for bad in ["/..", "/."] {
                if place.ends_with(bad) {
                    to.invalid(&at, place, format!("cannot end with '{bad}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !place.is_empty() && !place.starts_with('/') {
                to.invalid(&at, place, "must be an absolute path");
            }
        }
        other => {
            to.unsupported(&path.field("pathType"), other, &["Exact", "ImplementationSpecific", "Prefix"]);
        }
    }
    backend(&given["backend"], &path.field("backend"), to);
}

fn backend(backend: &Value, path: &Path<'_>, to: &mut Faults) {
    let (resource, service) = (&backend["resource"], &backend["service"]);
    match (resource.is_object(), service.is_object()) {
        (true, true) => to.invalid(path, "", "cannot set both resource and service backends"),
        (true, false) => {
            for field in ["kind", "name"] {
                if text(&resource[field]).is_empty() {
                    to.required(&path.field("resource").field(field), "");
                }
            }
        }
        (false, true) => {
            let at = path.field("service");
            let name = text(&service["name"]);
            if name.is_empty() {
                to.required(&at.field("name"), "");
            } else {
                to.format(&at.field("name"), name, formats::dns_label(name));
            }
            let (name, number) =
                (text(&service["port"]["name"]), service["port"]["number"].as_i64().unwrap_or_default());
            let at = at.field("port");
            match (name.is_empty(), number) {
                (true, 0) => to.required(path, "port name or number is required"),
                (false, 0) => to.format(&at.field("name"), name, formats::port_name(name)),
                (true, number) => {
                    for problem in formats::port_number(number) {
                        to.invalid(&at.field("number"), number, problem);
                    }
                }
                (false, _) => to.invalid(path, "", "cannot set both port name & port number"),
            }
        }
        (false, false) => to.invalid(path, "", "resource or service backend is required"),
    }
}

/// IngressClass.
pub(super) fn ingress_class(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let path = SPEC.field("controller");
    let controller = text(&object["spec"]["controller"]);
    if let Some(old) = old {
        to.immutable(&path, &old["spec"]["controller"], &object["spec"]["controller"]);
    }
    if controller.is_empty() {
        to.required(&path, "");
    } else {
        match controller.split_once('/') {
            Some((domain, rest)) if !domain.is_empty() && !rest.is_empty() => {
                to.format(&path, domain, formats::dns_subdomain(domain));
            }
            _ => to.invalid(&path, controller, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
        }
    }
}

/// NetworkPolicy.
pub(super) fn policy(object: &Value, to: &mut Faults) {
    let spec = &object["spec"];
    selector::validate(&spec["podSelector"], &SPEC.field("podSelector"), to);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        let list = SPEC.field(direction);
        for (index, rule) in items(&spec[direction]) {
            let path = list.index(index);
            let ports = path.field("ports");
            for (index, port) in items(&rule["ports"]) {
                policy_port(port, &ports.index(index), to);
            }
            let list = path.field(peers);
            for (index, one) in items(&rule[peers]) {
                peer(one, &list.index(index), to);
            }
        }
    }
    let list = SPEC.field("policyTypes");
    if items(&spec["policyTypes"]).count() > 2 {
        to.invalid(&list, spec["policyTypes"].clone(), "may not specify more than two policyTypes");
        return;
    }
    for (index, kind) in items(&spec["policyTypes"]) {
        to.one_of(&list.index(index), kind, &["Ingress", "Egress"]);
    }
}

fn policy_port(port: &Value, path: &Path<'_>, to: &mut Faults) {
    to.one_of(&path.field("protocol"), &port["protocol"], &["TCP", "UDP", "SCTP"]);
    let (at, last) = (path.field("port"), path.field("endPort"));
    let end = port["endPort"].as_i64();
    match &port["port"] {
        Value::String(name) => {
            if let Some(end) = end {
                to.invalid(&last, end, "may not be specified when `port` is non-numeric");
            }
            to.format(&at, name, formats::port_name(name));
        }
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or_default();
            for problem in formats::port_number(number) {
                to.invalid(&at, number, problem);
            }
            if end.is_some_and(|end| end < number) {
                to.invalid(&last, number, "must be greater than or equal to `port`");
            }
        }
        _ => {
            if let Some(end) = end {
                to.invalid(&last, end, "may not be specified when `port` is not specified");
            }
        }
    }
}

fn peer(peer: &Value, path: &Path<'_>, to: &mut Faults) {
    let given = ["podSelector", "namespaceSelector", "ipBlock"].map(|field| peer[field].is_object());
    for field in ["podSelector", "namespaceSelector"] {
        selector::validate(&peer[field], &path.field(field), to);
    }
    if peer["ipBlock"].is_object() {
        let block = text(&peer["ipBlock"]["cidr"]);
        let path = path.field("ipBlock");
        let path = path.field("cidr");
        if block.is_empty() {
            to.required(&path, "");
        } else {
            to.format(&path, block, formats::cidr(block));
        }
    }
    match given {
        [false, false, false] => to.required(path, "must specify a peer"),
        [pods, namespaces, true] if pods || namespaces => {
            to.forbidden(path, "may not specify both ipBlock and another peer");
        }
        _ => {}
    }
}

/// EndpointSlice.
pub(super) fn endpoint_slice(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let kind = &object["addressType"];
    let path = Path::Root("addressType");
    if text(kind).is_empty() {
        to.required(&path, "");
    } else {
        to.one_of(&path, kind, &["FQDN", "IPv4", "IPv6"]);
    }
    let list = Path::Root("endpoints");
    for (index, endpoint) in items(&object["endpoints"]) {
        let path = list.index(index);
        let addresses = path.field("addresses");
        if items(&endpoint["addresses"]).next().is_none() {
            to.required(&addresses, "must contain at least 1 address");
        }
        for (index, address) in items(&endpoint["addresses"]) {
            if kind != "FQDN" {
                to.format(&addresses.index(index), text(address), formats::ip_address(text(address)));
            }
        }
    }
    if let Some(old) = old {
        to.immutable(&Path::Root("addressType"), &old["addressType"], kind);
    }
}
