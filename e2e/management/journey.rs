//! The journey of the guide, from an empty cluster to an empty cluster.

use sandbox::ControllerSwitches;
use support::{
    api_server::ApiServer,
    fixture::Fixture,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
    skip::corpus,
};

use super::peer::{FIRST, FIRST_REAL, Management};
use crate::corpus::{config, config_without_webhooks};

/// The commands of a journey, and the expected versions.
struct Journey {
    first: &'static [&'static str],
    /// The versions of the core provider before and after the upgrade.
    versions: [&'static str; 2],
}

const SHIPPED: Journey = Journey { first: FIRST, versions: ["v1.0.0", "v1.1.0"] };
const REAL: Journey = Journey { first: FIRST_REAL, versions: ["v1.13.5", "v1.14.0"] };

// Row: PRV-56
// Row: PRV-59, D-117
#[tokio::test(flavor = "multi_thread")]
async fn a_full_cycle_leaves_only_earlier_objects_on_a_sandbox() {
    let fixture = Fixture::builder().controllers(ControllerSwitches::default()).start().await;
    let cluster = Management::new(fixture.kubeconfig().await);
    there_and_back(&cluster, &SHIPPED, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_cycle_leaves_only_earlier_objects_on_a_real_api_server() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    let cluster = Management::new(server.kubeconfig());
    // The server has no kubelet, so nothing becomes ready.
    there_and_back(&cluster, &SHIPPED, &["--no-wait"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_providers_are_installed_and_deleted_on_a_sandbox() {
    let Some(root) = corpus() else { return };
    let fixture = Fixture::builder().controllers(ControllerSwitches::default()).start().await;
    let cluster = Management::over(config(&root), fixture.kubeconfig().await);
    there_and_back(&cluster, &REAL, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_providers_are_installed_and_deleted_on_a_real_api_server() {
    let Some(root) = corpus() else { return };
    let Some(server) = ApiServer::start_or_skip() else { return };
    let cluster = Management::over(config(&root), server.kubeconfig());
    cluster.configure(&config_without_webhooks(&root, cluster.world()));
    there_and_back(&cluster, &REAL, &["--no-wait"]).await;
}

async fn there_and_back(cluster: &Management, journey: &Journey, waiting: &[&str]) {
    let client = client_from_kubeconfig(cluster.kubeconfig()).await;
    let before = ObjectSnapshot::read(&client).await;
    let [old, new] = journey.versions;
    let core = |all: &ObjectSnapshot| all.get("Provider capi-system/cluster-api").unwrap()["version"].clone();

    cluster.capstan(&[journey.first, waiting].concat());
    let installed = ObjectSnapshot::read(&client).await;
    assert_eq!(core(&installed), old);

    let plan = cluster.capstan(&["upgrade", "plan"]);
    assert!(plan.contains("upgrade apply --contract v1beta2"), "{plan}");
    cluster.capstan(&[&["upgrade", "apply", "--contract", "v1beta2"], waiting].concat());
    assert_eq!(core(&ObjectSnapshot::read(&client).await), new);

    cluster.capstan(&[&["upgrade", "rollback"], waiting].concat());
    let back = ObjectSnapshot::read_after_deletions(&client).await;
    assert_eq!(core(&back), old);
    assert_eq!(back.since(&installed).to_string(), "");
    assert_eq!(installed.since(&back).to_string(), "");

    cluster.capstan(&["delete", "--all", "--include-crd", "--include-namespace"]);
    let left = ObjectSnapshot::read_after_deletions(&client).await.since(&before);
    // As with clusterctl, cert-manager and the definition of the inventory stay.
    let stays =
        |name: &str| name.contains("cert-manager") || name.ends_with("providers.clusterctl.cluster.x-k8s.io");
    assert_eq!(left.excluding(stays).to_string(), "");
}
