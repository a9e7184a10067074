//! The order and the number of requests.

use snapbox::{assert_data_eq, str};
use support::kind::CONFIG_MAP;

use crate::testing::*;

fn mixed() -> String {
    [
        &deployment("home/app", &[]),
        &object("v1", "Service", "home/app", &[], "spec: {ports: [{port: 80}]}\n"),
        &config_map("home/settings", &[], "1"),
        &object("v1", "ServiceAccount", "home/app", &[], ""),
        &object("rbac.authorization.k8s.io/v1", "ClusterRole", "app", &[], "rules: []\n"),
        &object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRoleBinding",
            "app",
            &[],
            "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: app}\n",
        ),
        &object(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "app",
            &[],
            "webhooks: []\n",
        ),
        &widgets(&[]),
        &namespace("home"),
    ]
    .map(String::as_str)
    .concat()
}

// Row: ENG-45
// Row: ENG-66
#[tokio::test]
async fn a_wave_is_written_in_dependency_order() {
    let mut lab = Lab::start().await;
    let counter = lab.count();
    lab.applied(&mixed()).await;
    let resources: Vec<_> =
        writes(&counter).iter().map(|write| write.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(resources[0], "namespaces");
    assert_eq!(resources[1], "validatingwebhookconfigurations");
    let mut third = resources[2..4].to_vec();
    third.sort();
    assert_eq!(third, ["clusterroles", "customresourcedefinitions"]);
    let mut fourth = resources[4..6].to_vec();
    fourth.sort();
    assert_eq!(fourth, ["clusterrolebindings", "configmaps"]);
    let mut fifth = resources[6..].to_vec();
    fifth.sort();
    assert_eq!(fifth, ["deployments", "serviceaccounts", "services"]);
}

// Row: ENG-73
#[tokio::test]
async fn a_wave_is_deleted_with_definitions_first_and_namespaces_last() {
    let mut lab = Lab::start().await;
    lab.applied(&mixed()).await;
    lab.until = Some(std::time::Duration::from_mins(1));
    let counter = lab.count();
    lab.deleted().await;
    let deletions: Vec<_> =
        writes(&counter).into_iter().filter(|write| write.starts_with("delete ")).collect();
    assert_eq!(deletions[0], "delete customresourcedefinitions widgets.example.org");
    let place =
        |resource: &str| deletions.iter().position(|text| text.contains(&format!(" {resource} "))).unwrap();
    assert!(place("deployments") < place("validatingwebhookconfigurations"), "{deletions:#?}");
    assert!(place("validatingwebhookconfigurations") < place("services"), "{deletions:#?}");
    assert!(place("validatingwebhookconfigurations") < place("configmaps"), "{deletions:#?}");
    assert_eq!(deletions.last().unwrap(), "delete namespaces home");
    assert!(lab.set.items.is_empty(), "{:#?}", lab.set);
}

#[tokio::test]
async fn a_first_installation_reads_almost_nothing() {
    let mut lab = Lab::start().await;
    lab.options.defaults.update = apply::UpdatePolicy::SsaOverride;
    lab.server.kinds().await.unwrap();
    let counter = lab.count();
    lab.applied(&mixed()).await;
    // The requests include the namespace, and the record before and after.
    assert_eq!(counter.reads().to_string(), "1 get namespaces (404)");
    assert_eq!(counter.all().total(), 9 + 1 + 2, "{}", counter.all());
}

// Row: ENG-53
#[tokio::test]
async fn unchanged_objects_are_not_written_again() {
    let mut lab = Lab::start().await;
    let first = config_map("a", &[], "1") + &config_map("b", &[], "1");
    lab.applied(&first).await;
    let counter = lab.count();
    lab.applied(&first).await;
    assert_eq!(counter.writes().to_string(), "nothing");
    assert_eq!(counter.reads().to_string(), "1 get namespaces, 1 list configmaps");
    lab.applied(&(config_map("a", &[], "1") + &config_map("b", &[], "2"))).await;
    assert_eq!(writes(&counter), ["update configmaps b"]);
}

// Row: ENG-30
#[tokio::test]
async fn a_recent_change_of_a_definition_is_detected() {
    let mut lab = Lab::start().await;
    let set = widgets(&[]);
    lab.applied(&set).await;
    let annotation = serde_json::json!({"metadata": {"annotations": {"engine.test/digest": null}}});
    lab.fixture.merge(support::kind::CUSTOM_RESOURCE_DEFINITION, "widgets.example.org", &annotation).await;
    let counter = lab.count();
    lab.applied(&set).await;
    assert_eq!(writes(&counter), ["update customresourcedefinitions widgets.example.org"]);
}

#[tokio::test]
async fn obstacles_are_checked_singly_and_reported_together() {
    let mut lab = Lab::start().await;
    lab.owner("two");
    lab.applied(
        &(namespace("theirs") + &config_map("theirs/a", &[], "1") + &config_map("theirs/b", &[], "1")),
    )
    .await;
    lab.set = apply::ApplySet::default();
    lab.owner("one");
    // Nothing is recorded and the namespace is new, so no object was read.
    let set = namespace("home") + &config_map("theirs/a", &[], "2") + &config_map("theirs/b", &[], "2");
    let error = lab.apply(&set).await.unwrap_err();
    assert_data_eq!(
        tell(&error),
        str![
            "cannot write 2 objects: ConfigMap theirs/a: ConfigMap theirs/a belongs to `two`; ConfigMap theirs/b: ConfigMap theirs/b belongs to `two`"
        ]
    );
    let kept = lab.fixture.get(CONFIG_MAP, "theirs/a").await.unwrap();
    assert_eq!(kept["data"]["key"], "1");
}
