use manifest::{Object, Value};
use serde_json::json;

use super::*;

const NOW: &str = "2026-01-02T03:04:05Z";

fn status_with(object: Value, hints: &str) -> String {
    let hints = if hints.is_empty() { StatusHints::default() } else { StatusHints::parse(hints).unwrap() };
    let object: Object = object.try_into().unwrap();
    let Status { health, message } = status_at(&object, &hints, NOW.parse().unwrap());
    if message.is_empty() { health.as_str().to_owned() } else { format!("{} {message}", health.as_str()) }
}

/// Checks the status of one kind in several cases of spec and status.
fn check(api_version: &str, kind: &str, cases: &[(Value, Value, &str)]) {
    for (spec, status, expected) in cases {
        let object = json!({
            "apiVersion": api_version, "kind": kind, "spec": spec, "status": status,
            "metadata": {"name": "a", "generation": 1, "creationTimestamp": "2026-01-02T03:04:00Z"}
        });
        assert_eq!(status_with(object, ""), *expected, "{spec} {status}");
    }
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

// Row: ENG-79
#[test]
fn a_deployment_is_ready_when_all_replicas_are_new_and_available() {
    let full = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2});
    let with = |changes: Value| {
        let mut status = full.clone();
        status.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        status
    };
    let available = condition("Available", "True", "", "");
    let rolled_out = condition("Progressing", "True", "NewReplicaSetAvailable", "");
    let two = json!({"replicas": 2});
    let timed = json!({"replicas": 2, "progressDeadlineSeconds": 600});
    check(
        "apps/v1",
        "Deployment",
        &[
            (two.clone(), with(json!({"conditions": [available]})), "Current"),
            (timed.clone(), with(json!({"conditions": [available, rolled_out]})), "Current"),
            (
                timed.clone(),
                with(
                    json!({"conditions": [available, condition("Progressing", "True", "ReplicaSetUpdated", "at it")]}),
                ),
                "InProgress Progressing: at it (ReplicaSetUpdated)",
            ),
            (
                timed.clone(),
                with(json!({"conditions": [available]})),
                "InProgress has no condition Progressing yet",
            ),
            (two.clone(), full.clone(), "InProgress has no condition Available yet"),
            (json!({}), json!({}), "InProgress 0 of 1 replicas created"),
            (two.clone(), with(json!({"updatedReplicas": 1})), "InProgress 1 of 2 replicas updated"),
            (two.clone(), with(json!({"replicas": 3})), "InProgress 3 replicas are there, 2 are wanted"),
            (two.clone(), with(json!({"readyReplicas": 1})), "InProgress 1 of 2 replicas ready"),
            (
                two.clone(),
                with(json!({"availableReplicas": 0, "conditions": [condition(
                    "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
                )]})),
                "InProgress Available: 0 of 2 replicas available (MinimumReplicasUnavailable: Deployment does not have \
             minimum availability.)",
            ),
            (
                two,
                json!({"conditions": [condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]}),
                "InProgress 0 of 2 replicas created (FailedCreate: exceeded quota)",
            ),
            (
                timed,
                with(
                    json!({"conditions": [available, condition("Progressing", "False", "ProgressDeadlineExceeded", "late")]}),
                ),
                "Failed Progressing: late (ProgressDeadlineExceeded)",
            ),
        ],
    );
}

// Row: ENG-79
#[test]
fn a_stateful_set_is_ready_when_all_replicas_have_the_new_revision() {
    let two = json!({"replicas": 2});
    let partition = json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 1}}});
    check(
        "apps/v1",
        "StatefulSet",
        &[
            (json!({"updateStrategy": {"type": "OnDelete"}}), json!({}), "Current"),
            (json!({}), json!({}), "InProgress 0 of 1 replicas created"),
            (two.clone(), json!({"replicas": 2, "readyReplicas": 1}), "InProgress 1 of 2 replicas ready"),
            (
                two.clone(),
                json!({"replicas": 3, "readyReplicas": 2}),
                "InProgress 3 replicas are there, 2 are wanted",
            ),
            (
                two.clone(),
                json!({"replicas": 2, "readyReplicas": 2, "currentReplicas": 1}),
                "InProgress 1 of 2 replicas current",
            ),
            (
                two.clone(),
                json!({"replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "currentRevision": "a", "updateRevision": "b"}),
                "InProgress still at revision a, on its way to b",
            ),
            (
                two,
                json!({"replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "currentRevision": "a", "updateRevision": "a"}),
                "Current",
            ),
            (
                partition.clone(),
                json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 1}),
                "InProgress 1 of 2 replicas updated",
            ),
            (partition, json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 2}), "Current"),
        ],
    );
}

