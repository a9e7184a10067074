//! What a cluster is made of, what happens in it, and plain data.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::Value;

use super::{
    AGE, Column, NAME, Printer, boolean, integer, text,
    view::{NONE, UNKNOWN, UNSET, View},
};

const EVENT: &[Column] = &[
    text("Last Seen"),
    text("Type"),
    text("Reason"),
    text("Object"),
    text("Subobject").wide(),
    text("Source").wide(),
    text("Message"),
    text("First Seen").wide(),
    text("Count").wide(),
    Column { priority: 1, ..NAME },
];

pub(super) const PRINTERS: &[Printer] = &[
    Printer {
        group: "",
        plural: "namespaces",
        columns: &[NAME, text("Status"), AGE],
        cells: |object| vec![object.name(), object.text("/status/phase"), object.age()],
    },
    Printer {
        group: "",
        plural: "configmaps",
        columns: &[NAME, text("Data"), AGE],
        cells: |object| {
            vec![object.name(), (object.count("/data") + object.count("/binaryData")).into(), object.age()]
        },
    },
    Printer {
        group: "",
        plural: "secrets",
        columns: &[NAME, text("Type"), text("Data"), AGE],
        cells: |object| vec![object.name(), object.text("/type"), object.count("/data").into(), object.age()],
    },
    Printer {
        group: "",
        plural: "serviceaccounts",
        columns: &[NAME, AGE],
        cells: |object| vec![object.name(), object.age()],
    },
    Printer {
        group: "",
        plural: "nodes",
        columns: &[
            NAME,
            text("Status"),
            text("Roles"),
            AGE,
            text("Version"),
            text("Internal-IP").wide(),
            text("External-IP").wide(),
            text("OS-Image").wide(),
            text("Kernel-Version").wide(),
            text("Container-Runtime").wide(),
        ],
        cells: node,
    },
    Printer { group: "", plural: "events", columns: EVENT, cells: event },
    Printer { group: "events.k8s.io", plural: "events", columns: EVENT, cells: event },
    Printer {
        group: "",
        plural: "resourcequotas",
        columns: &[NAME, text("Request"), text("Limit"), AGE],
        cells: |object| {
            vec![object.name(), quota(object, false).into(), quota(object, true).into(), object.age()]
        },
    },
    Printer {
        group: "",
        plural: "componentstatuses",
        columns: &[NAME, text("Status"), text("Message"), text("Error")],
        cells: |object| {
            let healthy = object.items("/conditions").find(|condition| condition.str("/type") == "Healthy");
            let status = match healthy.map(|condition| condition.str("/status")) {
                Some("True") => "Healthy",
                Some(_) => "Unhealthy",
                None => "Unknown",
            };
            let part = |path| Value::from(healthy.map(|condition| condition.str(path)).unwrap_or_default());
            vec![object.name(), status.into(), part("/message"), part("/error")]
        },
    },
    Printer {
        group: "coordination.k8s.io",
        plural: "leases",
        columns: &[NAME, text("Holder"), AGE],
        cells: |object| vec![object.name(), object.text("/spec/holderIdentity"), object.age()],
    },
    Printer {
        group: "scheduling.k8s.io",
        plural: "priorityclasses",
        columns: &[NAME, integer("Value"), boolean("Global-Default"), AGE, text("PreemptionPolicy")],
        cells: |object| {
            vec![
                object.name(),
                object.int("/value"),
                object.flag("/globalDefault").into(),
                object.age(),
                object.text("/preemptionPolicy"),
            ]
        },
    },
    Printer {
        group: "node.k8s.io",
        plural: "runtimeclasses",
        columns: &[NAME, text("Handler"), AGE],
        cells: |object| vec![object.name(), object.text("/handler"), object.age()],
    },
    Printer {
        group: "apiregistration.k8s.io",
        plural: "apiservices",
        columns: &[NAME, text("Service"), text("Available"), AGE],
        cells: |object| {
            vec![object.name(), api_service(object).into(), available(object).into(), object.age()]
        },
    },
    Printer {
        group: "flowcontrol.apiserver.k8s.io",
        plural: "flowschemas",
        columns: &[
            NAME,
            text("PriorityLevel"),
            text("MatchingPrecedence"),
            text("DistinguisherMethod"),
            AGE,
            text("MissingPL"),
        ],
        cells: |object| {
            let dangling = object.condition("Dangling");
            vec![
                object.name(),
                object.text("/spec/priorityLevelConfiguration/name"),
                object.int("/spec/matchingPrecedence"),
                object.str_or("/spec/distinguisherMethod/type", NONE).into(),
                object.age(),
                if dangling.is_empty() { "?" } else { dangling }.into(),
            ]
        },
    },
    Printer {
        group: "flowcontrol.apiserver.k8s.io",
        plural: "prioritylevelconfigurations",
        columns: &[
            NAME,
            text("Type"),
            text("NominalConcurrencyShares"),
            text("Queues"),
            text("HandSize"),
            text("QueueLengthLimit"),
            AGE,
        ],
        cells: |object| {
            let number = |path: &str| object.get(path).cloned().unwrap_or_else(|| NONE.into());
            let queuing = |field: &str| number(&format!("/spec/limited/limitResponse/queuing/{field}"));
            vec![
                object.name(),
                object.text("/spec/type"),
                number("/spec/limited/nominalConcurrencyShares"),
                queuing("queues"),
                queuing("handSize"),
                queuing("queueLengthLimit"),
                object.age(),
            ]
        },
    },
];

