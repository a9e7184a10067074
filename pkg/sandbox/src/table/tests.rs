use std::sync::Arc;

use super::*;
use crate::kinds::{CustomResource, PrinterColumn};

fn resource(group: &str, plural: &str) -> ResourceType {
    crate::kinds::tests::resource(group, plural, None)
}

/// 00:30 on 1 January 2025. Some objects were created one hour earlier.
const NOW: i64 = 1_735_691_400;
const CREATED: &str = "2024-12-31T23:30:00Z";

/// Returns the cells of an object named `x` that is one hour old, without name and age.
fn cells(group: &str, plural: &str, mut object: Value) -> Vec<Value> {
    object["metadata"]["name"] = "x".into();
    object["metadata"]["creationTimestamp"] = CREATED.into();
    let table = table(&resource(group, plural), &[object], BTreeMap::new(), IncludeObject::None, NOW);
    let cells = table["rows"][0]["cells"].as_array().unwrap().clone();
    let columns = table["columnDefinitions"].as_array().unwrap();
    assert!(columns.len() <= cells.len(), "{plural}");
    cells.into_iter().filter(|cell| *cell != "x" && *cell != "60m").collect()
}

fn state(name: &str, restarts: u32, ready: bool, state: impl Into<Value>) -> Value {
    let state = state.into();
    json!({"name": name, "restartCount": restarts, "ready": ready, "state": state,
        "lastState": if restarts > 0 { json!({"terminated": {"finishedAt": "2024-12-31T23:30:00Z"}}) } else { json!({}) }})
}

#[test]
fn a_pod_shows_the_state_of_its_containers() {
    let running = || json!({"running": {}});
    let ended = |code: i32, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason}});
    let waiting = |reason: &str| json!({"waiting": {"reason": reason}});
    let two = || json!({"containers": [{"name": "a"}, {"name": "b"}]});
    for (spec, status, expected) in [
        (two(), json!({"phase": "Pending"}), ["0/2", "Pending", "0"]),
        (
            two(),
            json!({"phase": "Running", "containerStatuses": [state("a", 3, true, running()), state("b", 0, true, running())]}),
            ["2/2", "Running", "3 (60m ago)"],
        ),
        (
            two(),
            json!({"phase": "Pending", "containerStatuses": [
                state("a", 0, false, waiting("ImagePullBackOff")), state("b", 0, false, ended(3, "")),
            ]}),
            ["0/2", "ImagePullBackOff", "0"],
        ),
        (
            json!({"containers": [{"name": "a"}]}),
            json!({"phase": "Failed", "reason": "Evicted"}),
            ["0/1", "Evicted", "0"],
        ),
    ] {
        let found = cells("", "pods", json!({"spec": spec, "status": status}));
        assert_eq!(found[..3], expected.map(Value::from), "{status}");
    }
}

#[test]
fn a_terminating_or_finished_pod_shows_its_state() {
    let mut pod = json!({"spec": {"containers": [{"name": "a"}]}, "status": {"phase": "Running"}});
    pod["metadata"]["deletionTimestamp"] = CREATED.into();
    assert_eq!(cells("", "pods", pod)[1], "Terminating");
    let ended = json!({"status": {"phase": "Succeeded"}});
    let table = table(&resource("", "pods"), &[ended], BTreeMap::new(), IncludeObject::None, NOW);
    assert_eq!(table["rows"][0]["conditions"][0]["reason"], "Succeeded");
}

