//! The controller with the rights of its manifests, on a real API server.

use std::time::{Duration, Instant};

use kube::{Client, config::Kubeconfig};
use serde_json::{Value, json};
use support::{
    api_server::ApiServer,
    binary::{RunningBinary, TestEnvironment},
    fixture::apply,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
};

const NAMESPACE: &str = "component-operator-system";

/// Two namespaces: in `shop`, the service account of Components may write ConfigMaps; in `closed`, it may do nothing.
const NAMESPACES: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: closed}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: deployer, namespace: shop}
rules:
- {apiGroups: [''], resources: [configmaps], verbs: [get, list, create, patch, delete]}
- {apiGroups: [''], resources: [namespaces], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}
subjects: [{kind: ServiceAccount, name: deployer, namespace: shop}]
";

/// Returns a Component with one ConfigMap.
fn component(namespace: &str, fields: &str) -> String {
    format!(
        "
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {{name: web, namespace: {namespace}}}
spec:
  files:
    map.yaml: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {{name: '{{{{ name }}}}'}}
      data: {{color: '{{{{ .color }}}}'}}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {{name: web, namespace: {namespace}}}
spec: {{sourceRef: {{blueprint: {{name: web}}}}, values: {{color: blue}}{fields}}}
"
    )
}

/// Starts a controller without endpoints.
pub(crate) fn start_controller(world: &TestEnvironment, flags: &str) -> RunningBinary {
    world.start(&format!("controller --metrics-bind-address 0 --health-probe-bind-address 0 {flags}"))
}

async fn post(client: &Client, path: &str, body: &Value) -> Value {
    let request = http::Request::post(path).header("content-type", "application/json");
    client.request(request.body(body.to_string().into_bytes()).unwrap()).await.unwrap()
}

/// Returns a kubeconfig with the token of the service account of the controller.
async fn controller_kubeconfig(client: &Client, admin: &std::path::Path) -> String {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/component-operator/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = post(client, &path, &request).await["status"]["token"].as_str().unwrap().to_owned();
    let mut config = serde_json::to_value(Kubeconfig::read_from(admin).unwrap()).unwrap();
    for user in config["users"].as_array_mut().unwrap() {
        user["user"] = json!({"token": token});
    }
    config.to_string()
}