// Row: ENG-79
#[test]
fn a_daemon_set_is_ready_when_every_node_has_its_pod() {
    let seen = |fields: Value| {
        let mut status = json!({"observedGeneration": 1, "desiredNumberScheduled": 2, "currentNumberScheduled": 2,
            "updatedNumberScheduled": 2, "numberAvailable": 2, "numberReady": 2});
        status.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        status
    };
    check(
        "apps/v1",
        "DaemonSet",
        &[
            (json!({}), json!({}), "InProgress its controller has not looked at it yet"),
            (
                json!({}),
                json!({"observedGeneration": 1}),
                "InProgress its controller has not counted nodes yet",
            ),
            (json!({}), seen(json!({"currentNumberScheduled": 1})), "InProgress 1 of 2 replicas created"),
            (json!({}), seen(json!({"updatedNumberScheduled": 1})), "InProgress 1 of 2 replicas updated"),
            (json!({}), seen(json!({"numberAvailable": 1})), "InProgress 1 of 2 replicas available"),
            (json!({}), seen(json!({"numberReady": 1})), "InProgress 1 of 2 replicas ready"),
            (json!({}), seen(json!({})), "Current"),
        ],
    );
}

// Row: ENG-79
#[test]
fn a_replica_set_is_ready_when_its_pods_are() {
    let full = json!({"replicas": 1, "fullyLabeledReplicas": 1, "availableReplicas": 1, "readyReplicas": 1});
    check(
        "apps/v1",
        "ReplicaSet",
        &[
            (json!({}), full, "Current"),
            (json!({}), json!({}), "InProgress 0 of 1 replicas labelled"),
            (json!({}), json!({"fullyLabeledReplicas": 1}), "InProgress 0 of 1 replicas available"),
            (
                json!({}),
                json!({"fullyLabeledReplicas": 1, "availableReplicas": 1}),
                "InProgress 0 of 1 replicas ready",
            ),
            (json!({"replicas": 0}), json!({"replicas": 1}), "InProgress 1 replicas are there, 0 are wanted"),
            (
                json!({}),
                json!({"conditions": [condition("ReplicaFailure", "True", "FailedCreate", "no such account")]}),
                "InProgress ReplicaFailure: no such account (FailedCreate)",
            ),
        ],
    );
}

// Row: ENG-79
#[test]
fn a_pod_is_ready_when_it_runs_or_has_ended() {
    let waiting =
        |reason: &str| json!([{"name": "c", "state": {"waiting": {"reason": reason, "message": "why"}}}]);
    let unschedulable =
        json!([condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available")]);
    check(
        "v1",
        "Pod",
        &[
            (json!({}), json!({}), "InProgress no node has been looked for yet"),
            (json!({}), json!({"phase": "Succeeded"}), "Current"),
            (json!({}), json!({"phase": "Failed"}), "Current"),
            (
                json!({}),
                json!({"phase": "Running", "conditions": [condition("Ready", "True", "", "")]}),
                "Current",
            ),
            (json!({}), json!({"phase": "Running"}), "InProgress running, not ready"),
            (
                json!({}),
                json!({"phase": "Running", "containerStatuses": waiting("CrashLoopBackOff")}),
                "Failed container c: why (CrashLoopBackOff)",
            ),
            (json!({}), json!({"phase": "Pending"}), "InProgress pending"),
            (
                json!({}),
                json!({"phase": "Pending", "containerStatuses": waiting("ImagePullBackOff")}),
                "InProgress container c: why (ImagePullBackOff)",
            ),
            (
                json!({}),
                json!({"phase": "Pending", "conditions": unschedulable}),
                "InProgress PodScheduled: 0/1 nodes are available (Unschedulable)",
            ),
            (json!({}), json!({"phase": "Odd"}), "Unknown phase `Odd` is not known"),
        ],
    );
}

// Row: ENG-79
#[test]
fn a_pod_that_finds_no_node_for_15_seconds_has_failed() {
    for (created, health) in [("2026-01-02T03:03:51Z", "InProgress"), ("2026-01-02T03:03:50Z", "Failed")] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": created},
            "status": {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable", "full")]}
        });
        assert_eq!(status_with(pod, ""), format!("{health} PodScheduled: full (Unschedulable)"));
    }
}

