//! Faults: interruptions, overload, conflicts, refusals.

use std::time::Duration;

use apply::{ApplySet, EngineOutcome, ReadByName, RunOptions, SaveAt};
use serde_json::json;
use support::kind::{CONFIG_MAP, NAMESPACE};

use crate::testing::*;

fn old_set() -> String {
    config_map("old", &[], "1")
        + &config_map("app", &[], "1")
        + &object("v1", "Service", "app", &[], "spec: {ports: [{port: 80}]}\n")
}

fn new_set() -> String {
    [
        namespace("home"),
        config_map("home/a", &[], "1"),
        config_map("home/b", &[("apply-order", "1")], "1"),
        config_map("app", &[], "2"),
        widgets(&[]),
        widget("home/one", &[]),
        object("v1", "Service", "app", &[("update-policy", "recreate")], "spec: {ports: [{port: 81}]}\n"),
    ]
    .concat()
}

/// Returns all objects with the owner's label.
async fn owned(lab: &Lab) -> Vec<String> {
    let kinds = lab.server.kinds().await.unwrap();
    let label = format!("{}={}", lab.marks.label.0, lab.marks.label.1);
    let mut found = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.supports("list")) {
        let list = apply::ListQuery { labels: label.clone(), ..apply::ListQuery::default() };
        found.extend(
            lab.server
                .list(kind, &list)
                .await
                .unwrap()
                .iter()
                .map(|object| apply::key_of(object).to_string()),
        );
    }
    found.sort();
    found
}

async fn installed() -> Lab {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&old_set()).await;
    lab
}

/// Fails every write after the first `n`, with or without its effect, and then forgets everything except the record.
async fn cut(lab: &mut Lab, how: &str, n: usize, yaml: Option<&str>) -> bool {
    lab.fixture.inject_fault(&format!("{how},verb=write,skip={n}"));
    lab.impatient().await;
    let ended = match yaml {
        Some(yaml) => lab.apply(yaml).await,
        None => lab.delete().await,
    };
    lab.fixture.sandbox().faults().clear();
    lab.patient().await;
    lab.recall().await;
    matches!(ended, Ok(EngineOutcome::Done))
}

