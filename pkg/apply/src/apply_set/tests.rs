use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::testing::model::{FakeCluster, marks, named};

fn full() -> Value {
    json!({
        "group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition",
        "name": "widgets.example.org",
        "adoptionPolicy": "IfUnowned", "reconcilePolicy": "OnObjectOrComponentChange",
        "updatePolicy": "SsaOverride", "deletePolicy": "OrphanOnDelete",
        "applyOrder": -5, "deleteOrder": 7,
        "managedTypes": [{"group": "example.org", "version": "*", "kind": "Widget"}],
        "digest": "d", "phase": "Ready", "status": "Current", "lastAppliedAt": "2026-01-01T00:00:00Z",
    })
}

#[test]
fn an_item_is_a_flat_mapping_and_survives_a_round_trip() {
    let item: ApplySetItem = serde_json::from_value(full()).unwrap();
    assert_eq!(item.key.to_string(), "CustomResourceDefinition widgets.example.org");
    assert_eq!((item.apply_order, item.delete_order), (-5, 7));
    assert_eq!(item.delete_policy, DeletePolicy::OrphanOnDelete);
    assert_eq!(serde_json::to_value(item).unwrap(), full());

    let small = ApplySetItem {
        key: ObjectKey::of_namespace("n"),
        version: "v1".to_owned(),
        ..ApplySetItem::default()
    };
    assert_eq!(
        serde_json::to_value(small).unwrap(),
        json!({
            "group": "", "version": "v1", "kind": "Namespace", "name": "n",
            "adoptionPolicy": "IfUnowned", "reconcilePolicy": "OnObjectChange", "updatePolicy": "Replace",
            "deletePolicy": "Delete", "applyOrder": 0, "deleteOrder": 0, "digest": "", "phase": "ScheduledForApplication", "status": "",
        })
    );
}

#[test]
fn unknown_fields_are_ignored_and_missing_ones_have_defaults() {
    let set: ApplySet = serde_json::from_value(json!({
        "items": [{"version": "v1", "kind": "Namespace", "name": "n", "novelty": {"a": 1}}], "more": 1,
    }))
    .unwrap();
    assert_eq!((set.items[0].phase, set.items[0].digest.as_str()), (ItemPhase::ScheduledForApplication, ""));
}

#[test]
fn invalid_items_are_refused() {
    let mut problems = String::new();
    for (field, value) in [
        ("kind", json!("")),
        ("name", json!("")),
        ("version", json!("")),
        ("phase", json!("Sleeping")),
        ("deletePolicy", json!("Keep")),
        ("applyOrder", json!(32768)),
    ] {
        let mut item = full();
        item[field] = value;
        let problem = serde_json::from_value::<ApplySetItem>(item).unwrap_err().to_string();
        problems.extend([&*problem, "\n"]);
    }
    assert_data_eq!(
        problems,
        str![[r#"
an item of the apply set has no `kind` (kind ``, name `widgets.example.org`)
an item of the apply set has no `name` (kind `CustomResourceDefinition`, name ``)
an item of the apply set has no `version` (kind `CustomResourceDefinition`, name `widgets.example.org`)
unknown variant `Sleeping`, expected one of `ScheduledForApplication`, `Creating`, `Updating`, `Ready`, `ScheduledForCompletion`, `Completing`, `Completed`, `ScheduledForDeletion`, `Deleting`
unknown variant `Keep`, expected one of `Delete`, `Orphan`, `OrphanOnApply`, `OrphanOnDelete`
invalid value: integer `32768`, expected i16

"#]]
    );
}

/// Schedules a plan for objects. Returns true if the set has changed and must be stored.
fn scheduled(world: &mut FakeCluster, objects: &[manifest::Object]) -> bool {
    let (plan, before) = (world.plan(objects).unwrap(), world.set.clone());
    let desired = world.desire(objects).unwrap();
    world.set.schedule(&desired, &plan);
    world.set != before
}

fn phases(world: &FakeCluster) -> Vec<String> {
    let item = |item: &ApplySetItem| format!("{} {:?} {}", item.key.name, item.phase, item.status);
    world.set.items.iter().map(item).collect()
}

#[test]
fn new_changed_and_dropped_objects_are_scheduled() {
    let mut world = FakeCluster::new(marks());
    let map = |name: &str, value: &str| named(&format!("v1 ConfigMap {name}"), &json!({ "k": value }));
    assert!(scheduled(&mut world.clone(), &[map("a", "1")]), "a new object");
    world.apply(&[map("a", "1"), map("b", "1"), map("c", "1")]);
    assert!(!scheduled(&mut world.clone(), &[map("a", "1"), map("b", "1"), map("c", "1")]), "nothing is new");
    assert!(scheduled(&mut world, &[map("a", "1"), map("b", "2"), map("d", "1")]));
    assert_eq!(
        phases(&world),
        [
            "a Ready InProgress",
            "b ScheduledForApplication InProgress",
            "c ScheduledForDeletion Terminating",
            "d ScheduledForApplication InProgress",
        ]
    );
    assert_eq!(world.set.items[2].digest, "");
    assert!(!scheduled(&mut world, &[map("a", "1"), map("b", "2"), map("d", "1")]), "scheduled already");
}

#[test]
fn policies_and_orders_follow_the_defaults_without_a_write() {
    let mut world = FakeCluster::new(marks());
    let wanted = [named("v1 ConfigMap a", &json!({}))];
    world.apply(&wanted);
    world.options.defaults.delete = DeletePolicy::OrphanOnApply;
    assert!(world.plan(&wanted).unwrap().is_empty());
    assert!(scheduled(&mut world, &wanted));
    assert_eq!(world.set.items[0].delete_policy, DeletePolicy::OrphanOnApply);
    assert_eq!(world.set.items[0].phase, ItemPhase::Ready);
}

// Row: ENG-71
#[test]
fn items_are_in_the_order_of_deletion() {
    let mut world = FakeCluster::new(marks());
    let order = |order: &str| json!({"x/delete-order": order});
    world.apply(&[
        named("v1 Namespace n", &json!({})),
        named("v1 ConfigMap last", &order("1")),
        named("v1 ConfigMap b", &json!({})),
        named("v1 ConfigMap a", &json!({})),
        named("apps/v1 Deployment d", &json!({})),
        named("v1 ConfigMap first", &order("-1")),
    ]);
    let names =
        |world: &FakeCluster| world.set.items.iter().map(|item| item.key.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&world), ["first", "d", "a", "b", "n", "last"]);
    world.set.schedule_deletion();
    assert_eq!(names(&world), ["first", "d", "a", "b", "n", "last"]);
    assert!(world.set.items.iter().all(|item| item.phase == ItemPhase::ScheduledForDeletion));
    world.set.items[0].phase = ItemPhase::Deleting;
    let scheduled = world.set.clone();
    world.set.schedule_deletion();
    assert_eq!(world.set, scheduled, "what is being deleted is not scheduled again");
    assert!(world.set.items.iter().all(|item| item.digest.is_empty() && item.status == "Terminating"));
}

#[test]
fn a_set_knows_its_items() {
    let item: ApplySetItem = serde_json::from_value(full()).unwrap();
    let key = item.key.clone();
    let mut set = ApplySet { items: vec![item] };
    assert!(set.item(&key).is_some() && set.item_mut(&key).is_some());
    set.remove(&key);
    assert!(set.item(&key).is_none());
}
