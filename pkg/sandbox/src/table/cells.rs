//! Cells of built-in kinds: the expressions of `columns.txt`. Paths are JSON pointers. Ages are readable: `5s`, `3m20s`,
//! `4h`, `12d`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::view::{NONE, ObjectView, UNKNOWN, UNSET};
use crate::selector::LabelSelector;

/// The maximum number of listed addresses, hosts or ports.
const MAX_LISTED: usize = 3;

/// Evaluates a cell expression: a word, its arguments, and the text for an empty value.
pub(super) fn cell(object: ObjectView<'_>, expression: &[&'static str]) -> Value {
    let (word, arguments) = expression.split_first().unwrap_or((&"", &[]));
    let argument = |index: usize| arguments.get(index).copied().unwrap_or_default();
    let (path, second) = (argument(0), argument(1));
    let or = |text: String, missing: &str| if text.is_empty() { missing.to_owned() } else { text };
    match *word {
        "text" => object.str_or(path, second).into(),
        "int" => object.number(path).into(),
        "flag" => object.flag(path).into(),
        "count" => arguments.iter().map(|path| object.count(path)).sum::<usize>().into(),
        "scalar" => object.scalar(path).unwrap_or_else(|| second.to_owned()).into(),
        "join" => object.strings(path).join(",").into(),
        "since" if object.get(path).is_none() => second.into(),
        "since" => object.since(path).into(),
        "yes-or-no" => match object.get(path).and_then(Value::as_bool) {
            Some(true) => "True".into(),
            Some(false) => "False".into(),
            None => UNSET.into(),
        },
        "ratio" => format!("{}/{}", object.number(path), object.number(second)).into(),
        "pair" => match object.get(path) {
            None => argument(3).into(),
            Some(parent) => {
                let part = |name: &str| parent[name].as_str().unwrap_or_default();
                format!("{}/{}", part(second), part(argument(2))).into()
            }
        },
        "labels" => {
            let labels = LabelSelector::of_map(object.get(path).unwrap_or(&Value::Null));
            or(labels.to_string(), second).into()
        }
        "selector" => {
            let selector = LabelSelector::of_object(object.get(path).unwrap_or(&Value::Null));
            or(selector.to_string(), second).into()
        }
        "names" | "images" => {
            let field = if *word == "names" { "/name" } else { "/image" };
            let containers = object.items(&format!("{path}/containers"));
            containers.map(|container| container.str(field)).collect::<Vec<_>>().join(",").into()
        }
        "default-name" => {
            let default =
                object.annotation(&format!("{path}.kubernetes.io/is-default-class")) == Some("true");
            format!("{}{}", object.str("/metadata/name"), if default { " (default)" } else { "" }).into()
        }
        "phase" if object.is_deleting() => "Terminating".into(),
        "phase" => object.str("/status/phase").into(),
        "pod-ready" => ready(object).into(),
        "pod-status" => status(object).into(),
        "pod-restarts" => restarts(object).into(),
        "pod-gates" => readiness_gates(object).into(),
        "node-status" => node_status(object).into(),
        "node-roles" => node_roles(object).into(),
        "node-kernel" => node_kernel(object).into(),
        "node-address" => {
            let mut addresses = object.items("/status/addresses");
            let address = addresses.find(|address| address.str("/type") == path);
            address.map_or(NONE, |address| address.str("/address")).into()
        }
        "service-external-ip" => external_ip(object).into(),
        "service-ports" => or(service_ports(object), NONE).into(),
        "balancers" => balancers(object).into(),
        "endpoints" => endpoints(object).into(),
        "slice-ports" => {
            let ports = object.items("/ports").map(|port| {
                port.scalar("/port").or_else(|| port.scalar("/name")).unwrap_or_else(|| "*".to_owned())
            });
            join_first(&ports.collect::<Vec<_>>()).into()
        }
        "slice-addresses" => {
            let addresses = object.items("/endpoints").flat_map(|endpoint| endpoint.strings("/addresses"));
            join_first(&addresses.map(str::to_owned).collect::<Vec<_>>()).into()
        }
        "ingress-hosts" => hosts(object).into(),
        "ingress-ports" => if object.count("/spec/tls") > 0 { "80, 443" } else { "80" }.into(),
        "access-modes" => access_modes(object, &format!("{path}/accessModes")).into(),
        "available" => available(object).into(),
        "controller" => controller(object).into(),
        "job-status" => job_status(object).into(),
        "job-completions" => job_completions(object).into(),
        "job-duration" => {
            let end = seconds(object.str("/status/completionTime")).unwrap_or(object.now);
            let start = seconds(object.str("/status/startTime"));
            start.map(|start| human(end.saturating_sub(start))).unwrap_or_default().into()
        }
        "subjects" => subjects(object, path).into(),
        _ => Value::Null,
    }
}

