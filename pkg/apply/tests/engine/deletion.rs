//! The deletion of whole sets.

use std::time::Duration;

use apply::ItemPhase;
use serde_json::json;
use support::kind::{CONFIG_MAP, NAMESPACE};

use crate::testing::*;

fn deletions(counter: &support::request_counter::RequestCounter) -> Vec<String> {
    writes(counter).into_iter().filter(|write| write.starts_with("delete ")).collect()
}

// Row: ENG-62
// Row: ENG-71
#[tokio::test]
async fn a_set_is_deleted_wave_by_wave() {
    let mut lab = Lab::start().await;
    let set = config_map("c", &[("delete-order", "5")], "1")
        + &config_map("a", &[("delete-order", "-5"), ("apply-order", "5")], "1")
        + &config_map("b", &[("delete-policy", "delete")], "1");
    lab.applied(&set).await;
    let counter = lab.count();
    lab.deleted().await;
    assert_eq!(deletions(&counter), ["delete configmaps a", "delete configmaps b", "delete configmaps c"]);
    assert!(lab.set.items.is_empty());
    lab.recall().await;
    assert!(lab.set.items.is_empty(), "the record knows that all is gone");
}

#[tokio::test]
async fn objects_of_a_kind_that_is_newer_than_the_known_kinds_are_deleted() {
    let mut lab = Lab::start().await;
    let earlier = lab.server.clone();
    earlier.kinds().await.unwrap();
    lab.patient().await;
    lab.fixture.define(WIDGET).await;
    lab.applied(&widget("one", &[])).await;
    lab.server = earlier;
    lab.deleted().await;
    assert_eq!(lab.fixture.get(WIDGET, "default/one").await, None);
}

// Row: ENG-72
#[tokio::test]
async fn a_finalizer_blocks_the_next_wave_and_is_named() {
    let mut lab = Lab::start().await;
    lab.applied(&(config_map("a", &[("delete-order", "-1")], "1") + &config_map("b", &[], "1"))).await;
    let held = json!({"metadata": {"finalizers": ["example.org/held"]}});
    lab.fixture.merge(CONFIG_MAP, "default/a", &held).await;
    for until in [None, Some(Duration::from_millis(50))] {
        lab.until = until;
        let blockers = waiting(lab.delete().await);
        assert_held(&blockers, &["ConfigMap default/a"]);
        assert!(lab.fixture.get(CONFIG_MAP, "default/b").await.is_some());
    }
    assert_eq!(lab.phase("ConfigMap", "a"), Some((ItemPhase::Deleting, "Terminating")));
    lab.fixture.merge(CONFIG_MAP, "default/a", &json!({"metadata": {"finalizers": null}})).await;
    lab.deleted().await;
    assert!(lab.fixture.get(CONFIG_MAP, "default/b").await.is_none());
}

#[tokio::test]
async fn a_deletion_continues_once_the_finalizer_is_removed() {
    let mut lab = Lab::start().await;
    lab.applied(&(config_map("a", &[("delete-order", "-1")], "1") + &config_map("b", &[], "1"))).await;
    lab.fixture
        .merge(CONFIG_MAP, "default/a", &json!({"metadata": {"finalizers": ["example.org/held"]}}))
        .await;
    assert_eq!(waiting(lab.delete().await).len(), 1);
    let record = InConfigMap::of(&lab.server);
    let deadline = std::time::Instant::now().checked_add(Duration::from_mins(1));
    let run = apply::RunOptions { deadline, ..apply::RunOptions::new(&record) };
    let engine = lab.engine();
    let mut planned = engine.plan_deletion(lab.set.clone()).await.unwrap();
    let freed = json!({"metadata": {"finalizers": null}});
    let release = lab.fixture.merge(CONFIG_MAP, "default/a", &freed);
    let (outcome, ()) = tokio::join!(engine.delete(&mut planned, run), release);
    assert_eq!(waiting(outcome), ["done"]);
    assert!(planned.set.items.is_empty());
}

// Row: ENG-63
#[tokio::test]
async fn orphaned_objects_are_kept_and_forgotten() {
    for (policy, stays) in [("orphan", true), ("orphan-on-delete", true), ("orphan-on-apply", false)] {
        let mut lab = Lab::start().await;
        lab.applied(&config_map("a", &[("delete-policy", policy)], "1")).await;
        lab.deleted().await;
        assert_eq!(lab.fixture.get(CONFIG_MAP, "default/a").await.is_some(), stays, "{policy}");
        assert!(lab.set.items.is_empty(), "{policy}");
    }
}

