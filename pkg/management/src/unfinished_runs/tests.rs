use std::time::Duration;

use apply::EventSink;
use serde_json::json;
use support::{
    cluster_api::{install, object, provider},
    fixture::Fixture,
    kind::{CLUSTER, CONFIG_MAP, SECRET},
};

use super::*;
use crate::{
    DeleteRequest, InitRequest, LifecycleError, UpgradeRequest, WaitOptions, plan_delete, plan_init,
    plan_upgrade,
    testing::{OLD_VERSION, Releases, cluster, core, docker, small_init, upgrade_to_contract},
    unfinished_runs::{CheckedRuns, check_unfinished},
};

const NO_WAIT: WaitOptions = WaitOptions { timeout: None, must_be_ready: false };

/// Returns a cluster with two providers and a move in this phase.
async fn moving(phase: &str) -> Fixture {
    let fixture = Fixture::start().await;
    install(&fixture).await;
    fixture.create([provider(&core(), OLD_VERSION), provider(&docker(), OLD_VERSION)]).await;
    let journal = json!({
        "format": 1, "run": "5f3a", "begun": "2026-01-02T03:04:05Z", "phase": phase,
        "source": {"uid": "a", "address": "https://one"}, "target": {"uid": "b", "address": "https://two"},
        "namespaces": ["team"], "holder": {"host": "here", "process": "1", "sign": 3},
    });
    let data = json!({"journal": journal.to_string()});
    fixture.create([object(CONFIG_MAP, "cluster-api-system/capstan-move").field("data", data)]).await;
    fixture
}

async fn plans(fixture: &Fixture, unfinished: UnfinishedPolicy) -> [Result<Vec<String>, LifecycleError>; 3] {
    let (cluster, releases) = (cluster(fixture).await, Releases::small());
    let sources = releases.sources();
    let init = InitRequest { unfinished, ..small_init(OLD_VERSION, NO_WAIT) };
    let mut upgrade = UpgradeRequest { unfinished, ..upgrade_to_contract(NO_WAIT) };
    upgrade.options.skip_cert_manager = true;
    let delete = DeleteRequest {
        providers: None,
        include_crds: false,
        include_namespaces: false,
        wait: NO_WAIT,
        full_objects: false,
        unfinished,
    };
    [
        plan_init(&cluster, &sources, &init).await,
        plan_upgrade(&cluster, &sources, &upgrade).await,
        plan_delete(&cluster, &delete).await,
    ]
    .map(|plan| plan.map(|plan| plan.warnings))
}

// Row: D-281
#[tokio::test]
async fn an_unfinished_move_stops_init_upgrade_and_delete() {
    for phase in ["pausing", "deleting", "aborting"] {
        let fixture = moving(phase).await;
        let before = fixture.sandbox().revision();
        for refused in plans(&fixture, UnfinishedPolicy::Refuse).await {
            let Err(LifecycleError::Unfinished(UnfinishedRun::Move(journal))) = refused else {
                panic!("{phase}: {refused:?}")
            };
            assert_eq!(journal.run, "5f3a");
        }
        assert_eq!(fixture.sandbox().revision(), before);
    }
}

// Row: D-281
#[tokio::test]
async fn an_unfinished_move_is_abandoned_with_a_warning() {
    let fixture = moving("creating").await;
    let [init, _, delete] = plans(&fixture, UnfinishedPolicy::Abandon).await;
    for warnings in [init.unwrap(), delete.unwrap()] {
        assert!(warnings.iter().any(|warning| warning.contains("https://two")), "{warnings:?}");
    }
}

#[tokio::test]
async fn a_finished_move_stops_nothing() {
    let fixture = moving("finished").await;
    for plan in plans(&fixture, UnfinishedPolicy::Refuse).await {
        assert!(!matches!(plan, Err(LifecycleError::Unfinished(_))), "{plan:?}");
    }
}

