//! Validation of Pods and Pod templates.

use std::{cmp::Ordering, collections::HashSet};

use manifest::quantity;
use serde_json::Value;

use super::selector;
use crate::builtin::rules::{
    field_path::{FieldPath, SPEC, entries, items, text},
    formats::{self, NameRule},
};
use crate::status::{FieldError, FieldErrorKind, FieldErrors};

/// Validates a Pod; an update may change only a few fields.
pub(super) fn pod(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    spec(&object["spec"], &SPEC, errors);
    for list in ["containers", "initContainers"] {
        for (index, container) in items(&object["spec"][list]) {
            let image = text(&container["image"]);
            if image.trim() != image {
                let path = SPEC.field(list);
                let path = path.index(index);
                errors.invalid(path.field("image"), image, "must not have leading or trailing whitespace");
            }
        }
    }
    if let Some(old) = old {
        mutable_fields(&object["spec"], &old["spec"], errors);
    }
}

pub(super) fn template(template: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let labels = path.field("labels");
    selector::labels(&template["metadata"]["labels"], &labels, errors);
    spec(&template["spec"], &path.field("spec"), errors);
}

/// Checks that an update changes only images, deadlines (shorter) and tolerations (additional).
fn mutable_fields(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
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
            errors.forbidden(SPEC.field(list), "pod updates may not add or remove containers");
            return;
        }
    }
    if items(&old["tolerations"]).any(|(_, one)| !items(&new["tolerations"]).any(|(_, other)| other == one)) {
        let path = SPEC.field("tolerations");
        errors.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    }
    if fixed(new) != fixed(old) {
        errors.forbidden(
            SPEC,
            "pod updates may not change fields other than `spec.containers[*].image`,\
             `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
             tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        );
    }
}

fn spec(spec: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let mut volume_names = HashSet::new();
    volumes(&spec["volumes"], &path.field("volumes"), &mut volume_names, errors);
    let mut names = HashSet::new();
    let list = path.field("containers");
    if items(&spec["containers"]).next().is_none() {
        errors.required(list, "");
    }
    for (index, one) in items(&spec["containers"]) {
        container(one, &list.index(index), &volume_names, &mut names, errors);
    }
    host_ports(&spec["containers"], &list, errors);
    let list = path.field("initContainers");
    for (index, one) in items(&spec["initContainers"]) {
        container(one, &list.index(index), &volume_names, &mut names, errors);
    }
    errors.one_of(path.field("restartPolicy"), &spec["restartPolicy"], &["Always", "OnFailure", "Never"]);
    errors.one_of(
        path.field("dnsPolicy"),
        &spec["dnsPolicy"],
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    selector::labels(&spec["nodeSelector"], &path.field("nodeSelector"), errors);
    tolerations(&spec["tolerations"], &path.field("tolerations"), errors);
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
            errors.format(path.field(field), value, rule.problems(value, false));
        }
    }
    if let Some(seconds) = spec["activeDeadlineSeconds"].as_i64()
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let detail = format!("must be between 1 and {}, inclusive", i32::MAX);
        errors.invalid(path.field("activeDeadlineSeconds"), seconds, detail);
    }
}

fn volumes<'a>(
    list: &'a Value,
    path: &FieldPath<'_>,
    names: &mut HashSet<&'a str>,
    errors: &mut Vec<FieldError>,
) {
    for (index, volume) in items(list) {
        let path = path.index(index);
        let name = text(&volume["name"]);
        let sources = entries(volume).filter(|(field, _)| *field != "name");
        match sources.count() {
            0 => errors.required(path, "must specify a volume type"),
            1 => volume_source(volume, &path, errors),
            _ => {
                if let Some((source, _)) = entries(volume).filter(|(field, _)| *field != "name").nth(1) {
                    errors.forbidden(path.field(source), "may not specify more than 1 volume type");
                }
            }
        }
        if name.is_empty() {
            errors.required(path.field("name"), "");
        } else {
            errors.format(path.field("name"), name, formats::dns_label(name));
        }
        if !name.is_empty() && !names.insert(name) {
            errors.duplicate(path.field("name"), name);
        }
    }
}

