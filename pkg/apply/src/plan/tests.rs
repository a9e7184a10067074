use serde_json::{Value, json};

use super::*;
use crate::{
    GroupKind, ItemPhase, MissingNamespacePolicy, OwnershipMarks,
    fixtures::{FakeCluster, definition, label_marks, marks, minute, named, object, plan_text},
};

/// Returns groups of steps that may run concurrently.
pub(super) fn groups(plan: &ApplyPlan) -> impl Iterator<Item = &[PlanStep]> {
    plan.steps.chunk_by(|a, b| a.order() == b.order())
}

fn map(place: &str, annotations: &Value) -> manifest::Object {
    named(&format!("v1 ConfigMap {place}"), annotations)
}

fn with(mut object: manifest::Object, field: &str, value: Value) -> manifest::Object {
    object.as_map_mut().insert(field.to_owned(), value);
    object
}

/// Returns the only step for an object, as `Action: why`.
fn step(plan: &ApplyPlan, name: &str) -> String {
    let mut steps = plan.steps.iter().filter(|step| step.key.name == name);
    let step = steps.next().unwrap();
    assert!(steps.next().is_none(), "{name} has two steps");
    let action = format!("{:?}", step.action);
    step.why.as_ref().map_or(action.clone(), |why| format!("{action}: {why}"))
}

fn refusals(world: &FakeCluster, objects: &[manifest::Object]) -> Vec<String> {
    world.plan(objects).unwrap_err().iter().map(ToString::to_string).collect()
}

// Row: ENG-02
#[test]
fn the_set_lists_exactly_what_is_wanted() {
    let mut world = FakeCluster::new(marks());
    world.apply(&[map("a", &json!({})), map("b", &json!({}))]);
    world.apply(&[map("b", &json!({})), map("c", &json!({}))]);
    let names: Vec<_> = world.set.items.iter().map(|item| item.key.name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
    assert_eq!(world.server.keys().map(|key| &*key.name).collect::<Vec<_>>(), ["b", "c", "default"]);
}

// Row: ENG-22
// Row: ENG-45
// Row: ENG-66
#[test]
fn a_mixed_set_is_written_in_the_order_of_need() {
    let service = named("apiregistration.k8s.io/v1 APIService v1.late.example", &json!({}));
    let service = with(service, "spec", json!({"group": "late.example", "version": "v1"}));
    let objects = [
        named("late.example/v1 Report n/r", &json!({})),
        named("example.org/v1 Widget n/w", &json!({})),
        service,
        named("apps/v1 Deployment n/d", &json!({})),
        map("n/m", &json!({})),
        named("rbac.authorization.k8s.io/v1 ClusterRole c", &json!({})),
        definition("Widget", "example.org", "Namespaced", &json!({})),
        named("v1 Namespace n", &json!({})),
    ];
    let plan = FakeCluster::new(marks()).plan(&objects).unwrap();
    let groups: Vec<_> = groups(&plan).map(|group| plan_text(&ApplyPlan { steps: group.to_vec() })).collect();
    assert_eq!(
        groups,
        [
            "Create Namespace n",
            "Create ClusterRole c, Create CustomResourceDefinition widgets.example.org",
            "Create ConfigMap n/m",
            "Create Deployment n/d",
            "Create APIService v1.late.example",
            "Create Report n/r, Create Widget n/w",
        ]
    );
}

// Row: ENG-64
// Row: ENG-67
#[test]
fn waves_go_upwards_whatever_the_kind() {
    let order = |order: &str| json!({"x/apply-order": order});
    let objects = [map("last", &order("7")), map("middle", &json!({})), map("first", &order("-5"))];
    let plan = FakeCluster::new(marks()).plan(&objects).unwrap();
    assert_eq!(plan.steps.iter().map(|step| step.wave).collect::<Vec<_>>(), [-5, 0, 7]);
    let mixed = [map("n/m", &order("-32768")), named("v1 Namespace late", &order("32767"))];
    let plan = FakeCluster::new(marks()).plan(&mixed).unwrap();
    assert_eq!(plan_text(&plan), "Create Namespace n, Create ConfigMap n/m, Create Namespace late");
}

// Row: ENG-71
// Row: ENG-73
// Row: ENG-74
// Row: ENG-80
#[test]
fn what_is_dropped_goes_last_in_waves_of_its_own() {
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

// Row: ENG-50
// Row: ENG-51
// Row: ENG-52
// Row: ENG-27
#[test]
fn what_is_there_already_is_taken_as_the_policy_says() {
    let theirs = OwnershipMarks::of_component("x", "them");
    for (policy, unowned, foreign) in [
        (
            "never",
            Err("ConfigMap default/a exists and was not applied by `me`"),
            Err("ConfigMap default/a belongs to `them`"),
        ),
        ("if-unowned", Ok("Adopt: was there already"), Err("ConfigMap default/a belongs to `them`")),
        ("always", Ok("Adopt: was there already"), Ok("Adopt: taken from `them`")),
    ] {
        let wanted = [map("a", &json!({"x/adoption-policy": policy}))];
        let mut found = map("default/a", &json!({}));
        for expected in [unowned, foreign] {
            let mut world = FakeCluster::new(marks());
            world.put(found.clone());
            let plan = world.plan(&wanted).map(|plan| step(&plan, "a")).map_err(|all| all[0].to_string());
            assert_eq!(plan, expected.map(str::to_owned).map_err(str::to_owned), "{policy}");
            theirs.mark(&mut found, "d");
            // A default policy has the same effect as an annotation.
            world.options.defaults.adoption = match policy {
                "never" => crate::AdoptionPolicy::Never,
                "always" => crate::AdoptionPolicy::Always,
                _ => crate::AdoptionPolicy::IfUnowned,
            };
            let plan = world.plan(&[map("a", &json!({}))]).map(|plan| step(&plan, "a"));
            assert_eq!(
                plan.map_err(|all| all[0].to_string()),
                expected.map(str::to_owned).map_err(str::to_owned)
            );
        }
    }
}

#[test]
fn an_object_that_was_scheduled_and_never_written_is_still_a_stranger() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("a", &json!({"x/adoption-policy": "never"}))];
    let plan = world.plan(&wanted).unwrap();
    world.set.schedule(&world.desire(&wanted).unwrap(), &plan);
    assert_eq!(world.set.items.len(), 1, "the set must be stored");
    // Somebody else creates the object, and the run is interrupted.
    world.put(map("default/a", &json!({})));
    assert_eq!(refusals(&world, &wanted), ["ConfigMap default/a exists and was not applied by `me`"]);
    // Dropping the object and adding it again does not change its owner either.
    world.set.schedule_deletion();
    assert_eq!(refusals(&world, &wanted), ["ConfigMap default/a exists and was not applied by `me`"]);
}

