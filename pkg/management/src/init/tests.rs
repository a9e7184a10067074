mod checks;
mod interrupted;
mod retry;
mod shared_namespace;

use std::time::Duration;

use api::{ProviderId, ProviderType};
use sandbox::{ControllerSwitches, audit::AuditEntry};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, Kind, NAMESPACE, PROVIDER},
    request_counter::RequestCounter,
};

use super::*;
use crate::testing::{
    CERT_MANAGER, NEW_VERSION, OLD_VERSION, Releases, bootstrap, cert_manager, cluster, components,
    control_plane, core, docker, init_of, installed, namespace_of, small_init,
};

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
const SERVICE: Kind = Kind::new("", "v1", "Service", "services");
const CERTIFICATE: Kind = Kind::new("cert-manager.io", "v1", "Certificate", "certificates");
const CLUSTER_ROLE: Kind =
    Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles").cluster_scoped();
const CLUSTER_ROLE_BINDING: Kind =
    Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings")
        .cluster_scoped();

const WAIT: WaitOptions = WaitOptions { timeout: Some(Duration::from_secs(30)), must_be_ready: true };

async fn with_controllers() -> Fixture {
    Fixture::builder().controllers(ControllerSwitches::default()).start().await
}

fn request(providers: &[(ProviderId, &str)]) -> InitRequest {
    init_of(providers, WAIT)
}

/// Requests core and docker only: enough to check the order.
fn small_request(version: &str) -> InitRequest {
    small_init(version, WAIT)
}

async fn run(
    cluster: &ManagementCluster,
    releases: &Releases,
    request: &InitRequest,
) -> Result<(bool, Option<NotReady>), LifecycleError> {
    let sources = releases.sources();
    let mut plan = plan_init(cluster, &sources, request).await?;
    init(cluster, &sources, request, &mut plan).await
}

/// Returns the persistent writes as `patch deployments/name`.
fn written(counter: &RequestCounter) -> Vec<String> {
    let is_write = |request: &AuditEntry| {
        ["create", "update", "patch", "delete", "deletecollection"].contains(&&*request.verb)
            && !request.dry_run
            && !request.resource.starts_with("selfsubject")
    };
    let written = counter.requests().into_iter().filter(is_write);
    written.map(|request| format!("{} {}/{}", request.verb, request.resource, request.name)).collect()
}

// Row: PRV-33
// Row: PRV-34
// Row: PRV-59
#[tokio::test]
async fn the_first_init_installs_everything_and_the_second_writes_nothing() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    let request = request(&[(docker(), "")]);
    let mut counter = RequestCounter::start(fixture.sandbox());
    assert_eq!(run(&cluster, &releases, &request).await.unwrap(), (true, None));
    assert!(counter.all().total() <= 180, "{}", counter.all());

    let inventory = cluster.inventory().await.unwrap();
    let all = [bootstrap(), core(), control_plane(), docker()];
    assert_eq!(inventory.providers, all.clone().map(|id| installed(&id, NEW_VERSION)));
    assert_eq!(inventory.unfinished, None);
    for id in all {
        let place = |name: &str| format!("{}/{name}", namespace_of(&id));
        let deployment = fixture.get(DEPLOYMENT, &place("manager")).await.unwrap();
        assert_eq!(deployment["status"]["readyReplicas"], 1, "{id}");
        let expected = json!({"cluster.x-k8s.io/provider": id.label(), "clusterctl.cluster.x-k8s.io": ""});
        let record = place(&format!("capstan.{id}"));
        for (kind, place) in [
            (DEPLOYMENT, &place("manager")),
            (CERTIFICATE, &place("serving")),
            (CONFIG_MAP, &record),
            (CLUSTER_ROLE, &format!("{id}-manager")),
        ] {
            let object = fixture.get(kind, place).await.unwrap_or_else(|| panic!("{} {place}", kind.kind));
            assert_eq!(object["metadata"]["labels"], expected, "{} {place}", kind.kind);
        }
    }

    counter.restart();
    assert_eq!(run(&cluster, &releases, &request).await.unwrap(), (false, None));
    assert_eq!(written(&counter), [""; 0]);
}