/// Checks that volume sources name their object.
fn volume_source(volume: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for (source, field) in [
        ("hostPath", "path"),
        ("secret", "secretName"),
        ("configMap", "name"),
        ("persistentVolumeClaim", "claimName"),
        ("csi", "driver"),
    ] {
        let given = &volume[source];
        if given.is_object() && text(&given[field]).is_empty() {
            errors.required(path.field(source).field(field), "");
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
        errors.one_of(path.field("hostPath.type"), path_type, &types);
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        file_mode(&path.field(source).field("defaultMode"), &volume[source]["defaultMode"], errors);
    }
}

fn file_mode(path: &FieldPath<'_>, mode: &Value, errors: &mut Vec<FieldError>) {
    if let Some(number) = mode.as_i64().filter(|mode| !(0..=0o777).contains(mode)) {
        errors.invalid(path, number, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}

fn container<'a>(
    container: &'a Value,
    path: &FieldPath<'_>,
    volumes: &HashSet<&str>,
    names: &mut HashSet<&'a str>,
    errors: &mut Vec<FieldError>,
) {
    let name = text(&container["name"]);
    if name.is_empty() {
        errors.required(path.field("name"), "");
    } else {
        errors.format(path.field("name"), name, formats::dns_label(name));
    }
    let image = text(&container["image"]);
    if image.is_empty() {
        errors.required(path.field("image"), "");
    }
    errors.one_of(
        path.field("terminationMessagePolicy"),
        &container["terminationMessagePolicy"],
        &["File", "FallbackToLogsOnError"],
    );
    ports(&container["ports"], &path.field("ports"), errors);
    variables(&container["env"], &path.field("env"), errors);
    mounts(&container["volumeMounts"], &path.field("volumeMounts"), volumes, errors);
    errors.one_of(
        path.field("imagePullPolicy"),
        &container["imagePullPolicy"],
        &["Always", "IfNotPresent", "Never"],
    );
    resources(&container["resources"], &path.field("resources"), errors);
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        probe(&container[field], &path.field(field), field, errors);
    }
    if !name.is_empty() && !names.insert(name) {
        errors.duplicate(path.field("name"), name);
    }
}

fn ports(list: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let mut names = HashSet::new();
    for (index, port) in items(list) {
        let path = path.index(index);
        let name = text(&port["name"]);
        if !name.is_empty() {
            let problems = formats::port_name(name);
            if problems.is_empty() {
                if !names.insert(name) {
                    errors.duplicate(path.field("name"), name);
                }
            } else {
                errors.format(path.field("name"), name, problems);
            }
        }
        match port["containerPort"].as_i64().unwrap_or_default() {
            0 => errors.required(path.field("containerPort"), ""),
            number => number_format(&path.field("containerPort"), number, errors),
        }
        if let Some(number) = port["hostPort"].as_i64().filter(|number| *number != 0) {
            number_format(&path.field("hostPort"), number, errors);
        }
        errors.one_of(path.field("protocol"), &port["protocol"], &["SCTP", "TCP", "UDP"]);
    }
}

/// Checks that no two containers of a Pod use the same host port.
fn host_ports(containers: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let mut taken = HashSet::new();
    for (index, container) in items(containers) {
        let path = path.index(index);
        let list = path.field("ports");
        for (index, port) in items(&container["ports"]) {
            let Some(number) = port["hostPort"].as_i64().filter(|number| *number != 0) else { continue };
            let wanted = format!("{}/{}/{number}", text(&port["protocol"]), text(&port["hostIP"]));
            if taken.contains(&wanted) {
                errors.duplicate(list.index(index).field("hostPort"), wanted);
            } else {
                taken.insert(wanted);
            }
        }
    }
}

fn number_format(path: &FieldPath<'_>, number: i64, errors: &mut Vec<FieldError>) {
    for problem in formats::port_number(number) {
        errors.invalid(path, number, problem);
    }
}

fn variables(list: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for (index, variable) in items(list) {
        let path = path.index(index);
        let name = text(&variable["name"]);
        if name.is_empty() {
            errors.required(path.field("name"), "");
        } else {
            errors.format(path.field("name"), name, formats::variable_name(name));
        }
        let Some(sources) = variable["valueFrom"].as_object() else { continue };
        let from = path.field("valueFrom");
        if sources.is_empty() {
            errors.invalid(
                from,
                "",
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                 `fileKeyRef`",
            );
        } else if !text(&variable["value"]).is_empty() {
            errors.invalid(from, "", "may not be specified when `value` is not empty");
        } else if sources.len() > 1 {
            errors.invalid(from, "", "may not have more than one field specified at a time");
        }
        if let Some(reference) = sources.get("fieldRef") {
            field_path(text(&reference["fieldPath"]), &from.field("fieldRef").field("fieldPath"), errors);
        }
        for source in ["configMapKeyRef", "secretKeyRef"] {
            let Some(reference) = sources.get(source) else { continue };
            let at = from.field(source);
            let name = text(&reference["name"]);
            errors.format(at.field("name"), name, formats::dns_subdomain(name));
            if text(&reference["key"]).is_empty() {
                errors.required(at.field("key"), "");
            }
        }
    }
}

/// Checks a Pod field that an environment variable refers to.
fn field_path(name: &str, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
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
        errors.required(path, "");
    } else if !KNOWN.contains(&name)
        && !keyed.iter().any(|start| name.starts_with(start) && name.ends_with("']"))
    {
        errors.invalid(path, name, format!("error converting fieldPath: field label not supported: {name}"));
    }
}

