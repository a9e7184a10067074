//! Tests of deletions on a server with installed providers.

use std::{collections::BTreeSet, time::Duration};

use api::{ProviderId, ProviderType};
use apply::ListQuery;
use manifest::Object;
use sandbox::ControllerSwitches;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, Kind, NAMESPACE, PROVIDER},
    request_counter::RequestCounter,
};

use crate::delete::*;
use crate::{
    InitRequest, NotReady, UnfinishedPolicy, init, plan_init,
    testing::{
        NEW_VERSION, Releases, asked, cluster, components, core, docker, init_of, installed, namespace_of,
    },
};

const CLUSTER_ROLE: Kind =
    Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles").cluster_scoped();
const SERVICE: Kind = Kind::new("", "v1", "Service", "services");
const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
const CLUSTER: Kind = Kind::new("cluster.x-k8s.io", "v1beta2", "Cluster", "clusters");

/// Starts a fixture with only the required controllers, because no test waits for Deployments.
async fn lab() -> Fixture {
    Fixture::builder()
        .controllers(ControllerSwitches { garbage_collection: true, ..ControllerSwitches::none() })
        .start()
        .await
}

fn everything() -> DeleteRequest {
    DeleteRequest {
        providers: None,
        include_crds: true,
        include_namespaces: true,
        wait: WaitOptions { timeout: Some(Duration::from_secs(20)), must_be_ready: true },
        full_objects: false,
        unfinished: UnfinishedPolicy::Refuse,
    }
}

fn only(id: &ProviderId) -> DeleteRequest {
    let wait = WaitOptions { timeout: None, must_be_ready: false };
    let providers = Some(asked(&[(id.clone(), "")]));
    DeleteRequest {
        providers,
        include_crds: false,
        include_namespaces: false,
        wait,
        full_objects: false,
        unfinished: UnfinishedPolicy::Refuse,
    }
}

/// Installs providers beside an external cert-manager, so that the test does not install one.
async fn install(fixture: &Fixture) -> ManagementCluster {
    fixture.apply(&crate::testing::cert_manager("v1.21.1")).await;
    let cluster = cluster(fixture).await;
    install_on(&cluster).await;
    cluster
}

async fn install_on(cluster: &ManagementCluster) {
    init_with(cluster, &Releases::small(), Vec::new(), None).await;
}

async fn init_with(
    cluster: &ManagementCluster,
    releases: &Releases,
    declined: Vec<ProviderType>,
    target_namespace: Option<String>,
) {
    let wait = WaitOptions { timeout: None, must_be_ready: false };
    let request = InitRequest { declined, target_namespace, ..init_of(&[(docker(), "")], wait) };
    let mut plan = plan_init(cluster, &releases.sources(), &request).await.unwrap();
    init(cluster, &releases.sources(), &request, &mut plan).await.unwrap();
}

/// Returns components whose objects can share a namespace with those of other providers.
fn unlike_others(id: &ProviderId) -> String {
    let name = |text: String, word: &&str| {
        text.replace(&format!("name: {word}"), &format!("name: {}-{word}", id.label()))
    };
    ["manager", "webhook", "selfsigned", "serving"].iter().fold(components(id, NEW_VERSION), name)
}

async fn run(
    cluster: &ManagementCluster,
    request: &DeleteRequest,
) -> Result<Option<NotReady>, LifecycleError> {
    let mut plan = plan_delete(cluster, request).await?;
    delete_providers(cluster, request, &mut plan).await
}

/// Returns all objects as `Kind ns/name`.
async fn objects_on(cluster: &ManagementCluster) -> BTreeSet<String> {
    cluster.server.forget_kinds();
    let kinds = cluster.server.kinds().await.unwrap();
    let mut found = BTreeSet::new();
    for kind in kinds.iter().filter(|kind| kind.verbs.iter().any(|verb| verb == "list")) {
        let objects = cluster.server.list(kind, &ListQuery::default()).await.unwrap();
        found.extend(objects.iter().map(|object: &Object| apply::key_of(object).to_string()));
    }
    found
}

/// Deletes all records. clusterctl leaves the same state: labelled objects without records.
async fn forget_records(fixture: &Fixture) {
    for record in fixture.list(CONFIG_MAP).await {
        let (namespace, name) =
            (&record["metadata"]["namespace"], record["metadata"]["name"].as_str().unwrap());
        if name.starts_with("capstan.") {
            fixture.delete(CONFIG_MAP, &format!("{}/{name}", namespace.as_str().unwrap())).await;
        }
    }
}

