//! Tests of purges, deletions and orphans.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::{super::*, map, step, with};
use crate::{
    ItemPhase, OwnershipMarks, key_of,
    testing::model::{FakeCluster, definition, label_marks, marks, named, plan_text},
};

// Row: ENG-71
// Row: ENG-73
// Row: ENG-74
// Row: ENG-80
#[test]
fn dropped_objects_are_deleted_last_in_separate_waves() {
    let orders = |apply: i16, delete: i16| json!({"x/apply-order": apply.to_string(), "x/delete-order": delete.to_string()});
    let mut world = FakeCluster::new(marks());
    let all = [
        map("a", &orders(-1, 1)),
        map("b", &orders(1, -1)),
        named("example.org/v1 Widget w", &orders(0, 0)),
        definition("Widget", "example.org", "Namespaced", &json!({})),
        named("apps/v1 Deployment d", &json!({})),
        named("v1 Service s", &json!({})),
        named("v1 Namespace n", &json!({})),
    ];
    let first = world.apply(&all);
    assert_eq!((first.steps[0].key.name.as_str(), first.steps[6].key.name.as_str()), ("a", "b"));
    let expected = "Delete ConfigMap default/b, Delete Widget default/w, \
        Delete CustomResourceDefinition widgets.example.org, Delete Deployment default/d, \
        Delete Service default/s, Delete Namespace n, Delete ConfigMap default/a";
    let plan = world.plan(&[map("new", &orders(32767, 0))]).unwrap();
    assert_eq!(plan_text(&plan), format!("Create ConfigMap default/new, {expected}"));
    let live = world.live(&world.desire(&all).unwrap());
    assert_eq!(plan_text(&plan_delete(&world.set, &live, &world.marks, &world.options)), expected);
}

// Row: ENG-68
// Row: ENG-70
#[test]
fn purged_objects_are_not_recreated_until_they_change() {
    let mut world = FakeCluster::new(marks());
    let job = |image: &str| {
        let job = named("batch/v1 Job hook", &json!({"x/apply-order": "-2", "x/purge-order": "-1"}));
        with(job, "spec", json!({"image": image}))
    };
    let others = [map("a", &json!({"x/apply-order": "-1"})), map("b", &json!({}))];
    let wanted = |image| [&others[..], &[job(image)]].concat();
    let plan = world.apply(&wanted("1"));
    assert_eq!((plan.steps[0].action, plan.steps[0].purge_wave), (StepAction::Create, Some(-1)));
    assert_eq!(step(&world.plan(&wanted("1")).unwrap(), "hook"), "Completed");
    assert!(world.plan(&wanted("1")).unwrap().is_empty());
    assert_eq!(step(&world.plan(&wanted("2")).unwrap(), "hook"), "Create");
}

#[test]
fn an_interrupted_purge_is_resumed() {
    let mut world = FakeCluster::new(label_marks());
    let wanted = [named("batch/v1 Job hook", &json!({"x/purge-order": "0"}))];
    world.apply(&wanted);
    world.set.items[0].phase = ItemPhase::Completing;
    assert_eq!(step(&world.plan(&wanted).unwrap(), "hook"), "Completed");
    let desired = world.desire(&wanted).unwrap();
    let unseen = LiveObjects::default();
    let plan = plan(&world.set, &desired, &unseen, &world.marks, &world.options, world.now).unwrap();
    assert_eq!(step(&plan, "hook"), "Purge");
    let mut there = world.clone();
    there.put(desired.objects[0].object.clone());
    for phase in [ItemPhase::Ready, ItemPhase::ScheduledForCompletion, ItemPhase::Completing] {
        there.set.items[0].phase = phase;
        let plan = there.plan(&wanted).unwrap();
        assert_eq!((step(&plan, "hook").as_str(), plan.is_empty()), ("Purge", false), "{phase:?}");
    }
}

#[test]
fn a_purge_runs_in_the_first_wave_of_its_order() {
    let waves = BTreeSet::from([-5, 0, 7]);
    for (apply, purge, expected) in
        [(-5, -5, -5), (-5, -4, 0), (0, -5, 0), (0, 1, 7), (0, 100, 7), (7, -100, 7)]
    {
        let policies =
            ObjectPolicies { apply_order: apply, purge_order: Some(purge), ..ObjectPolicies::default() };
        assert_eq!(purge_wave(&policies, &waves), Some(expected), "{apply} {purge}");
    }
}

