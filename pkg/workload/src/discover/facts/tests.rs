use inventory::known_kind;
use serde_json::json;

use super::*;

fn of(group: &str, kind: &str) -> Arc<TypeFacts> {
    let kind = known_kind(group, "v1beta2", kind, "things", true);
    Arc::new(TypeFacts {
        kind,
        is_labelled_to_move: false,
        is_hierarchy: false,
        has_status: true,
        provider: None,
    })
}

/// Returns facts of an object of a kind with these fields.
fn read(group: &str, kind: &str, fields: &Value) -> ObjectFacts {
    let mut object = Object::try_from(json!({"apiVersion": "x", "kind": "PartialObjectMetadata"})).unwrap();
    object.as_map_mut().extend(fields.as_object().unwrap().clone());
    facts_of(&object, &of(group, kind))
}

fn cluster(spec: &Value, status: &Value) -> ClusterFacts {
    let metadata = json!({"name": "one", "namespace": "a", "labels": {"x": "y"}});
    let facts = read(CORE, "Cluster", &json!({"metadata": metadata, "spec": spec, "status": status}));
    let ContentFacts::Cluster(cluster) = facts.content else { panic!("{:?}", facts.content) };
    cluster
}

fn replicas(fields: &Value) -> ReplicaCounts {
    let facts = read(CORE, "MachineDeployment", fields);
    let ContentFacts::Replicas(replicas) = facts.content else { panic!("{:?}", facts.content) };
    replicas
}

#[test]
fn metadata_facts_have_identity_owners_and_move_labels() {
    let facts = read(
        "",
        "Secret",
        &json!({"metadata": {
            "name": "x", "namespace": "a", "uid": "1", "resourceVersion": "7", "deletionTimestamp": "2026-01-02T03:04:05Z",
            "labels": {MOVE: "false", MOVE_HIERARCHY: "", CLUSTER_NAME: "one"},
            "annotations": {BLOCK_MOVE: "false", DELETE_FOR_MOVE: "", MOVE_MARK: "run", PAUSED_ANNOTATION: ""},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "A", "name": "b", "uid": "2", "controller": true, "blockOwnerDeletion": false},
                {"apiVersion": "v1", "kind": "C", "name": "d", "uid": "3"},
            ],
        }}),
    );
    assert_eq!(
        (facts.key.to_string().as_str(), &*facts.uid, &*facts.resource_version),
        ("Secret a/x", "1", "7")
    );
    assert!(facts.is_terminating && facts.is_labelled_to_move && facts.is_hierarchy && facts.blocks_move);
    assert!(facts.is_deleted_for_move && facts.is_paused);
    assert_eq!((facts.paused_by.as_deref(), facts.cluster_name.as_deref()), (Some("run"), Some("one")));
    let owners: Vec<_> = facts
        .owners
        .iter()
        .map(|owner| (&*owner.uid, owner.controller, owner.block_owner_deletion))
        .collect();
    assert_eq!(owners, [("2", Some(true), Some(false)), ("3", None, None)]);
    let nothing = read("", "Secret", &json!({"metadata": {"name": "x", "namespace": "a"}}));
    assert!(
        !nothing.is_terminating
            && !nothing.is_labelled_to_move
            && !nothing.is_hierarchy
            && !nothing.blocks_move
    );
    assert!(!nothing.is_deleted_for_move && !nothing.is_paused && nothing.gitops_tool.is_none());
}

#[test]
fn a_pause_is_acknowledged_for_the_current_generation() {
    let fact = |status: &str, seen: Option<i64>| json!([{"type": "Paused", "status": status, "observedGeneration": seen}]);
    for (status, rests) in [
        (json!({}), None),
        (json!({"conditions": [{"type": "Ready", "status": "True"}]}), None),
        (json!({"conditions": fact("True", None)}), Some(true)),
        (json!({"conditions": fact("True", Some(2))}), Some(true)),
        (json!({"conditions": fact("True", Some(1))}), Some(false)),
        (json!({"conditions": fact("False", Some(2))}), Some(false)),
        (json!({"conditions": [], "v1beta2": {"conditions": fact("True", Some(2))}}), Some(true)),
    ] {
        let facts = read(CORE, "Machine", &json!({"metadata": {"generation": 2}, "status": status}));
        assert_eq!(facts.pause_acknowledged, rests, "{status}");
    }
}

#[test]
fn only_a_cluster_is_paused_by_its_spec() {
    let paused = |kind| read(CORE, kind, &json!({"metadata": {}, "spec": {"paused": true}})).is_paused;
    assert_eq!((paused("Cluster"), paused("MachineDeployment")), (true, false));
}

#[test]
fn gitops_tools_are_detected_by_their_marks() {
    for (labels, annotations, tool) in [
        (json!({"argocd.argoproj.io/instance": "x"}), json!({}), Some("Argo CD")),
        (json!({}), json!({"argocd.argoproj.io/tracking-id": "x"}), Some("Argo CD")),
        (json!({"kustomize.toolkit.fluxcd.io/name": "x"}), json!({}), Some("Flux")),
        (json!({MANAGED_BY: "Helm", "helm.toolkit.fluxcd.io/name": "x"}), json!({}), Some("Flux")),
        (json!({}), json!({"objectset.rio.cattle.io/id": "x"}), Some("Fleet")),
        (json!({"fleet.cattle.io/bundle-id": "x"}), json!({"meta.helm.sh/release-name": "x"}), Some("Fleet")),
        (json!({}), json!({"meta.helm.sh/release-name": "x"}), Some("Helm")),
        (json!({MANAGED_BY: "Helm"}), json!({}), Some("Helm")),
        (json!({MANAGED_BY: "hand"}), json!({}), None),
    ] {
        let metadata = json!({"name": "x", "labels": labels, "annotations": annotations});
        assert_eq!(read("", "Secret", &json!({"metadata": metadata})).gitops_tool, tool, "{metadata}");
    }
}