#[test]
fn objects_of_our_label_that_others_wrote_are_taken_over_and_ours_are_written() {
    for (managers, expected) in [
        (
            json!([{"manager": "kubectl-client-side-apply"}]),
            "Adopt: taken over from `kubectl-client-side-apply`",
        ),
        (json!([{"manager": "somebody"}]), "Adopt: taken over from `somebody`"),
        (json!([{"manager": "capstan"}, {"manager": "injector"}]), "Update: is there and was not recorded"),
        (json!([{"manager": "kubelet", "subresource": "status"}]), "Update: is there and was not recorded"),
    ] {
        let mut world = FakeCluster::new(label_marks());
        world.put(object(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "a", "namespace": "default", "labels": {"part-of": "me"}, "managedFields": managers,
            },
        })));
        assert_eq!(step(&world.plan(&[map("a", &json!({}))]).unwrap(), "a"), expected);
    }
}

// Row: ENG-53
#[test]
fn what_is_unchanged_is_not_written() {
    for marks in [marks(), label_marks()] {
        let mut world = FakeCluster::new(marks);
        let wanted = [with(map("a", &json!({})), "data", json!({"k": "1"}))];
        assert_eq!(step(&world.apply(&wanted), "a"), "Create");
        assert_eq!(step(&world.apply(&wanted), "a"), "Keep");
        let changed = [with(map("a", &json!({})), "data", json!({"k": "2"}))];
        assert_eq!(step(&world.apply(&changed), "a"), "Update");
        assert!(world.plan(&changed).unwrap().is_empty());
    }
}