// Row: ENG-61
// Row: ENG-63
#[test]
fn dropped_objects_are_deleted_or_orphaned_by_policy() {
    for (policy, dropped, all) in [
        ("default", "Delete", "Delete"),
        ("delete", "Delete", "Delete"),
        ("orphan", "Orphan", "Orphan"),
        ("orphan-on-apply", "Orphan", "Delete"),
        ("orphan-on-delete", "Delete", "Orphan"),
    ] {
        let mut world = FakeCluster::new(marks());
        world.apply(&[map("a", &json!({"x/delete-policy": policy}))]);
        let live = world.live(&DesiredSet::default());
        let deleted = plan_delete(&world.set, &live, &world.marks, &world.options);
        assert_eq!(step(&deleted, "a"), all, "{policy}");
        assert_eq!(step(&world.apply(&[]), "a"), dropped, "{policy}");
        assert!(world.set.items.is_empty());
        let stays = world.server.keys().any(|key| key.name == "a");
        assert_eq!(stays, dropped == "Orphan", "{policy}");
    }
}

#[test]
fn objects_of_new_owners_are_orphaned() {
    let mut world = FakeCluster::new(marks());
    world.apply(&["a", "b", "c", "d"].map(|name| map(name, &json!({}))));
    OwnershipMarks::of_component("x", "them").mark(world.object("v1 ConfigMap default/a"), "d");
    world.put(map("default/b", &json!({})));
    world.server.remove(&key_of(&map("default/c", &json!({}))));
    let plan = world.plan(&[]).unwrap();
    assert_data_eq!(step(&plan, "a"), str!["Orphan: belongs to `them`"]);
    assert_data_eq!(step(&plan, "b"), str!["Orphan: has no owner"]);
    assert_data_eq!(step(&plan, "c"), str!["Delete: already deleted"]);
    assert_eq!(step(&plan, "d"), "Delete");
}

#[test]
fn an_unlabelled_object_is_owned_while_its_field_manager_remains() {
    let mut world = FakeCluster::new(marks());
    world.apply(&[map("a", &json!({}))]);
    let entry = |manager: &str, subresource: &str| json!({"manager": manager, "subresource": subresource});
    let mut steps = String::new();
    for managers in [
        json!([entry("kubectl-edit", ""), entry("capstan", "")]),
        json!([entry("kubectl-create", "")]),
        json!([entry("capstan", "status")]),
    ] {
        let mut stripped = map("default/a", &json!({}));
        if let Some(Value::Object(metadata)) = stripped.get_mut(&["metadata"]) {
            metadata.insert("managedFields".to_owned(), managers);
        }
        world.put(stripped);
        let planned = step(&world.plan(&[]).unwrap(), "a");
        let live = world.live(&DesiredSet::default());
        assert_eq!(step(&plan_delete(&world.set, &live, &world.marks, &world.options), "a"), planned);
        steps.extend([&*planned, "\n"]);
    }
    assert_data_eq!(
        steps,
        str![[r#"
Delete
Orphan: has no owner
Orphan: has no owner

"#]]
    );
    let mut never_written = world;
    never_written.set.items[0].last_applied_at = None;
    never_written.set.items[0].phase = ItemPhase::ScheduledForApplication;
    assert_data_eq!(step(&never_written.plan(&[]).unwrap(), "a"), str!["Orphan: has no owner"]);
}

#[test]
fn dependencies_of_an_orphan_are_kept() {
    let mut world = FakeCluster::new(marks());
    let stays = json!({"x/delete-policy": "orphan"});
    let set = [
        named("v1 Namespace n", &json!({})),
        named("v1 Namespace m", &json!({})),
        definition("Widget", "example.org", "Namespaced", &json!({})),
        map("n/a", &stays),
        map("m/b", &json!({})),
        named("example.org/v1 Widget m/w", &stays),
    ];
    world.apply(&set);
    let live = world.live(&DesiredSet::default());
    for plan in [plan_delete(&world.set, &live, &world.marks, &world.options), world.plan(&[]).unwrap()] {
        let kept = |name: &str, dependent: &str| {
            let step = plan.steps.iter().find(|step| step.key.name == name).unwrap();
            assert_eq!(step.action, StepAction::Orphan, "{name}");
            assert!(step.why.as_ref().is_some_and(|why| why.contains(dependent)), "{:?}", step.why);
        };
        kept("n", "ConfigMap n/a");
        kept("widgets.example.org", "Widget m/w");
        kept("m", "Widget m/w");
        assert_eq!(step(&plan, "b"), "Delete");
    }
    for orphan in [map("n/a", &stays), set[5].clone()] {
        world.server.remove(&key_of(&orphan));
    }
    let live = world.live(&DesiredSet::default());
    let plan = plan_delete(&world.set, &live, &world.marks, &world.options);
    assert_eq!(
        (step(&plan, "n"), step(&plan, "m")),
        ("Delete".to_owned(), "Delete".to_owned()),
        "nothing is left in them"
    );
}
