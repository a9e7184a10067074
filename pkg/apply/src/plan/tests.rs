mod removals;

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{
    GroupKind, ItemPhase, MissingNamespacePolicy, OwnershipMarks,
    testing::{
        model::{FakeCluster, definition, label_marks, marks, minute, named, plan_text},
        object,
    },
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

/// Returns the errors of a plan, one per line.
fn refusals(world: &FakeCluster, objects: &[manifest::Object]) -> String {
    let errors = world.plan(objects).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

// Row: ENG-02
#[test]
fn the_set_lists_exactly_the_desired_objects() {
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
fn a_mixed_set_is_written_in_dependency_order() {
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
fn waves_are_ascending_regardless_of_kind() {
    let order = |order: &str| json!({"x/apply-order": order});
    let objects = [map("last", &order("7")), map("middle", &json!({})), map("first", &order("-5"))];
    let plan = FakeCluster::new(marks()).plan(&objects).unwrap();
    assert_eq!(plan.steps.iter().map(|step| step.wave).collect::<Vec<_>>(), [-5, 0, 7]);
    let mixed = [map("n/m", &order("-32768")), named("v1 Namespace late", &order("32767"))];
    let plan = FakeCluster::new(marks()).plan(&mixed).unwrap();
    assert_eq!(plan_text(&plan), "Create Namespace n, Create ConfigMap n/m, Create Namespace late");
}

// Row: ENG-50
// Row: ENG-51
// Row: ENG-52
// Row: ENG-27
#[test]
fn existing_objects_are_adopted_by_policy() {
    let theirs = OwnershipMarks::of_component("x", "them");
    let mut outcomes = String::new();
    for policy in ["never", "if-unowned", "always"] {
        let wanted = [map("a", &json!({"x/adoption-policy": policy}))];
        let mut found = map("default/a", &json!({}));
        for owner in ["none", "them"] {
            let mut world = FakeCluster::new(marks());
            world.put(found.clone());
            let outcome = |plan: Result<ApplyPlan, Vec<PlanError>>| {
                plan.map_or_else(|errors| format!("refused: {}", errors[0]), |plan| step(&plan, "a"))
            };
            let by_annotation = outcome(world.plan(&wanted));
            theirs.mark(&mut found, "d");
            // A default policy has the same effect as an annotation.
            world.options.defaults.adoption = match policy {
                "never" => crate::AdoptionPolicy::Never,
                "always" => crate::AdoptionPolicy::Always,
                _ => crate::AdoptionPolicy::IfUnowned,
            };
            assert_eq!(outcome(world.plan(&[map("a", &json!({}))])), by_annotation, "{policy}");
            outcomes.extend([
                policy,
                ", owner ",
                owner,
                ": ",
                &by_annotation,
                "
",
            ]);
        }
    }
    assert_data_eq!(
        outcomes,
        str![[r#"
never, owner none: refused: ConfigMap default/a exists and was not applied by `me`
never, owner them: refused: ConfigMap default/a belongs to `them`
if-unowned, owner none: Adopt: already existed
if-unowned, owner them: refused: ConfigMap default/a belongs to `them`
always, owner none: Adopt: already existed
always, owner them: Adopt: taken over from owner `them`

"#]]
    );
}

#[test]
fn a_scheduled_but_unwritten_object_is_not_owned() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("a", &json!({"x/adoption-policy": "never"}))];
    let plan = world.plan(&wanted).unwrap();
    world.set.schedule(&world.desire(&wanted).unwrap(), &plan);
    assert_eq!(world.set.items.len(), 1, "the set must be stored");
    // Somebody else creates the object, and the run is interrupted.
    world.put(map("default/a", &json!({})));
    let exists = |errors: &[PlanError]| matches!(errors, [PlanError::Exists { owner, .. }] if owner == "me");
    assert!(exists(&world.plan(&wanted).unwrap_err()));
    // Dropping the object and adding it again does not change its owner either.
    world.set.schedule_deletion();
    assert!(exists(&world.plan(&wanted).unwrap_err()));
}

#[test]
fn labelled_objects_of_other_managers_are_taken_over() {
    let mut steps = String::new();
    for managers in [
        json!([{"manager": "kubectl-client-side-apply"}]),
        json!([{"manager": "somebody"}]),
        json!([{"manager": "capstan"}, {"manager": "injector"}]),
        json!([{"manager": "kubelet", "subresource": "status"}]),
    ] {
        let mut world = FakeCluster::new(label_marks());
        world.put(object(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "a", "namespace": "default", "labels": {"part-of": "me"}, "managedFields": managers,
            },
        })));
        steps.extend([&*step(&world.plan(&[map("a", &json!({}))]).unwrap(), "a"), "\n"]);
    }
    assert_data_eq!(
        steps,
        str![[r#"
Adopt: taken over from `kubectl-client-side-apply`
Adopt: taken over from `somebody`
Update: exists but was not recorded
Update: exists but was not recorded

"#]]
    );
}

// Row: ENG-53
#[test]
fn unchanged_objects_are_not_written() {
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
fn uncertain_writes_are_repeated() {
    let wanted = [map("a", &json!({}))];
    let mut marked = FakeCluster::new(marks());
    marked.apply(&wanted);
    marked.object("v1 ConfigMap default/a").set_annotation("x/digest", "of something else");
    assert_data_eq!(
        step(&marked.plan(&wanted).unwrap(), "a"),
        str!["Update: differs from the last applied object"]
    );

    let mut labelled = FakeCluster::new(label_marks());
    labelled.apply(&wanted);
    for arrived in [ItemPhase::Creating, ItemPhase::Updating, ItemPhase::Ready] {
        labelled.set.items[0].phase = arrived;
        assert_eq!(step(&labelled.plan(&wanted).unwrap(), "a"), "Keep", "{arrived:?}");
    }
    labelled.set.items[0].phase = ItemPhase::ScheduledForApplication;
    assert_data_eq!(
        step(&labelled.plan(&wanted).unwrap(), "a"),
        str!["Update: its last write may have failed"]
    );
    labelled.server.clear();
    assert_eq!(step(&labelled.plan(&wanted).unwrap(), "a"), "Create");
}

// Row: ENG-54
#[test]
fn a_component_change_updates_dependent_objects() {
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
fn a_once_object_is_recreated_but_never_updated() {
    for marks in [marks(), label_marks()] {
        let mut world = FakeCluster::new(marks);
        let once = json!({"x/reconcile-policy": "once", "x/reapply-interval": "1m"});
        let wanted = map("a", &once);
        world.apply(std::slice::from_ref(&wanted));
        world.now = minute(60);
        let changed = [with(wanted, "data", json!({"k": "2"}))];
        assert_eq!(step(&world.plan(&changed).unwrap(), "a"), "Keep");
        let mut without_objects = world.clone();
        without_objects.server.clear();
        assert_eq!(step(&without_objects.plan(&changed).unwrap(), "a"), "Create");
        // A change from `once`, and a change back, cause one write each.
        let plain = [map("a", &json!({}))];
        assert_eq!(step(&world.apply(&plain), "a"), "Update");
        assert_eq!(step(&world.apply(&changed), "a"), "Update");
        assert_eq!(step(&world.apply(&changed), "a"), "Keep");
    }
}

#[test]
fn an_unrecorded_once_object_is_kept_and_recorded() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("a", &json!({"x/reconcile-policy": "once"}))];
    world.apply(&wanted);
    world.set = ApplySet::default();
    assert_eq!(step(&world.apply(&wanted), "a"), "Keep");
    assert_eq!(world.set.items.len(), 1);
}

#[test]
fn an_unchanged_object_is_reapplied_after_its_interval() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("a", &json!({"x/reapply-interval": "1h"}))];
    world.apply(&wanted);
    world.now = minute(59);
    assert_eq!(step(&world.plan(&wanted).unwrap(), "a"), "Keep");
    world.now = minute(60);
    assert_data_eq!(
        step(&world.plan(&wanted).unwrap(), "a"),
        str!["Update: last written at 2001-09-09T01:46:40Z"]
    );
    world.set.items[0].last_applied_at = Some("yesterday".to_owned());
    let plan = world.plan(&wanted).unwrap();
    assert_data_eq!(step(&plan, "a"), str!["Update: the time of the last write is unknown"]);
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
fn terminating_objects_are_recreated_with_their_namespace() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("n/a", &json!({})), map("b", &json!({}))];
    world.apply(&wanted);
    let deleted = |object: &mut manifest::Object| {
        if let Some(Value::Object(metadata)) = object.get_mut(&["metadata"]) {
            metadata.insert("deletionTimestamp".to_owned(), json!("2001-09-09T01:46:40Z"));
        }
    };
    deleted(world.object("v1 ConfigMap default/b"));
    assert_data_eq!(step(&world.plan(&wanted).unwrap(), "b"), str!["Recreate: is being deleted"]);
    deleted(world.object("v1 Namespace n"));
    let plan = world.plan(&wanted).unwrap();
    assert_data_eq!(step(&plan, "n"), str!["Recreate: is being deleted"]);
    assert_data_eq!(step(&plan, "a"), str!["Recreate: its namespace is being deleted"]);
}