#[tokio::test]
async fn released_orphans_can_be_adopted() {
    let mut lab = Lab::start().await;
    lab.options.release_orphans = true;
    let maps =
        ["a", "b"].map(|name| config_map(name, &[("delete-policy", "orphan-on-delete")], "1")).concat();
    lab.applied(&maps).await;
    let theirs = json!({"metadata": {"labels": {"engine.test/owner-id": "theirs"}}});
    lab.fixture.merge(CONFIG_MAP, "default/b", &theirs).await;
    lab.deleted().await;
    let object = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert!(!object["metadata"].to_string().contains("engine.test/owner-id"), "{object}");
    let object = lab.fixture.get(CONFIG_MAP, "default/b").await.unwrap();
    assert_eq!(object["metadata"]["labels"]["engine.test/owner-id"], "theirs");
    lab.owner("other");
    lab.applied(&config_map("a", &[], "2")).await;
}

#[tokio::test]
async fn objects_of_new_owners_are_not_deleted() {
    let mut lab = Lab::start().await;
    lab.applied(&config_map("a", &[], "1")).await;
    let theirs = json!({"metadata": {"labels": {"engine.test/owner-id": "theirs"}}});
    lab.fixture.merge(CONFIG_MAP, "default/a", &theirs).await;
    let counter = lab.count();
    lab.deleted().await;
    assert_eq!(deletions(&counter), Vec::<String>::new());
    assert!(lab.fixture.get(CONFIG_MAP, "default/a").await.is_some());
    assert!(lab.set.items.is_empty());
}

#[tokio::test]
async fn unlabelled_objects_are_deleted_and_waited_for() {
    let mut lab = Lab::start().await;
    lab.applied(&["a", "b", "c"].map(|name| config_map(name, &[], "1")).concat()).await;
    let held = json!({"metadata": {"finalizers": ["example.org/held"]}});
    let stripped = json!({"metadata": {"labels": {"engine.test/owner-id": null}}});
    for (name, change) in [("a", &held), ("b", &held), ("b", &stripped)] {
        lab.fixture.merge(CONFIG_MAP, &format!("default/{name}"), change).await;
    }
    // Another owner has recreated the object.
    lab.fixture.delete(CONFIG_MAP, "default/c").await;
    lab.fixture.apply(&config_map("c", &[], "theirs")).await;
    let counter = lab.count();
    assert_held(&waiting(lab.delete().await), &["ConfigMap default/a", "ConfigMap default/b"]);
    assert_eq!(deletions(&counter), ["delete configmaps a", "delete configmaps b"]);
    assert!(lab.item("ConfigMap", "b").is_some());
    for name in ["a", "b"] {
        let freed = json!({"metadata": {"finalizers": null}});
        lab.fixture.merge(CONFIG_MAP, &format!("default/{name}"), &freed).await;
    }
    lab.deleted().await;
    assert!(lab.set.items.is_empty());
    assert!(lab.fixture.get(CONFIG_MAP, "default/c").await.is_some());
}

#[tokio::test]
async fn an_orphan_keeps_its_namespace() {
    let mut lab = Lab::start().await;
    let set = namespace("home")
        + &config_map("home/a", &[("delete-policy", "orphan")], "1")
        + &config_map("b", &[], "1");
    lab.applied(&set).await;
    let counter = lab.count();
    lab.deleted().await;
    assert_eq!(deletions(&counter), ["delete configmaps b"]);
    assert!(lab.fixture.get(CONFIG_MAP, "home/a").await.is_some());
    assert!(lab.set.items.is_empty());
}

#[tokio::test]
async fn a_namespace_is_deleted_last_and_names_its_blockers() {
    let mut lab = Lab::start().await;
    lab.applied(&(namespace("home") + &config_map("home/a", &[], "1"))).await;
    lab.fixture.apply(&config_map("home/stranger", &[], "1")).await;
    let held = json!({"metadata": {"finalizers": ["example.org/held"]}});
    lab.fixture.merge(CONFIG_MAP, "home/stranger", &held).await;
    let counter = lab.count();
    assert_eq!(waiting(lab.delete().await).len(), 1);
    assert_eq!(deletions(&counter), ["delete configmaps a", "delete namespaces home"]);
    lab.fixture.wait_until_idle().await;
    let blockers = waiting(lab.delete().await);
    assert!(blockers[0].starts_with("Namespace home: Some"), "{blockers:?}");
    lab.fixture.merge(CONFIG_MAP, "home/stranger", &json!({"metadata": {"finalizers": null}})).await;
    lab.until = Some(Duration::from_mins(1));
    lab.deleted().await;
    assert!(lab.fixture.get(NAMESPACE, "home").await.is_none());
}

#[tokio::test]
async fn deleting_missing_objects_succeeds_with_few_requests() {
    let mut lab = Lab::start().await;
    lab.applied(&(namespace("home") + &config_map("home/a", &[], "1"))).await;
    lab.fixture.delete(NAMESPACE, "home").await;
    lab.fixture.wait_until_idle().await;
    let counter = lab.count();
    lab.deleted().await;
    assert_eq!(deletions(&counter), Vec::<String>::new());
    assert_eq!(counter.reads().to_string(), "1 get namespaces (404)");
    lab.deleted().await;
}