// Row: D-117
#[tokio::test]
async fn a_deletion_leaves_only_earlier_objects() {
    for is_recorded in [true, false] {
        let fixture = lab().await;
        fixture.apply(&crate::testing::cert_manager("v1.21.1")).await;
        let cluster = cluster(&fixture).await;
        let before = objects_on(&cluster).await;
        install_on(&cluster).await;
        if !is_recorded {
            forget_records(&fixture).await;
        }
        let counter = RequestCounter::start(fixture.sandbox());
        assert_eq!(run(&cluster, &everything()).await.unwrap(), None);
        let total = counter.all().total();
        assert!(total <= if is_recorded { 150 } else { 220 }, "{total} requests, recorded: {is_recorded}");
        let mut after = objects_on(&cluster).await;
        assert!(after.remove("CustomResourceDefinition providers.clusterctl.cluster.x-k8s.io"));
        assert_eq!(after, before, "recorded: {is_recorded}");
    }
}

#[tokio::test]
async fn definitions_and_namespaces_stay_unless_they_are_named() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    fixture
        .apply(
            "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a, namespace: default}}",
        )
        .await;
    let journal = "{name: capstan-move, namespace: cluster-api-system, labels: {capstan.dev/journal: move}}";
    fixture.apply(&format!("{{apiVersion: v1, kind: ConfigMap, metadata: {journal}}}")).await;
    assert_eq!(run(&cluster, &only(&core())).await.unwrap(), None);
    assert_eq!(cluster.inventory().await.unwrap().entries_of(&core()).count(), 0);
    assert!(fixture.get(CLUSTER, "default/a").await.is_some());
    assert!(fixture.get(NAMESPACE, &namespace_of(&core())).await.is_some());
    assert_eq!(fixture.get(CLUSTER_ROLE, "cluster-api-manager").await, None);
    assert!(fixture.get(CLUSTER_ROLE, "infrastructure-docker-manager").await.is_some());
    for record in ["capstan.cluster-api", "capstan-move"] {
        assert_eq!(fixture.get(CONFIG_MAP, &format!("cluster-api-system/{record}")).await, None, "{record}");
    }
}

// Row: D-129
#[tokio::test]
async fn objects_without_controllers_are_a_warning() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    assert_eq!(plan_delete(&cluster, &only(&core())).await.unwrap().warnings, [""; 0]);
    for name in ["a", "b", "c", "d"] {
        fixture
            .apply(&format!(
                "{{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {{name: {name}, namespace: default}}}}"
            ))
            .await;
    }
    let warnings = plan_delete(&cluster, &only(&core())).await.unwrap().warnings;
    assert_data_eq!(
        warnings.join("\n"),
        str![
            "objects lose the controllers of `cluster-api`: Cluster default/a, Cluster default/b, Cluster default/c and at least 1 more"
        ]
    );
    assert_eq!(plan_delete(&cluster, &only(&docker())).await.unwrap().warnings, [""; 0]);

    fixture.inject_fault("403,resource=cluster.x-k8s.io/clusters");
    let mut plan = plan_delete(&cluster, &only(&core())).await.unwrap();
    assert_data_eq!(
        plan.warnings.join("\n"),
        str![[
            r#"cannot check whether objects lose the controllers of `cluster-api`: cannot list objects of kind `Cluster.cluster.x-k8s.io`: clusters.cluster.x-k8s.io is forbidden: User "admin" cannot list resource "clusters" in API group "cluster.x-k8s.io" at the cluster scope"#
        ]]
    );
    delete_providers(&cluster, &only(&core()), &mut plan).await.unwrap();
    assert_eq!(cluster.inventory().await.unwrap().entries_of(&core()).count(), 0);
}

// Row: D-119
#[tokio::test]
async fn others_can_be_deleted_after_core() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    run(&cluster, &DeleteRequest { include_crds: true, ..only(&core()) }).await.unwrap();
    assert_eq!(fixture.get(CUSTOM_RESOURCE_DEFINITION, "clusters.cluster.x-k8s.io").await, None);
    run(&cluster, &everything()).await.unwrap();
    assert_eq!(cluster.inventory().await.unwrap().providers, []);
}

// Row: D-121
#[tokio::test]
async fn a_deletion_is_rejected_while_objects_of_its_kinds_exist() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    fixture
        .apply(
            "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a, namespace: default}}",
        )
        .await;
    let before = objects_on(&cluster).await;
    let error = run(&cluster, &everything()).await.unwrap_err();
    let LifecycleError::Delete(DeleteError::InUse { providers }) = error else { panic!("{error}") };
    assert_data_eq!(
        providers
            .iter()
            .flat_map(|(_, definitions)| definitions)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n"),
        str!["CustomResourceDefinition clusters.cluster.x-k8s.io is still in use: Cluster default/a"]
    );
    assert_eq!(objects_on(&cluster).await, before);
}

