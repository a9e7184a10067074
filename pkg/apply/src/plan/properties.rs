//! Properties of all sets of objects, on every server.

use crate::key_of;
use std::collections::BTreeMap;

use manifest::Object;
use proptest::{prelude::*, sample::subsequence};
use serde_json::{Value, json};

use super::*;
use crate::testing::model::{FakeCluster, definition, label_marks, marks, named};

/// Objects of sets. Some need other objects: namespaces and kinds inside or outside of the set.
const NAMES: &[&str] = &[
    "v1 Namespace n",
    "example.org/v1 CustomResourceDefinition widgets",
    "example.org/v1 Widget n/w",
    "example.org/v1 Widget m/w",
    "v1 ConfigMap n/a",
    "v1 ConfigMap default/a",
    "v1 Secret m/s",
    "v1 Service n/s",
    "apps/v1 Deployment n/d",
    "batch/v1 Job default/j",
    "rbac.authorization.k8s.io/v1 ClusterRole c",
    "storage.k8s.io/v1 StorageClass s",
];

fn is_needed(what: &str) -> bool {
    what.contains("Namespace") || what.contains("Definition")
}

/// Generates annotations of a set: needed objects are written first and deleted last.
fn annotations(needed: bool) -> impl Strategy<Value = Value> {
    let (apply, delete) = if needed { (-3..=0_i8, 2..=3_i8) } else { (0..=3_i8, -3..=2_i8) };
    let update = prop_oneof![Just("replace"), Just("recreate"), Just("ssa-override")];
    let delete_policy = prop_oneof![Just("delete"), Just("orphan"), Just("orphan-on-apply")];
    let reconcile = prop_oneof![Just("on-object-change"), Just("once")];
    let purge = if needed { Just(None).boxed() } else { prop::option::weighted(0.2, -3..=3_i8).boxed() };
    (apply, delete, update, delete_policy, reconcile, purge, 0..2_u8).prop_map(
        |(apply, delete, update, delete_policy, reconcile, purge, content)| {
            let mut all = json!({
                "x/apply-order": apply.to_string(), "x/delete-order": delete.to_string(),
                "x/update-policy": update, "x/delete-policy": delete_policy,
                "x/reconcile-policy": reconcile, "content": content.to_string(),
            });
            if let Some(purge) = purge {
                all["x/purge-order"] = purge.to_string().into();
            }
            all
        },
    )
}

fn made(what: &str, annotations: &Value) -> Object {
    if what.contains("Definition") {
        definition("Widget", "example.org", "Namespaced", annotations)
    } else {
        named(what, annotations)
    }
}

/// Generates a set in any order, with a definition of every kind.
fn objects() -> impl Strategy<Value = Vec<Object>> {
    let one = |what: &'static str| annotations(is_needed(what)).prop_map(move |all| made(what, &all));
    let chosen =
        subsequence(NAMES, 0..=NAMES.len()).prop_filter("instances need their definition", |names| {
            let has = |part: &str| names.iter().any(|what| what.contains(part));
            has("Definition") || !has("Widget")
        });
    chosen.prop_flat_map(move |names| names.into_iter().map(one).collect::<Vec<_>>()).prop_shuffle()
}

/// Generates a server with an applied first set, and with changes behind the engine's back.
fn world() -> impl Strategy<Value = FakeCluster> {
    let lost = subsequence(NAMES, 0..3);
    (any::<bool>(), objects(), lost, any::<bool>()).prop_map(|(labels, first, lost, record_lost)| {
        let mut world = FakeCluster::new(if labels { label_marks() } else { marks() });
        world.apply(&first);
        for what in lost {
            world.server.remove(&key_of(&made(what, &json!({}))));
        }
        if record_lost {
            world.set = ApplySet::default();
        }
        world
    })
}

/// Plans. None if the second set drops objects that the rest of the set needs, which is refused.
fn planned(world: &FakeCluster, objects: &[Object]) -> Option<ApplyPlan> {
    world.plan(objects).ok()
}

