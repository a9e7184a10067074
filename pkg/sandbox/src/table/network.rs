//! Services and what leads to them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    AGE, NAME, Printer, text,
    view::{NONE, UNKNOWN, View, first},
    workloads::{map, selector},
};

/// How many addresses, hosts or ports are listed.
const LISTED: usize = 3;

pub(super) const PRINTERS: &[Printer] = &[
    Printer {
        group: "",
        plural: "services",
        columns: &[
            NAME,
            text("Type"),
            text("Cluster-IP"),
            text("External-IP"),
            text("Port(s)"),
            AGE,
            text("Selector").wide(),
        ],
        cells: |object| {
            vec![
                object.name(),
                object.text("/spec/type"),
                object.str_or("/spec/clusterIPs/0", NONE).into(),
                external_ip(object).into(),
                service_ports(object).into(),
                object.age(),
                map(object, "/spec/selector"),
            ]
        },
    },
    Printer {
        group: "",
        plural: "endpoints",
        columns: &[NAME, text("Endpoints"), AGE],
        cells: |object| vec![object.name(), endpoints(object).into(), object.age()],
    },
    Printer {
        group: "discovery.k8s.io",
        plural: "endpointslices",
        columns: &[NAME, text("AddressType"), text("Ports"), text("Endpoints"), AGE],
        cells: |object| {
            let ports: Vec<_> = object.items("/ports").map(slice_port).collect();
            let addresses = object.items("/endpoints").flat_map(|endpoint| endpoint.strings("/addresses"));
            let addresses: Vec<_> = addresses.map(str::to_owned).collect();
            vec![
                object.name(),
                object.text("/addressType"),
                first(&ports, LISTED).into(),
                first(&addresses, LISTED).into(),
                object.age(),
            ]
        },
    },
    Printer {
        group: "networking.k8s.io",
        plural: "ingresses",
        columns: &[NAME, text("Class"), text("Hosts"), text("Address"), text("Ports"), AGE],
        cells: |object| {
            vec![
                object.name(),
                object
                    .get("/spec/ingressClassName")
                    .map_or(NONE, |name| name.as_str().unwrap_or_default())
                    .into(),
                hosts(object).into(),
                balancers(object).into(),
                if object.count("/spec/tls") > 0 { "80, 443" } else { "80" }.into(),
                object.age(),
            ]
        },
    },
    Printer {
        group: "networking.k8s.io",
        plural: "ingressclasses",
        columns: &[NAME, text("Controller"), text("Parameters"), AGE],
        cells: |object| {
            let default = object.annotation("ingressclass.kubernetes.io/is-default-class") == Some("true");
            let mark = if default { " (default)" } else { "" };
            vec![
                format!("{}{mark}", object.str("/metadata/name")).into(),
                object.text("/spec/controller"),
                class_parameters(object).into(),
                object.age(),
            ]
        },
    },
    Printer {
        group: "networking.k8s.io",
        plural: "networkpolicies",
        columns: &[NAME, text("Pod-Selector"), AGE],
        cells: |object| vec![object.name(), selector(object, "/spec/podSelector"), object.age()],
    },
    Printer {
        group: "networking.k8s.io",
        plural: "servicecidrs",
        columns: &[NAME, text("CIDRs"), AGE],
        cells: |object| vec![object.name(), object.strings("/spec/cidrs").join(",").into(), object.age()],
    },
    Printer {
        group: "networking.k8s.io",
        plural: "ipaddresses",
        columns: &[NAME, text("ParentRef")],
        // The real server, too, has one cell more than columns.
        cells: |object| vec![object.name(), parent(object).into(), object.age()],
    },
];

fn external_ip(service: View<'_>) -> String {
    let external = service.strings("/spec/externalIPs");
    let or = |texts: Vec<&str>, none: &str| if texts.is_empty() { none.to_owned() } else { texts.join(",") };
    match service.str("/spec/type") {
        "ClusterIP" | "NodePort" => or(external, NONE),
        "LoadBalancer" => {
            let balancers = balancers(service);
            let balancers = (!balancers.is_empty()).then_some(&*balancers);
            or(balancers.into_iter().chain(external).collect(), "<pending>")
        }
        "ExternalName" => service.str("/spec/externalName").to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// The addresses a load balancer has given, each once, sorted.
fn balancers(object: View<'_>) -> String {
    let given = object.items("/status/loadBalancer/ingress");
    let given: BTreeSet<_> = given.map(|one| one.str_or("/ip", one.str("/hostname"))).collect();
    given.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(",")
}

fn service_ports(service: View<'_>) -> String {
    let ports = service.items("/spec/ports").map(|port| {
        let node = port.number("/nodePort");
        let node = if node > 0 { format!(":{node}") } else { String::new() };
        format!("{}{node}/{}", port.number("/port"), port.str("/protocol"))
    });
    let ports = ports.collect::<Vec<_>>().join(",");
    if ports.is_empty() { NONE.to_owned() } else { ports }
}

/// All addresses with all ports, of Endpoints without ports the addresses alone.
fn endpoints(object: View<'_>) -> String {
    let mut all = Vec::new();
    for subset in object.items("/subsets") {
        let addresses = || subset.items("/addresses").map(|address| address.str("/ip"));
        if subset.count("/ports") == 0 {
            all.extend(addresses().map(str::to_owned));
        }
        for port in subset.items("/ports") {
            let port = port.number("/port");
            all.extend(
                addresses().map(|ip| {
                    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
                }),
            );
        }
    }
    match object.count("/subsets") {
        0 => NONE.to_owned(),
        _ if all.is_empty() => String::new(),
        _ => first(&all, LISTED),
    }
}

fn slice_port(port: View<'_>) -> String {
    port.scalar("/port").or_else(|| port.scalar("/name")).unwrap_or_else(|| "*".to_owned())
}

/// The hosts of the first rules. What is counted as left out are rules, not hosts.
fn hosts(ingress: View<'_>) -> String {
    let rules = ingress.count("/spec/rules");
    let mut listed = Vec::new();
    let mut more = false;
    for rule in ingress.items("/spec/rules") {
        more |= listed.len() == LISTED;
        let host = rule.str("/host");
        if !more && !host.is_empty() {
            listed.push(host);
        }
    }
    match listed.join(",") {
        hosts if hosts.is_empty() => "*".to_owned(),
        hosts if more => format!("{hosts} + {} more...", rules - LISTED),
        hosts => hosts,
    }
}

fn class_parameters(class: View<'_>) -> String {
    if class.get("/spec/parameters").is_none() {
        return NONE.to_owned();
    }
    let group = class.get("/spec/parameters/apiGroup").and_then(Value::as_str);
    let group = group.map(|group| format!(".{group}")).unwrap_or_default();
    format!("{}{group}/{}", class.str("/spec/parameters/kind"), class.str("/spec/parameters/name"))
}

fn parent(address: View<'_>) -> String {
    if address.get("/spec/parentRef").is_none() {
        return NONE.to_owned();
    }
    let part = |field: &str| address.str(&format!("/spec/parentRef/{field}"));
    let group = if part("group").is_empty() { String::new() } else { format!(".{}", part("group")) };
    let namespace =
        if part("namespace").is_empty() { String::new() } else { format!("/{}", part("namespace")) };
    format!("{}{namespace}/{}", format!("{}{group}", part("resource")).to_lowercase(), part("name"))
}
