//! The progress of a rollout, derived from the status of its object.

use api::output::{RolloutState, RolloutStatus};
use jiff::Timestamp;
use manifest::{Object, Value};

use super::{
    RolloutResource,
    change::{is_paused, rollout_after},
};

/// Returns the progress from the status of an object. `outdated` Machines are still to be replaced, even if the
/// status does not show them.
pub(super) fn status_of(
    resource: &RolloutResource,
    object: &Object,
    outdated: u64,
    now: Timestamp,
) -> RolloutStatus {
    let mut counts = RolloutCounts::read(object);
    counts.up_to_date = counts.up_to_date.map(|count| count.saturating_sub(outdated));
    let is_paused = is_paused(resource, object) || condition(object, "Paused").is_some();
    let (state, message) = if object.get(&["metadata", "deletionTimestamp"]).is_some() {
        (RolloutState::Deleting, "it is being deleted".to_owned())
    } else {
        let outdated_message =
            || (outdated > 0).then(|| format!("{} still to be replaced", machines(outdated)));
        match (remaining_work(object, &counts).or_else(outdated_message), is_paused) {
            (None, _) => (RolloutState::Complete, next_rollout_message(object, now)),
            (Some(message), false) => (RolloutState::Progressing, message),
            (Some(message), true) => (RolloutState::Paused, format!("it is paused; {message}")),
        }
    };
    let RolloutCounts { desired, replicas, up_to_date, available } = counts;
    RolloutStatus { object: resource.key(), state, message, desired, replicas, up_to_date, available }
}

/// Counts of machines, as far as an object reports them.
struct RolloutCounts {
    desired: Option<u64>,
    replicas: Option<u64>,
    up_to_date: Option<u64>,
    available: Option<u64>,
}

impl RolloutCounts {
    /// Reads the counts; some have other names in contract v1beta1.
    fn read(object: &Object) -> Self {
        let count = |path: &[&str]| object.get(path).and_then(Value::as_u64);
        let status = |field, older| count(&["status", field]).or_else(|| count(&["status", older]));
        Self {
            desired: count(&["spec", "replicas"]),
            replicas: count(&["status", "replicas"]),
            up_to_date: status("upToDateReplicas", "updatedReplicas"),
            available: status("availableReplicas", "readyReplicas"),
        }
    }
}

/// Returns the first remaining work. None if the rollout is complete.
fn remaining_work(object: &Object, counts: &RolloutCounts) -> Option<String> {
    if !is_observed(object) {
        return Some("its controller has not observed the latest change yet".to_owned());
    }
    if let Some(desired) = counts.desired {
        let lacks = |count: Option<u64>, what| {
            let count = count.filter(|count| *count < desired)?;
            Some(format!("{count} of {} {what}", machines(desired)))
        };
        // A status without any count stands for no machines.
        let there = Some(counts.replicas.unwrap_or(0));
        let outstanding = lacks(counts.up_to_date, "up to date").or_else(|| lacks(there, "created"));
        if let Some(message) = outstanding {
            return Some(message);
        }
        let surplus = counts.replicas.unwrap_or(0).saturating_sub(desired);
        if surplus > 0 {
            return Some(format!("{} still to be deleted", machines(surplus)));
        }
        if let Some(message) = lacks(counts.available, "available") {
            return Some(message);
        }
    }
    if let Some(message) = condition(object, "RollingOut") {
        return Some(if message.is_empty() { "it is rolling out".to_owned() } else { one_line(message) });
    }
    let text = |path: &[&str]| object.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (text(&["spec", "version"]), text(&["status", "version"])) {
        (Some(wanted), Some(runs)) if without_v(wanted) != without_v(runs) => {
            Some(format!("it runs Kubernetes {runs}; the target version is {wanted}"))
        }
        _ => None,
    }
}

/// True if the controller has seen the newest change, or does not report an observed generation.
fn is_observed(object: &Object) -> bool {
    let number = |path: &[&str]| object.get(path).and_then(Value::as_i64);
    match (number(&["metadata", "generation"]), number(&["status", "observedGeneration"])) {
        (Some(newest), Some(observed)) => observed >= newest,
        _ => true,
    }
}

/// Returns the message of a condition that is True, in both forms of contract v1beta1.
fn condition<'a>(object: &'a Object, kind: &str) -> Option<&'a str> {
    let places: [&[&str]; 2] = [&["status", "conditions"], &["status", "v1beta2", "conditions"]];
    let conditions = places.iter().filter_map(|place| object.get(place)?.as_array()).flatten();
    let mut holding =
        conditions.filter(|condition| condition["type"] == kind && condition["status"] == "True");
    holding.next().map(|condition| condition["message"].as_str().unwrap_or_default())
}