fn steps_by_key(plan: &ApplyPlan) -> BTreeMap<&ObjectKey, &PlanStep> {
    plan.steps.iter().filter(|step| !step.unowned).map(|step| (&step.key, step)).collect()
}

proptest! {
    #[test]
    fn every_object_has_one_step(world in world(), objects in objects()) {
        let desired = world.desire(&objects).unwrap();
        let Some(plan) = planned(&world, &objects) else { return Ok(()) };
        let mut keys: Vec<_> = plan.steps.iter().filter(|step| !step.unowned).map(|step| &step.key).collect();
        keys.sort_unstable();
        let wanted = desired.objects.iter().map(|object| &object.key);
        let all: BTreeSet<_> = wanted.chain(world.set.items.iter().map(|item| &item.key)).collect();
        prop_assert_eq!(keys, all.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn dependencies_are_written_first_and_deleted_last(world in world(), objects in objects()) {
        let Some(plan) = planned(&world, &objects) else { return Ok(()) };
        let places = steps_by_key(&plan);
        let definition = key_of(&made(NAMES[1], &json!({})));
        for step in &plan.steps {
            let namespace = ObjectKey::of_namespace(&step.key.namespace);
            let needed = if step.key.kind == "Widget" { vec![namespace, definition.clone()] } else { vec![namespace] };
            for needed in needed.iter().filter_map(|key| places.get(key)) {
                let (place, own) = (needed.order(), step.order());
                match (needed.action.is_removal(), step.action.is_removal()) {
                    (false, false) => prop_assert!(place < own, "{} before {}", needed.key, step.key),
                    (true, true) => prop_assert!(place > own, "{} after {}", needed.key, step.key),
                    (removed, _) => prop_assert!(!removed || needed.action == StepAction::Orphan),
                }
            }
        }
    }

    #[test]
    fn a_repeated_plan_is_equal(world in world(), objects in objects()) {
        prop_assert_eq!(world.plan(&objects), world.plan(&objects));
        let mut turned = objects;
        turned.reverse();
        let Some(plan) = planned(&world, &turned) else { return Ok(()) };
        let groups = |plan: &ApplyPlan| tests::groups(plan).map(|group| {
            let mut group = group.to_vec();
            group.sort_by(|a, b| a.key.cmp(&b.key));
            group
        }).collect::<Vec<_>>();
        turned.reverse();
        prop_assert_eq!(groups(&plan), groups(&world.plan(&turned).unwrap()), "the order of a set does not count");
    }

    #[test]
    fn an_executed_plan_leaves_no_steps(mut world in world(), objects in objects()) {
        let Some(plan) = planned(&world, &objects) else { return Ok(()) };
        let desired = world.desire(&objects).unwrap();
        world.execute(&plan, &desired);
        let again = world.plan(&objects).unwrap();
        prop_assert!(again.is_empty(), "{}", crate::testing::model::plan_text(&again));
        let stored = world.set.clone();
        world.set.schedule(&desired, &again);
        prop_assert_eq!(&world.set, &stored, "nothing is to be stored");
        let recorded: BTreeSet<_> = world.set.items.iter().map(|item| &item.key).collect();
        prop_assert_eq!(recorded, desired.objects.iter().map(|object| &object.key).collect());
    }

    #[test]
    fn an_interrupted_run_is_resumed(world in world(), objects in objects(), share in 0..=10_usize) {
        let Some(plan) = planned(&world, &objects) else { return Ok(()) };
        let mut cut = world;
        let desired = cut.desire(&objects).unwrap();
        cut.set.schedule(&desired, &plan);
        // The set is stored before the first write and not after later writes.
        let stored = cut.set.clone();
        let steps = plan.steps[..plan.steps.len() * share / 10].to_vec();
        cut.execute(&ApplyPlan { steps }, &desired);
        cut.set = stored;
        cut.apply(&objects);
        prop_assert!(cut.plan(&objects).unwrap().is_empty());
    }
}
