//! Validation of Pods and Pod templates.

use std::collections::HashSet;

use serde_json::Value;

use super::selector;
use crate::builtin::rules::{
    faults::{Faults, Path, SPEC, entries, items, text},
    formats::{self, NameRule},
    quantity::Quantity,
};

/// Validates a Pod; an update may change only a few fields.
pub(super) fn pod(object: &Value, old: Option<&Value>, to: &mut Faults) {
    spec(&object["spec"], &SPEC, to);
    for list in ["containers", "initContainers"] {
        for (index, container) in items(&object["spec"][list]) {
            let image = text(&container["image"]);
            if image.trim() != image {
                let path = SPEC.field(list);
                let path = path.index(index);
                to.invalid(&path.field("image"), image, "must not have leading or trailing whitespace");
            }
        }
    }
    if let Some(old) = old {
        unchanged(&object["spec"], &old["spec"], to);
    }
}

pub(super) fn template(template: &Value, path: &Path<'_>, to: &mut Faults) {
    let labels = path.field("labels");
    selector::labels(&template["metadata"]["labels"], &labels, to);
    spec(&template["spec"], &path.field("spec"), to);
}

/// Checks that an update changes only images, deadlines (shorter) and tolerations (additional).
fn unchanged(new: &Value, old: &Value, to: &mut Faults) {
    let fixed = |spec: &Value| {
        let mut spec = spec.clone();
        for list in ["containers", "initContainers"] {
            let containers = spec.get_mut(list).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
                container.remove("image");
            }
        }
        if let Some(fields) = spec.as_object_mut() {
            for field in
                ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates"]
            {
                fields.remove(field);
            }
            fields.retain(|_, value| !value.is_null());
        }
        spec
    };
    for list in ["containers", "initContainers"] {
        if items(&new[list]).count() != items(&old[list]).count() {
            to.forbidden(&SPEC.field(list), "pod updates may not add or remove containers");
            return;
        }
    }
    if items(&old["tolerations"]).any(|(_, one)| !items(&new["tolerations"]).any(|(_, other)| other == one)) {
        let path = SPEC.field("tolerations");
        to.forbidden(&path, "existing toleration can not be modified except its tolerationSeconds");
    }
    if fixed(new) != fixed(old) {
        to.forbidden(
            &SPEC,
            "pod updates may not change fields other than `spec.containers[*].image`,\
             `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
             tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        );
    }
}

fn spec(spec: &Value, path: &Path<'_>, to: &mut Faults) {
    let mut volume_names = HashSet::new();
    volumes(&spec["volumes"], &path.field("volumes"), &mut volume_names, to);
    let mut names = HashSet::new();
    let list = path.field("containers");
    if items(&spec["containers"]).next().is_none() {
        to.required(&list, "");
    }
    for (index, one) in items(&spec["containers"]) {
        container(one, &list.index(index), &volume_names, &mut names, to);
    }
    host_ports(&spec["containers"], &list, to);
    let list = path.field("initContainers");
    for (index, one) in items(&spec["initContainers"]) {
        container(one, &list.index(index), &volume_names, &mut names, to);
    }
    to.one_of(&path.field("restartPolicy"), &spec["restartPolicy"], &["Always", "OnFailure", "Never"]);
    to.one_of(
        &path.field("dnsPolicy"),
        &spec["dnsPolicy"],
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    selector::labels(&spec["nodeSelector"], &path.field("nodeSelector"), to);
    tolerations(&spec["tolerations"], &path.field("tolerations"), to);
    for (field, rule) in [
        ("serviceAccountName", NameRule::DnsSubdomain),
        ("nodeName", NameRule::DnsSubdomain),
        ("hostname", NameRule::DnsLabel),
        ("subdomain", NameRule::DnsLabel),
        ("priorityClassName", NameRule::DnsSubdomain),
        ("runtimeClassName", NameRule::DnsSubdomain),
    ] {
        let value = text(&spec[field]);
        if !value.is_empty() {
            to.format(&path.field(field), value, rule.problems(value, false));
        }
    }
    if let Some(seconds) = spec["activeDeadlineSeconds"].as_i64()
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let detail = format!("must be between 1 and {}, inclusive", i32::MAX);
        to.invalid(&path.field("activeDeadlineSeconds"), seconds, detail);
    }
}