fn mounts(list: &Value, path: &FieldPath<'_>, volumes: &HashSet<&str>, errors: &mut Vec<FieldError>) {
    let mut places = HashSet::new();
    for (index, mount) in items(list) {
        let path = path.index(index);
        let name = text(&mount["name"]);
        if name.is_empty() {
            errors.required(path.field("name"), "");
        }
        if !volumes.contains(name) {
            errors.add(FieldErrorKind::NotFound, path.field("name"), name.into(), String::new());
        }
        let place = text(&mount["mountPath"]);
        if place.is_empty() {
            errors.required(path.field("mountPath"), "");
        }
        if !places.insert(place) {
            errors.invalid(path.field("mountPath"), place, "must be unique");
        }
    }
}

/// Checks the resources of a container: known names, no negative values, no request above its limit.
pub(super) fn resources(resources: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let limits = path.field("limits");
    for (name, limit) in entries(&resources["limits"]) {
        resource(name, limit, &limits, errors);
    }
    let requests = path.field("requests");
    for (name, request) in entries(&resources["requests"]) {
        resource(name, request, &requests, errors);
        let limit = text(&resources["limits"][name]);
        if quantity::compare(text(request), limit).is_ok_and(Ordering::is_gt) {
            let detail = format!("must be less than or equal to {name} limit of {limit}");
            errors.invalid(requests, text(request), detail);
        }
    }
}

fn resource(name: &str, amount: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let path = path.key(name);
    errors.format(path, name, formats::qualified_name(name));
    if !name.contains('/')
        && !matches!(name, "cpu" | "memory" | "ephemeral-storage")
        && !name.starts_with("hugepages-")
    {
        errors.invalid(path, name, "must be a standard resource type or fully qualified");
        errors.invalid(path, name, "must be a standard resource for containers");
    }
    if quantity::compare(text(amount), "0").is_ok_and(Ordering::is_lt) {
        errors.invalid(path, text(amount), "must be greater than or equal to 0");
    }
}

fn probe(probe: &Value, path: &FieldPath<'_>, field: &str, errors: &mut Vec<FieldError>) {
    let Some(fields) = probe.as_object() else { return };
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
    let given: Vec<&str> = handlers.into_iter().filter(|handler| fields.contains_key(*handler)).collect();
    if let Some(extra) = given.get(1) {
        errors.forbidden(path.field(extra), "may not specify more than 1 handler type");
    }
    if given.is_empty() {
        errors.required(path, "must specify a handler type");
    }
    let http = path.field("httpGet");
    if given.contains(&"httpGet") {
        handler_port(&http.field("port"), &probe["httpGet"]["port"], errors);
        errors.one_of(http.field("scheme"), &probe["httpGet"]["scheme"], &["HTTP", "HTTPS"]);
    }
    if given.contains(&"tcpSocket") {
        handler_port(&path.field("tcpSocket.port"), &probe["tcpSocket"]["port"], errors);
    }
    for number in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        errors.non_negative(path.field(number), &probe[number]);
    }
    if field != "readinessProbe" && probe["successThreshold"].as_i64().is_some_and(|number| number != 1) {
        errors.invalid(path.field("successThreshold"), probe["successThreshold"].clone(), "must be 1");
    }
}

fn handler_port(path: &FieldPath<'_>, port: &Value, errors: &mut Vec<FieldError>) {
    match port {
        Value::String(name) => errors.format(path, name, formats::port_name(name)),
        _ => number_format(path, port.as_i64().unwrap_or_default(), errors),
    }
}

fn tolerations(list: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for (index, toleration) in items(list) {
        let path = path.index(index);
        let (key, operator) = (text(&toleration["key"]), text(&toleration["operator"]));
        if !key.is_empty() {
            errors.format(path.field("key"), key, formats::qualified_name(key));
        }
        if key.is_empty() && operator != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid(path.field("operator"), operator, detail);
        }
        if !toleration["tolerationSeconds"].is_null() && text(&toleration["effect"]) != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid(path.field("effect"), text(&toleration["effect"]), detail);
        }
        match operator {
            "" | "Equal" => {
                let value = text(&toleration["value"]);
                errors.format(path.field("operator"), value, formats::label_value(value));
            }
            "Exists" if !text(&toleration["value"]).is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid(path.field("operator"), toleration["value"].clone(), detail);
            }
            "Exists" => {}
            _ => errors.not_supported(path.field("operator"), operator, &["Equal", "Exists"]),
        }
        let effect = &toleration["effect"];
        if !text(effect).is_empty() {
            let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            errors.one_of(path.field("effect"), effect, &effects);
        }
    }
}