#[test]
fn a_moved_object_is_created_before_the_old_one_is_deleted() {
    let mut world = FakeCluster::new(marks());
    world.apply(&[map("n/a", &json!({}))]);
    let plan = world.plan(&[map("m/a", &json!({}))]).unwrap();
    assert_eq!(plan_text(&plan), "Create Namespace m, Create ConfigMap m/a, Delete ConfigMap n/a");
}

// Row: ENG-25
// Row: ENG-26
#[test]
fn missing_namespaces_are_created_unowned_or_refused() {
    let mut world = FakeCluster::new(marks());
    let wanted = [map("n/a", &json!({"x/apply-order": "3"})), map("n/b", &json!({"x/apply-order": "-3"}))];
    let refusing =
        ApplyOptions { missing_namespaces: MissingNamespacePolicy::Refuse, ..world.options.clone() };
    let refused = FakeCluster { options: refusing, ..world.clone() };
    assert_eq!(
        refused.plan(&wanted).unwrap_err(),
        [PlanError::MissingNamespace { namespace: "n".to_owned() }]
    );

    let plan = world.apply(&wanted);
    assert_eq!((plan.steps[0].key.name.as_str(), plan.steps[0].wave, plan.steps[0].unowned), ("n", -3, true));
    assert_eq!(plan.steps.iter().filter(|step| step.unowned).count(), 1);
    assert_eq!(world.set.items.len(), 2, "the namespace is no item");
    assert_eq!(plan_text(&world.plan(&[]).unwrap()), "Delete ConfigMap n/a, Delete ConfigMap n/b");
    let there = FakeCluster { options: refused.options, ..world };
    assert!(there.plan(&wanted).unwrap().is_empty());
}

