//! Tests of objects that changed since they were applied.
use snapbox::{assert_data_eq, str};

use super::*;

const ROLE: &str = "infrastructure-docker-manager";

/// True if the role of docker, which no version changes, still has its applied rules.
async fn has_rules(lab: &Lab) -> bool {
    lab.fixture.get(CLUSTER_ROLE, ROLE).await.unwrap()["rules"][0]["verbs"][0] == "*"
}

async fn take_rules_away(lab: &Lab) {
    lab.fixture.merge(CLUSTER_ROLE, ROLE, &json!({"rules": []})).await;
    assert!(!has_rules(lab).await);
}

// Row: D-114
#[tokio::test]
async fn drift_is_repaired_by_a_new_version_and_by_the_installed_one() {
    let lab = Lab::start().await;
    take_rules_away(&lab).await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert!(has_rules(&lab).await, "no version brings other rules");

    take_rules_away(&lab).await;
    let named = to_versions(&[(core(), NEW_VERSION), (docker(), NEW_VERSION)]);
    let plan = plan_upgrade(&lab.cluster, &lab.releases.sources(), &named).await.unwrap();
    let written: Vec<_> = plan
        .providers
        .iter()
        .flat_map(|provider| &provider.objects.plan.steps)
        .filter(|step| step.action.is_write())
        .map(|step| format!("{}: {}", step.key, step.why.as_deref().unwrap_or_default()))
        .collect();
    assert_data_eq!(
        written.join("\n"),
        str!["ClusterRole infrastructure-docker-manager: differs from the applied state"]
    );
    assert_eq!(lab.upgrade(&named).await.unwrap(), None);
    assert!(has_rules(&lab).await);
    assert!(plan_upgrade(&lab.cluster, &lab.releases.sources(), &named).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_current_provider_is_repaired_only_if_named() {
    let lab = Lab::start().await;
    lab.upgrade(&to_versions(&[(docker(), NEW_VERSION)])).await.unwrap();
    take_rules_away(&lab).await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    assert!(!has_rules(&lab).await);
}

#[tokio::test]
async fn changed_replicas_are_kept_only_on_request() {
    let lab = Lab::start().await;
    let place = format!("{}/manager", namespace_of(&docker()));
    lab.fixture.merge(DEPLOYMENT, &place, &json!({"spec": {"replicas": 3}})).await;
    lab.fixture.wait_until_idle().await;
    let mut named = to_versions(&[(docker(), OLD_VERSION)]);
    lab.upgrade(&named).await.unwrap();
    assert_eq!(lab.deployment(&docker()).await["spec"]["replicas"], 3);
    named.options.keep_replicas = false;
    lab.upgrade(&named).await.unwrap();
    assert_eq!(lab.deployment(&docker()).await["spec"]["replicas"], 1);
}
