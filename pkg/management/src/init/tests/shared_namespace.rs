//! Several providers in one namespace, each with its own labels on the Namespace.

use api::labels::{FIELD_MANAGER, PROVIDER};

use super::*;
use crate::{plan_upgrade, status, testing::upgrade_to_contract, upgrade};

/// Returns components that can share a namespace. The Namespace has the label `PROVIDER/VERSION`.
fn apart(id: &ProviderId, version: &str) -> String {
    let named = ["manager,", "webhook,", "selfsigned,", "selfsigned}", "serving,"]
        .iter()
        .fold(components(id, version), |text, name| {
            text.replace(&format!("name: {name}"), &format!("name: {id}-{name}"))
        });
    let namespace = format!("metadata: {{name: {}", namespace_of(id));
    named.replacen(&namespace, &format!("{namespace}, labels: {{{id}/{version}: x}}"), 1)
}

fn releases() -> Releases {
    let versions = [OLD_VERSION, NEW_VERSION];
    [core(), docker()].iter().fold(Releases::small(), |releases, id| {
        versions.iter().fold(releases, |releases, version| releases.with(id, version, &apart(id, version)))
    })
}

fn in_all(request: InitRequest) -> InitRequest {
    InitRequest { target_namespace: Some("all".to_owned()), ..request }
}

/// Installs the core provider into the shared namespace.
async fn with_core() -> (Fixture, Releases, ManagementCluster) {
    let (fixture, releases) = (with_controllers().await, releases());
    let cluster = cluster(&fixture).await;
    let core = in_all(InitRequest {
        declined: vec![ProviderType::Bootstrap, ProviderType::ControlPlane],
        ..request(&[(core(), OLD_VERSION)])
    });
    run(&cluster, &releases, &core).await.unwrap();
    (fixture, releases, cluster)
}

/// Returns the labels of providers on the Namespace, and its field managers.
async fn labels(fixture: &Fixture) -> (Vec<String>, Vec<String>) {
    let namespace = fixture.get(NAMESPACE, "all").await.unwrap();
    let labels = namespace["metadata"]["labels"].as_object().unwrap();
    let labels = labels.keys().filter(|key| key.contains("/v1.")).cloned().collect();
    let entries = namespace["metadata"]["managedFields"].as_array().unwrap();
    let mut managers: Vec<_> =
        entries.iter().map(|entry| entry["manager"].as_str().unwrap().to_owned()).collect();
    managers.sort();
    (labels, managers)
}

async fn drift(cluster: &ManagementCluster) -> usize {
    status(cluster).await.unwrap().providers.iter().map(|one| one.drift.len()).sum()
}

async fn upgrade_all(cluster: &ManagementCluster, releases: &Releases) {
    let mut request = upgrade_to_contract(WAIT);
    request.options.skip_cert_manager = true;
    let mut plan = plan_upgrade(cluster, &releases.sources(), &request).await.unwrap();
    upgrade(cluster, &releases.sources(), &request, &mut plan).await.unwrap();
}

#[tokio::test]
async fn a_second_provider_keeps_the_labels_of_the_first() {
    let (fixture, releases, cluster) = with_core().await;
    let second = in_all(request(&[(docker(), OLD_VERSION)]));
    run(&cluster, &releases, &second).await.unwrap();
    let managers = ["capstan-cluster-api", "capstan-infrastructure-docker"].map(str::to_owned).to_vec();
    let expected = ["cluster-api/v1.13.5", "infrastructure-docker/v1.13.5"].map(str::to_owned).to_vec();
    assert_eq!(labels(&fixture).await, (expected, managers.clone()));
    assert_eq!(drift(&cluster).await, 0);
    let counter = RequestCounter::start(fixture.sandbox());
    run(&cluster, &releases, &second).await.unwrap();
    assert_eq!(written(&counter), [""; 0]);

    upgrade_all(&cluster, &releases).await;
    let expected = ["cluster-api/v1.14.0", "infrastructure-docker/v1.14.0"].map(str::to_owned).to_vec();
    assert_eq!(labels(&fixture).await, (expected, managers));
    assert_eq!(drift(&cluster).await, 0);
    fixture
        .merge(NAMESPACE, "all", &json!({"metadata": {"labels": {"cluster-api/v1.14.0": "edited"}}}))
        .await;
    assert_eq!(drift(&cluster).await, 1);
}

#[tokio::test]
async fn fields_of_the_former_manager_go_to_the_provider_in_the_label() {
    let (fixture, releases, cluster) = with_core().await;
    let mut namespace = fixture.get(NAMESPACE, "all").await.unwrap();
    assert_eq!(namespace["metadata"]["labels"][PROVIDER], "cluster-api");
    namespace["metadata"]["managedFields"][0]["manager"] = FIELD_MANAGER.into();
    let entries = &namespace["metadata"]["managedFields"];
    fixture.merge(NAMESPACE, "all", &json!({"metadata": {"managedFields": entries}})).await;
    assert_eq!(drift(&cluster).await, 0);

    run(&cluster, &releases, &in_all(request(&[(docker(), OLD_VERSION)]))).await.unwrap();
    let managers = ["capstan-cluster-api", "capstan-infrastructure-docker"].map(str::to_owned).to_vec();
    let expected = ["cluster-api/v1.13.5", "infrastructure-docker/v1.13.5"].map(str::to_owned).to_vec();
    assert_eq!(labels(&fixture).await, (expected, managers.clone()));
    assert_eq!(drift(&cluster).await, 0);
    upgrade_all(&cluster, &releases).await;
    let expected = ["cluster-api/v1.14.0", "infrastructure-docker/v1.14.0"].map(str::to_owned).to_vec();
    assert_eq!(labels(&fixture).await, (expected, managers));
}
