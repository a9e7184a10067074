use apply::{GroupKind, ListQuery, ServerOptions};
use manifest::{Object, YamlLimits, read_stream};
use support::{api_server::ApiServer, fixture::Fixture};

use super::*;
use crate::{
    ArtifactReference, ComponentRuns, ComponentStore, RenderedComponent, RunError, SourceState,
    check_component,
};

async fn connect(kubeconfig: &std::path::Path) -> Server {
    let credentials = Credentials::inline_kubeconfig(&std::fs::read(kubeconfig).unwrap()).unwrap();
    let connection = ConnectionOptions { credentials, impersonation: None, user_agent: "test".to_owned() };
    Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease()
}

fn read(text: &str) -> Vec<Object> {
    read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects
}

/// Applies a Component `shop/web` with one ConfigMap.
async fn apply(targets: &Targets, spec: &str) -> Result<Component, RunError> {
    let text = format!(
        "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: web, namespace: shop}}\nspec: {{sourceRef: {{fluxBucket: {{name: s}}}}, {spec}}}\n"
    );
    let store = ComponentStore::open(targets.hub()).await.unwrap();
    let component = store.save(&check_component(&read(&text)[0]).unwrap().object).await.unwrap();
    let runs = ComponentRuns { targets, store: &store, hub: "uid" };
    let source = SourceState { artifact: ArtifactReference::default(), digest: String::new(), files: None };
    let objects = read("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let target = targets.find(&component).await?;
    let kinds = target.kinds().await.unwrap();
    let rendered = RenderedComponent { component, source, digest: String::new(), objects };
    let mut plan = runs.plan_on(target, rendered, &kinds, apply::ReadByName::All).await?;
    runs.apply(&mut plan).await
}

async fn delete(targets: &Targets) {
    let store = ComponentStore::open(targets.hub()).await.unwrap();
    let component = store.list().await.unwrap().readable().unwrap().remove(0);
    let runs = ComponentRuns { targets, store: &store, hub: "uid" };
    let mut plan = runs.plan_deletion(component).await.unwrap();
    runs.delete(&mut plan, std::time::Duration::from_secs(10)).await.unwrap();
}

/// Returns the names of the ConfigMaps in the namespace `shop`.
async fn maps(server: &Server) -> Vec<String> {
    let kind = server.kind(&GroupKind::new("", "ConfigMap")).await.unwrap();
    let list = ListQuery { namespace: Some("shop".to_owned()), ..ListQuery::default() };
    let maps = server.list(&kind, &list).await.unwrap();
    maps.iter().map(|map| map.name().to_owned()).filter(|name| name != "kube-root-ca.crt").collect()
}

async fn save_secret(hub: &Fixture, data: &[(&str, &str)]) {
    let data: serde_json::Map<String, serde_json::Value> =
        data.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    hub.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    hub.apply(
        &serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "k", "namespace": "shop"}, "stringData": data})
            .to_string(),
    )
    .await;
}

// Row: CMP-14, CMP-15, CMP-16
#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_selects_another_cluster() {
    let (hub, remote) = (Fixture::start().await, Fixture::start().await);
    let targets = Targets::new(connect(hub.kubeconfig().await).await);
    let there = connect(remote.kubeconfig().await).await;
    let kubeconfig = std::fs::read_to_string(remote.kubeconfig().await).unwrap();
    save_secret(&hub, &[("value", &kubeconfig), ("value.yaml", "{}"), ("own", &kubeconfig)]).await;
    let component = apply(&targets, "kubeConfig: {secretRef: {name: k}}").await.unwrap();
    assert_eq!(component.status.inventory.len(), 1);
    assert_eq!((maps(targets.hub()).await, maps(&there).await), (Vec::new(), vec!["a".to_owned()]));
    delete(&targets).await;
    assert_eq!(maps(&there).await, [""; 0]);
    apply(&targets, "kubeConfig: {secretRef: {name: k, key: own}}").await.unwrap();
    assert_eq!(maps(&there).await, ["a"]);
}

// Row: CMP-18
#[tokio::test(flavor = "multi_thread")]
async fn kubeconfigs_that_cannot_be_used_are_refused() {
    let hub = Fixture::start().await;
    let targets = Targets::new(connect(hub.kubeconfig().await).await);
    let exec = "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: c}}]\nclusters: [{name: c, cluster: {server: 'https://host'}}]\nusers: [{name: c, user: {exec: {command: login}}}]\n";
    save_secret(&hub, &[("value", exec)]).await;
    let refused = apply(&targets, "kubeConfig: {secretRef: {name: k}}").await.unwrap_err();
    let RunError::Target(TargetError::Kubeconfig { source, .. }) = &refused else { panic!("{refused:?}") };
    assert_eq!(*source, InlineKubeconfigError::NotInline { field: "exec" });
    let missing = apply(&targets, "kubeConfig: {secretRef: {name: gone}}").await.unwrap_err();
    assert!(matches!(missing, RunError::Target(TargetError::Reference { .. })), "{missing:?}");
    assert_eq!(maps(targets.hub()).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_written_by_the_service_account() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    let targets = Targets::new(connect(server.kubeconfig()).await);
    let hub = targets.hub();
    for object in read("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}") {
        let kind = hub.kind(&GroupKind::new("", "Namespace")).await.unwrap();
        hub.create(&kind, &object, "test", apply::WriteMode::Real).await.unwrap();
    }
    let refused = apply(&targets, "serviceAccountName: deployer").await.unwrap_err();
    let text = api::with_causes(&refused);
    assert!(text.contains("system:serviceaccount:shop:deployer"), "{text}");
    let binding = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: deployer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: deployer, namespace: shop}]}";
    let kind = hub.kind(&GroupKind::new("rbac.authorization.k8s.io", "ClusterRoleBinding")).await.unwrap();
    hub.create(&kind, &read(binding)[0], "test", apply::WriteMode::Real).await.unwrap();
    apply(&targets, "serviceAccountName: deployer").await.unwrap();
    assert_eq!(maps(hub).await, ["a"]);
    delete(&targets).await;
    assert_eq!(maps(hub).await, [""; 0]);
}
