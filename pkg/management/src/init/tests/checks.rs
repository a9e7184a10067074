//! Tests of the checks that stop `init` before its first write.

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
async fn problems_of_all_providers_come_together_and_nothing_is_written() {
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
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].starts_with("`infrastructure-docker` v1.14.0 implements contract v1alpha4"),
        "{found:#?}"
    );
    assert!(found[1].starts_with("cannot install `cluster-api` v1.14.0: Issuers"), "{found:#?}");
    assert_eq!(written(&counter), [""; 0]);
}

// Row: D-97
#[tokio::test]
async fn an_object_of_another_owner_stops_it() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    fixture
        .apply(
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cluster-api-manager, \
             labels: {cluster.x-k8s.io/provider: infrastructure-own}}, rules: []}",
        )
        .await;
    let thorough = InitRequest { server_dry_run: true, ..small_request("") };
    let found = problems(&cluster(&fixture).await, &releases, &thorough).await;
    assert_eq!(
        found,
        [
            "cannot install `cluster-api` v1.14.0: ClusterRole cluster-api-manager belongs to `infrastructure-own`"
        ]
    );
}

// Row: D-97
#[tokio::test]
async fn an_object_two_providers_bring_stops_it() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let request = InitRequest { target_namespace: Some("all".to_owned()), ..small_request("") };
    let found = problems(&cluster(&fixture).await, &releases, &request).await;
    assert_eq!(found.len(), 5, "{found:#?}");
    assert_eq!(
        found[0],
        "cannot install `infrastructure-docker` v1.14.0: `cluster-api` brings Certificate all/serving too"
    );
}

#[tokio::test]
async fn what_may_be_ignored_is_ignored_when_asked_for() {
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
async fn rights_that_are_missing_are_told_before_anything_is_written() {
    let fixture = Fixture::builder()
        .controllers(ControllerSwitches::default())
        .fault("forbid,verb=patch,resource=rbac.authorization.k8s.io/clusterroles")
        .start()
        .await;
    let releases = Releases::small();
    let cluster = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let found = problems(&cluster, &releases, &small_request("")).await;
    assert!(
        found[0]
            .starts_with("you may not patch `clusterroles.rbac.authorization.k8s.io` in the whole cluster"),
        "{found:#?}"
    );
    assert_eq!(written(&counter), [""; 0]);
}

// Row: D-273
#[tokio::test]
async fn missing_rights_for_cert_manager_stop_an_init_before_any_write() {
    let fixture = Fixture::builder()
        .controllers(ControllerSwitches::default())
        .fault("forbid,verb=create,resource=apps/deployments,namespace=cert-manager")
        .start()
        .await;
    let cluster = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    let found = problems(&cluster, &Releases::small(), &small_request("")).await;
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("in namespace `cert-manager`"), "{found:#?}");
    assert_eq!(written(&counter), [""; 0]);
}

#[tokio::test]
async fn an_installed_core_of_another_contract_refuses_a_new_provider() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &small_request("")).await.unwrap();
    let older = crate::tests::metadata(NEW_VERSION, "v1beta1");
    let releases = releases.with_file(&core(), NEW_VERSION, "metadata.yaml", &older);
    let found = problems(&cluster, &releases, &request(&[(bootstrap(), "")])).await;
    assert_eq!(
        found,
        ["`bootstrap-kubeadm` v1.14.0 implements contract v1beta2; the core provider works with v1beta1"]
    );
    let gone = releases.with_file(&core(), NEW_VERSION, "metadata.yaml", "a: [");
    let found = problems(&cluster, &gone, &request(&[(bootstrap(), "")])).await;
    assert!(found[0].starts_with("cannot tell the contract of the core provider: "), "{found:#?}");
}

#[tokio::test]
async fn metadata_that_is_broken_or_missing_stops_it_unless_problems_are_ignored() {
    for (file, words) in [("a: [", "is not valid YAML"), ("", "apiVersion")] {
        let fixture = with_controllers().await;
        let releases = Releases::small().with_file(&docker(), NEW_VERSION, "metadata.yaml", file);
        let cluster = cluster(&fixture).await;
        let found = problems(&cluster, &releases, &small_request("")).await;
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(
            found[0].starts_with("cannot tell the contract of `infrastructure-docker` v1.14.0: ")
                && found[0].contains(words),
            "{found:#?}"
        );
        let ignoring = InitRequest { validate: false, ..small_request("") };
        let plan = plan_init(&cluster, &releases.sources(), &ignoring).await.unwrap();
        assert_eq!((plan.ignored.len(), plan.providers.len()), (1, 2));
    }
}
