//! Tests of the checks that stop `init` before its first write.
use std::fmt::Write as _;

use snapbox::{assert_data_eq, str};

use super::*;

async fn problems(cluster: &ManagementCluster, releases: &Releases, request: &InitRequest) -> Vec<String> {
    match plan_init(cluster, &releases.sources(), request).await {
        Err(LifecycleError::Problems(found)) => {
            found.problems.into_iter().map(|problem| problem.text).collect()
        }
        Err(error) => panic!("{error:?}"),
        Ok(plan) => panic!("{} providers can be installed", plan.providers.len()),
    }
}

// Row: D-98
#[tokio::test]
async fn problems_of_all_providers_are_reported_before_any_write() {
    let fixture = with_controllers().await;
    let unknown =
        components(&core(), NEW_VERSION).replace("kind: Issuer\nmetadata", "kind: Issuers\nmetadata");
    let releases = Releases::small().with(&core(), NEW_VERSION, &unknown).with_contract(
        &docker(),
        NEW_VERSION,
        "v1alpha4",
        &components(&docker(), NEW_VERSION),
    );
    let cluster = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let found = problems(&cluster, &releases, &small_request("")).await;
    assert_data_eq!(
        found.join("\n"),
        str![[r#"
`infrastructure-docker` v1.14.0 implements contract v1alpha4; this version of capstan supports v1beta2, v1beta1
cannot install `cluster-api` v1.14.0: Issuers cluster-api-system/selfsigned: neither the server nor the set defines kind `Issuers.cert-manager.io`; similar kinds: `Issuer.cert-manager.io`
"#]]
    );
    assert_eq!(written(&counter), [""; 0]);
}

// Row: D-97
#[tokio::test]
async fn an_object_of_another_owner_stops_init() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    fixture
        .apply(
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cluster-api-manager, \
             labels: {cluster.x-k8s.io/provider: infrastructure-own}}, rules: []}",
        )
        .await;
    let thorough = InitRequest { server_dry_run: true, ..small_request("") };
    let found = problems(&cluster(&fixture).await, &releases, &thorough).await;
    assert_data_eq!(
        found.join("\n"),
        str![
            "cannot install `cluster-api` v1.14.0: ClusterRole cluster-api-manager belongs to `infrastructure-own`"
        ]
    );
}

// Row: D-97
#[tokio::test]
async fn an_object_of_two_providers_stops_init() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let request = InitRequest { target_namespace: Some("all".to_owned()), ..small_request("") };
    let found = problems(&cluster(&fixture).await, &releases, &request).await;
    assert_eq!(found.len(), 5, "{found:#?}");
    assert_data_eq!(
        found[0].as_str(),
        str![
            "cannot install `infrastructure-docker` v1.14.0: `cluster-api` also contains Certificate all/serving"
        ]
    );
}

#[tokio::test]
async fn ignorable_problems_are_ignored_on_request() {
    let fixture = with_controllers().await;
    let releases = Releases::small().with_contract(
        &docker(),
        NEW_VERSION,
        "v1alpha4",
        &components(&docker(), NEW_VERSION),
    );
    let request = InitRequest { validate: false, ..small_request("") };
    let plan = plan_init(&cluster(&fixture).await, &releases.sources(), &request).await.unwrap();
    assert_eq!(plan.ignored.len(), 1, "{:#?}", plan.ignored);
    assert_eq!(plan.providers.len(), 2);
}