fn node(node: View<'_>) -> Vec<Value> {
    let mut status = match node.condition("Ready") {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    }
    .to_owned();
    if node.flag("/spec/unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let found = node.items("/status/addresses").find(|address| address.str("/type") == kind);
        Value::from(found.map_or(NONE, |address| address.str("/address")))
    };
    let info = |field: &str| node.str_or(&format!("/status/nodeInfo/{field}"), UNKNOWN);
    let kernel = match node.str("/status/nodeInfo/architecture") {
        "" => info("kernelVersion").to_owned(),
        architecture => format!("{} ({architecture})", info("kernelVersion")),
    };
    vec![
        node.name(),
        status.into(),
        roles(node).into(),
        node.age(),
        node.text("/status/nodeInfo/kubeletVersion"),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage").into(),
        kernel.into(),
        info("containerRuntimeVersion").into(),
    ]
}

fn roles(node: View<'_>) -> String {
    let labels = node.get("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let roles: BTreeSet<_> = labels
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() { NONE.to_owned() } else { roles.into_iter().collect::<Vec<_>>().join(",") }
}

/// An event of either API: `events.k8s.io` calls the same fields otherwise.
fn event(event: View<'_>) -> Vec<Value> {
    let either =
        |old: &str, new: &str| if event.get(old).is_some() { event.str(old) } else { event.str(new) };
    let about = if event.get("/involvedObject").is_some() { "/involvedObject" } else { "/regarding" };
    let kind = event.str(&format!("{about}/kind")).to_lowercase();
    let target = match event.str(&format!("{about}/name")) {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let first = either("/firstTimestamp", "/deprecatedFirstTimestamp");
    let first = super::age::since(if first.is_empty() { event.str("/eventTime") } else { first }, event.now);
    let last = match either("/lastTimestamp", "/deprecatedLastTimestamp") {
        "" => first.clone(),
        last => super::age::since(last, event.now),
    };
    let (last, count) = if event.get("/series").is_some() {
        (event.since("/series/lastObservedTime"), event.number("/series/count"))
    } else {
        let count = event.number("/count").max(event.number("/deprecatedCount"));
        (last, count.max(1))
    };
    vec![
        last.into(),
        event.text("/type"),
        event.text("/reason"),
        target.into(),
        event.text(&format!("{about}/fieldPath")),
        source(event).into(),
        either("/message", "/note").trim().into(),
        first.into(),
        count.into(),
        event.name(),
    ]
}

fn source(event: View<'_>) -> Cow<'_, str> {
    let first =
        |paths: [&str; 4]| paths.into_iter().map(|path| event.str(path)).find(|text| !text.is_empty());
    let component = first([
        "/source/component",
        "/deprecatedSource/component",
        "/reportingComponent",
        "/reportingController",
    ]);
    let component = component.unwrap_or_default();
    match first(["/source/host", "/deprecatedSource/host", "/reportingInstance", "/reportingInstance"]) {
        None => component.into(),
        Some(instance) => format!("{component}, {instance}").into(),
    }
}

/// What is used of what there is: of limits, or of all the rest.
fn quota(object: View<'_>, limits: bool) -> String {
    let hard = object.get("/status/hard").and_then(Value::as_object).into_iter().flatten();
    let used = object.get("/status/used");
    let parts =
        hard.filter(|(resource, _)| resource.starts_with("limits.") == limits).map(|(resource, hard)| {
            let used = used.and_then(|used| used.get(resource)).and_then(Value::as_str).unwrap_or("0");
            format!("{resource}: {used}/{}", hard.as_str().unwrap_or_default())
        });
    parts.collect::<Vec<_>>().join(", ")
}

fn api_service(object: View<'_>) -> String {
    if object.get("/spec/service").is_none() {
        return "Local".to_owned();
    }
    format!("{}/{}", object.str("/spec/service/namespace"), object.str("/spec/service/name"))
}

fn available(object: View<'_>) -> String {
    let Some(condition) =
        object.items("/status/conditions").find(|condition| condition.str("/type") == "Available")
    else {
        return "Unknown".to_owned();
    };
    match (condition.str("/status"), condition.str("/reason")) {
        (status @ "True", _) | (status, "") => status.to_owned(),
        (status, reason) => format!("{status} ({reason})"),
    }
}

/// The object another one takes its parameters from, as `admissionregistration.k8s.io` prints it.
pub(super) fn parameter(object: View<'_>) -> String {
    let (name, namespace) = (object.str("/spec/paramRef/name"), object.str("/spec/paramRef/namespace"));
    match (name, namespace) {
        ("", _) => match object.get("/spec/paramRef/selector") {
            Some(selector) => {
                format!("&LabelSelector{{{}}}", crate::selector::LabelSelector::of_object(selector))
            }
            None => UNSET.to_owned(),
        },
        (name, "") => format!("*/{name}"),
        (name, namespace) => format!("{namespace}/{name}"),
    }
}