fn volumes<'a>(list: &'a Value, path: &Path<'_>, names: &mut HashSet<&'a str>, to: &mut Faults) {
    for (index, volume) in items(list) {
        let path = path.index(index);
        let name = text(&volume["name"]);
        let sources = entries(volume).filter(|(field, _)| *field != "name");
        match sources.count() {
            0 => to.required(&path, "must specify a volume type"),
            1 => volume_source(volume, &path, to),
            _ => {
                if let Some((source, _)) = entries(volume).filter(|(field, _)| *field != "name").nth(1) {
                    to.forbidden(&path.field(source), "may not specify more than 1 volume type");
                }
            }
        }
        if name.is_empty() {
            to.required(&path.field("name"), "");
        } else {
            to.format(&path.field("name"), name, formats::dns_label(name));
        }
        if !name.is_empty() && !names.insert(name) {
            to.duplicate(&path.field("name"), name);
        }
    }
}

/// Checks that volume sources name their object.
fn volume_source(volume: &Value, path: &Path<'_>, to: &mut Faults) {
    for (source, field) in [
        ("hostPath", "path"),
        ("secret", "secretName"),
        ("configMap", "name"),
        ("persistentVolumeClaim", "claimName"),
        ("csi", "driver"),
    ] {
        let given = &volume[source];
        if given.is_object() && text(&given[field]).is_empty() {
            to.required(&path.field(source).field(field), "");
        }
    }
    let path_type = &volume["hostPath"]["type"];
    if path_type.is_string() {
        let types = [
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ];
        to.one_of(&path.field("hostPath.type"), path_type, &types);
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        file_mode(&path.field(source).field("defaultMode"), &volume[source]["defaultMode"], to);
    }
}

fn file_mode(path: &Path<'_>, mode: &Value, to: &mut Faults) {
    if let Some(number) = mode.as_i64().filter(|mode| !(0..=0o777).contains(mode)) {
        to.invalid(path, number, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}

fn container<'a>(
    container: &'a Value,
    path: &Path<'_>,
    volumes: &HashSet<&str>,
    names: &mut HashSet<&'a str>,
    to: &mut Faults,
) {
    let name = text(&container["name"]);
    if name.is_empty() {
        to.required(&path.field("name"), "");
    } else {
        to.format(&path.field("name"), name, formats::dns_label(name));
    }
    let image = text(&container["image"]);
    if image.is_empty() {
        to.required(&path.field("image"), "");
    }
    to.one_of(
        &path.field("terminationMessagePolicy"),
        &container["terminationMessagePolicy"],
        &["File", "FallbackToLogsOnError"],
    );
    ports(&container["ports"], &path.field("ports"), to);
    variables(&container["env"], &path.field("env"), to);
    mounts(&container["volumeMounts"], &path.field("volumeMounts"), volumes, to);
    to.one_of(
        &path.field("imagePullPolicy"),
        &container["imagePullPolicy"],
        &["Always", "IfNotPresent", "Never"],
    );
    resources(&container["resources"], &path.field("resources"), to);
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        probe(&container[field], &path.field(field), field, to);
    }
    if !name.is_empty() && !names.insert(name) {
        to.duplicate(&path.field("name"), name);
    }
}

fn ports(list: &Value, path: &Path<'_>, to: &mut Faults) {
    let mut names = HashSet::new();
    for (index, port) in items(list) {
        let path = path.index(index);
        let name = text(&port["name"]);
        if !name.is_empty() {
            let problems = formats::port_name(name);
            if problems.is_empty() {
                if !names.insert(name) {
                    to.duplicate(&path.field("name"), name);
                }
            } else {
                to.format(&path.field("name"), name, problems);
            }
        }
        match port["containerPort"].as_i64().unwrap_or_default() {
            0 => to.required(&path.field("containerPort"), ""),
            number => number_format(&path.field("containerPort"), number, to),
        }
        if let Some(number) = port["hostPort"].as_i64().filter(|number| *number != 0) {
            number_format(&path.field("hostPort"), number, to);
        }
        to.one_of(&path.field("protocol"), &port["protocol"], &["SCTP", "TCP", "UDP"]);
    }
}