// Row: ENG-79
#[test]
fn a_job_is_ready_when_it_has_run_to_its_end() {
    let ended = |kind: &str| json!({"conditions": [condition(kind, "True", "Why", "what")]});
    check(
        "batch/v1",
        "Job",
        &[
            (json!({}), json!({}), "InProgress has not started yet"),
            (
                json!({"completions": 3}),
                json!({"startTime": NOW, "succeeded": 1, "active": 1}),
                "InProgress 1 of 3 runs done, 1 running, 0 failed",
            ),
            (json!({}), ended("Suspended"), "InProgress Suspended: what (Why)"),
            (json!({}), ended("Complete"), "Current"),
            (json!({}), ended("Failed"), "Failed Failed: what (Why)"),
        ],
    );
}

// Row: ENG-79
#[test]
fn a_definition_is_ready_when_it_is_established_under_its_names() {
    let both = |names: &str, established: &str, reason: &str| {
        json!({"conditions": [
            condition("NamesAccepted", names, "Clash", "a is taken"),
            condition("Established", established, reason, "words")
        ]})
    };
    check(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &[
            (json!({}), json!({}), "InProgress has no condition Established yet"),
            (json!({}), both("True", "True", "InitialNamesAccepted"), "Current"),
            (
                json!({}),
                both("False", "True", "InitialNamesAccepted"),
                "Failed NamesAccepted: a is taken (Clash)",
            ),
            (json!({}), both("True", "False", "Installing"), "InProgress Established: words (Installing)"),
            (json!({}), both("True", "False", "NotAccepted"), "Failed Established: words (NotAccepted)"),
            (
                json!({}),
                json!({"conditions": [condition("Established", "True", "", "")]}),
                "InProgress has no condition NamesAccepted yet",
            ),
        ],
    );
}

// Row: ENG-79
#[test]
fn what_others_give_is_waited_for() {
    let available =
        |status: &str| json!({"conditions": [condition("Available", status, "FailedDiscovery", "no route")]});
    check(
        "apiregistration.k8s.io/v1",
        "APIService",
        &[
            (json!({}), json!({}), "InProgress has no condition Available yet"),
            (json!({}), available("False"), "InProgress Available: no route (FailedDiscovery)"),
            (json!({}), available("True"), "Current"),
        ],
    );
    check(
        "v1",
        "PersistentVolumeClaim",
        &[
            (json!({}), json!({}), "InProgress no volume has been looked for yet"),
            (json!({}), json!({"phase": "Pending"}), "InProgress has no volume yet (phase Pending)"),
            (json!({}), json!({"phase": "Bound"}), "Current"),
        ],
    );
    check(
        "v1",
        "Service",
        &[
            (json!({}), json!({}), "Current"),
            (json!({"type": "LoadBalancer"}), json!({}), "InProgress has no cluster IP yet"),
            (json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}), json!({}), "Current"),
        ],
    );
}

// Row: ENG-79
#[test]
fn other_kinds_are_ready_unless_they_say_otherwise() {
    for (api_version, kind) in
        [("v1", "ConfigMap"), ("v1", "Secret"), ("batch/v1", "CronJob"), ("policy/v1", "PodDisruptionBudget")]
    {
        let ready = json!({"conditions": [condition("Ready", "False", "", "")]});
        check(api_version, kind, &[(json!({}), ready, "Current")]);
    }
    let ready = |status: &str| json!({"conditions": [condition("Ready", status, "NoZone", "no such zone")]});
    check(
        "example.com/v1",
        "Widget",
        &[
            (json!({}), json!({}), "Current"),
            (json!({}), ready("True"), "Current"),
            (json!({}), ready("False"), "InProgress Ready: no such zone (NoZone)"),
            (json!({}), ready("Unknown"), "InProgress Ready: no such zone (NoZone)"),
            (json!({}), json!({"conditions": {}}), "Unknown `status.conditions` is a mapping, not a list"),
            (
                json!({}),
                json!({"conditions": [condition("Reconciling", "True", "At", "it")]}),
                "InProgress Reconciling: it (At)",
            ),
            (
                json!({}),
                json!({"conditions": [condition("Stalled", "True", "No", "way")]}),
                "Failed Stalled: way (No)",
            ),
            (json!({}), json!({"conditions": [condition("Stalled", "False", "No", "way")]}), "Current"),
            (
                json!({}),
                json!({"observedGeneration": 3}),
                "InProgress its controller has not looked at generation 1 yet, only at 3",
            ),
        ],
    );
}

