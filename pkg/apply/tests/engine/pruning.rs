//! Objects that are no longer desired.

use std::time::Duration;

use apply::{PruneTiming, ReadByName, RunOptions};
use serde_json::json;
use support::kind::CONFIG_MAP;

use crate::testing::*;

// Row: ENG-80
#[tokio::test]
async fn redundant_objects_are_deleted_after_all_waves_are_ready() {
    let mut lab = Lab::start().await;
    lab.applied(&(config_map("old", &[], "1") + &config_map("kept", &[], "1"))).await;
    let next = config_map("kept", &[], "1") + &deployment("app", &[]);
    assert_eq!(waiting(lab.apply(&next).await).len(), 1);
    assert!(lab.fixture.get(CONFIG_MAP, "default/old").await.is_some());
    assert!(lab.item("ConfigMap", "old").is_some());
    lab.make_available("default/app").await;
    let counter = lab.count();
    lab.applied(&next).await;
    assert_eq!(writes(&counter), ["delete configmaps old"]);
    assert!(lab.item("ConfigMap", "old").is_none());
}

#[tokio::test]
async fn redundant_objects_can_be_deleted_before_the_last_wave() {
    let mut lab = Lab::start().await;
    lab.prune = PruneTiming::Immediately;
    lab.applied(&(config_map("old", &[], "1") + &deployment("first", &[]))).await;
    let next = deployment("first", &[("apply-order", "-1")]) + &deployment("second", &[]);
    assert_eq!(waiting(lab.apply(&next).await).len(), 1, "all has to be written first");
    assert!(lab.fixture.get(CONFIG_MAP, "default/old").await.is_some());
    lab.make_available("default/first").await;
    lab.wait_for_last = true;
    let held = waiting(lab.apply(&next).await);
    assert!(held.len() == 1 && held[0].starts_with("Deployment default/second: "), "{held:?}");
    assert!(lab.fixture.get(CONFIG_MAP, "default/old").await.is_none());
    assert!(lab.item("ConfigMap", "old").is_none());
}

#[tokio::test]
async fn a_finalizer_added_during_deletion_blocks_it() {
    let mut lab = Lab::start().await;
    lab.applied(&config_map("a", &[], "1")).await;
    let mut planned = lab.planned("", ReadByName::Applied).await.unwrap();
    let held = json!({"metadata": {"finalizers": ["example.org/held"]}});
    lab.fixture.merge(CONFIG_MAP, "default/a", &held).await;
    let record = InConfigMap::of(&lab.server);
    let outcome = lab.engine().apply(&mut planned, RunOptions::new(&record)).await;
    assert_held(&waiting(outcome), &["ConfigMap default/a"]);
    assert_eq!(planned.set.items.len(), 1);
}

#[tokio::test]
async fn redundant_objects_are_deleted_wave_by_wave() {
    let mut lab = Lab::start().await;
    let set =
        config_map("a", &[("delete-order", "-1")], "1") + &config_map("b", &[("apply-order", "-9")], "1");
    lab.applied(&set).await;
    lab.fixture
        .merge(CONFIG_MAP, "default/a", &json!({"metadata": {"finalizers": ["example.org/held"]}}))
        .await;
    assert_held(&waiting(lab.apply("").await), &["ConfigMap default/a"]);
    assert!(lab.fixture.get(CONFIG_MAP, "default/b").await.is_some());
    lab.fixture.merge(CONFIG_MAP, "default/a", &json!({"metadata": {"finalizers": null}})).await;
    lab.applied("").await;
    assert!(lab.fixture.get(CONFIG_MAP, "default/b").await.is_none());
}

#[tokio::test]
async fn a_moved_object_is_created_before_the_old_one_is_deleted() {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&config_map("one/a", &[], "1")).await;
    let counter = lab.count();
    lab.applied(&config_map("two/a", &[], "1")).await;
    assert_eq!(writes(&counter), ["create namespaces", "create configmaps", "delete configmaps a"]);
    assert!(lab.fixture.get(CONFIG_MAP, "one/a").await.is_none());
    assert!(lab.fixture.get(CONFIG_MAP, "two/a").await.is_some());
}

#[tokio::test]
async fn orphans_of_a_run_are_kept_and_forgotten() {
    for (policy, stays) in [("orphan", true), ("orphan-on-apply", true), ("orphan-on-delete", false)] {
        let mut lab = Lab::start().await;
        lab.applied(&config_map("a", &[("delete-policy", policy)], "1")).await;
        lab.applied(&config_map("b", &[], "1")).await;
        assert_eq!(lab.fixture.get(CONFIG_MAP, "default/a").await.is_some(), stays, "{policy}");
        assert!(lab.item("ConfigMap", "a").is_none(), "{policy}");
    }
}