/// Checks that no two containers of a Pod use the same host port.
fn host_ports(containers: &Value, path: &Path<'_>, to: &mut Faults) {
    let mut taken = HashSet::new();
    for (index, container) in items(containers) {
        let path = path.index(index);
        let list = path.field("ports");
        for (index, port) in items(&container["ports"]) {
            let Some(number) = port["hostPort"].as_i64().filter(|number| *number != 0) else { continue };
            let wanted = format!("{}/{}/{number}", text(&port["protocol"]), text(&port["hostIP"]));
            if taken.contains(&wanted) {
                to.duplicate(&list.index(index).field("hostPort"), wanted);
            } else {
                taken.insert(wanted);
            }
        }
    }
}

fn number_format(path: &Path<'_>, number: i64, to: &mut Faults) {
    for problem in formats::port_number(number) {
        to.invalid(path, number, problem);
    }
}

fn variables(list: &Value, path: &Path<'_>, to: &mut Faults) {
    for (index, variable) in items(list) {
        let path = path.index(index);
        let name = text(&variable["name"]);
        if name.is_empty() {
            to.required(&path.field("name"), "");
        } else {
            to.format(&path.field("name"), name, formats::variable_name(name));
        }
        let Some(sources) = variable["valueFrom"].as_object() else { continue };
        let from = path.field("valueFrom");
        if sources.is_empty() {
            to.invalid(
                &from,
                "",
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                 `fileKeyRef`",
            );
        } else if !text(&variable["value"]).is_empty() {
            to.invalid(&from, "", "may not be specified when `value` is not empty");
        } else if sources.len() > 1 {
            to.invalid(&from, "", "may not have more than one field specified at a time");
        }
        if let Some(reference) = sources.get("fieldRef") {
            field_path(text(&reference["fieldPath"]), &from.field("fieldRef").field("fieldPath"), to);
        }
        for source in ["configMapKeyRef", "secretKeyRef"] {
            let Some(reference) = sources.get(source) else { continue };
            let at = from.field(source);
            let name = text(&reference["name"]);
            to.format(&at.field("name"), name, formats::dns_subdomain(name));
            if text(&reference["key"]).is_empty() {
                to.required(&at.field("key"), "");
            }
        }
    }
}

/// Checks a Pod field that an environment variable refers to.
fn field_path(name: &str, path: &Path<'_>, to: &mut Faults) {
    const KNOWN: [&str; 9] = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let keyed = ["metadata.annotations['", "metadata.labels['"];
    if name.is_empty() {
        to.required(path, "");
    } else if !KNOWN.contains(&name)
        && !keyed.iter().any(|start| name.starts_with(start) && name.ends_with("']"))
    {
        to.invalid(path, name, format!("error converting fieldPath: field label not supported: {name}"));
    }
}

fn mounts(list: &Value, path: &Path<'_>, volumes: &HashSet<&str>, to: &mut Faults) {
    let mut places = HashSet::new();
    for (index, mount) in items(list) {
        let path = path.index(index);
        let name = text(&mount["name"]);
        if name.is_empty() {
            to.required(&path.field("name"), "");
        }
        if !volumes.contains(name) {
            to.not_found(&path.field("name"), name);
        }
        let place = text(&mount["mountPath"]);
        if place.is_empty() {
            to.required(&path.field("mountPath"), "");
        }
        if !places.insert(place) {
            to.invalid(&path.field("mountPath"), place, "must be unique");
        }
    }
}