// Row: D-98
#[tokio::test]
async fn missing_permissions_are_reported_before_any_write() {
    let fixture = Fixture::builder()
        .controllers(ControllerSwitches::default())
        .fault("forbid,verb=patch,resource=rbac.authorization.k8s.io/clusterroles")
        .start()
        .await;
    let releases = Releases::small();
    let cluster = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let found = problems(&cluster, &releases, &small_request("")).await;
    assert_data_eq!(
        found.join("\n"),
        str![[r#"
missing permission: patch `clusterroles.rbac.authorization.k8s.io` cluster-wide
cannot install `cluster-api` v1.14.0: cannot apply ClusterRole cluster-api-manager: clusterroles.rbac.authorization.k8s.io "cluster-api-manager" is forbidden: User "admin" cannot patch resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope
cannot install `infrastructure-docker` v1.14.0: cannot apply ClusterRole infrastructure-docker-manager: clusterroles.rbac.authorization.k8s.io "infrastructure-docker-manager" is forbidden: User "admin" cannot patch resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope
"#]]
    );
    assert_eq!(written(&counter), [""; 0]);
}

// Row: D-273
#[tokio::test]
async fn missing_cert_manager_permissions_stop_init_before_any_write() {
    let fixture = Fixture::builder()
        .controllers(ControllerSwitches::default())
        .fault("forbid,verb=create,resource=apps/deployments,namespace=cert-manager")
        .fault("forbid,verb=create,resource=cert-manager.io/issuers")
        .start()
        .await;
    let cluster = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let found = problems(&cluster, &Releases::small(), &small_request("")).await;
    assert_data_eq!(
        found.join("\n"),
        str![[r#"
missing permission: create `deployments.apps` in namespace `cert-manager`
missing permission: create `issuers.cert-manager.io` in namespace `default`
"#]]
    );
    assert_eq!(written(&counter), [""; 0]);
}

#[tokio::test]
async fn an_installed_core_of_another_contract_refuses_a_new_provider() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &small_request("")).await.unwrap();
    let older = crate::testing::metadata(NEW_VERSION, "v1beta1");
    let releases = releases.with_file(&core(), NEW_VERSION, "metadata.yaml", &older);
    let found = problems(&cluster, &releases, &request(&[(bootstrap(), "")])).await;
    assert_data_eq!(
        found.join("\n"),
        str![
            "`bootstrap-kubeadm` v1.14.0 implements contract v1beta2, but the core provider supports only v1beta1"
        ]
    );
    let unreachable = releases.with_file(&core(), NEW_VERSION, "metadata.yaml", "a: [");
    let found = problems(&cluster, &unreachable, &request(&[(bootstrap(), "")])).await;
    assert_data_eq!(
        unreachable.redact(&found.join("\n")),
        str![
            "cannot determine the contract of the core provider: cannot use the metadata of `cluster-api` v1.14.0: `RELEASES/cluster-api/v1.14.0/metadata.yaml` is not valid YAML: line 1, column 4: did not find expected `,` or `]`"
        ]
    );
}

#[tokio::test]
async fn invalid_metadata_stops_init_unless_problems_are_ignored() {
    let mut reported = String::new();
    for file in ["a: [", ""] {
        let fixture = with_controllers().await;
        let releases = Releases::small().with_file(&docker(), NEW_VERSION, "metadata.yaml", file);
        let cluster = cluster(&fixture).await;
        let found = problems(&cluster, &releases, &small_request("")).await;
        let _ = writeln!(reported, "{}", releases.redact(&found.join("\n")));
        let ignoring = InitRequest { validate: false, ..small_request("") };
        let plan = plan_init(&cluster, &releases.sources(), &ignoring).await.unwrap();
        assert_eq!((plan.ignored.len(), plan.providers.len()), (1, 2));
    }
    assert_data_eq!(
        reported,
        str![[r#"
cannot determine the contract of `infrastructure-docker` v1.14.0: cannot use the metadata of `infrastructure-docker` v1.14.0: `RELEASES/infrastructure-docker/v1.14.0/metadata.yaml` is not valid YAML: line 1, column 4: did not find expected `,` or `]`
cannot determine the contract of `infrastructure-docker` v1.14.0: cannot use the metadata of `infrastructure-docker` v1.14.0: apiVersion in `RELEASES/infrastructure-docker/v1.14.0/metadata.yaml` must be `clusterctl.cluster.x-k8s.io/v1alpha3`, not ""

"#]]
    );
}
