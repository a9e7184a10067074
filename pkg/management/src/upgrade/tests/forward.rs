use snapbox::{assert_data_eq, str};

use super::*;
use api::output::CertManagerPlan;

// Row: D-107
#[tokio::test]
async fn an_upgrade_replaces_providers_in_place_and_deletes_dropped_objects() {
    let lab = Lab::start().await;
    let before = lab.deployment(&docker()).await;
    assert_eq!(lab.versions().await, all_at(OLD_VERSION));
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    assert_eq!(lab.extras().await, ["added"]);
    let after = lab.deployment(&docker()).await;
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);

    lab.fixture.wait_until_idle().await;
    let revision = lab.revision();
    let again = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await.unwrap();
    assert!(again.is_empty());
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let named = to_versions(&[(core(), NEW_VERSION), (docker(), NEW_VERSION)]);
    assert_eq!(lab.upgrade(&named).await.unwrap(), None);
    assert_eq!(lab.revision(), revision, "nothing is written when nothing changes");
}

#[tokio::test]
async fn an_upgrade_without_wait_replaces_the_old_version_completely() {
    let lab = Lab::without_workloads().await;
    assert_eq!(lab.extras().await, ["dropped"]);
    let request = UpgradeRequest { wait: NO_WAIT, ..to_contract() };
    assert_eq!(lab.upgrade(&request).await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    assert_eq!(lab.extras().await, ["added"]);
}

#[tokio::test]
async fn the_upgrade_overview_lists_versions_and_an_unfinished_upgrade() {
    let lab = Lab::start().await;
    let sources = lab.releases.sources();
    let outlook = find_upgrades(&lab.cluster, &sources).await.unwrap();
    let (contract, rows) = &outlook.contracts[0];
    assert_eq!((outlook.contracts.len(), contract.as_str()), (1, "v1beta2"));
    let to_new =
        |(_, next): &(InstalledProvider, NextVersion)| *next == NextVersion::To(NEW_VERSION.to_owned());
    assert!(rows.len() == 2 && rows.iter().all(to_new), "{rows:?}");
    assert_eq!(outlook.unfinished, None);

    assert!(!lab.upgrade_until(8, &to_contract()).await);
    let unfinished = find_upgrades(&lab.cluster, &sources).await.unwrap().unfinished.unwrap();
    assert!(!unfinished.rolling_back);
    let steps: Vec<_> =
        unfinished.providers.iter().map(|step| (&*step.provider, &*step.from, &*step.to)).collect();
    assert_eq!(
        steps,
        [("cluster-api", OLD_VERSION, NEW_VERSION), ("infrastructure-docker", OLD_VERSION, NEW_VERSION)]
    );
}

// Row: D-109
#[tokio::test]
async fn an_upgrade_interrupted_at_any_write_is_completed_by_a_rerun() {
    for at in (0..).step_by(2) {
        let lab = Lab::start().await;
        if lab.upgrade_until(at, &to_contract()).await {
            assert!(at > 10, "the cuts reach from the first write to behind the last");
            break;
        }
        for id in [core(), docker()] {
            let replicas = lab.deployment(&id).await["spec"]["replicas"].clone();
            assert_eq!(replicas, 1, "{id} is never without a replica, cut off at {at}");
        }
        let late = lab.upgrade(&to_contract()).await;
        assert_eq!(late.unwrap_or_else(|error| panic!("cut off at {at}: {error:?}")), None);
        assert_eq!(lab.versions().await, all_at(NEW_VERSION), "cut off at {at}");
        assert_eq!(lab.extras().await, ["added"], "cut off at {at}");
        let plan = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await.unwrap();
        assert!(
            plan.is_empty(),
            "cut off at {at}: {:?}",
            plan.providers.iter().map(|p| &p.objects.plan).collect::<Vec<_>>()
        );
    }
}

#[tokio::test]
async fn an_unfinished_upgrade_resumes_and_blocks_other_targets() {
    let lab = Lab::start().await;
    let sources = lab.releases.sources();
    assert!(!lab.upgrade_until(8, &to_contract()).await);
    let other = plan_upgrade(&lab.cluster, &sources, &to_versions(&[(core(), NEW_VERSION)])).await;
    assert!(matches!(other, Err(LifecycleError::Upgrade(UpgradeError::Unfinished(_)))), "{other:?}");
    assert_eq!(lab.resume().await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    let again = lab.resume().await;
    assert!(
        matches!(again, Err(LifecycleError::Upgrade(UpgradeError::NoJournal { verb: "resume" }))),
        "{again:?}"
    );
}

#[tokio::test]
async fn an_aborted_upgrade_keeps_its_changes() {
    let lab = Lab::start().await;
    assert!(matches!(
        abort_upgrade(&lab.cluster, WriteMode::Real).await,
        Err(LifecycleError::Upgrade(UpgradeError::NoJournal { verb: "abort" }))
    ));
    assert!(!lab.upgrade_until(9, &to_contract()).await);
    let versions = lab.versions().await;
    abort_upgrade(&lab.cluster, WriteMode::Real).await.unwrap();
    assert!(lab.journal().await.is_empty());
    assert_eq!(lab.versions().await, versions);
    assert_eq!(
        lab.upgrade(&to_versions(&[(docker(), NEW_VERSION), (core(), NEW_VERSION)])).await.unwrap(),
        None
    );
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
}

#[tokio::test]
async fn an_unwritable_journal_prevents_every_change() {
    for fault in [
        "403,verb=create,resource=secrets",
        "500,verb=create,resource=secrets",
        "403,verb=patch,resource=secrets",
    ] {
        let lab = Lab::start().await;
        let before = lab.installed().await;
        let mut plan = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await.unwrap();
        lab.fixture.inject_fault(fault);
        let refused = upgrade(&lab.cluster, &lab.releases.sources(), &to_contract(), &mut plan).await;
        assert!(
            matches!(refused, Err(LifecycleError::Upgrade(UpgradeError::WriteJournal { .. }))),
            "{fault}: {refused:?}"
        );
        lab.fixture.sandbox().faults().clear();
        assert_eq!(lab.installed().await, before, "{fault}");
    }
}

// Row: D-107
#[tokio::test]
async fn a_failed_dry_run_prevents_every_change() {
    let broken = components(&docker(), NEW_VERSION).replace("image: ", "imagePullPolicy: Sometimes, image: ");
    let lab = Lab::with(Releases::small().with(&docker(), NEW_VERSION, &broken)).await;
    let revision = lab.revision();
    let problems = lab.problems(&to_contract()).await;
    assert_data_eq!(
        problems.join("\n"),
        str![[
            r#"`infrastructure-docker`: dry run failed: cannot apply Deployment infrastructure-docker-system/manager: spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never""#
        ]]
    );
    assert_eq!(lab.revision(), revision);
}

// Row: D-107, D-108
#[tokio::test]
async fn missing_variables_are_reported_before_any_write() {
    let with = |id: &ProviderId, name: &str| {
        components(id, NEW_VERSION).replace("--leader-elect", &format!("'${{{name}}}'"))
    };
    let releases = Releases::small();
    let (of_core, of_docker) = (with(&core(), "CORE_SECRET"), with(&docker(), "DOCKER_SECRET"));
    let lab =
        Lab::with(releases.with(&core(), NEW_VERSION, &of_core).with(&docker(), NEW_VERSION, &of_docker))
            .await;
    let revision = lab.revision();
    match lab.upgrade(&to_contract()).await {
        Err(LifecycleError::Resolve { errors, .. }) => assert_eq!(errors.len(), 2, "{errors:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(lab.revision(), revision);
}

#[tokio::test]
async fn a_version_in_which_objects_are_stored_must_stay_served() {
    let unserved = components(&docker(), NEW_VERSION).replace(
        "  - name: v1beta2\n    served: true\n    storage: true",
        "  - name: v1beta3\n    served: true\n    storage: true",
    );
    let lab = Lab::with(Releases::small().with(&docker(), NEW_VERSION, &unserved)).await;
    let revision = lab.revision();
    assert_data_eq!(
        lab.problems(&to_contract()).await.join("\n"),
        str![
            "`infrastructure-docker`: CustomResourceDefinition dockermachines.infrastructure.cluster.x-k8s.io would no longer serve v1beta2, in which objects are still stored (status.storedVersions)"
        ]
    );
    assert_eq!(lab.revision(), revision);
}

#[tokio::test]
async fn a_rerun_waits_again_for_unready_objects() {
    let lab = Lab::without_workloads().await;
    let at_once = UpgradeRequest {
        wait: WaitOptions { timeout: Some(Duration::ZERO), must_be_ready: true },
        ..to_contract()
    };
    for run in ["the first", "the same again"] {
        match lab.upgrade(&at_once).await {
            Err(LifecycleError::NotReady(late)) => assert!(!late.blockers.is_empty(), "{run}"),
            other => panic!("{run}: {other:?}"),
        }
        assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    }
}

#[tokio::test]
async fn installations_of_other_tools_are_upgraded_by_labels() {
    let lab = Lab::start().await;
    for id in [core(), docker()] {
        lab.fixture.delete(CONFIG_MAP, &format!("{}/capstan.{id}", namespace_of(&id))).await;
    }
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    assert_eq!(lab.extras().await, ["added"]);
    assert_eq!(lab.roll_back().await.unwrap(), None);
    assert_eq!(lab.extras().await, ["dropped"]);
}

#[tokio::test]
async fn a_provider_that_is_installed_twice_is_not_upgraded() {
    let lab = Lab::start().await;
    let mut second =
        lab.fixture.get(PROVIDER, "infrastructure-docker-system/infrastructure-docker").await.unwrap();
    second["metadata"] = json!({"name": "infrastructure-docker", "namespace": "default"});
    lab.fixture.apply(&second.to_string()).await;
    let problems = lab.problems(&to_contract()).await;
    assert_data_eq!(
        problems.join("\n"),
        str![
            "`infrastructure-docker` is installed 2 times: default/infrastructure-docker, infrastructure-docker-system/infrastructure-docker"
        ]
    );
}

#[tokio::test]
async fn cert_manager_is_upgraded_with_the_providers_unless_skipped() {
    let older = releases().with_cert_manager("v1.20.3").at_cert_manager("v1.20.3");
    let mut lab = Lab::with(older).await;
    lab.releases = releases();
    let image = async |lab: &Lab| {
        let deployment = lab.fixture.get(DEPLOYMENT, "cert-manager/cert-manager-webhook").await.unwrap();
        deployment["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    };
    let (there, comes) =
        ("quay.io/jetstack/cert-manager-webhook:v1.20.3", "quay.io/jetstack/cert-manager-webhook:v1.21.1");
    let mut declined = to_versions(&[(core(), NEW_VERSION)]);
    declined.options.skip_cert_manager = true;
    assert_eq!(lab.upgrade(&declined).await.unwrap(), None);
    assert_eq!(image(&lab).await, there);

    let plan = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await.unwrap();
    let (from, to) = ("v1.20.3".to_owned(), "v1.21.1".to_owned());
    assert_eq!(plan.cert_manager, CertManagerPlan::upgrade(&from, &to));
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert_eq!(image(&lab).await, comes);
    assert_eq!(lab.versions().await, all_at(NEW_VERSION));
    let again = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await.unwrap();
    assert!(again.is_empty());
}