/// Checks the resources of a container: known names, no negative values, no request above its limit.
pub(super) fn resources(resources: &Value, path: &Path<'_>, to: &mut Faults) {
    let limits = path.field("limits");
    for (name, limit) in entries(&resources["limits"]) {
        resource(name, limit, &limits, to);
    }
    let requests = path.field("requests");
    for (name, request) in entries(&resources["requests"]) {
        resource(name, request, &requests, to);
        let limit = &resources["limits"][name];
        if let (Some(wanted), Some(most)) =
            (Quantity::parse(text(request)), limit.as_str().and_then(Quantity::parse))
            && wanted.compare(most).is_gt()
        {
            let detail = format!("must be less than or equal to {name} limit of {}", text(limit));
            to.invalid(&requests, text(request), detail);
        }
    }
}

fn resource(name: &str, amount: &Value, path: &Path<'_>, to: &mut Faults) {
    let path = path.key(name);
    to.format(&path, name, formats::qualified_name(name));
    if !name.contains('/')
        && !matches!(name, "cpu" | "memory" | "ephemeral-storage")
        && !name.starts_with("hugepages-")
    {
        to.invalid(&path, name, "must be a standard resource type or fully qualified");
        to.invalid(&path, name, "must be a standard resource for containers");
    }
    if Quantity::parse(text(amount)).is_some_and(Quantity::is_negative) {
        to.invalid(&path, text(amount), "must be greater than or equal to 0");
    }
}

fn probe(probe: &Value, path: &Path<'_>, field: &str, to: &mut Faults) {
    let Some(fields) = probe.as_object() else { return };
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
    let given: Vec<&str> = handlers.into_iter().filter(|handler| fields.contains_key(*handler)).collect();
    if let Some(extra) = given.get(1) {
        to.forbidden(&path.field(extra), "may not specify more than 1 handler type");
    }
    if given.is_empty() {
        to.required(path, "must specify a handler type");
    }
    let http = path.field("httpGet");
    if given.contains(&"httpGet") {
        handler_port(&http.field("port"), &probe["httpGet"]["port"], to);
        to.one_of(&http.field("scheme"), &probe["httpGet"]["scheme"], &["HTTP", "HTTPS"]);
    }
    if given.contains(&"tcpSocket") {
        handler_port(&path.field("tcpSocket.port"), &probe["tcpSocket"]["port"], to);
    }
    for number in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        to.not_negative(&path.field(number), &probe[number]);
    }
    if field != "readinessProbe" && probe["successThreshold"].as_i64().is_some_and(|number| number != 1) {
        to.invalid(&path.field("successThreshold"), probe["successThreshold"].clone(), "must be 1");
    }
}

fn handler_port(path: &Path<'_>, port: &Value, to: &mut Faults) {
    match port {
        Value::String(name) => to.format(path, name, formats::port_name(name)),
        _ => number_format(path, port.as_i64().unwrap_or_default(), to),
    }
}

fn tolerations(list: &Value, path: &Path<'_>, to: &mut Faults) {
    for (index, toleration) in items(list) {
        let path = path.index(index);
        let (key, operator) = (text(&toleration["key"]), text(&toleration["operator"]));
        if !key.is_empty() {
            to.format(&path.field("key"), key, formats::qualified_name(key));
        }
        if key.is_empty() && operator != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            to.invalid(&path.field("operator"), operator, detail);
        }
        if !toleration["tolerationSeconds"].is_null() && text(&toleration["effect"]) != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            to.invalid(&path.field("effect"), text(&toleration["effect"]), detail);
        }
        match operator {
            "" | "Equal" => {
                let value = text(&toleration["value"]);
                to.format(&path.field("operator"), value, formats::label_value(value));
            }
            "Exists" if !text(&toleration["value"]).is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                to.invalid(&path.field("operator"), toleration["value"].clone(), detail);
            }
            "Exists" => {}
            _ => to.unsupported(&path.field("operator"), operator, &["Equal", "Exists"]),
        }
        let effect = &toleration["effect"];
        if !text(effect).is_empty() {
            let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            to.one_of(&path.field("effect"), effect, &effects);
        }
    }
}