#[test]
fn built_in_kinds_print_like_the_real_server() {
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
        {"name": "a", "image": "a:1"}, {"name": "c", "image": "c:1"},
    ]}});
    let selector = json!({
        "matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "z", "operator": "NotIn", "values": ["q", "p"]}],
    });
    let subsets = json!([
        {"addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}], "ports": [{"port": 80}, {"port": 81}]},
        {"addresses": [{"ip": "fd00::1"}], "ports": [{"port": 80}]},
    ]);
    for (group, plural, object, expected) in [
        (
            "apps",
            "deployments",
            json!({"spec": {"replicas": 2, "selector": selector, "template": template},
                "status": {"readyReplicas": 1, "updatedReplicas": 2}}),
            json!(["1/2", 2, 0, "a,c", "a:1,c:1", "a=b,z notin (p,q)"]),
        ),
        (
            "apps",
            "daemonsets",
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
                "status": {"desiredNumberScheduled": 3, "numberReady": 1}}),
            json!([3, 0, 1, 0, 0, "<none>", "a,c", "a:1,c:1", "a=b"]),
        ),
        (
            "apps",
            "controllerrevisions",
            json!({"revision": 3, "metadata": {"ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "ds", "controller": true},
            ]}}),
            json!(["daemonset.apps/ds", 3]),
        ),
        (
            "batch",
            "jobs",
            json!({"spec": {"completions": 3}, "status": {"succeeded": 1, "startTime": "2024-01-01T00:00:00Z",
                "completionTime": "2024-01-01T00:04:05Z", "conditions": [{"type": "Complete", "status": "True"}]}}),
            json!(["Complete", "1/3", "4m5s", "", "", "<none>"]),
        ),
        (
            "batch",
            "cronjobs",
            json!({"spec": {"schedule": "* * * * *", "suspend": false}}),
            json!(["* * * * *", "<none>", "False", 0, "<none>", "", "", "<none>"]),
        ),
        (
            "",
            "services",
            json!({"spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.7"], "selector": {"z": "1", "a": "2"},
                "ports": [{"port": 80, "nodePort": 30000, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}}),
            json!(["LoadBalancer", "10.0.0.7", "<pending>", "80:30000/TCP,53/UDP", "a=2,z=1"]),
        ),
        (
            "",
            "endpoints",
            json!({"subsets": subsets}),
            json!(["10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 2 more..."]),
        ),
        ("", "endpoints", json!({}), json!(["<none>"])),
        (
            "discovery.k8s.io",
            "endpointslices",
            json!({"addressType": "IPv4", "ports": [{"name": "http"}, {}], "endpoints": []}),
            json!(["IPv4", "http,*", "<unset>"]),
        ),
        (
            "networking.k8s.io",
            "ingresses",
            json!({"spec": {"tls": [{}], "rules": [
                {"host": "a.com"}, {"host": "b.com"}, {}, {"host": "c.com"}, {"host": "d.com"},
            ]}}),
            json!(["<none>", "a.com,b.com,c.com + 2 more...", "", "80, 443"]),
        ),
        (
            "",
            "nodes",
            json!({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "b"}},
                "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kernelVersion": "6", "architecture": "arm64"}}}),
            json!([
                "Ready,SchedulingDisabled",
                "b,control-plane",
                "",
                "<none>",
                "<none>",
                "<unknown>",
                "6 (arm64)",
                "<unknown>"
            ]),
        ),
        (
            "",
            "persistentvolumes",
            json!({"spec": {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "claimRef": {"namespace": "n", "name": "c"}}, "status": {"phase": "Bound"}}),
            json!(["10Gi", "RWO,RWX", "", "Bound", "n/c", "", "<unset>", "", "<unset>"]),
        ),
        (
            "storage.k8s.io",
            "storageclasses",
            json!({"provisioner": "p",
                "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}),
            json!(["x (default)", "p", "Delete", "Immediate", false]),
        ),
        (
            "rbac.authorization.k8s.io",
            "rolebindings",
            json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [
                {"kind": "User", "name": "u1"}, {"kind": "User", "name": "u2"},
                {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
            ]}),
            json!(["Role/r", "u1, u2", "", "n/s"]),
        ),
        ("rbac.authorization.k8s.io", "roles", json!({}), json!([CREATED])),
        (
            "policy",
            "poddisruptionbudgets",
            json!({"spec": {"minAvailable": "50%"}}),
            json!(["50%", "N/A", 0]),
        ),
        (
            "apiregistration.k8s.io",
            "apiservices",
            json!({"spec": {"service": {"namespace": "n", "name": "s"}},
                "status": {"conditions": [{"type": "Available", "status": "False", "reason": "Gone"}]}}),
            json!(["n/s", "False (Gone)"]),
        ),
        ("", "configmaps", json!({"data": {"a": "1", "b": "2"}, "binaryData": {"c": ""}}), json!([3])),
    ] {
        assert_eq!(Value::from(cells(group, plural, object.clone())), expected, "{plural} {object}");
    }
}