#[test]
fn definitions_and_namespaces_outlive_their_dependents() {
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
    assert_data_eq!(
        refusals(&world, &widgets),
        str![[r#"
CustomResourceDefinition widgets.example.org cannot be deleted while Widget n/a and 1 more remain
Namespace n cannot be deleted while Widget n/a and 2 more remain
"#]]
    );
    assert_data_eq!(
        refusals(&world, &[&widgets[..], &needed[..1]].concat()),
        str!["Namespace n cannot be deleted while Widget n/a and 2 more remain"]
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
fn all_obstacles_are_reported_at_once() {
    let mut world = FakeCluster::new(marks());
    world.options.missing_namespaces = MissingNamespacePolicy::Refuse;
    world.put(map("default/a", &json!({})));
    let never = json!({"x/adoption-policy": "never"});
    let wanted = [map("a", &never), map("n/b", &json!({})), map("m/c", &json!({}))];
    assert_data_eq!(
        refusals(&world, &wanted),
        str![[r#"
ConfigMap default/a exists and was not applied by `me`
namespace `m` does not exist
namespace `n` does not exist
"#]]
    );
}

#[test]
fn a_serialized_plan_omits_default_fields() {
    let plan = FakeCluster::new(marks()).plan(&[map("a", &json!({}))]).unwrap();
    assert_eq!(
        serde_json::to_value(&plan).unwrap(),
        json!({"steps": [{
            "key": {"group": "", "kind": "ConfigMap", "namespace": "default", "name": "a"},
            "action": "create", "wave": 0, "stage": "regular", "priority": -1,
        }]})
    );
}
