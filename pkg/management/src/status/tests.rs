use std::time::Duration;

use api::output::DriftedFieldChange;
use sandbox::ControllerSwitches;
use serde_json::{Value, json};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, Kind},
};

use super::*;
use crate::{
    InitRequest, WaitOptions, init, plan_init, plan_upgrade,
    testing::{
        NEW_VERSION, OLD_VERSION, Releases, cert_manager, cluster, core, docker, init_of, installed,
        small_init, upgrade_to_contract,
    },
    upgrade,
};

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
const SERVICE: Kind = Kind::new("", "v1", "Service", "services");
const WEBHOOK: &str = "infrastructure-docker-system/webhook";
const MANAGER: &str = "infrastructure-docker-system/manager";

async fn install() -> (Fixture, ManagementCluster) {
    let controllers = ControllerSwitches {
        garbage_collection: true,
        workloads: true,
        cert_manager: true,
        ..ControllerSwitches::none()
    };
    let fixture = Fixture::builder().controllers(controllers).start().await;
    let (cluster, releases) = (cluster(&fixture).await, Releases::small());
    let wait = WaitOptions { timeout: Some(Duration::from_secs(30)), must_be_ready: true };
    let request = init_of(&[(docker(), "")], wait);
    let mut plan = plan_init(&cluster, &releases.sources(), &request).await.unwrap();
    init(&cluster, &releases.sources(), &request, &mut plan).await.unwrap();
    (fixture, cluster)
}

async fn of_docker(cluster: &ManagementCluster) -> ProviderStatus {
    let all = status(cluster).await.unwrap().providers;
    assert_eq!(all.len(), 4);
    all.into_iter().find(|one| one.installed.id == docker()).unwrap()
}

fn drifted(status: &ProviderStatus) -> Vec<String> {
    status.drift.iter().map(|drift| drift.object.to_string()).collect()
}

#[tokio::test]
async fn unchanged_objects_are_ready_without_drift() {
    let (fixture, cluster) = install().await;
    let status = of_docker(&cluster).await;
    assert_eq!(status.installed, installed(&docker(), NEW_VERSION));
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
    let fields = |kind: &str| {
        let drift = status.drift.iter().find(|drift| drift.object.kind == kind).unwrap();
        drift.fields.iter().map(|field| (field.path.as_str(), field.change)).collect::<Vec<_>>()
    };
    let container = |field: &str| format!(".spec.template.spec.containers[name=\"manager\"].{field}");
    assert_eq!(
        fields("Deployment"),
        [
            (&*container("args"), DriftedFieldChange::Removed),
            (&*container("image"), DriftedFieldChange::Changed)
        ]
    );
    assert_eq!(
        fields("ServiceAccount"),
        [(".metadata.labels[\"cluster.x-k8s.io/provider\"]", DriftedFieldChange::Removed)]
    );
    assert_eq!(fields("Service"), []);
    let InstalledHealth::NotReady(blockers) = status.health else { panic!("{:?}", status.health) };
    assert!(blockers.iter().any(|blocker| blocker.object.kind == "Service"), "{blockers:?}");
}

#[tokio::test]
async fn providers_of_other_tools_have_health_but_no_drift() {
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
async fn an_unreadable_record_counts_as_missing() {
    let (fixture, cluster) = install().await;
    let broken = json!({"data": {"applySet": "[]"}});
    fixture.merge(CONFIG_MAP, "infrastructure-docker-system/capstan.infrastructure-docker", &broken).await;
    let status = of_docker(&cluster).await;
    assert_eq!((status.recorded, status.health), (false, InstalledHealth::Ready));
}

fn small() -> InitRequest {
    small_init(OLD_VERSION, WaitOptions { timeout: None, must_be_ready: false })
}

#[tokio::test]
async fn unfinished_runs_are_reported_until_they_finish() {
    let fixture = Fixture::start().await;
    fixture.apply(&cert_manager("v1.21.1")).await;
    let (cluster, releases) = (cluster(&fixture).await, Releases::small());
    let sources = releases.sources();
    let begun = |status: &ClusterStatus| {
        let upgrade = status.unfinished_upgrade.as_ref();
        let steps =
            upgrade.map(|journal| journal.providers.iter().map(|provider| provider.done).collect::<Vec<_>>());
        (status.providers.len(), status.unfinished_init.clone(), steps)
    };

    fixture.inject_fault("403,verb=patch,resource=apps/deployments");
    let mut plan = plan_init(&cluster, &sources, &small()).await.unwrap();
    init(&cluster, &sources, &small(), &mut plan).await.unwrap_err();
    let noted = vec![installed(&core(), OLD_VERSION), installed(&docker(), OLD_VERSION)];
    assert_eq!(begun(&status(&cluster).await.unwrap()), (0, Some(noted), None));
    fixture.sandbox().faults().clear();
    let mut plan = plan_init(&cluster, &sources, &small()).await.unwrap();
    init(&cluster, &sources, &small(), &mut plan).await.unwrap();
    assert_eq!(begun(&status(&cluster).await.unwrap()), (2, None, None));

    let mut request = upgrade_to_contract(WaitOptions { timeout: None, must_be_ready: false });
    request.options.skip_cert_manager = true;
    let mut plan = plan_upgrade(&cluster, &sources, &request).await.unwrap();
    fixture.inject_fault("403,verb=patch,resource=apps/deployments,namespace=infrastructure-docker-system");
    upgrade(&cluster, &sources, &request, &mut plan).await.unwrap_err();
    fixture.sandbox().faults().clear();
    assert_eq!(begun(&status(&cluster).await.unwrap()), (2, None, Some(vec![true, false])));

    fixture.inject_fault("403,verb=get,resource=secrets");
    assert_eq!(begun(&status(&cluster).await.unwrap()), (2, None, None), "the rest is still reported");
}
