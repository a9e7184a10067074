use api::output::UnfinishedProvider;
use snapbox::{assert_data_eq, str};
use support::scripted_connection::{OutgoingRequest, PausePoint, ScriptedConnection};

use super::*;
use crate::UnfinishedPolicy;

#[tokio::test]
async fn a_rollback_restores_the_previous_state() {
    let lab = Lab::start().await;
    let before = lab.installed().await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert_ne!(lab.installed().await, before);
    assert_eq!(lab.roll_back().await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(OLD_VERSION));
    assert_eq!(lab.installed().await, before);
    assert!(lab.journal().await.is_empty());
    let again = lab.roll_back().await;
    assert!(
        matches!(again, Err(LifecycleError::Upgrade(UpgradeError::NoJournal { verb: "roll back" }))),
        "{again:?}"
    );
}

// Row: D-109
#[tokio::test]
async fn an_interrupted_upgrade_can_be_rolled_back() {
    for at in [2, 3, 5, 8, 11] {
        let lab = Lab::start().await;
        let before = lab.installed().await;
        assert!(!lab.upgrade_until(at, &to_contract()).await);
        let back = lab.roll_back().await;
        match back {
            // Only parts of a journal were written.
            Err(LifecycleError::Upgrade(UpgradeError::NoJournal { .. })) if at == 2 => {}
            back => assert_eq!(back.unwrap_or_else(|error| panic!("cut off at {at}: {error:?}")), None),
        }
        assert_eq!(lab.installed().await, before, "cut off at {at}");
    }
}

#[tokio::test]
async fn a_second_upgrade_interrupted_at_its_start_can_be_rolled_back() {
    let newer = "v1.14.1";
    for at in 0..6 {
        let lab = Lab::with(releases().with(&docker(), newer, &components(&docker(), newer))).await;
        let before = lab.installed().await;
        assert_eq!(lab.upgrade(&to_versions(&[(docker(), NEW_VERSION)])).await.unwrap(), None);
        let upgraded = lab.installed().await;
        lab.upgrade_until(at, &to_versions(&[(docker(), newer)])).await;
        let back = lab.roll_back().await;
        assert_eq!(back.unwrap_or_else(|error| panic!("cut off at {at}: {error:?}")), None);
        let found = lab.installed().await;
        assert!(found == before || found == upgraded, "cut off at {at}");
    }
}

#[tokio::test]
async fn an_interrupted_rollback_is_completed_by_a_rerun() {
    for at in [0, 1, 3, 5, 8, 11] {
        let lab = Lab::start().await;
        let before = lab.installed().await;
        assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
        Box::pin(lab.cut_off(at, lab.roll_back())).await;
        if at > 0 {
            let forth = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await;
            match forth {
                Err(LifecycleError::Upgrade(UpgradeError::Unfinished(state))) => assert!(state.rolling_back),
                other => panic!("cut off at {at}: {other:?}"),
            }
        }
        let back = lab.roll_back().await;
        assert_eq!(back.unwrap_or_else(|error| panic!("cut off at {at}: {error:?}")), None);
        assert_eq!(lab.installed().await, before, "cut off at {at}");
    }
}

/// Returns releases whose new docker stores its machines in v1beta3 and still serves v1beta2.
fn with_new_storage() -> Releases {
    let moved = components(&docker(), NEW_VERSION).replace(
        "  - name: v1beta2\n    served: true\n    storage: true",
        "  - name: v1beta2\n    served: true\n    storage: false\n    \
         schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n  \
         - name: v1beta3\n    served: true\n    storage: true",
    );
    Releases::small().with(&docker(), NEW_VERSION, &moved)
}

const MACHINES: &str = "dockermachines.infrastructure.cluster.x-k8s.io";

#[tokio::test]
async fn a_new_storage_version_without_objects_can_be_rolled_back() {
    let lab = Lab::with(with_new_storage()).await;
    let before = lab.installed().await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let stored = async || {
        let definition = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, MACHINES).await.unwrap();
        definition["status"]["storedVersions"].clone()
    };
    assert_eq!(stored().await, json!(["v1beta2", "v1beta3"]));
    assert_eq!(lab.roll_back().await.unwrap(), None);
    assert_eq!(stored().await, json!(["v1beta2"]));
    assert_eq!(lab.installed().await, before);
}