// Row: D-128
#[tokio::test]
async fn missing_permissions_are_reported_together_before_any_deletion() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    for fault in [
        "forbid,verb=delete,resource=rbac.authorization.k8s.io/clusterroles",
        "forbid,verb=delete,resource=services,namespace=cluster-api-system",
        "forbid,verb=delete,resource=namespaces",
        "forbid,verb=delete,resource=apiextensions.k8s.io/customresourcedefinitions",
    ] {
        fixture.inject_fault(fault);
    }
    let before = objects_on(&cluster).await;
    let missing = async |request: &DeleteRequest| match run(&cluster, request).await.unwrap_err() {
        LifecycleError::Problems(found) => {
            found.problems.into_iter().map(|problem| problem.text).collect::<Vec<_>>()
        }
        error => panic!("{error}"),
    };
    let all = missing(&everything()).await;
    assert_data_eq!(
        all.join("\n"),
        str![[r#"
missing permission: delete `namespaces` in namespace `bootstrap-kubeadm-system`
missing permission: delete `namespaces` in namespace `cluster-api-system`
missing permission: delete `namespaces` in namespace `control-plane-kubeadm-system`
missing permission: delete `namespaces` in namespace `infrastructure-docker-system`
missing permission: delete `services` in namespace `cluster-api-system`
missing permission: delete `customresourcedefinitions.apiextensions.k8s.io` cluster-wide
missing permission: delete `clusterroles.rbac.authorization.k8s.io` cluster-wide
"#]]
    );
    let kept = DeleteRequest { include_crds: false, include_namespaces: false, ..everything() };
    let kept = missing(&kept).await;
    assert_data_eq!(
        kept.join("\n"),
        str![[r#"
missing permission: delete `services` in namespace `cluster-api-system`
missing permission: delete `clusterroles.rbac.authorization.k8s.io` cluster-wide
"#]]
    );
    assert_eq!(objects_on(&cluster).await, before);
}

#[tokio::test]
async fn an_unknown_contract_is_rejected() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    let version = |name, storage| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let versions = json!({"spec": {"versions": [version("v1beta2", false), version("v1", true)]}});
    fixture.merge(CUSTOM_RESOURCE_DEFINITION, "clusters.cluster.x-k8s.io", &versions).await;
    let error = plan_delete(&cluster, &everything()).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Contract(_)), "{error}");
}

#[tokio::test]
async fn an_interrupted_deletion_is_completed_by_a_rerun() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    let fault = fixture.inject_fault("403,verb=delete,resource=services");
    let error = run(&cluster, &everything()).await.unwrap_err();
    assert_data_eq!(error.to_string(), str!["cannot delete `infrastructure-docker`"]);
    let record =
        fixture.get(CONFIG_MAP, "infrastructure-docker-system/capstan.infrastructure-docker").await.unwrap();
    let set = record["data"]["applySet"].as_str().unwrap();
    assert!(
        set.contains("Service") && set.contains("Namespace"),
        "what is left, and what goes behind it: {set}"
    );
    assert_eq!(cluster.inventory().await.unwrap().entries_of(&docker()).count(), 1);

    fixture.sandbox().faults().remove(fault);
    assert_eq!(run(&cluster, &everything()).await.unwrap(), None);
    assert_eq!(fixture.list(PROVIDER).await.len(), 0);
    assert_eq!(fixture.get(NAMESPACE, &namespace_of(&docker())).await, None);
}

// Row: D-122
#[tokio::test]
async fn shared_namespaces_stay_and_deleted_foreign_objects_are_reported() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    let docker_system = namespace_of(&docker());
    fixture
        .apply(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: mine, namespace: {docker_system}}}}}"
        ))
        .await;
    let request = DeleteRequest { include_namespaces: true, ..only(&docker()) };
    let plan = plan_delete(&cluster, &request).await.unwrap();
    assert_data_eq!(
        plan.warnings.join("\n"),
        str![
            "deleting namespace `infrastructure-docker-system` with objects that no provider installed: ConfigMap `mine`"
        ]
    );
    let other = InstalledProvider { namespace: docker_system.clone(), ..installed(&core(), "v1.14.0") };
    cluster.record_provider(&other).await.unwrap();
    let plan = plan_delete(&cluster, &request).await.unwrap();
    assert_data_eq!(
        plan.warnings.join("\n"),
        str!["keeping namespace `infrastructure-docker-system`: it also contains `cluster-api`"]
    );
    assert!(plan.providers[0].objects.plan.steps.iter().all(|step| step.key.name != docker_system));
}

