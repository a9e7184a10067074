use manifest::{Object, Value};
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;

const NOW: &str = "2026-01-02T03:04:05Z";

fn status_with(object: Value, hints: &str) -> String {
    let hints = if hints.is_empty() { StatusHints::default() } else { StatusHints::parse(hints).unwrap() };
    let object: Object = object.try_into().unwrap();
    let Status { health, message } = status_at(&object, &hints, NOW.parse().unwrap());
    if message.is_empty() { health.as_str().to_owned() } else { format!("{} {message}", health.as_str()) }
}

/// Checks the health of one kind in several cases of spec and status. Returns the statuses, one per line.
fn check(api_version: &str, kind: &str, cases: &[(Value, Value, &str)]) -> String {
    let mut lines = String::new();
    for (spec, status, health) in cases {
        let object = json!({
            "apiVersion": api_version, "kind": kind, "spec": spec, "status": status,
            "metadata": {"name": "a", "generation": 1, "creationTimestamp": "2026-01-02T03:04:00Z"}
        });
        let text = status_with(object, "");
        assert_eq!(text.split(' ').next(), Some(*health), "{spec} {status}");
        lines.extend([text.as_str(), "\n"]);
    }
    lines
}

/// Checks the health of widgets under a hint. Returns the statuses, one per line.
fn check_hint(hint: &str, cases: &[(Value, &str)]) -> String {
    let mut lines = String::new();
    for (status, health) in cases {
        let text = status_with(widget(status), hint);
        assert_eq!(text.split(' ').next(), Some(*health), "{status}");
        lines.extend([text.as_str(), "\n"]);
    }
    lines
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
    assert_data_eq!(
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
                    "InProgress",
                ),
                (timed.clone(), with(json!({"conditions": [available]})), "InProgress"),
                (two.clone(), full.clone(), "InProgress"),
                (json!({}), json!({}), "InProgress"),
                (two.clone(), with(json!({"updatedReplicas": 1})), "InProgress"),
                (two.clone(), with(json!({"replicas": 3})), "InProgress"),
                (two.clone(), with(json!({"readyReplicas": 1})), "InProgress"),
                (
                    two.clone(),
                    with(json!({"availableReplicas": 0, "conditions": [condition(
                        "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
                    )]})),
                    "InProgress",
                ),
                (
                    two,
                    json!({"conditions": [condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]}),
                    "InProgress",
                ),
                (
                    timed,
                    with(
                        json!({"conditions": [available, condition("Progressing", "False", "ProgressDeadlineExceeded", "late")]}),
                    ),
                    "Failed",
                ),
            ],
        ),
        str![[r#"
Current
Current
InProgress Progressing: at it (ReplicaSetUpdated)
InProgress has no condition Progressing yet
InProgress has no condition Available yet
InProgress 0 of 1 replicas created
InProgress 1 of 2 replicas updated
InProgress 3 replicas exist, 2 wanted
InProgress 1 of 2 replicas ready
InProgress Available: 0 of 2 replicas available (MinimumReplicasUnavailable: Deployment does not have minimum availability.)
InProgress 0 of 2 replicas created (FailedCreate: exceeded quota)
Failed Progressing: late (ProgressDeadlineExceeded)

"#]]
    );
}