#[tokio::test]
async fn interrupted_storage_version_rollback_is_completed_by_a_rerun() {
    for at in [1, 2, 3, 4] {
        let lab = Lab::with(with_new_storage()).await;
        let before = lab.installed().await;
        assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
        assert!(!Box::pin(lab.cut_off(at, lab.roll_back())).await, "cut off at {at}");
        let back = lab.roll_back().await;
        assert_eq!(back.unwrap_or_else(|error| panic!("cut off at {at}: {error:?}")), None);
        assert_eq!(lab.installed().await, before, "cut off at {at}");
    }
}

// Row: D-109
#[tokio::test]
async fn a_new_storage_version_with_objects_prevents_a_rollback() {
    let lab = Lab::with(with_new_storage()).await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    lab.fixture
        .apply(
            "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta3, kind: DockerMachine, \
             metadata: {name: m, namespace: default}}",
        )
        .await;
    let revision = lab.revision();
    match lab.roll_back().await {
        Err(error @ LifecycleError::Upgrade(UpgradeError::CannotRollBack { .. })) => {
            assert_data_eq!(
                error.to_string(),
                str![
                    "cannot roll back: objects of `dockermachines.infrastructure.cluster.x-k8s.io` such as DockerMachine default/m may be stored as v1beta3, which the old definition lacks"
                ]
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(lab.revision(), revision);
}

#[tokio::test]
async fn a_changed_or_deleted_provider_prevents_a_rollback() {
    let lab = Lab::start().await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let place = format!("{}/{}", namespace_of(&docker()), docker());
    lab.fixture.merge(PROVIDER, &place, &json!({"version": "v1.15.0"})).await;
    let reasons = |result| match result {
        Err(LifecycleError::Upgrade(UpgradeError::CannotRollBack { reasons })) => reasons,
        other => panic!("{other:?}"),
    };
    let found: Vec<String> = reasons(lab.roll_back().await);
    assert_data_eq!(
        found.join("\n"),
        str!["`infrastructure-docker` has version v1.15.0, but the upgrade went from v1.13.5 to v1.14.0"]
    );
    lab.fixture.delete(PROVIDER, &place).await;
    let found: Vec<String> = reasons(lab.roll_back().await);
    assert_data_eq!(found.join("\n"), str!["`infrastructure-docker` is no longer installed"]);
}

#[tokio::test]
async fn a_journal_that_was_tampered_with_changes_nothing() {
    let lab = Lab::start().await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let secrets = lab.journal().await;
    let part = secrets.iter().find(|secret| secret["data"]["manifests"].is_string()).unwrap();
    let place = format!("{}/{}", namespace_of(&core()), part["metadata"]["name"].as_str().unwrap());
    lab.fixture.merge(SECRET, &place, &json!({"data": {"manifests": "AAAA"}})).await;
    let revision = lab.revision();
    let result = lab.roll_back().await;
    assert!(
        matches!(result, Err(LifecycleError::Upgrade(UpgradeError::InvalidJournal { .. }))),
        "{result:?}"
    );
    let index = format!("{}/capstan-upgrade", namespace_of(&core()));
    lab.fixture.delete(SECRET, &place).await;
    let error = lab.roll_back().await.unwrap_err().to_string();
    let part_name = part["metadata"]["name"].as_str().unwrap();
    assert_data_eq!(
        error.replace(part_name, "PART"),
        str!["cannot use the journal of the last upgrade: its Secret cluster-api-system/PART is missing"]
    );
    // The text is `{"format":2}`.
    lab.fixture.merge(SECRET, &index, &json!({"data": {"journal": "eyJmb3JtYXQiOjJ9"}})).await;
    let newer = lab.roll_back().await.unwrap_err().to_string();
    assert_data_eq!(
        newer,
        str!["cannot use the journal of the last upgrade: it has format 2; this version supports format 1"]
    );
    assert!(lab.revision() <= revision + 2, "nobody but this test wrote anything");
}

#[tokio::test]
async fn a_journal_has_no_label_that_other_tools_delete_by() {
    let lab = Lab::start().await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let first: Vec<_> = lab.journal().await;
    assert_eq!(first.len(), 3, "an index, and a part for each provider");
    for secret in &first {
        assert_eq!(secret["metadata"]["labels"], json!({"capstan.dev/journal": "upgrade"}));
        assert_eq!(secret["metadata"]["namespace"], namespace_of(&core()));
    }
    let mut back = to_versions(&[(docker(), OLD_VERSION)]);
    back.options.allow_downgrade = true;
    assert_eq!(lab.upgrade(&back).await.unwrap(), None);
    assert_eq!(lab.journal().await.len(), 2, "the next upgrade has its own");
}

#[tokio::test]
async fn changed_journal_manifests_are_rejected() {
    let lab = Lab::start().await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let mut parts = lab.journal().await;
    parts.retain(|secret| secret["data"]["manifests"].is_string());
    let [one, another] = parts.as_slice() else { panic!("{} parts", parts.len()) };
    let place = format!("{}/{}", namespace_of(&core()), one["metadata"]["name"].as_str().unwrap());
    let readable = json!({"data": {"manifests": another["data"]["manifests"]}});
    lab.fixture.merge(SECRET, &place, &readable).await;
    let revision = lab.revision();
    let result = lab.roll_back().await;
    assert!(
        matches!(result, Err(LifecycleError::Upgrade(UpgradeError::InvalidJournal { .. }))),
        "{result:?}"
    );
    assert_eq!(lab.revision(), revision);
}

/// Executes a run that cannot change the Deployment of a provider, and asserts that the run fails.
async fn stopped_at(
    lab: &Lab,
    id: &ProviderId,
    work: impl Future<Output = Result<Option<NotReady>, LifecycleError>>,
) {
    let fault = format!("403,verb=patch,resource=apps/deployments,namespace={}", namespace_of(id));
    lab.fixture.inject_fault(&fault);
    work.await.unwrap_err();
    lab.fixture.sandbox().faults().clear();
}

/// Returns a cluster whose upgrade completed only the core provider.
async fn half_upgraded() -> Lab {
    let lab = Lab::start().await;
    let (sources, request) = (lab.releases.sources(), to_contract());
    let mut plan = plan_upgrade(&lab.cluster, &sources, &request).await.unwrap();
    stopped_at(&lab, &docker(), upgrade(&lab.cluster, &sources, &request, &mut plan)).await;
    lab
}

async fn unfinished(lab: &Lab) -> UnfinishedUpgrade {
    find_upgrades(&lab.cluster, &lab.releases.sources()).await.unwrap().unfinished.unwrap()
}

#[tokio::test]
async fn the_journal_lists_completed_providers() {
    let lab = half_upgraded().await;
    let row = |id: ProviderId, done| UnfinishedProvider {
        provider: id.label(),
        from: OLD_VERSION.to_owned(),
        to: NEW_VERSION.to_owned(),
        done,
    };
    let state = unfinished(&lab).await;
    assert_eq!(state.providers, [row(core(), true), row(docker(), false)]);
    assert!(!state.rolling_back);
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    Box::pin(stopped_at(&lab, &core(), lab.roll_back())).await;
    let state = unfinished(&lab).await;
    assert_eq!(state.providers, [row(core(), true), row(docker(), false)]);
    assert!(state.rolling_back);
}

#[tokio::test]
async fn interrupted_rollback_of_an_unfinished_upgrade_is_resumed() {
    let lab = half_upgraded().await;
    Box::pin(stopped_at(&lab, &core(), lab.roll_back())).await;
    assert_eq!(lab.resume().await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(OLD_VERSION));
    assert!(lab.journal().await.is_empty());
}

#[tokio::test]
async fn object_created_during_a_rollback_keeps_its_stored_version() {
    let lab = Lab::with(with_new_storage()).await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let moment = PausePoint::default();
    let changes_machines =
        |request: &OutgoingRequest<'_>| request.method == "PATCH" && request.path.contains(MACHINES);
    let wire = ScriptedConnection::pausing_before(&lab.fixture, &moment, changes_machines);
    let cluster = crate::testing::cluster_behind(&wire).await;
    let late = lab.fixture.apply(
        "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta3, kind: DockerMachine, \
         metadata: {name: late, namespace: default}}",
    );
    let mut plan = plan_rollback(&cluster, UnfinishedPolicy::Refuse).await.unwrap();
    let result = Box::pin(moment.run_with_change(rollback_upgrade(&cluster, &mut plan, WAIT), late)).await;
    assert!(
        matches!(result, Err(LifecycleError::Upgrade(UpgradeError::CannotRollBack { .. }))),
        "{result:?}"
    );
    let definition = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, MACHINES).await.unwrap();
    assert_eq!(definition["status"]["storedVersions"], json!(["v1beta2", "v1beta3"]));
}
