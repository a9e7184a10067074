use apply::{ApiKind, ServedKinds, key_of};

use serde_json::json;

use super::*;
use crate::testing::{core, installed};

fn kind(group: &str, kind: &str, plural: &str, verbs: &[&str]) -> ApiKind {
    ApiKind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
    }
}

#[test]
fn only_kinds_that_a_provider_can_contain_are_listed() {
    let definitions = BTreeSet::from(["clusters.cluster.x-k8s.io"]);
    let all = ["list", "delete"];
    for (group, name, plural, verbs, expected) in [
        ("apps", "Deployment", "deployments", &all[..], true),
        ("cert-manager.io", "Issuer", "issuers", &all, true),
        ("cluster.x-k8s.io", "Cluster", "clusters", &all, false),
        ("", "Pod", "pods", &all, false),
        ("apps", "ReplicaSet", "replicasets", &all, false),
        ("", "Endpoints", "endpoints", &all, false),
        ("discovery.k8s.io", "EndpointSlice", "endpointslices", &all, false),
        ("clusterctl.cluster.x-k8s.io", "Provider", "providers", &all, false),
        ("", "ComponentStatus", "componentstatuses", &all[..1], false),
        ("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", &[], false),
    ] {
        assert_eq!(
            may_be_installed(&kind(group, name, plural, verbs), &definitions),
            expected,
            "{name}.{group}"
        );
    }
}

fn object(api_version: &str, kind: &str, place: &str, label: &str) -> Object {
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let object = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {labels::PROVIDER: label, labels::CLUSTERCTL: ""},
        },
    });
    Object::try_from(object).unwrap()
}

#[test]
fn both_labels_assign_namespaced_and_cluster_scoped_objects() {
    let mut replica_set = object("apps/v1", "ReplicaSet", "cluster-api-system/made", "cluster-api");
    replica_set.as_map_mut()["metadata"]["ownerReferences"] =
        json!([{"kind": "Deployment", "controller": true}]);
    let mut by_hand = object("v1", "ConfigMap", "cluster-api-system/by-hand", "cluster-api");
    by_hand.as_map_mut()["metadata"]["labels"] = json!({labels::PROVIDER: "cluster-api"});
    let all = [
        object("v1", "Namespace", "cluster-api-system", "cluster-api"),
        object("v1", "Namespace", "elsewhere", "cluster-api"),
        object("rbac.authorization.k8s.io/v1", "ClusterRole", "manager", "cluster-api"),
        object("rbac.authorization.k8s.io/v1", "ClusterRole", "of-docker", "infrastructure-docker"),
        object("v1", "Service", "cluster-api-system/webhook", "cluster-api"),
        object("v1", "Service", "elsewhere/webhook", "cluster-api"),
        object("v1", "ConfigMap", "cluster-api-system/capstan.cluster-api", "cluster-api"),
        replica_set,
        by_hand,
    ];
    let core = installed(&core(), "v1.14.0");
    let names: Vec<_> = labelled_objects_of(&core, &all).map(|object| key_of(object).to_string()).collect();
    assert_eq!(
        names,
        ["Namespace cluster-api-system", "ClusterRole manager", "Service cluster-api-system/webhook"]
    );
}

#[test]
fn items_have_kinds_of_new_definitions_and_are_in_deletion_order() {
    let mut kinds = ServedKinds::default();
    kinds.add(kind("cluster.x-k8s.io", "Cluster", "clusters", &[]));
    let objects = [
        object("v1", "Namespace", "cluster-api-system", "cluster-api"),
        object("v1", "Service", "cluster-api-system/webhook", "cluster-api"),
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "clusters.cluster.x-k8s.io",
            "cluster-api",
        ),
        object("apiregistration.k8s.io/v1", "APIService", "v1.metrics.lab", "cluster-api"),
        object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gone.cluster.x-k8s.io", "cluster-api"),
    ];
    let shown: Vec<_> = to_items(objects.iter(), &kinds)
        .into_iter()
        .map(|item| {
            let types =
                item.managed_types.iter().map(|of| format!(" {} {} {}", of.group, of.version, of.kind));
            format!("{}{}", item.key, types.collect::<String>())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "CustomResourceDefinition clusters.cluster.x-k8s.io cluster.x-k8s.io * Cluster",
            "CustomResourceDefinition gone.cluster.x-k8s.io",
            "APIService v1.metrics.lab metrics.lab v1 *",
            "Service cluster-api-system/webhook",
            "Namespace cluster-api-system",
        ]
    );
}