/// Returns the time of the next scheduled rollout as text.
fn next_rollout_message(object: &Object, now: Timestamp) -> String {
    match rollout_after(object) {
        Some((after, time)) if time > now => format!("the next rollout starts at {after}"),
        _ => String::new(),
    }
}

fn machines(count: u64) -> String {
    if count == 1 { "1 machine".to_owned() } else { format!("{count} machines") }
}

/// Removes the `v`, which providers of managed control planes omit in some fields.
fn without_v(version: &str) -> &str {
    version.trim_start_matches('v')
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use apply::ApiKind;
    use serde_json::json;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn progress(mut object: Value) -> (RolloutState, String) {
        object["apiVersion"] = json!("cluster.x-k8s.io/v1beta2");
        object["kind"] = json!("MachineDeployment");
        let kind = ApiKind {
            group: "cluster.x-k8s.io".to_owned(),
            version: "v1beta2".to_owned(),
            kind: "MachineDeployment".to_owned(),
            plural: "machinedeployments".to_owned(),
            namespaced: true,
            verbs: Vec::new(),
        };
        let resource = RolloutResource { kind, namespace: "n".to_owned(), name: "a".to_owned() };
        let object = Object::try_from(object).unwrap();
        let found = status_of(&resource, &object, 0, "2026-01-01T00:00:00Z".parse().unwrap());
        (found.state, found.message)
    }

    fn of_three(replicas: u64, up_to_date: u64, available: u64) -> Value {
        json!({"metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": {
            "observedGeneration": 2, "replicas": replicas, "upToDateReplicas": up_to_date, "availableReplicas": available,
        }})
    }

    fn with(mut object: Value, pointer: &str, field: &str, value: Value) -> Value {
        object.pointer_mut(pointer).unwrap()[field] = value;
        object
    }

    #[test]
    fn progress_reports_the_first_remaining_work() {
        let rolling = json!([{"type": "RollingOut", "status": "True", "message": "Rolling out\n* one"}]);
        let held = json!([{"type": "Paused", "status": "True", "message": "by its Cluster"}]);
        let reported = [
            of_three(3, 3, 3),
            of_three(4, 2, 4),
            of_three(4, 3, 3),
            of_three(3, 3, 2),
            with(of_three(3, 3, 3), "/status", "observedGeneration", json!(1)),
            with(of_three(3, 3, 3), "/status", "conditions", rolling),
            with(of_three(4, 2, 4), "/spec", "paused", json!(true)),
            with(of_three(4, 3, 3), "/status", "conditions", held),
            with(of_three(3, 3, 3), "/metadata", "deletionTimestamp", json!("2026-01-01T00:00:00Z")),
            with(of_three(3, 3, 3), "/spec", "rollout", json!({"after": "2027-01-01T00:00:00Z"})),
            json!({"spec": {"replicas": 1}}),
        ]
        .map(|object| {
            let (state, message) = progress(object);
            format!("{state:?}: {message}\n")
        });
        assert_data_eq!(
            reported.concat(),
            str![[r#"
Complete: 
Progressing: 2 of 3 machines up to date
Progressing: 1 machine still to be deleted
Progressing: 2 of 3 machines available
Progressing: its controller has not observed the latest change yet
Progressing: Rolling out * one
Paused: it is paused; 2 of 3 machines up to date
Paused: it is paused; 1 machine still to be deleted
Deleting: it is being deleted
Complete: the next rollout starts at 2027-01-01T00:00:00Z
Progressing: 0 of 1 machine created

"#]]
        );
    }

    #[test]
    fn a_control_plane_that_counts_no_machines_is_judged_by_its_version() {
        let runs = |version| json!({"spec": {"version": "v1.36.0"}, "status": {"version": version}});
        assert_eq!(progress(runs("1.36.0")).0, RolloutState::Complete);
        let (state, message) = progress(runs("v1.35.0"));
        assert_eq!(state, RolloutState::Progressing);
        assert_data_eq!(message, str!["it runs Kubernetes v1.35.0; the target version is v1.36.0"]);
    }

    #[test]
    fn counts_of_the_older_contract_are_understood() {
        let object = json!({"spec": {"replicas": 2}, "status": {"replicas": 2, "updatedReplicas": 1, "readyReplicas": 2}});
        assert_data_eq!(progress(object).1, str!["1 of 2 machines up to date"]);
    }
}
