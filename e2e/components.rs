//! A life of Components: on a sandbox and on a real API server.

use std::path::Path;

use support::{
    api_server::ApiServer,
    binary::TestEnvironment,
    fixture::Fixture,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
};

/// Two Components: `web` depends on `db`. Their files are in a Blueprint, which is not applied.
const COMPONENTS: &str = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web, namespace: shop}
spec:
  sourceRef: {blueprint: {name: files}}
  path: web
  values: {color: blue}
  dependencies: [{name: db}]
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: db, namespace: shop}
spec:
  sourceRef: {blueprint: {name: files}}
  path: db
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {name: files, namespace: shop}
spec:
  files:
    db/crd.yaml: |
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: tables.shop.example}
      spec:
        group: shop.example
        names: {kind: Table, plural: tables, singular: table, listKind: TableList}
        scope: Namespaced
        versions:
        - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
    db/map.yaml: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: db}
      data: {port: '5432'}
    db/service.yaml: |
      apiVersion: v1
      kind: Service
      metadata: {name: db}
      spec: {selector: {app: db}, ports: [{port: 5432}]}
    web/table.yaml: |
      apiVersion: shop.example/v1
      kind: Table
      metadata: {name: orders}
      spec: {color: {{ .color }}}
    web/map.yaml: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: web
        annotations: {component-operator.cs.sap.com/update-policy: recreate}
      immutable: true
      data: {color: {{ .color }}, port: '{{ (lookup \"v1\" \"ConfigMap\" \"shop\" \"db\").data.port }}'}
";

#[tokio::test(flavor = "multi_thread")]
async fn components_live_on_a_sandbox() {
    let fixture = Fixture::start().await;
    live(fixture.kubeconfig().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn components_live_on_a_real_api_server() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    live(server.kubeconfig()).await;
}

/// Applies, changes, moves to the definition, and deletes.
async fn live(kubeconfig: &Path) {
    let world = crate::world().env("KUBECONFIG", kubeconfig.as_os_str());
    let client = client_from_kubeconfig(kubeconfig).await;
    let before = ObjectSnapshot::read(&client).await;
    world.write("shop.yaml", COMPONENTS);
    world.run_expecting_success("component apply shop.yaml");
    let first = ObjectSnapshot::read(&client).await;
    assert_eq!(first.get("ConfigMap shop/web").unwrap()["data"]["port"], "5432");
    assert_eq!(first.get("Table shop/orders").unwrap()["spec"]["color"], "blue");

    // The defaults of the server are no difference.
    world.run_expecting_success("component diff shop.yaml --exit-status");
    world.run_expecting_success("component apply shop.yaml");
    assert_eq!(ObjectSnapshot::read(&client).await.since(&first).to_string(), "");

    // The immutable ConfigMap is recreated, and the Service is deleted.
    let changed = COMPONENTS.replace("color: blue", "color: green").replace("service.yaml", "service.txt");
    world.write("shop.yaml", &changed);
    assert_eq!(world.run_line("component diff shop.yaml --exit-status").status, 3);
    world.run_expecting_success("component plan shop.yaml --out plan.json");
    world.run_expecting_success("component apply --plan plan.json");
    let second = ObjectSnapshot::read(&client).await;
    assert_eq!(second.get("ConfigMap shop/web").unwrap()["data"]["color"], "green");
    assert!(second.get("Service shop/db").is_none());

    // With their definition, Components are objects.
    world.write("definition.yaml", definition(&world));
    world.run_expecting_success("component apply definition.yaml");
    world.write("shop.yaml", changed.replace("color: green", "color: red"));
    world.run_expecting_success("component apply shop.yaml");
    let third = ObjectSnapshot::read(&client).await;
    assert_eq!(third.get("Component shop/web").unwrap()["status"]["state"], "Ready");
    assert_eq!(third.get("Component shop/db").unwrap()["status"]["state"], "Ready");

    world.run_expecting_success("component delete -f shop.yaml");
    let left = ObjectSnapshot::read_after_deletions(&client).await.since(&before);
    let stays = |name: &str| {
        name == "Namespace shop" || name.contains("definition") || name.contains("s.core.cs.sap.com")
    };
    assert_eq!(left.excluding(stays).to_string(), "");
}

/// Returns a Component with the definition of Components.
fn definition(world: &TestEnvironment) -> String {
    let text = world.run_expecting_success("component definition").stdout;
    let indented = text.trim_end().replace('\n', "\n      ");
    format!(
        "apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {{name: definition, namespace: shop}}
spec: {{sourceRef: {{blueprint: {{name: definition}}}}}}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {{name: definition, namespace: shop}}
spec:
  files:
    .component-config.yaml: 'templateSuffix: .tpl'
    crd.yaml: |
      {indented}
"
    )
}