#[tokio::test]
async fn a_run_interrupted_after_any_write_can_be_resumed() {
    let mut reference = installed().await;
    reference.applied(&new_set()).await;
    let expected = owned(&reference).await;
    for how in ["cut-before", "cut-after"] {
        for n in 0.. {
            let mut lab = installed().await;
            let was_done = cut(&mut lab, how, n, Some(&new_set())).await;
            lab.applied(&new_set()).await;
            assert_eq!(owned(&lab).await, expected, "{how} {n}");
            lab.deleted().await;
            assert_eq!(owned(&lab).await, Vec::<String>::new(), "{how} {n}");
            if was_done {
                assert!(n > 8, "the run has more writes than {n}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_deletion_interrupted_after_any_write_can_be_resumed() {
    for how in ["cut-before", "cut-after"] {
        for n in 0.. {
            let mut lab = installed().await;
            lab.applied(&new_set()).await;
            let was_done = cut(&mut lab, how, n, None).await;
            lab.deleted().await;
            assert_eq!(owned(&lab).await, Vec::<String>::new(), "{how} {n}");
            if was_done {
                assert!(n > 6, "the deletion has more writes than {n}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn an_overloaded_server_is_retried() {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.fixture.inject_fault("429:0,verb=write,times=5");
    lab.applied(&new_set()).await;
    lab.fixture.inject_fault("429:0,verb=delete,times=3");
    lab.deleted().await;
    assert_eq!(owned(&lab).await, Vec::<String>::new());
}

#[tokio::test]
async fn after_the_deadline_only_the_record_is_retried() {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::ZERO);
    lab.fixture.inject_fault("503,verb=write,times=1");
    lab.fixture.inject_fault("503,verb=create,times=1");
    let counter = lab.count();
    let error = lab.apply(&config_map("a", &[], "1")).await.unwrap_err();
    assert_eq!(failed_objects(&error), ["ConfigMap default/a"]);
    assert_eq!(writes(&counter), ["create configmaps"]);
    lab.recall().await;
    assert!(lab.item("ConfigMap", "a").is_some(), "it is recorded at the second try");
    lab.applied(&config_map("a", &[], "1")).await;
}

#[tokio::test]
async fn a_concurrently_changed_object_is_read_again() {
    for policy in ["replace", "ssa-merge", "ssa-override"] {
        let mut lab = Lab::start().await;
        let annotations = [("update-policy", policy)];
        lab.applied(&config_map("a", &annotations, "1")).await;
        let next = config_map("a", &annotations, "2");
        let mut planned = lab.planned(&next, ReadByName::Applied).await.unwrap();
        lab.fixture.merge(CONFIG_MAP, "default/a", &json!({"data": {"other": "1"}})).await;
        let record = InConfigMap::of(&lab.server);
        let counter = lab.count();
        let outcome = lab.engine().apply(&mut planned, RunOptions::new(&record)).await;
        assert_eq!(outcome.unwrap(), EngineOutcome::Done);
        assert_eq!(lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap()["data"]["key"], "2");
        assert!(counter.all().to_string().contains("(409)"), "{policy}: {}", counter.all());
    }
}

#[tokio::test]
async fn endless_conflicts_are_an_error() {
    let mut lab = Lab::start().await;
    lab.applied(&config_map("a", &[], "1")).await;
    lab.fixture.inject_fault("409,verb=update");
    let counter = lab.count();
    let error = lab.apply(&config_map("a", &[], "2")).await.unwrap_err();
    assert_eq!(failed_objects(&error), ["ConfigMap default/a"]);
    assert_eq!(writes(&counter).len(), 6);
}

#[tokio::test]
async fn all_errors_of_a_batch_are_reported_and_later_waves_skipped() {
    let mut lab = Lab::start().await;
    let service = |name: &str| object("v1", "Service", name, &[], "spec: {ports: [{port: 99999}]}\n");
    let set = [
        config_map("first", &[("apply-order", "-1")], "1"),
        service("one"),
        service("two"),
        object("v1", "ServiceAccount", "beside", &[], ""),
        config_map("later", &[("apply-order", "1")], "1"),
    ];
    let error = lab.apply(&set.concat()).await.unwrap_err();
    assert_eq!(failed_objects(&error), ["Service default/one", "Service default/two"]);
    let accounts = owned(&lab).await;
    assert_eq!(accounts, ["ConfigMap default/first", "ServiceAccount default/beside"]);
    lab.recall().await;
    assert_eq!(lab.set.items.len(), 5, "what was begun is recorded");
    assert!(lab.item("ServiceAccount", "beside").unwrap().last_applied_at.is_some());
    lab.deleted().await;
    assert_eq!(owned(&lab).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_terminating_namespace_is_waited_for_and_recreated() {
    let mut lab = Lab::start().await;
    let set = namespace("home") + &config_map("home/a", &[], "1");
    lab.applied(&set).await;
    lab.fixture.merge(CONFIG_MAP, "home/a", &json!({"metadata": {"finalizers": ["example.org/held"]}})).await;
    lab.fixture.delete(NAMESPACE, "home").await;
    lab.fixture.wait_until_idle().await;
    let held = waiting(lab.apply(&set).await);
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].starts_with("Namespace home: "), "{held:?}");
    lab.fixture.merge(CONFIG_MAP, "home/a", &json!({"metadata": {"finalizers": null}})).await;
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&set).await;
    assert_eq!(lab.fixture.get(CONFIG_MAP, "home/a").await.unwrap()["data"]["key"], "1");
    assert_ne!(lab.set, ApplySet::default());
}

#[tokio::test]
async fn a_record_may_live_in_a_namespace_of_its_set() {
    let lab = Lab::start().await;
    let yaml = namespace("home") + &config_map("home/a", &[], "1");
    let record = InConfigMap { server: &lab.server, namespace: "home" };
    let deadline = std::time::Instant::now().checked_add(Duration::from_mins(1));
    let run = RunOptions { save_at: SaveAt::AfterNamespaces, deadline, ..RunOptions::new(&record) };
    let mut planned = lab.planned(&yaml, ReadByName::Applied).await.unwrap();
    let counter = lab.count();
    assert_eq!(lab.engine().apply(&mut planned, run).await.unwrap(), EngineOutcome::Done);
    let order: Vec<_> = counter.requests().iter().map(|request| request.resource.clone()).collect();
    assert_eq!(order, ["namespaces", "configmaps", "configmaps", "configmaps"]);
    let mut planned = lab.engine().plan_deletion(planned.set).await.unwrap();
    assert_eq!(lab.engine().delete(&mut planned, run).await.unwrap(), EngineOutcome::Done);
    assert!(lab.fixture.get(NAMESPACE, "home").await.is_none());
    assert!(planned.set.items.is_empty());
}