// Row: D-122
#[tokio::test]
async fn providers_in_one_namespace_are_deleted_with_it() {
    let fixture = lab().await;
    fixture.apply(&crate::testing::cert_manager("v1.21.1")).await;
    let cluster = cluster(&fixture).await;
    let before = objects_on(&cluster).await;
    let releases = Releases::empty().with(&core(), NEW_VERSION, &unlike_others(&core())).with(
        &docker(),
        NEW_VERSION,
        &unlike_others(&docker()),
    );
    let declined = vec![ProviderType::Bootstrap, ProviderType::ControlPlane];
    init_with(&cluster, &releases, declined, Some("together".to_owned())).await;
    assert_eq!(run(&cluster, &everything()).await.unwrap(), None);
    let mut after = objects_on(&cluster).await;
    assert!(after.remove("CustomResourceDefinition providers.clusterctl.cluster.x-k8s.io"));
    assert_eq!(after, before);
}

// Row: D-120
#[tokio::test]
async fn undeleted_objects_are_reported_and_the_provider_is_uninstalled() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    let held = json!({"metadata": {"finalizers": ["lab.example.org/held"]}});
    let place = format!("{}/selfsigned", namespace_of(&docker()));
    fixture.merge(Kind::new("cert-manager.io", "v1", "Issuer", "issuers"), &place, &held).await;
    let wait = WaitOptions { timeout: Some(Duration::ZERO), must_be_ready: false };
    let request = DeleteRequest { include_namespaces: true, wait, ..only(&docker()) };
    let not_gone = run(&cluster, &request).await.unwrap().unwrap();
    let held: Vec<_> = not_gone.blockers.iter().map(|blocker| blocker.object.to_string()).collect();
    assert_eq!(
        held,
        ["Issuer infrastructure-docker-system/selfsigned", "Namespace infrastructure-docker-system"]
    );
    assert_eq!(cluster.inventory().await.unwrap().entries_of(&docker()).count(), 0);
}

#[tokio::test]
async fn kept_objects_are_still_recorded_after_an_interruption() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    let fault = fixture.inject_fault("403,verb=delete,resource=services");
    run(&cluster, &only(&docker())).await.unwrap_err();
    fixture.sandbox().faults().remove(fault);
    let more = DeleteRequest { providers: only(&docker()).providers, ..everything() };
    assert_eq!(run(&cluster, &more).await.unwrap(), None);
    let definition = "dockermachines.infrastructure.cluster.x-k8s.io";
    assert_eq!(fixture.get(CUSTOM_RESOURCE_DEFINITION, definition).await, None);
    assert_eq!(fixture.get(NAMESPACE, &namespace_of(&docker())).await, None);
}

#[tokio::test]
async fn a_namespace_of_no_provider_is_kept() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    forget_records(&fixture).await;
    let docker_system = namespace_of(&docker());
    fixture.merge(NAMESPACE, &docker_system, &json!({"metadata": {"labels": null}})).await;
    let request = DeleteRequest { providers: only(&docker()).providers, ..everything() };
    let mut plan = plan_delete(&cluster, &request).await.unwrap();
    assert_data_eq!(
        plan.warnings.join("\n"),
        str![
            "keeping namespace `infrastructure-docker-system`: it existed before the provider was installed"
        ]
    );
    assert_eq!(delete_providers(&cluster, &request, &mut plan).await.unwrap(), None);
    assert_eq!(cluster.inventory().await.unwrap().entries_of(&docker()).count(), 0);
    let left = fixture.get(NAMESPACE, &docker_system).await.unwrap();
    assert!(left["metadata"]["deletionTimestamp"].is_null(), "{left:#}");
}

#[tokio::test]
async fn foreign_and_missing_objects_are_planned_and_handled_as_such() {
    let fixture = lab().await;
    let cluster = install(&fixture).await;
    let request = only(&docker());
    let system = "infrastructure-docker-system";
    let [theirs, gone] = ["webhook", "manager"].map(|name| format!("{system}/{name}"));
    let label = json!({"metadata": {"labels": {"cluster.x-k8s.io/provider": "infrastructure-aws"}}});
    fixture.merge(SERVICE, &theirs, &label).await;
    fixture.delete(DEPLOYMENT, &gone).await;
    let mut plan = plan_delete(&cluster, &request).await.unwrap();
    let step = |kind: &str, name: &str| {
        let mut steps = plan.providers[0].objects.plan.steps.iter();
        let step = steps.find(|step| step.key.kind == kind && step.key.name == name).unwrap();
        format!("{:?}: {}", step.action, step.why.as_deref().unwrap_or_default())
    };
    assert_data_eq!(step("Service", "webhook"), str!["Orphan: belongs to `infrastructure-aws`"]);
    assert_data_eq!(step("Deployment", "manager"), str!["Delete: already deleted"]);
    delete_providers(&cluster, &request, &mut plan).await.unwrap();
    assert!(fixture.get(SERVICE, &theirs).await.is_some());
}