#[tokio::test]
async fn a_plan_lists_the_changes_and_writes_nothing() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let thorough = InitRequest { server_dry_run: true, ..small_request("") };
    for request in [small_request(""), thorough] {
        let plan = plan_init(&cluster, &releases.sources(), &request).await.unwrap();
        assert_eq!(written(&counter), [""; 0]);
        let short: Vec<_> = plan
            .providers
            .iter()
            .map(|it| {
                let new = it.objects.plan.steps.iter().filter(|step| step.action == StepAction::Create);
                (it.id.clone(), it.from.clone(), it.to.as_deref(), new.count())
            })
            .collect();
        assert_eq!(short, [(core(), None, Some(NEW_VERSION), 9), (docker(), None, Some(NEW_VERSION), 9)]);
        assert!(!plan.is_empty() && plan.ignored.is_empty() && plan.warnings.is_empty());
    }
}

#[tokio::test]
async fn a_provider_is_added_to_an_installation() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &request(&[])).await.unwrap();
    let counter = RequestCounter::start(fixture.sandbox());
    assert_eq!(run(&cluster, &releases, &request(&[(docker(), OLD_VERSION)])).await.unwrap(), (false, None));
    let written = written(&counter);
    assert!(written.iter().any(|write| write == "patch providers/infrastructure-docker"), "{written:#?}");
    assert!(written.iter().all(|write| !write.contains("cluster-api")), "{written:#?}");
}

// Row: PRV-57
// Row: PRV-58
// Row: PRV-24
#[tokio::test]
async fn providers_share_a_target_namespace() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    let apart = |id: &ProviderId| {
        ["manager,", "webhook,", "selfsigned,", "selfsigned}", "serving,"]
            .iter()
            .fold(components(id, NEW_VERSION), |text, name| {
                text.replace(&format!("name: {name}"), &format!("name: {id}-{name}"))
            })
    };
    let releases =
        releases.with(&core(), NEW_VERSION, &apart(&core())).with(&docker(), NEW_VERSION, &apart(&docker()));
    let request = InitRequest { target_namespace: Some("all".to_owned()), ..small_request("") };
    run(&cluster, &releases, &request).await.unwrap();
    for id in [core(), docker()] {
        assert!(fixture.get(DEPLOYMENT, &format!("all/{id}-manager")).await.is_some(), "{id}");
        assert!(fixture.get(PROVIDER, &format!("all/{id}")).await.is_some(), "{id}");
        let binding = fixture.get(CLUSTER_ROLE_BINDING, &format!("{id}-manager")).await.unwrap();
        assert_eq!(binding["subjects"][0]["namespace"], "all", "{id}");
        assert_eq!(fixture.get(NAMESPACE, &namespace_of(&id)).await, None, "{id}");
    }
    let counter = RequestCounter::start(fixture.sandbox());
    run(&cluster, &releases, &request).await.unwrap();
    assert_eq!(written(&counter), [""; 0]);
}

// Row: PRV-35, D-96
#[tokio::test]
async fn manually_applied_objects_are_adopted() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let namespace = namespace_of(&core());
    fixture.apply(&format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}")).await;
    let service = |labels: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: webhook, namespace: {namespace}, labels: {{{labels}}}}}, \
             spec: {{ports: [{{port: 443, targetPort: 1}}]}}}}"
        )
    };
    let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cluster-api-manager, \
                labels: {cluster.x-k8s.io/provider: cluster-api}}, rules: []}";
    fixture.apply(&service("")).await;
    fixture.apply(role).await;
    let place = format!("{namespace}/webhook");
    let before = fixture.get(SERVICE, &place).await.unwrap();
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &small_request("")).await.unwrap();
    let after = fixture.get(SERVICE, &place).await.unwrap();
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["spec"]["ports"][0]["targetPort"], 9443);
    let role = fixture.get(CLUSTER_ROLE, "cluster-api-manager").await.unwrap();
    assert_eq!(role["rules"][0]["apiGroups"], json!(["cluster.x-k8s.io"]));
}