#[test]
fn a_deletion_names_what_holds_it() {
    let deleted = |finalizers: Value| json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"deletionTimestamp": NOW, "finalizers": finalizers}});
    assert_eq!(status_with(deleted(json!([])), ""), format!("Terminating being deleted since {NOW}"));
    let held = status_with(deleted(json!(["a/b", "c"])), "");
    assert_eq!(held, format!("Terminating being deleted since {NOW}, held by a/b, c"));
}

fn widget(status: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"generation": 2}, "status": status})
}

// Row: ENG-75
#[test]
fn with_a_hint_a_missing_observed_generation_means_not_yet() {
    let unseen = "InProgress its controller has not looked at it yet";
    let ready =
        |generation: i64| json!([{"type": "Ready", "status": "True", "observedGeneration": generation}]);
    for (status, expected) in [
        (json!({}), unseen),
        (json!({"conditions": [condition("Ready", "True", "", "")]}), unseen),
        (json!({"conditions": ready(2)}), "Current"),
        (
            json!({"conditions": ready(1)}),
            "InProgress its controller has not looked at generation 2 yet, only at 1",
        ),
        (json!({"observedGeneration": 2}), "Current"),
    ] {
        assert_eq!(status_with(widget(&status), "has-observed-generation"), expected, "{status}");
    }
    assert_eq!(status_with(widget(&json!({})), ""), "Current");
}

// Row: ENG-76
#[test]
fn with_a_hint_a_missing_ready_condition_means_not_yet() {
    assert_eq!(
        status_with(widget(&json!({})), "has-ready-condition"),
        "InProgress has no condition Ready yet"
    );
    let ready = json!({"conditions": [condition("Ready", "True", "", "")]});
    assert_eq!(status_with(widget(&ready), "has-ready-condition"), "Current");
}

// Row: ENG-77
#[test]
fn with_a_hint_each_named_condition_must_be_true() {
    let both =
        |a: &str, b: &str| json!({"conditions": [condition("A", a, "", ""), condition("B", b, "", "")]});
    for (status, expected) in [
        (both("True", "True"), "Current"),
        (both("False", "True"), "InProgress A is False"),
        (both("True", "Unknown"), "InProgress B is Unknown"),
        (json!({"conditions": [condition("A", "True", "", "")]}), "InProgress has no condition B yet"),
    ] {
        assert_eq!(status_with(widget(&status), "conditions=A;B"), expected, "{status}");
    }
}

// Row: ENG-78
#[test]
fn several_hints_hold_together() {
    let hints =
        StatusHints::parse("HasObservedGeneration, has-ready-condition,conditions=A;B,Conditions=C").unwrap();
    assert!(hints.has_observed_generation && hints.has_ready_condition);
    assert_eq!(hints.conditions, ["A", "B", "C"]);
    let text = "has-observed-generation,has-ready-condition,conditions=A";
    let ready = condition("Ready", "True", "", "");
    for (status, expected) in [
        (json!({"observedGeneration": 2}), "InProgress has no condition Ready yet"),
        (json!({"conditions": [ready]}), "InProgress its controller has not looked at it yet"),
        (json!({"observedGeneration": 2, "conditions": [ready]}), "InProgress has no condition A yet"),
    ] {
        assert_eq!(status_with(widget(&status), text), expected, "{status}");
    }
}

#[test]
fn a_hint_that_cannot_be_read_is_named() {
    for (text, problem) in [
        ("has-everything", "unknown status hint has-everything"),
        ("", "unknown status hint "),
        ("HasReadyCondition=x", "status hint has-ready-condition does not take a value"),
        ("has-observed-generation=", "status hint has-observed-generation does not take a value"),
        ("conditions", "status hint conditions requires a value"),
        ("conditions=;", "status hint conditions requires a value"),
    ] {
        assert_eq!(StatusHints::parse(text), Err(problem.to_owned()), "{text}");
    }
}