fn node_status(node: ObjectView<'_>) -> String {
    let status = match node.condition("Ready") {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    };
    let cordoned = if node.flag("/spec/unschedulable") { ",SchedulingDisabled" } else { "" };
    format!("{status}{cordoned}")
}

fn node_roles(node: ObjectView<'_>) -> String {
    let labels = node.get("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let roles = labels.filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role),
        None if key == "kubernetes.io/role" => value.as_str(),
        None => None,
    });
    let roles: BTreeSet<_> = roles.filter(|role| !role.is_empty()).collect();
    if roles.is_empty() { NONE.to_owned() } else { roles.into_iter().collect::<Vec<_>>().join(",") }
}

fn node_kernel(node: ObjectView<'_>) -> String {
    let version = node.str_or("/status/nodeInfo/kernelVersion", UNKNOWN);
    match node.str("/status/nodeInfo/architecture") {
        "" => version.to_owned(),
        architecture => format!("{version} ({architecture})"),
    }
}

fn external_ip(service: ObjectView<'_>) -> String {
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

/// Returns the unique addresses of a load balancer, sorted.
fn balancers(object: ObjectView<'_>) -> String {
    let given = object.items("/status/loadBalancer/ingress");
    let given: BTreeSet<_> = given.map(|one| one.str_or("/ip", one.str("/hostname"))).collect();
    given.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(",")
}

fn service_ports(service: ObjectView<'_>) -> String {
    let ports = service.items("/spec/ports").map(|port| {
        let node = port.number("/nodePort");
        let node = if node > 0 { format!(":{node}") } else { String::new() };
        format!("{}{node}/{}", port.number("/port"), port.str("/protocol"))
    });
    ports.collect::<Vec<_>>().join(",")
}

/// Returns all addresses with all ports. For Endpoints without ports, returns only the addresses.
fn endpoints(object: ObjectView<'_>) -> String {
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
        _ => join_first(&all),
    }
}

/// Returns the hosts of the first rules. The number of omitted entries counts rules, not hosts.
fn hosts(ingress: ObjectView<'_>) -> String {
    let rules = ingress.count("/spec/rules");
    let mut listed = Vec::new();
    let mut more = false;
    for rule in ingress.items("/spec/rules") {
        more |= listed.len() == MAX_LISTED;
        let host = rule.str("/host");
        if !more && !host.is_empty() {
            listed.push(host);
        }
    }
    match listed.join(",") {
        hosts if hosts.is_empty() => "*".to_owned(),
        hosts if more => format!("{hosts} + {} more...", rules - MAX_LISTED),
        hosts => hosts,
    }
}

/// Joins the first texts with commas and adds the number of omitted ones; `<unset>` without texts.
fn join_first(texts: &[String]) -> String {
    if texts.len() > MAX_LISTED {
        return format!("{} + {} more...", texts[..MAX_LISTED].join(","), texts.len() - MAX_LISTED);
    }
    let all = texts.join(",");
    if all.is_empty() { UNSET.to_owned() } else { all }
}

fn access_modes(object: ObjectView<'_>, path: &str) -> String {
    let modes = object.strings(path);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let short = short.iter().filter(|(mode, _)| modes.contains(mode)).map(|(_, short)| *short);
    short.collect::<Vec<_>>().join(",")
}

fn available(service: ObjectView<'_>) -> String {
    let mut conditions = service.items("/status/conditions");
    let Some(condition) = conditions.find(|condition| condition.str("/type") == "Available") else {
        return "Unknown".to_owned();
    };
    match (condition.str("/status"), condition.str("/reason")) {
        (status @ "True", _) | (status, "") => status.to_owned(),
        (status, reason) => format!("{status} ({reason})"),
    }
}

fn controller(object: ObjectView<'_>) -> String {
    let mut owners = object.items("/metadata/ownerReferences");
    let Some(owner) = owners.find(|owner| owner.flag("/controller")) else { return NONE.to_owned() };
    let group = owner.str("/apiVersion").split_once('/').map(|(group, _)| format!(".{group}"));
    let kind = format!("{}{}", owner.str("/kind"), group.unwrap_or_default()).to_lowercase();
    format!("{kind}/{}", owner.str("/name"))
}

fn job_completions(job: ObjectView<'_>) -> String {
    let (succeeded, parallelism) = (job.number("/status/succeeded"), job.number("/spec/parallelism"));
    match job.get("/spec/completions").and_then(Value::as_i64) {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    }
}

