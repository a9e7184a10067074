//! Moves that nobody cuts off.

use std::collections::BTreeSet;

use support::{cluster_api::cluster, counter::Counter, kind};

use super::world::{World, installed, moves, request, state};
use crate::mover::lab::Lab;

/// Kinds of the world.
const KINDS: usize = 18;

// Row: PRV-62
#[tokio::test]
async fn a_move_leaves_nothing_on_the_source_that_it_does_not_say_and_gives_the_target_all() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    let before = state(lab).await;
    let (source, target) = (Counter::start(lab.source.sandbox()), Counter::start(lab.target.sandbox()));
    let outcome = moves(lab, &request(), "1").await.unwrap();
    let (source, target) = (source.all(), target.all());
    let after = state(lab).await;
    after.check("after a move");
    let stays = |name: &str| {
        let is_shared = name.contains(" team/shared");
        !name.contains(" team/") || is_shared || name == "Secret team/unrelated"
    };
    let left: Vec<_> = after.source.keys().collect();
    let expected: Vec<_> = before.source.keys().filter(|name| stays(name)).collect();
    assert_eq!(left, expected);
    for (name, object) in before.source.iter().filter(|(name, _)| name.contains(" team/")) {
        if name == "Secret team/unrelated" {
            assert!(!after.target.contains_key(name));
            continue;
        }
        let mut expected = object.clone();
        let mut found = after.target.get(name).unwrap_or_else(|| panic!("{name} did not come")).clone();
        for object in [&mut expected, &mut found] {
            object.as_object_mut().unwrap().remove("status");
        }
        assert_eq!(found, expected, "{name}");
    }
    assert!(outcome.differences.is_empty());
    let words: Vec<&str> = outcome.objects.iter().map(|(_, words)| words.as_str()).collect();
    assert!(words.contains(&"stayed: nothing links it to what moves"), "{words:?}");
    let objects =
        words.iter().filter(|words| words.starts_with("moved") || words.starts_with("copied")).count();
    // Beside objects, each kind is looked at in each phase, however many there are.
    let requests = source.total() + target.total();
    assert!(requests <= 5 * objects + 18 * KINDS, "{requests} requests for {objects} objects");
}

#[tokio::test]
async fn a_hundred_machines_take_at_most_five_requests_an_object_with_all_that_is_asked_beside_them() {
    let lab = Lab::start().await;
    futures::join!(installed(&lab.source), installed(&lab.target));
    let objects: Vec<_> =
        cluster("team/a").control_plane(3).machine_deployment("md", 97).into_iter().collect();
    let count = objects.len();
    lab.source.create(objects).await;
    let (source, target) = (Counter::start(lab.source.sandbox()), Counter::start(lab.target.sandbox()));
    moves(&lab, &request(), "1").await.unwrap();
    let (source, target) = (source.all(), target.all());
    assert!(source.total() + target.total() <= 5 * count, "{count} objects: {source}; {target}");
    assert_eq!(lab.target.list(kind::MACHINE).await.len(), 100);
}

#[tokio::test]
async fn a_status_is_taken_along_for_the_kinds_that_are_named_and_no_others() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let before = state(&started.lab).await;
    let kinds = ["cluster", "machine.cluster.x-k8s.io"].map(str::to_owned);
    let request = crate::MoveRequest { include_status: BTreeSet::from(kinds), ..request() };
    moves(&started.lab, &request, "1").await.unwrap();
    let after = state(&started.lab).await;
    after.check("with statuses");
    for (name, found) in after.target.iter().filter(|(name, _)| name.contains(" team/")) {
        let is_named = name.starts_with("Cluster ") || name.starts_with("Machine ");
        let expected = if is_named { &before.source[name]["status"] } else { &serde_json::Value::Null };
        assert_eq!(&found["status"], expected, "{name}");
    }
}
