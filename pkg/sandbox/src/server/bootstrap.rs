//! Initial objects of every cluster.

use serde_json::{Value, json};

use crate::{client::Client, controllers::ObjectRef, discovery, meta, status::Status};

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates missing initial objects: namespaces, the Service of the server, roles, priority classes.
pub(super) async fn bootstrap(client: &Client) -> Result<(), Status> {
    for object in objects() {
        let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
        let (group, _) =
            text("apiVersion").rsplit_once('/').map_or((String::new(), ""), |(g, _)| (g.to_owned(), ""));
        let place = ObjectRef {
            group,
            kind: text("kind"),
            namespace: meta::namespace(&object).to_owned(),
            name: meta::name(&object).to_owned(),
        };
        if client.get(&place).is_none() {
            client.create(object).await?;
        }
    }
    Ok(())
}

fn objects() -> Vec<Value> {
    let mut objects = Vec::new();
    for name in NAMESPACES {
        objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    }
    objects.extend(NAMESPACES.iter().flat_map(|name| namespace_content(name)));
    objects.push(json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "type": "ClusterIP", "sessionAffinity": "None",
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
        },
    }));
    objects.extend([
        priority_class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the \
            cluster, but can be moved to another node if necessary.",
        ),
        priority_class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved \
            from their current node.",
        ),
    ]);
    objects.extend(roles());
    objects.extend(api_services());
    objects
}

/// Returns the initial objects of a namespace: the service account of its pods, and their CA bundle. The bundle is
/// empty: pods have nothing to verify.
pub(crate) fn namespace_content(namespace: &str) -> [Value; 2] {
    [
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace},
        }),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "kube-root-ca.crt", "namespace": namespace,
                "annotations": {"kubernetes.io/description": "Contains a CA bundle that can be used to verify the \
                    kube-apiserver when using internal endpoints such as the internal service IP or \
                    kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."},
            },
            "data": {"ca.crt": ""},
        }),
    ]
}

fn priority_class(name: &str, value: i64, description: &str) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": name}, "value": value, "description": description,
    })
}

/// Returns the default roles for users. The rules of aggregated roles are set elsewhere.
fn roles() -> Vec<Value> {
    let metadata = |name: &str| {
        json!({
            "name": name,
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
            "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        })
    };
    let role = |name: &str, verbs: &[&str]| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata(name),
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}],
        })
    };
    let mut administrator = role("cluster-admin", &["*"]);
    if let Some(rules) = administrator["rules"].as_array_mut() {
        rules.push(json!({"nonResourceURLs": ["*"], "verbs": ["*"]}));
    }
    let reading = ["get", "list", "watch"];
    let writing = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    vec![
        administrator,
        role("admin", &writing),
        role("edit", &writing),
        role("view", &reading),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": metadata("cluster-admin"),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:masters"}],
        }),
    ]
}

/// Returns APIServices for the groups and versions that this server serves itself.
fn api_services() -> Vec<Value> {
    let mut services: Vec<Value> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for resource in discovery::discovery_order(Vec::new()) {
        // A server of this group does not aggregate itself.
        if &*resource.group == "apiregistration.k8s.io" {
            continue;
        }
        let name = format!("{}.{}", resource.version, resource.group);
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        services.push(api_service(&resource.group, &resource.version, "onstart"));
    }
    services
}

/// Returns the APIService of a group and version that this server serves itself. `managed` is `onstart`, or `true` for
/// custom resources.
pub(crate) fn api_service(group: &str, version: &str, managed: &str) -> Value {
    let mut spec = json!({"version": version, "groupPriorityMinimum": 17_800, "versionPriority": 15});
    if managed == "true" {
        spec["groupPriorityMinimum"] = 1000.into();
        spec["versionPriority"] = 100.into();
    }
    if group.is_empty() {
        (spec["groupPriorityMinimum"], spec["versionPriority"]) = (18_000.into(), 1.into());
    } else {
        spec["group"] = group.into();
    }
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {
            "name": format!("{version}.{group}"),
            "labels": {"kube-aggregator.kubernetes.io/automanaged": managed},
        },
        "spec": spec,
    })
}