fn job_status(job: ObjectView<'_>) -> &'static str {
    let is = |condition: &&str| job.condition(condition) == "True";
    let late = || ["Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(is);
    match ["Complete", "Failed"].into_iter().find(is) {
        Some(end) => end,
        None if job.is_deleting() => "Terminating",
        None => late().unwrap_or("Running"),
    }
}

fn subjects(binding: ObjectView<'_>, kind: &str) -> String {
    let subjects = binding.items("/subjects").filter(|subject| subject.str("/kind") == kind);
    let names = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", subject.str("/namespace"), subject.str("/name")),
        _ => subject.str("/name").to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Formats a duration with one or two units. `seconds` may be negative: up to one second in the future counts as now.
///
/// Source: apimachinery 1.36 `util/duration.HumanDuration`.
pub(super) fn human(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        s if s < 10 * MINUTE => two_units(s / MINUTE, 'm', s % MINUTE, 's'),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two_units(s / HOUR, 'h', s % HOUR / MINUTE, 'm'),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two_units(s / DAY, 'd', s % DAY / HOUR, 'h'),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two_units(s / YEAR, 'y', s % YEAR / DAY, 'd'),
        s => format!("{}y", s / YEAR),
    }
}

fn two_units(large: i64, unit: char, small: i64, small_unit: char) -> String {
    if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{small_unit}") }
}

/// Parses a recorded time into seconds since 1970. `None` if the text is not an RFC 3339 time.
pub(super) fn seconds(time: &str) -> Option<i64> {
    // The parser accepts a space instead of `T`, and texts without parts that RFC 3339 requires.
    let strict = time.len() >= 20 && time.as_bytes()[10] == b'T';
    let time: Timestamp = time.parse().ok().filter(|_| strict)?;
    Some(time.as_second())
}

/// Returns the age of a time, or `<unknown>` for an invalid time.
pub(super) fn since(time: &str, now: i64) -> String {
    seconds(time).map_or_else(|| "<unknown>".to_owned(), |time| human(now.saturating_sub(time)))
}

pub(super) fn completed_condition(pod: &Value) -> Option<Value> {
    let (reason, message) = match pod["status"]["phase"].as_str()? {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!({"type": "Completed", "status": "True", "reason": reason, "message": message}))
}

pub(super) fn ready(pod: ObjectView<'_>) -> String {
    let ready = pod.items("/status/containerStatuses").filter(|container| container.flag("/ready")).count();
    format!("{ready}/{}", pod.count("/spec/containers"))
}

/// Returns the phase, or the reason why a container does not run. Ignores init containers, which never run here.
pub(super) fn status(pod: ObjectView<'_>) -> String {
    let phase = pod.str("/status/phase");
    if pod.is_deleting() && !matches!(phase, "Succeeded" | "Failed") {
        return "Terminating".to_owned();
    }
    let mut containers = pod.items("/status/containerStatuses");
    let reason = containers.find_map(|container| {
        let reason = container.str("/state/waiting/reason");
        let reason = if reason.is_empty() { container.str("/state/terminated/reason") } else { reason };
        Some(reason).filter(|reason| !reason.is_empty())
    });
    reason.unwrap_or_else(|| pod.str_or("/status/reason", phase)).to_owned()
}

pub(super) fn restarts(pod: ObjectView<'_>) -> String {
    let containers = || pod.items("/status/containerStatuses");
    let restarts: i64 = containers().map(|container| container.number("/restartCount")).sum();
    let ends = containers().filter_map(|one| seconds(one.str("/lastState/terminated/finishedAt")));
    match ends.max() {
        Some(time) if restarts > 0 => {
            format!("{restarts} ({} ago)", human(pod.now.saturating_sub(time)))
        }
        _ => restarts.to_string(),
    }
}

pub(super) fn readiness_gates(pod: ObjectView<'_>) -> String {
    let gates = pod.count("/spec/readinessGates");
    if gates == 0 {
        return NONE.to_owned();
    }
    let passed =
        pod.items("/spec/readinessGates").filter(|gate| pod.condition(gate.str("/conditionType")) == "True");
    format!("{}/{gates}", passed.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_printed_in_short_form() {
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (200, "3m20s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_071_999, "729d"),
            (63_072_000, "2y"),
            (64_000_000, "2y10d"),
            (252_288_000, "8y"),
            (i64::MAX, "292471208677y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn only_complete_timestamps_are_parsed() {
        assert_eq!(seconds("1970-01-02T00:00:00Z"), Some(86_400));
        assert_eq!(seconds("1970-01-02T01:00:00.5+01:00"), Some(86_400));
        assert_eq!(seconds("1970-01-02"), None);
        assert_eq!(seconds("1970-01-02 00:00:00Z"), None);
        assert_eq!(since("", 5), "<unknown>");
    }
}