/// Waits until a Component has a state, and returns its message.
async fn wait_for(client: &Client, name: &str, state: &str) -> String {
    let started_at = Instant::now();
    loop {
        let found = ObjectSnapshot::read(client).await;
        let component = found.get(&format!("Component {name}")).cloned().unwrap_or_default();
        if component["status"]["state"] == state {
            return component["status"]["conditions"][0]["message"].as_str().unwrap().to_owned();
        }
        assert!(started_at.elapsed() < Duration::from_mins(1), "{name} is not {state}: {component:#}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

// Row: CMP-77, ENG-16
#[tokio::test(flavor = "multi_thread")]
async fn a_controller_with_least_privilege_acts_as_service_accounts() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    let admin = crate::world().env("KUBECONFIG", server.kubeconfig().as_os_str());
    let client = client_from_kubeconfig(server.kubeconfig()).await;
    // Nothing runs Deployments on this server.
    let install = "controller install --image capstan:test --no-wait --shards 2";
    let installed = admin.run_line(install).messages();
    assert!(installed.contains("installed the controller; 13 objects created"), "{installed}");
    let unchanged = admin.run_line(install).messages();
    assert!(unchanged.contains("nothing to change"), "{unchanged}");
    apply(&client, NAMESPACES).await;
    apply(&client, &component("shop", ", serviceAccountName: deployer")).await;
    apply(&client, &component("closed", "")).await;
    let world = crate::world();
    let config = controller_kubeconfig(&client, server.kubeconfig()).await;
    let config = world.write("controller.kubeconfig", config);
    let world = world.env("KUBECONFIG", config.as_os_str());
    let flags = format!("--leader-elect --namespace {NAMESPACE} --default-service-account default");
    let shard = |index| start_controller(&world, &format!("{flags} --shard {index}/2"));
    let controllers = [0, 1].map(shard);
    wait_for(&client, "shop/web", "Ready").await;
    let refused = wait_for(&client, "closed/web", "Error").await;
    assert!(refused.contains("system:serviceaccount:closed:default"), "{refused}");
    let map = ObjectSnapshot::read(&client).await.get("ConfigMap shop/web").cloned().unwrap();
    assert_eq!(map["data"]["color"], "blue");
    let path = "/apis/core.cs.sap.com/v1alpha1/namespaces/shop/components/web";
    let _: Value = client.request(http::Request::delete(path).body(Vec::new()).unwrap()).await.unwrap();
    let started_at = Instant::now();
    while ObjectSnapshot::read(&client).await.get("Component shop/web").is_some() {
        assert!(started_at.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(ObjectSnapshot::read(&client).await.get("ConfigMap shop/web").is_none());
    let refused = admin.run_expecting_failure("controller uninstall");
    assert!(refused.contains("Component closed/web"), "{refused}");
    for path in ["shop/blueprints/web", "closed/blueprints/web", "closed/components/web"] {
        let path = format!("/apis/core.cs.sap.com/v1alpha1/namespaces/{path}");
        let _: Value = client.request(http::Request::delete(path).body(Vec::new()).unwrap()).await.unwrap();
    }
    while ObjectSnapshot::read(&client).await.get("Component closed/web").is_some() {
        assert!(started_at.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    drop(controllers);
    admin.run_expecting_success("controller uninstall");
    let left = ObjectSnapshot::read(&client).await;
    let names = left.iter().map(|(name, _)| name).filter(|name| name.contains("component-operator"));
    // The controllers were killed, so their leases expire.
    let names: Vec<&str> = names.filter(|name| !name.starts_with("Lease ")).collect();
    assert_eq!(names, [format!("Namespace {NAMESPACE}")]);
}

/// The number of kills. Change it to 50 for a thorough run by hand.
const KILLS: u64 = 10;

/// Returns a Component with a number of ConfigMaps.
fn component_with_maps(count: u64) -> String {
    format!(
        "
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {{name: maps, namespace: shop}}
spec:
  files:
    maps.yaml: |
      {{{{- range $i := until (int .count) }}}}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata: {{name: 'map-{{{{ $i }}}}'}}
      data: {{count: '{{{{ $.count }}}}'}}
      {{{{- end }}}}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {{name: maps, namespace: shop}}
spec: {{sourceRef: {{blueprint: {{name: maps}}}}, values: {{count: {count}}}}}
"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn no_object_is_lost_when_the_controller_is_killed() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    let world = crate::world().env("KUBECONFIG", server.kubeconfig().as_os_str());
    let client = client_from_kubeconfig(server.kubeconfig()).await;
    apply(&client, &world.run_expecting_success("component definition").stdout).await;
    apply(&client, NAMESPACES).await;
    for kill in 0..KILLS {
        if kill % 3 == 0 {
            apply(&client, &component_with_maps(1 + kill * 5 % 7)).await;
        }
        let controller = start_controller(&world, "");
        tokio::time::sleep(Duration::from_millis(60 + kill * 7919 % 340)).await;
        drop(controller);
        let found = ObjectSnapshot::read_namespace(&client, "shop").await;
        let inventory = &found.get("Component shop/maps").unwrap()["status"]["inventory"];
        let recorded = |name: &str| {
            inventory.as_array().into_iter().flatten().any(|item| item["name"].as_str() == Some(name))
        };
        let maps = found.iter().filter_map(|(name, _)| name.strip_prefix("ConfigMap shop/"));
        let lost: Vec<&str> = maps.filter(|name| name.starts_with("map-") && !recorded(name)).collect();
        assert!(lost.is_empty(), "kill {kill}: {lost:?} are not in {inventory}");
    }
    apply(&client, &component_with_maps(3)).await;
    let controller = start_controller(&world, "");
    let started_at = Instant::now();
    loop {
        let found = ObjectSnapshot::read_namespace(&client, "shop").await;
        let count = found.iter().filter(|(name, _)| name.starts_with("ConfigMap shop/map-")).count();
        let component = found.get("Component shop/maps").unwrap();
        let is_observed = component["status"]["observedGeneration"] == component["metadata"]["generation"];
        if is_observed && component["status"]["state"] == "Ready" && count == 3 {
            break;
        }
        assert!(started_at.elapsed() < Duration::from_mins(1), "{component:#}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    drop(controller);
}