// Row: ENG-79
#[test]
fn a_stateful_set_is_ready_when_all_replicas_have_the_new_revision() {
    let two = json!({"replicas": 2});
    let partition = json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 1}}});
    assert_data_eq!(
        check(
            "apps/v1",
            "StatefulSet",
            &[
                (json!({"updateStrategy": {"type": "OnDelete"}}), json!({}), "Current"),
                (json!({}), json!({}), "InProgress"),
                (two.clone(), json!({"replicas": 2, "readyReplicas": 1}), "InProgress"),
                (two.clone(), json!({"replicas": 3, "readyReplicas": 2}), "InProgress"),
                (two.clone(), json!({"replicas": 2, "readyReplicas": 2, "currentReplicas": 1}), "InProgress"),
                (
                    two.clone(),
                    json!({"replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "currentRevision": "a", "updateRevision": "b"}),
                    "InProgress",
                ),
                (
                    two,
                    json!({"replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "currentRevision": "a", "updateRevision": "a"}),
                    "Current",
                ),
                (
                    partition.clone(),
                    json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 1}),
                    "InProgress",
                ),
                (partition, json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 2}), "Current"),
            ],
        ),
        str![[r#"
Current
InProgress 0 of 1 replicas created
InProgress 1 of 2 replicas ready
InProgress 3 replicas exist, 2 wanted
InProgress 1 of 2 replicas current
InProgress updating from revision a to b
Current
InProgress 1 of 2 replicas updated
Current

"#]]
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
    assert_data_eq!(
        check(
            "apps/v1",
            "DaemonSet",
            &[
                (json!({}), json!({}), "InProgress"),
                (json!({}), json!({"observedGeneration": 1}), "InProgress"),
                (json!({}), seen(json!({"currentNumberScheduled": 1})), "InProgress"),
                (json!({}), seen(json!({"updatedNumberScheduled": 1})), "InProgress"),
                (json!({}), seen(json!({"numberAvailable": 1})), "InProgress"),
                (json!({}), seen(json!({"numberReady": 1})), "InProgress"),
                (json!({}), seen(json!({})), "Current"),
            ],
        ),
        str![[r#"
InProgress its controller has not observed it yet
InProgress its controller has not counted nodes yet
InProgress 1 of 2 replicas created
InProgress 1 of 2 replicas updated
InProgress 1 of 2 replicas available
InProgress 1 of 2 replicas ready
Current

"#]]
    );
}

// Row: ENG-79
#[test]
fn a_replica_set_is_ready_when_its_pods_are() {
    let full = json!({"replicas": 1, "fullyLabeledReplicas": 1, "availableReplicas": 1, "readyReplicas": 1});
    assert_data_eq!(
        check(
            "apps/v1",
            "ReplicaSet",
            &[
                (json!({}), full, "Current"),
                (json!({}), json!({}), "InProgress"),
                (json!({}), json!({"fullyLabeledReplicas": 1}), "InProgress"),
                (json!({}), json!({"fullyLabeledReplicas": 1, "availableReplicas": 1}), "InProgress"),
                (json!({"replicas": 0}), json!({"replicas": 1}), "InProgress"),
                (
                    json!({}),
                    json!({"conditions": [condition("ReplicaFailure", "True", "FailedCreate", "no such account")]}),
                    "InProgress",
                ),
            ],
        ),
        str![[r#"
Current
InProgress 0 of 1 replicas labelled
InProgress 0 of 1 replicas available
InProgress 0 of 1 replicas ready
InProgress 1 replicas exist, 0 wanted
InProgress ReplicaFailure: no such account (FailedCreate)

"#]]
    );
}

// Row: ENG-79
#[test]
fn a_pod_is_ready_when_it_runs_or_has_ended() {
    let waiting =
        |reason: &str| json!([{"name": "c", "state": {"waiting": {"reason": reason, "message": "why"}}}]);
    let unschedulable =
        json!([condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available")]);
    assert_data_eq!(
        check(
            "v1",
            "Pod",
            &[
                (json!({}), json!({}), "InProgress"),
                (json!({}), json!({"phase": "Succeeded"}), "Current"),
                (json!({}), json!({"phase": "Failed"}), "Current"),
                (
                    json!({}),
                    json!({"phase": "Running", "conditions": [condition("Ready", "True", "", "")]}),
                    "Current",
                ),
                (json!({}), json!({"phase": "Running"}), "InProgress"),
                (
                    json!({}),
                    json!({"phase": "Running", "containerStatuses": waiting("CrashLoopBackOff")}),
                    "Failed",
                ),
                (json!({}), json!({"phase": "Pending"}), "InProgress"),
                (
                    json!({}),
                    json!({"phase": "Pending", "containerStatuses": waiting("ImagePullBackOff")}),
                    "InProgress",
                ),
                (json!({}), json!({"phase": "Pending", "conditions": unschedulable}), "InProgress"),
                (json!({}), json!({"phase": "Odd"}), "Unknown"),
            ],
        ),
        str![[r#"
InProgress not scheduled yet
Current
Current
Current
InProgress running, not ready
Failed container c: why (CrashLoopBackOff)
InProgress pending
InProgress container c: why (ImagePullBackOff)
InProgress PodScheduled: 0/1 nodes are available (Unschedulable)
Unknown unknown phase `Odd`

"#]]
    );
}

// Row: ENG-79
#[test]
fn a_pod_unschedulable_for_15_seconds_has_failed() {
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
fn a_job_is_ready_when_it_is_complete() {
    let ended = |kind: &str| json!({"conditions": [condition(kind, "True", "Why", "what")]});
    assert_data_eq!(
        check(
            "batch/v1",
            "Job",
            &[
                (json!({}), json!({}), "InProgress"),
                (
                    json!({"completions": 3}),
                    json!({"startTime": NOW, "succeeded": 1, "active": 1}),
                    "InProgress",
                ),
                (json!({}), ended("Suspended"), "InProgress"),
                (json!({}), ended("Complete"), "Current"),
                (json!({}), ended("Failed"), "Failed"),
            ],
        ),
        str![[r#"
InProgress has not started yet
InProgress 1 of 3 runs done, 1 running, 0 failed
InProgress Suspended: what (Why)
Current
Failed Failed: what (Why)

"#]]
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
    assert_data_eq!(
        check(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            &[
                (json!({}), json!({}), "InProgress"),
                (json!({}), both("True", "True", "InitialNamesAccepted"), "Current"),
                (json!({}), both("False", "True", "InitialNamesAccepted"), "Failed"),
                (json!({}), both("True", "False", "Installing"), "InProgress"),
                (json!({}), both("True", "False", "NotAccepted"), "Failed"),
                (json!({}), json!({"conditions": [condition("Established", "True", "", "")]}), "InProgress"),
            ],
        ),
        str![[r#"
InProgress has no condition Established yet
Current
Failed NamesAccepted: a is taken (Clash)
InProgress Established: words (Installing)
Failed Established: words (NotAccepted)
InProgress has no condition NamesAccepted yet

"#]]
    );
}

// Row: ENG-79
#[test]
fn api_services_claims_and_load_balancers_are_not_ready_at_first() {
    let available =
        |status: &str| json!({"conditions": [condition("Available", status, "FailedDiscovery", "no route")]});
    assert_data_eq!(
        check(
            "apiregistration.k8s.io/v1",
            "APIService",
            &[
                (json!({}), json!({}), "InProgress"),
                (json!({}), available("False"), "InProgress"),
                (json!({}), available("True"), "Current"),
            ],
        ),
        str![[r#"
InProgress has no condition Available yet
InProgress Available: no route (FailedDiscovery)
Current

"#]]
    );
    assert_data_eq!(
        check(
            "v1",
            "PersistentVolumeClaim",
            &[
                (json!({}), json!({}), "InProgress"),
                (json!({}), json!({"phase": "Pending"}), "InProgress"),
                (json!({}), json!({"phase": "Bound"}), "Current"),
            ],
        ),
        str![[r#"
InProgress no volume bound yet
InProgress has no volume yet (phase Pending)
Current

"#]]
    );
    assert_data_eq!(
        check(
            "v1",
            "Service",
            &[
                (json!({}), json!({}), "Current"),
                (json!({"type": "LoadBalancer"}), json!({}), "InProgress"),
                (json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}), json!({}), "Current"),
            ],
        ),
        str![[r#"
Current
InProgress has no cluster IP yet
Current

"#]]
    );
}

// Row: ENG-79
#[test]
fn other_kinds_are_ready_unless_a_condition_says_otherwise() {
    for (api_version, kind) in
        [("v1", "ConfigMap"), ("v1", "Secret"), ("batch/v1", "CronJob"), ("policy/v1", "PodDisruptionBudget")]
    {
        let ready = json!({"conditions": [condition("Ready", "False", "", "")]});
        check(api_version, kind, &[(json!({}), ready, "Current")]);
    }
    let ready = |status: &str| json!({"conditions": [condition("Ready", status, "NoZone", "no such zone")]});
    assert_data_eq!(
        check(
            "example.com/v1",
            "Widget",
            &[
                (json!({}), json!({}), "Current"),
                (json!({}), ready("True"), "Current"),
                (json!({}), ready("False"), "InProgress"),
                (json!({}), ready("Unknown"), "InProgress"),
                (json!({}), json!({"conditions": {}}), "Unknown"),
                (
                    json!({}),
                    json!({"conditions": [condition("Reconciling", "True", "At", "it")]}),
                    "InProgress",
                ),
                (json!({}), json!({"conditions": [condition("Stalled", "True", "No", "way")]}), "Failed"),
                (json!({}), json!({"conditions": [condition("Stalled", "False", "No", "way")]}), "Current"),
                (json!({}), json!({"observedGeneration": 3}), "InProgress"),
            ],
        ),
        str![[r#"
Current
Current
InProgress Ready: no such zone (NoZone)
InProgress Ready: no such zone (NoZone)
Unknown `status.conditions` is a mapping, not a list
InProgress Reconciling: it (At)
Failed Stalled: way (No)
Current
InProgress its controller has observed generation 3, not yet generation 1

"#]]
    );
}

#[test]
fn a_terminating_object_names_its_finalizers() {
    let deleted = |finalizers: Value| json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"deletionTimestamp": NOW, "finalizers": finalizers}});
    assert_data_eq!(
        status_with(deleted(json!([])), ""),
        str!["Terminating being deleted since 2026-01-02T03:04:05Z"]
    );
    assert_data_eq!(
        status_with(deleted(json!(["a/b", "c"])), ""),
        str!["Terminating being deleted since 2026-01-02T03:04:05Z, held by a/b, c"]
    );
}

fn widget(status: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"generation": 2}, "status": status})
}

// Row: ENG-75
#[test]
fn with_a_hint_a_missing_observed_generation_means_not_yet() {
    let ready =
        |generation: i64| json!([{"type": "Ready", "status": "True", "observedGeneration": generation}]);
    let cases = [
        (json!({}), "InProgress"),
        (json!({"conditions": [condition("Ready", "True", "", "")]}), "InProgress"),
        (json!({"conditions": ready(2)}), "Current"),
        (json!({"conditions": ready(1)}), "InProgress"),
        (json!({"observedGeneration": 2}), "Current"),
    ];
    assert_data_eq!(
        check_hint("has-observed-generation", &cases),
        str![[r#"
InProgress its controller has not observed it yet
InProgress its controller has not observed it yet
Current
InProgress its controller has observed generation 1, not yet generation 2
Current

"#]]
    );
    assert_eq!(status_with(widget(&json!({})), ""), "Current");
}

// Row: ENG-76
#[test]
fn with_a_hint_a_missing_ready_condition_means_not_yet() {
    let ready = json!({"conditions": [condition("Ready", "True", "", "")]});
    let cases = [(json!({}), "InProgress"), (ready, "Current")];
    assert_data_eq!(
        check_hint("has-ready-condition", &cases),
        str![[r#"
InProgress has no condition Ready yet
Current

"#]]
    );
}

// Row: ENG-77
#[test]
fn with_a_hint_each_named_condition_must_be_true() {
    let both =
        |a: &str, b: &str| json!({"conditions": [condition("A", a, "", ""), condition("B", b, "", "")]});
    let cases = [
        (both("True", "True"), "Current"),
        (both("False", "True"), "InProgress"),
        (both("True", "Unknown"), "InProgress"),
        (json!({"conditions": [condition("A", "True", "", "")]}), "InProgress"),
    ];
    assert_data_eq!(
        check_hint("conditions=A;B", &cases),
        str![[r#"
Current
InProgress A is False
InProgress B is Unknown
InProgress has no condition B yet

"#]]
    );
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
    let cases = [
        (json!({"observedGeneration": 2}), "InProgress"),
        (json!({"conditions": [ready]}), "InProgress"),
        (json!({"observedGeneration": 2, "conditions": [ready]}), "InProgress"),
    ];
    assert_data_eq!(
        check_hint(text, &cases),
        str![[r#"
InProgress has no condition Ready yet
InProgress its controller has not observed it yet
InProgress has no condition A yet

"#]]
    );
}

#[test]
fn an_invalid_hint_is_an_error() {
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