// Row: PRV-28
// Row: PRV-56
// Row: PRV-27
#[tokio::test]
async fn arguments_are_applied_unchanged_after_substitution() {
    let fixture = with_controllers().await;
    let text = components(&docker(), NEW_VERSION)
        .replace("[--leader-elect]", "['--v=${LEVEL:=2}', '--sync=${SYNC}']");
    let releases = Releases::small().with(&docker(), NEW_VERSION, &text).with_variable("SYNC", "9m");
    run(&cluster(&fixture).await, &releases, &small_request("")).await.unwrap();
    let deployment = fixture.get(DEPLOYMENT, &format!("{}/manager", namespace_of(&docker()))).await.unwrap();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["args"], json!(["--v=2", "--sync=9m"]));
}

// Row: PRV-26, D-101
#[tokio::test]
async fn unready_objects_are_reported_and_fail_only_on_request() {
    let controllers = ControllerSwitches { workloads: false, ..ControllerSwitches::default() };
    let fixture = Fixture::builder().controllers(controllers).start().await;
    fixture.apply(&cert_manager(CERT_MANAGER)).await;
    let releases = Releases::small().with_external_cert_manager();
    let cluster = cluster(&fixture).await;
    let waiting = |must_be_ready| InitRequest {
        wait: WaitOptions { timeout: Some(Duration::from_millis(1)), must_be_ready },
        ..small_request("")
    };
    let error = run(&cluster, &releases, &waiting(true)).await.unwrap_err();
    let LifecycleError::NotReady(late) = &error else { panic!("{error:?}") };
    let names: Vec<_> = late.blockers.iter().map(|blocker| blocker.object.to_string()).collect();
    assert!(names.contains(&"Deployment cluster-api-system/manager".to_owned()), "{names:#?}");
    assert!(cluster.inventory().await.unwrap().unfinished.is_some(), "it is not complete");

    let (is_first, late) = run(&cluster, &releases, &waiting(false)).await.unwrap();
    assert!(is_first && late.is_some());
    assert_eq!(cluster.inventory().await.unwrap().unfinished, None);
}

// Row: D-130
#[tokio::test(start_paused = true)]
async fn a_definition_with_a_name_conflict_is_reported_before_the_timeout() {
    let fixture = Fixture::builder().controllers(ControllerSwitches::none()).start().await;
    fixture.apply(&cert_manager(CERT_MANAGER)).await;
    fixture
        .apply(
            "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: \
             others.infrastructure.cluster.x-k8s.io}, spec: {group: infrastructure.cluster.x-k8s.io, scope: Namespaced, \
             names: {kind: Other, listKind: DockerMachineList, plural: others, singular: other}, versions: [{name: v1, \
             served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
        )
        .await;
    let releases = Releases::small().with_external_cert_manager();
    let wait = WaitOptions { timeout: Some(Duration::from_hours(1)), must_be_ready: false };
    let request = InitRequest { wait, ..small_request("") };
    let error = run(&cluster(&fixture).await, &releases, &request).await.unwrap_err();
    let LifecycleError::NotReady(late) = &error else { panic!("{error:?}") };
    assert!(late.after < Duration::from_mins(1), "{late}");
    let definitions = late.blockers.iter().filter(|late| late.object.kind == "CustomResourceDefinition");
    let reported = definitions.map(|late| format!("{}: {}", late.object, late.status.message));
    assert_data_eq!(
        reported.collect::<Vec<_>>().join("\n"),
        str![[
            r#"CustomResourceDefinition dockermachines.infrastructure.cluster.x-k8s.io: NamesAccepted: "DockerMachineList" is already in use (ListKindConflict)"#
        ]]
    );
}