#[tokio::test]
async fn only_a_recorded_restore_with_marked_clusters_stops_changes() {
    let fixture = moving("finished").await;
    let record = async |words: &str| {
        let record = json!({"data": {"restore": words}});
        fixture.merge(CONFIG_MAP, "cluster-api-system/capstan-move", &record).await;
    };
    record(r#"["capstan", "restore", "a.tar.gz"]"#).await;
    let is_restore = |plan: &Result<_, _>| {
        matches!(plan, Err(LifecycleError::Unfinished(UnfinishedRun::Restore { command, paused }))
            if command == "capstan restore a.tar.gz" && paused.len() == 1)
    };
    assert!(!plans(&fixture, UnfinishedPolicy::Refuse).await.iter().any(is_restore));
    let marks = |mark| json!({"metadata": {"annotations": {"capstan.dev/move": mark}}});
    fixture.create([object(CLUSTER, "team/a")]).await;
    fixture.merge(CLUSTER, "team/a", &marks(Some("restore"))).await;
    assert!(plans(&fixture, UnfinishedPolicy::Refuse).await.iter().all(is_restore));
    let [_, _, delete] = plans(&fixture, UnfinishedPolicy::Abandon).await;
    assert!(delete.unwrap().iter().any(|warning| warning.contains("Cluster team/a")));
    record(r#"["rm", "-rf", "/"]"#).await;
    assert!(!plans(&fixture, UnfinishedPolicy::Refuse).await.iter().any(is_restore));
    record(r#"["capstan", "restore", "a.tar.gz"]"#).await;
    fixture.merge(CLUSTER, "team/a", &marks(None)).await;
    assert!(!plans(&fixture, UnfinishedPolicy::Refuse).await.iter().any(is_restore));
}

#[tokio::test]
async fn an_unreadable_journal_stops_nothing() {
    let fixture = moving("deleting").await;
    fixture.merge(CONFIG_MAP, "cluster-api-system/capstan-move", &json!({"data": {"journal": "{"}})).await;
    let [_, _, delete] = plans(&fixture, UnfinishedPolicy::Refuse).await;
    assert!(delete.is_ok(), "{delete:?}");
}

#[tokio::test]
async fn an_unfinished_upgrade_stops_init_and_delete() {
    let fixture = moving("finished").await;
    let journal = json!({
        "format": 1, "begun": "2026-01-02T03:04:05Z", "phase": "upgrading", "target": {"providers": []},
        "keepReplicas": true, "keepPlacement": true, "skipCertManager": true, "providers": [], "certManager": {},
    });
    let data = json!({"journal": journal.to_string()});
    fixture.create([object(SECRET, "cluster-api-system/capstan-upgrade").field("stringData", data)]).await;
    let before = fixture.sandbox().revision();
    let [init, upgrade, delete] = plans(&fixture, UnfinishedPolicy::Refuse).await;
    for refused in [init, delete] {
        let is_refused = matches!(refused, Err(LifecycleError::Unfinished(UnfinishedRun::Upgrade(_))));
        assert!(is_refused, "{refused:?}");
    }
    assert!(!matches!(upgrade, Err(LifecycleError::Unfinished(_))), "{upgrade:?}");
    assert_eq!(fixture.sandbox().revision(), before);
}

#[tokio::test]
async fn a_failed_journal_read_stops_a_change() {
    for resource in ["configmaps", "secrets"] {
        for (code, is_refused) in [(403, false), (500, true)] {
            let fixture = moving("finished").await;
            fixture.inject_fault(&format!("{code},verb=get,resource={resource}"));
            let server = cluster(&fixture).await.server().retrying_for(Duration::ZERO);
            let cluster = ManagementCluster::new(server, EventSink::none());
            let inventory = cluster.inventory().await.unwrap();
            let result =
                check_unfinished(&cluster, &inventory, CheckedRuns::All, UnfinishedPolicy::Refuse).await;
            assert_eq!(result.is_err(), is_refused, "{resource} {code}: {result:?}");
        }
    }
}
