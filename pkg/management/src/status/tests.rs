use std::time::Duration;

use sandbox::Switches;
use serde_json::{Value, json};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, Kind},
};

use super::*;
use crate::{
    InitRequest, WaitFor, init, plan_init,
    testing::{NEW, Releases, asked, cluster, docker, installed},
};

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
const SERVICE: Kind = Kind::new("", "v1", "Service", "services");
const WEBHOOK: &str = "infrastructure-docker-system/webhook";
const MANAGER: &str = "infrastructure-docker-system/manager";

async fn install() -> (Fixture, ManagementCluster) {
    let controllers = Switches { garbage: true, workloads: true, cert_manager: true, ..Switches::none() };
    let fixture = Fixture::builder().controllers(controllers).start().await;
    let (cluster, releases) = (cluster(&fixture).await, Releases::small());
    let request = InitRequest {
        providers: asked(&[(docker(), "")]),
        declined: Vec::new(),
        target_namespace: None,
        validate: true,
        wait: WaitFor { timeout: Some(Duration::from_secs(30)), must_be_ready: true },
        thorough: false,
    };
    let plan = plan_init(&cluster, &releases.sources(), &request).await.unwrap();
    init(&cluster, &releases.sources(), &request, plan).await.unwrap();
    (fixture, cluster)
}

async fn of_docker(cluster: &ManagementCluster) -> ProviderStatus {
    let all = status(cluster).await.unwrap();
    assert_eq!(all.len(), 4);
    all.into_iter().find(|one| one.installed.id == docker()).unwrap()
}

fn drifted(status: &ProviderStatus) -> Vec<String> {
    status.drift.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn what_is_as_it_was_applied_is_ready_and_has_not_drifted() {
    let (fixture, cluster) = install().await;
    let status = of_docker(&cluster).await;
    assert_eq!(status.installed, installed(&docker(), NEW));
    assert_eq!((status.health, status.recorded), (InstalledHealth::Ready, true));
    assert_eq!(status.drift, []);

    let bundle =
        json!({"spec": {"conversion": {"strategy": "None"}}, "metadata": {"annotations": {"by": "others"}}});
    fixture
        .merge(CUSTOM_RESOURCE_DEFINITION, "dockermachines.infrastructure.cluster.x-k8s.io", &bundle)
        .await;
    fixture.merge(DEPLOYMENT, MANAGER, &json!({"metadata": {"labels": {"more": "yes"}}})).await;
    assert_eq!(drifted(&of_docker(&cluster).await), Vec::<String>::new(), "what others add is theirs");
}

#[tokio::test]
async fn a_changed_value_a_removed_label_and_a_deleted_object_have_drifted() {
    let (fixture, cluster) = install().await;
    let image = json!([{"name": "manager", "image": "example.org/mine:1"}]);
    fixture.merge(DEPLOYMENT, MANAGER, &json!({"spec": {"template": {"spec": {"containers": image}}}})).await;
    let label = json!({"metadata": {"labels": {"cluster.x-k8s.io/provider": Value::Null}}});
    let account = Kind::new("", "v1", "ServiceAccount", "serviceaccounts");
    fixture.merge(account, MANAGER, &label).await;
    fixture.delete(SERVICE, WEBHOOK).await;
    let status = of_docker(&cluster).await;
    let mut drifted = drifted(&status);
    drifted.sort();
    assert_eq!(
        drifted,
        [format!("Deployment {MANAGER}"), format!("Service {WEBHOOK}"), format!("ServiceAccount {MANAGER}")]
    );
    let InstalledHealth::NotReady(blockers) = status.health else { panic!("{:?}", status.health) };
    assert!(blockers.iter().any(|blocker| blocker.object.kind == "Service"), "{blockers:?}");
}

#[tokio::test]
async fn of_what_another_tool_installed_the_health_is_told_and_the_drift_is_not() {
    let (fixture, cluster) = install().await;
    fixture.delete(CONFIG_MAP, "infrastructure-docker-system/capstan.infrastructure-docker").await;
    fixture
        .merge(DEPLOYMENT, MANAGER, &json!({"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}))
        .await;
    let status = of_docker(&cluster).await;
    assert_eq!((status.recorded, status.drift), (false, Vec::new()));
    assert!(!matches!(&status.health, InstalledHealth::NotReady(blockers) if blockers.is_empty()));
}

#[tokio::test]
async fn a_record_that_cannot_be_read_counts_as_none() {
    let (fixture, cluster) = install().await;
    let broken = json!({"data": {"applySet": "[]"}});
    fixture.merge(CONFIG_MAP, "infrastructure-docker-system/capstan.infrastructure-docker", &broken).await;
    let status = of_docker(&cluster).await;
    assert_eq!((status.recorded, status.health), (false, InstalledHealth::Ready));
}
