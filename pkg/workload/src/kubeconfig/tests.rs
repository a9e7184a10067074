use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{self, cluster, object},
    fixture::Fixture,
    kind,
};

use super::*;
use crate::testing::cluster as management_cluster;

fn request(cluster: &str) -> KubeconfigRequest {
    KubeconfigRequest {
        namespace: "team".to_owned(),
        cluster: cluster.to_owned(),
        credentials: KubeconfigUser::Admin,
        wait: None,
    }
}

async fn lab() -> (Fixture, ManagementCluster) {
    let lab = Fixture::start().await;
    cluster_api::install(&lab).await;
    let management = management_cluster(&lab).await;
    (lab, management)
}

/// Returns a Cluster without a control plane yet.
fn bare(name: &str) -> cluster_api::Object {
    object(kind::CLUSTER, &format!("team/{name}")).status(json!({"phase": "Provisioning"}))
}

fn secret(name: &str, data: Value) -> cluster_api::Object {
    object(kind::SECRET, &format!("team/{name}")).field("stringData", data)
}

// Row: D-153, D-154
#[tokio::test]
async fn the_content_is_read_byte_for_byte_with_one_request() {
    let (lab, management) = lab().await;
    lab.create(cluster("team/demo")).await;
    lab.create([secret("demo-user-kubeconfig", json!({"value": "# not parsed: {\n"}))]).await;
    let before = management.server.requests();
    let admin = workload_kubeconfig(&management, &request("demo")).await.unwrap();
    assert_eq!(management.server.requests() - before, 1);
    assert!(String::from_utf8(admin).unwrap().contains(r#""current-context":"demo-admin@demo""#));
    let user = KubeconfigRequest { credentials: KubeconfigUser::User, ..request("demo") };
    assert_eq!(workload_kubeconfig(&management, &user).await.unwrap(), b"# not parsed: {\n");
}

// Row: D-153
#[tokio::test]
async fn a_missing_cluster_fails_at_once_with_similar_names() {
    let (lab, management) = lab().await;
    lab.create([bare("demo")]).await;
    let before = management.server.requests();
    let waiting = KubeconfigRequest { wait: Some(Duration::from_hours(1)), ..request("dmeo") };
    let error = workload_kubeconfig(&management, &waiting).await.unwrap_err();
    assert_eq!(management.server.requests() - before, 2);
    assert_data_eq!(error.to_string(), str!["Cluster `dmeo` does not exist in namespace `team`"]);
    assert!(
        matches!(error, WorkloadKubeconfigError::UnknownCluster { suggestions, .. } if suggestions == ["demo"])
    );
}

// Row: D-153
#[tokio::test]
async fn a_missing_kubeconfig_is_reported_with_the_cluster_phase() {
    let (lab, management) = lab().await;
    lab.create([bare("demo")]).await;
    let error = workload_kubeconfig(&management, &request("demo")).await.unwrap_err();
    assert_data_eq!(error.to_string(), str!["Cluster team/demo has no kubeconfig yet (phase Provisioning)"]);
    let wait = KubeconfigRequest { wait: Some(Duration::ZERO), ..request("demo") };
    let error = workload_kubeconfig(&management, &wait).await.unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["Cluster team/demo has no kubeconfig yet (phase Provisioning), after 0s"]
    );
}

#[tokio::test]
async fn a_secret_without_the_key_is_reported_without_its_data() {
    let (lab, management) = lab().await;
    lab.create([secret("demo-kubeconfig", json!({"other": "not-to-be-shown"}))]).await;
    let error = workload_kubeconfig(&management, &request("demo")).await.unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["Secret team/demo-kubeconfig has no kubeconfig under key `value`"]
    );
    assert!(!format!("{error:?}").contains("not-to-be-shown"));
}

#[tokio::test]
async fn waiting_returns_the_kubeconfig_once_it_exists() {
    let (lab, management) = lab().await;
    lab.create([bare("demo")]).await;
    let wait = KubeconfigRequest { wait: Some(Duration::from_mins(1)), ..request("demo") };
    let makes = async {
        // The Secret first lacks the key, like that of a controller that writes twice.
        lab.create([secret("demo-kubeconfig", json!({}))]).await;
        lab.merge(kind::SECRET, "team/demo-kubeconfig", &json!({"stringData": {"value": "late"}})).await;
    };
    let (found, ()) = futures::join!(workload_kubeconfig(&management, &wait), makes);
    assert_eq!(found.unwrap(), b"late");
}

#[tokio::test]
async fn a_cluster_without_cluster_api_is_an_error() {
    let lab = Fixture::start().await;
    let management = management_cluster(&lab).await;
    let error = workload_kubeconfig(&management, &request("demo")).await.unwrap_err();
    assert!(matches!(error, WorkloadKubeconfigError::Contract(ContractError::NotInstalled)), "{error}");
}