#[test]
fn cluster_facts_have_the_provisioning_state() {
    let reached = |status: &str| json!([{"type": "ControlPlaneInitialized", "status": status}]);
    let with =
        |field: &str, conditions: Value| json!({"initialization": {field: true}, "conditions": conditions});
    let reference = json!({"controlPlaneRef": {"name": "cp"}});
    for (spec, status, infrastructure, control_plane) in [
        (json!({}), json!({}), false, false),
        (json!({}), with("infrastructureProvisioned", json!([])), true, false),
        (json!({}), json!({"conditions": reached("True")}), false, true),
        (json!({}), json!({"conditions": reached("Unknown")}), false, false),
        (reference.clone(), json!({"conditions": reached("True")}), false, false),
        (reference, with("controlPlaneInitialized", reached("True")), false, true),
    ] {
        let cluster = cluster(&spec, &status);
        assert_eq!(
            (cluster.infrastructure_provisioned, cluster.control_plane_initialized),
            (infrastructure, control_plane),
            "{status}"
        );
    }
}

#[test]
fn a_class_is_in_the_namespace_of_its_cluster_unless_it_is_named() {
    for (reference, class) in [
        (json!({"name": "c"}), Some(("a", "c"))),
        (json!({"name": "c", "namespace": ""}), Some(("a", "c"))),
        (json!({"name": "c", "namespace": "b"}), Some(("b", "c"))),
        (json!(null), None),
    ] {
        let cluster = cluster(&json!({"topology": {"classRef": reference}}), &json!({}));
        let found = cluster.class.as_ref().map(|(namespace, name)| (&**namespace, &**name));
        assert_eq!(found, class);
    }
}

#[test]
fn machine_counts_come_from_their_controllers() {
    let is = |desired, current, up_to_date, is_observed| ReplicaCounts {
        desired,
        current,
        up_to_date,
        is_observed,
    };
    for (spec, status, expected) in [
        (json!({"replicas": 3}), json!({"replicas": 2, "upToDateReplicas": 1}), is(3, 2, Some(1), true)),
        (json!({"replicas": 3}), json!({"updatedReplicas": 1}), is(3, 0, Some(1), true)),
        (json!({}), json!({"replicas": 2}), is(2, 2, None, true)),
        (json!({"replicas": 1}), json!({"observedGeneration": 4}), is(1, 0, None, false)),
        (json!({"replicas": 1}), json!({"observedGeneration": 5}), is(1, 0, None, true)),
    ] {
        let fields = json!({"metadata": {"generation": 5}, "spec": spec, "status": status});
        assert_eq!(replicas(&fields), expected, "{fields}");
    }
}

#[test]
fn kind_facts_are_read_from_cluster_api_kinds_only() {
    let control_plane = "controlplane.cluster.x-k8s.io";
    for (group, kind, in_full) in [
        (CORE, "Cluster", true),
        (CORE, "Machine", true),
        (CORE, "MachinePool", true),
        (CORE, "ClusterClass", false),
        (CORE, "MachineHealthCheck", false),
        (control_plane, "KubeadmControlPlane", true),
        (control_plane, "KubeadmControlPlaneTemplate", false),
        (ADDONS, "ClusterResourceSetBinding", true),
        (ADDONS, "ClusterResourceSet", false),
        ("example.org", "Cluster", false),
        ("", "Secret", false),
    ] {
        assert_eq!(needs_content(&of(group, kind)), in_full, "{kind}.{group}");
    }
    for (fields, has) in
        [(json!({"status": {"nodeRef": {"name": "n"}}}), true), (json!({"status": {}}), false)]
    {
        let content = read(CORE, "Machine", &fields).content;
        assert!(matches!(content, ContentFacts::Machine { has_node } if has_node == has));
    }
    for (spec, name) in [(json!({"clusterName": "two"}), "two"), (json!({}), "one")] {
        let content =
            read(ADDONS, "ClusterResourceSetBinding", &json!({"metadata": {"name": "one"}, "spec": spec}))
                .content;
        assert!(matches!(content, ContentFacts::Binding { cluster } if cluster == name));
    }
}

#[test]
fn the_ready_condition_is_preferred_over_available() {
    let reported = |conditions: &Value| {
        let facts = read(CORE, "Machine", &json!({"status": {"conditions": conditions}}));
        facts.condition.map(|found| format!("{} {} {}", found.kind, found.status, found.reason))
    };
    let available = json!({"type": "Available", "status": "False", "reason": "Down"});
    assert_eq!(reported(&json!([available])).unwrap(), "Available False Down");
    let ready = json!({"type": "Ready", "status": "True", "reason": "Ready"});
    assert_eq!(reported(&json!([available, ready])).unwrap(), "Ready True Ready");
    assert_eq!(reported(&json!([])), None);
}