#[test]
fn what_may_not_have_arrived_is_written_again() {
    let wanted = [map("a", &json!({}))];
    let mut marked = FakeCluster::new(marks());
    marked.apply(&wanted);
    marked.object("v1 ConfigMap default/a").set_annotation("x/digest", "of something else");
    assert_eq!(step(&marked.plan(&wanted).unwrap(), "a"), "Update: is not what was applied last");

    let mut labelled = FakeCluster::new(label_marks());
    labelled.apply(&wanted);
    for arrived in [ItemPhase::Creating, ItemPhase::Updating, ItemPhase::Ready] {
        labelled.set.items[0].phase = arrived;
        assert_eq!(step(&labelled.plan(&wanted).unwrap(), "a"), "Keep", "{arrived:?}");
    }
    labelled.set.items[0].phase = ItemPhase::ScheduledForApplication;
    assert_eq!(step(&labelled.plan(&wanted).unwrap(), "a"), "Update: its last write may not have arrived");
    labelled.server.clear();
    assert_eq!(step(&labelled.plan(&wanted).unwrap(), "a"), "Create");
}

// Row: ENG-54
#[test]
fn a_change_of_the_component_writes_objects_that_follow_it() {
    let mut world = FakeCluster::new(marks());
    let wanted =
        [map("a", &json!({"x/reconcile-policy": "on-object-or-component-change"})), map("b", &json!({}))];
    world.options.component_digest = Some("1".to_owned());
    world.apply(&wanted);
    assert!(world.plan(&wanted).unwrap().is_empty());
    world.options.component_digest = Some("2".to_owned());
    assert_eq!(
        plan_text(&world.plan(&wanted).unwrap()),
        "Update ConfigMap default/a, Keep ConfigMap default/b"
    );
}

// Row: ENG-55
#[test]
fn once_is_created_again_when_gone_and_never_changed() {
    for marks in [marks(), label_marks()] {
        let mut world = FakeCluster::new(marks);
        let once = json!({"x/reconcile-policy": "once", "x/reapply-interval": "1m"});
        let wanted = map("a", &once);
        world.apply(std::slice::from_ref(&wanted));
        world.now = minute(60);
        let changed = [with(wanted, "data", json!({"k": "2"}))];
        assert_eq!(step(&world.plan(&changed).unwrap(), "a"), "Keep");
        let mut gone = world.clone();
        gone.server.clear();
        assert_eq!(step(&gone.plan(&changed).unwrap(), "a"), "Create");
        // A change from `once`, and a change back, cause one write each.
        let plain = [map("a", &json!({}))];
        assert_eq!(step(&world.apply(&plain), "a"), "Update");
        assert_eq!(step(&world.apply(&changed), "a"), "Update");
        assert_eq!(step(&world.apply(&changed), "a"), "Keep");
    }
}

#[test]
fn an_object_of_once_that_lost_its_record_is_kept_and_recorded() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("a", &json!({"x/reconcile-policy": "once"}))];
    world.apply(&wanted);
    world.set = ApplySet::default();
    assert_eq!(step(&world.apply(&wanted), "a"), "Keep");
    assert_eq!(world.set.items.len(), 1);
}

#[test]
fn an_unchanged_object_is_written_again_when_its_time_has_come() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("a", &json!({"x/reapply-interval": "1h"}))];
    world.apply(&wanted);
    for (minutes, expected) in [(59, "Keep"), (60, "Update: written last at 2001-09-09T01:46:40Z")] {
        world.now = minute(minutes);
        assert_eq!(step(&world.plan(&wanted).unwrap(), "a"), expected);
    }
    world.set.items[0].last_applied_at = Some("yesterday".to_owned());
    let plan = world.plan(&wanted).unwrap();
    assert_eq!(step(&plan, "a"), "Update: nobody knows when it was written last");
}

// Row: ENG-60
#[test]
fn the_policy_recreate_deletes_before_it_creates() {
    let mut world = FakeCluster::new(marks());
    let recreate = json!({"x/update-policy": "recreate"});
    assert_eq!(step(&world.apply(&[map("a", &recreate)]), "a"), "Create");
    assert_eq!(step(&world.plan(&[map("a", &recreate)]).unwrap(), "a"), "Keep");
    let changed = [with(map("a", &recreate), "data", json!({"k": "1"}))];
    assert_eq!(step(&world.plan(&changed).unwrap(), "a"), "Recreate");
}