#[test]
fn table_rows_include_the_requested_objects() {
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}});
    let row = |include| {
        let objects = std::slice::from_ref(&object);
        table(&resource("", "configmaps"), objects, BTreeMap::new(), include, NOW)["rows"][0]["object"]
            .clone()
    };
    assert_eq!(row(IncludeObject::Object), object);
    assert_eq!(row(IncludeObject::None), Value::Null);
    let metadata = json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "x"},
    });
    assert_eq!(row(IncludeObject::Metadata), metadata);
}

#[test]
fn a_table_has_the_structure_clients_expect() {
    let metadata = BTreeMap::from([("resourceVersion", json!("7"))]);
    let made = table(&resource("", "serviceaccounts"), &[], metadata, IncludeObject::Metadata, NOW);
    assert_eq!(
        made,
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "7"}, "rows": [],
            "columnDefinitions": [
                {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0},
                {"name": "Age", "type": "string", "format": "", "description": "", "priority": 0},
            ],
        })
    );
    let scale = json!({"kind": "Scale", "metadata": {"name": "x"}, "spec": {"replicas": 3}, "status": {"replicas": 2}});
    let made = table(&resource("apps", "deployments"), &[scale], BTreeMap::new(), IncludeObject::None, NOW);
    assert_eq!(made["rows"][0]["cells"], json!(["x", 3, 2, "<unknown>"]));
}

fn custom(columns: &[(&str, &str)]) -> ResourceType {
    let column = |(kind, path): &(&str, &str)| PrinterColumn {
        name: "Column".into(),
        kind: (*kind).into(),
        format: "".into(),
        description: "".into(),
        priority: 0,
        json_path: (*path).into(),
    };
    let columns = columns.iter().map(column).collect();
    let custom = CustomResource { columns, ..CustomResource::default() };
    ResourceType { custom: Some(Arc::new(custom)), ..resource("example.com", "things") }
}

#[test]
fn a_custom_resource_prints_the_columns_of_its_definition() {
    let object = json!({"metadata": {"name": "x"}, "spec": {
        "text": "hello", "int": 7, "float": 1.5, "large": 1_234_567.5, "bool": true, "nil": null, "empty": "",
        "date": "2024-12-31T23:30:00Z", "list": ["l0", "l1"], "map": {"b": "<a&b>", "a": [1]},
    }});
    for (kind, path, expected) in [
        ("string", ".spec.text", json!("hello")),
        ("string", ".spec.missing", Value::Null),
        ("string", ".spec.nil", json!("<no value>")),
        ("string", ".spec.int", json!("7")),
        ("string", ".spec.float", json!("1.5")),
        ("string", ".spec.large", json!("1.2345675e+06")),
        ("string", ".spec.bool", json!("true")),
        ("string", ".spec.list", json!("[\"l0\",\"l1\"]")),
        ("string", ".spec.map", json!("{\"a\":[1],\"b\":\"\\u003ca\\u0026b\\u003e\"}")),
        ("string", ".spec.list[*]", json!("l0")),
        ("string", ".spec.list[5]", Value::Null),
        ("integer", ".spec.int", json!(7)),
        ("integer", ".spec.float", json!(1)),
        ("integer", ".spec.text", Value::Null),
        ("integer", ".spec.nil", Value::Null),
        ("number", ".spec.float", json!(1.5)),
        ("boolean", ".spec.bool", json!(true)),
        ("boolean", ".spec.text", Value::Null),
        ("date", ".spec.date", json!("60m")),
        ("date", ".spec.text", json!("<invalid>")),
        ("date", ".spec.empty", json!("<unknown>")),
        ("date", ".spec.int", Value::Null),
    ] {
        let resource = custom(&[(kind, path)]);
        let table =
            table(&resource, std::slice::from_ref(&object), BTreeMap::new(), IncludeObject::None, NOW);
        assert_eq!(table["rows"][0]["cells"], json!(["x", expected]), "{kind} {path}");
        let words = format!("Custom resource definition column (in JSONPath format): {path}");
        assert_eq!(table["columnDefinitions"][1]["description"], words);
    }
}

#[test]
fn a_custom_resource_without_columns_prints_its_age() {
    let object = json!({"metadata": {"name": "x", "creationTimestamp": CREATED}});
    let table = table(&custom(&[]), &[object], BTreeMap::new(), IncludeObject::None, NOW);
    assert_eq!(table["columnDefinitions"][1]["name"], "Age");
    assert_eq!(table["columnDefinitions"][1]["type"], "date");
    assert_eq!(table["rows"][0]["cells"], json!(["x", "60m"]));
}