#[test]
fn what_is_going_is_waited_for_with_all_in_its_namespace() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("n/a", &json!({})), map("b", &json!({}))];
    world.apply(&wanted);
    let going = |object: &mut manifest::Object| {
        if let Some(Value::Object(metadata)) = object.get_mut(&["metadata"]) {
            metadata.insert("deletionTimestamp".to_owned(), json!("2001-09-09T01:46:40Z"));
        }
    };
    going(world.object("v1 ConfigMap default/b"));
    assert_eq!(step(&world.plan(&wanted).unwrap(), "b"), "Recreate: is being deleted");
    going(world.object("v1 Namespace n"));
    let plan = world.plan(&wanted).unwrap();
    assert_eq!(step(&plan, "n"), "Recreate: is being deleted");
    assert_eq!(step(&plan, "a"), "Recreate: its namespace is being deleted");
}

// Row: ENG-68
// Row: ENG-70
#[test]
fn what_is_purged_is_not_created_again_until_it_changes() {
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
fn a_purge_that_was_cut_off_is_gone_on_with() {
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
fn a_purge_comes_at_the_first_wave_that_reaches_its_order() {
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
fn what_is_dropped_is_deleted_or_forgotten_as_the_policy_says() {
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
fn what_became_somebody_elses_is_left_alone() {
    let mut world = FakeCluster::new(marks());
    world.apply(&["a", "b", "c", "d"].map(|name| map(name, &json!({}))));
    OwnershipMarks::of_component("x", "them").mark(world.object("v1 ConfigMap default/a"), "d");
    world.put(map("default/b", &json!({})));
    world.server.remove(&ObjectKey::of(&map("default/c", &json!({}))));
    let plan = world.plan(&[]).unwrap();
    assert_eq!(step(&plan, "a"), "Orphan: belongs to `them`");
    assert_eq!(step(&plan, "b"), "Orphan: belongs to nobody");
    assert_eq!(step(&plan, "c"), "Delete: is gone already");
    assert_eq!(step(&plan, "d"), "Delete");
}

#[test]
fn an_object_that_lost_its_label_is_ours_while_our_writing_is_to_be_seen_on_it() {
    let mut world = FakeCluster::new(marks());
    world.apply(&[map("a", &json!({}))]);
    let entry = |manager: &str, subresource: &str| json!({"manager": manager, "subresource": subresource});
    for (managers, expected) in [
        (json!([entry("kubectl-edit", ""), entry("capstan", "")]), "Delete"),
        (json!([entry("kubectl-create", "")]), "Orphan: belongs to nobody"),
        (json!([entry("capstan", "status")]), "Orphan: belongs to nobody"),
    ] {
        let mut stripped = map("default/a", &json!({}));
        if let Some(Value::Object(metadata)) = stripped.get_mut(&["metadata"]) {
            metadata.insert("managedFields".to_owned(), managers);
        }
        world.put(stripped);
        assert_eq!(step(&world.plan(&[]).unwrap(), "a"), expected);
        let live = world.live(&DesiredSet::default());
        assert_eq!(step(&plan_delete(&world.set, &live, &world.marks, &world.options), "a"), expected);
    }
    let mut never_written = world;
    never_written.set.items[0].last_applied_at = None;
    never_written.set.items[0].phase = ItemPhase::ScheduledForApplication;
    assert_eq!(step(&never_written.plan(&[]).unwrap(), "a"), "Orphan: belongs to nobody");
}

#[test]
fn what_an_orphan_lives_by_stays_with_it() {
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
        let step = |name| step(&plan, name);
        assert_eq!(step("n"), "Orphan: ConfigMap n/a stays and would go with it");
        assert_eq!(step("widgets.example.org"), "Orphan: Widget m/w stays and would go with it");
        assert_eq!(
            (step("m"), step("b")),
            ("Orphan: Widget m/w stays and would go with it".to_owned(), "Delete".to_owned())
        );
    }
    for orphan in [map("n/a", &stays), set[5].clone()] {
        world.server.remove(&ObjectKey::of(&orphan));
    }
    let live = world.live(&DesiredSet::default());
    let plan = plan_delete(&world.set, &live, &world.marks, &world.options);
    assert_eq!(
        (step(&plan, "n"), step(&plan, "m")),
        ("Delete".to_owned(), "Delete".to_owned()),
        "nothing is left in them"
    );
}

#[test]
fn an_object_that_moves_is_created_before_the_old_one_goes() {
    let mut world = FakeCluster::new(marks());
    world.apply(&[map("n/a", &json!({}))]);
    let plan = world.plan(&[map("m/a", &json!({}))]).unwrap();
    assert_eq!(plan_text(&plan), "Create Namespace m, Create ConfigMap m/a, Delete ConfigMap n/a");
}

// Row: ENG-25
// Row: ENG-26
#[test]
fn missing_namespaces_are_made_for_nobody_or_refused() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("n/a", &json!({"x/apply-order": "3"})), map("n/b", &json!({"x/apply-order": "-3"}))];
    let refusing =
        ApplyOptions { missing_namespaces: MissingNamespacePolicy::Refuse, ..world.options.clone() };
    let refused = FakeCluster { options: refusing, ..world.clone() };
    assert_eq!(refusals(&refused, &wanted), ["namespace `n` is not there"]);

    let plan = world.apply(&wanted);
    assert_eq!((plan.steps[0].key.name.as_str(), plan.steps[0].wave, plan.steps[0].unowned), ("n", -3, true));
    assert_eq!(plan.steps.iter().filter(|step| step.unowned).count(), 1);
    assert_eq!(world.set.items.len(), 2, "the namespace is no item");
    assert_eq!(plan_text(&world.plan(&[]).unwrap()), "Delete ConfigMap n/a, Delete ConfigMap n/b");
    let there = FakeCluster { options: refused.options, ..world };
    assert!(there.plan(&wanted).unwrap().is_empty());
}

#[test]
fn a_definition_or_namespace_cannot_go_while_something_stays_in_need() {
    let mut world = FakeCluster::new(marks());
    let widgets = [
        named("example.org/v1 Widget n/a", &json!({})),
        named("example.org/v1 Widget n/b", &json!({})),
        map("n/c", &json!({})),
    ];
    let needed =
        [definition("Widget", "example.org", "Namespaced", &json!({})), named("v1 Namespace n", &json!({}))];
    world.apply(&[&widgets[..], &needed[..]].concat());
    world.options.additional_managed_types = vec![GroupKind::new("example.org", "*")];
    assert_eq!(
        refusals(&world, &widgets),
        [
            "CustomResourceDefinition widgets.example.org cannot go while Widget n/a and 1 more stay",
            "Namespace n cannot go while Widget n/a and 2 more stay",
        ]
    );
    assert_eq!(
        refusals(&world, &[&widgets[..], &needed[..1]].concat()),
        ["Namespace n cannot go while Widget n/a and 2 more stay"]
    );
    let mut renamed = needed[0].clone();
    renamed.set_name("gadgets.example.org");
    assert!(
        world.plan(&[&widgets[..], &[renamed, needed[1].clone()]].concat()).is_ok(),
        "the kind is still defined"
    );
    let mut orphans = world;
    for item in &mut orphans.set.items {
        item.delete_policy = DeletePolicy::OrphanOnApply;
    }
    assert!(orphans.plan(&widgets).is_ok(), "what stays on the server can be dropped");
}

#[test]
fn everything_in_the_way_is_told_at_once() {
    let mut world = FakeCluster::new(marks());
    world.options.missing_namespaces = MissingNamespacePolicy::Refuse;
    world.put(map("default/a", &json!({})));
    let never = json!({"x/adoption-policy": "never"});
    let wanted = [map("a", &never), map("n/b", &json!({})), map("m/c", &json!({}))];
    assert_eq!(
        refusals(&world, &wanted),
        [
            "ConfigMap default/a exists and was not applied by `me`",
            "namespace `m` is not there",
            "namespace `n` is not there",
        ]
    );
}

#[test]
fn a_plan_says_little_of_what_is_plain() {
    let plan = FakeCluster::new(marks()).plan(&[map("a", &json!({}))]).unwrap();
    assert_eq!(
        serde_json::to_value(&plan).unwrap(),
        json!({"steps": [{
            "key": {"group": "", "kind": "ConfigMap", "namespace": "default", "name": "a"},
            "action": "create", "wave": 0, "stage": "regular", "priority": -1,
        }]})
    );
}
