//! Moves without interruptions.

use std::collections::BTreeSet;

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{cluster, cluster_class, object},
    kind,
    request_counter::RequestCounter,
};

use crate::testing::move_world::{World, install_providers, keeper, move_lab, request, state};
use crate::{
    ClusterChoice, MoveRequest, MoveRoute, execute_move, find_move_journal, find_move_report, plan_move,
    testing::Lab,
};

/// Number of kinds in the test world.
const KINDS: usize = 18;

// Row: PRV-62
#[tokio::test]
async fn a_move_transfers_every_object_and_reports_the_rest() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    let before = state(lab).await;
    let (source, target) =
        (RequestCounter::start(lab.source.sandbox()), RequestCounter::start(lab.target.sandbox()));
    let outcome = move_lab(lab, &request(), "1").await.unwrap();
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
    let kinds_of_outcome: BTreeSet<&str> = words.iter().copied().collect();
    assert_data_eq!(
        kinds_of_outcome.into_iter().collect::<Vec<_>>().join("\n"),
        str![[r#"
copied if missing, and kept: it is cluster-scoped or belongs to a cluster-scoped object
copied, and kept: remaining Clusters use it
moved
stayed: it is in another namespace
stayed: it is not linked to a moving object
"#]]
    );
    let objects =
        words.iter().filter(|words| words.starts_with("moved") || words.starts_with("copied")).count();
    // Besides the objects, each phase lists each kind, whatever the number of objects.
    let requests = source.total() + target.total();
    assert!(requests <= 5 * objects + 18 * KINDS, "{requests} requests for {objects} objects");
}

#[tokio::test]
async fn moving_a_hundred_machines_takes_at_most_five_requests_per_object() {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    let objects: Vec<_> =
        cluster("team/a").control_plane(3).machine_deployment("md", 97).into_iter().collect();
    let count = objects.len();
    lab.source.create(objects).await;
    let (source, target) =
        (RequestCounter::start(lab.source.sandbox()), RequestCounter::start(lab.target.sandbox()));
    move_lab(&lab, &request(), "1").await.unwrap();
    let (source, target) = (source.all(), target.all());
    assert!(source.total() + target.total() <= 5 * count, "{count} objects: {source}; {target}");
    assert_eq!(lab.target.list(kind::MACHINE).await.len(), 100);
}

#[tokio::test]
async fn a_status_is_copied_only_for_named_kinds() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let before = state(&started.lab).await;
    let kinds = ["cluster", "machine.cluster.x-k8s.io"].map(str::to_owned);
    let request = MoveRequest { include_status: BTreeSet::from(kinds), ..request() };
    move_lab(&started.lab, &request, "1").await.unwrap();
    let after = state(&started.lab).await;
    after.check("with statuses");
    for (name, found) in after.target.iter().filter(|(name, _)| name.contains(" team/")) {
        let is_named = name.starts_with("Cluster ") || name.starts_with("Machine ");
        let expected = if is_named { &before.source[name]["status"] } else { &serde_json::Value::Null };
        assert_eq!(&found["status"], expected, "{name}");
    }
}

// Row: PRV-75
// Row: PRV-77
// Row: PRV-78
// Row: PRV-79
#[tokio::test]
async fn the_target_gets_namespaced_objects_and_keeps_cluster_scoped_ones() {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    let identity = |name: &str, of: &str| {
        object(kind::AWS_CLUSTER_STATIC_IDENTITY, name).field("spec", json!({"secretRef": of}))
    };
    let config = |value: &str| {
        let config = object(kind::CONFIG_MAP, "team/config").label("clusterctl.cluster.x-k8s.io/move", "");
        config.field("data", json!({"from": value}))
    };
    lab.source.create(cluster("team/a")).await;
    lab.source.create([config("source"), identity("both", "source"), identity("one", "source")]).await;
    lab.target.create([config("target"), identity("both", "target")]).await;
    move_lab(&lab, &request(), "1").await.unwrap();

    let config = lab.target.get(kind::CONFIG_MAP, "team/config").await.unwrap();
    assert_eq!(config["data"], json!({"from": "source"}), "replaced");
    assert!(lab.source.get(kind::CONFIG_MAP, "team/config").await.is_none());
    for (name, on_target) in [("both", "target"), ("one", "source")] {
        let found = lab.target.get(kind::AWS_CLUSTER_STATIC_IDENTITY, name).await.unwrap();
        assert_eq!(found["spec"]["secretRef"], on_target, "{name}");
        let left = lab.source.get(kind::AWS_CLUSTER_STATIC_IDENTITY, name).await.unwrap();
        assert_eq!(left["spec"]["secretRef"], "source", "{name}");
    }
}

// Row: PRV-81
#[tokio::test]
async fn a_cluster_is_paused_from_the_first_copy_to_the_last_deletion() {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    lab.source.create(cluster("team/a").control_plane(1)).await;
    let (source, target) =
        (RequestCounter::start(lab.source.sandbox()), RequestCounter::start(lab.target.sandbox()));
    move_lab(&lab, &request(), "1").await.unwrap();

    let on_source: Vec<_> =
        source.requests().into_iter().filter(|request| request.namespace == "team").collect();
    let place = |verb: &str, resource: &str| {
        on_source.iter().position(|request| request.verb == verb && request.resource == resource).unwrap()
    };
    let first_read = place("list", "machines").max(place("list", "kubeadmcontrolplanes"));
    assert!(first_read < place("patch", "clusters"), "looked at, then paused");
    assert!(place("patch", "clusters") < place("delete", "machines"));
    let on_target: Vec<_> =
        target.requests().into_iter().filter(|request| request.namespace == "team").collect();
    let resumed = on_target.last().unwrap();
    assert_eq!((&*resumed.verb, &*resumed.resource, &*resumed.name), ("patch", "clusters", "a"));
    let copy = lab.target.get(kind::CLUSTER, "team/a").await.unwrap();
    assert!(copy["spec"].get("paused").is_none(), "{copy:#}");
}

#[tokio::test]
async fn a_cluster_finds_its_class_in_the_mapped_namespace() {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    lab.source.create(cluster_class("team/small")).await;
    lab.source.create(cluster("team/a").of_class("team/small").control_plane(1)).await;
    let map = [("team".to_owned(), "crew".to_owned())].into();
    let request = MoveRequest { namespace_map: map, ..request() };
    let outcome = move_lab(&lab, &request, "1").await.unwrap();
    assert!(outcome.differences.is_empty());
    let copy = lab.target.get(kind::CLUSTER, "crew/a").await.unwrap();
    assert_eq!(copy["spec"]["topology"]["classRef"], json!({"name": "small", "namespace": "crew"}));
    assert!(lab.target.get(kind::CLUSTER_CLASS, "crew/small").await.is_some());
}

// Row: D-172
#[tokio::test]
async fn an_empty_move_hints_at_other_namespaces_and_keeps_the_last_report() {
    let world = Box::pin(World::build()).await;
    let started = world.start().await;
    let lab = &started.lab;
    move_lab(lab, &request(), "1").await.unwrap();
    let lines = lab.lines();
    let (source, target) = (lines.source().await, lines.target().await);
    let last = (
        find_move_journal(Some(&source), Some(&target)).await.unwrap(),
        find_move_report(Some(&source), Some(&target)).await.unwrap(),
    );
    let before = [&lab.source, &lab.target].map(|side| side.sandbox().revision());
    let nowhere = MoveRequest { namespaces: BTreeSet::from(["nosuch".to_owned()]), ..request() };
    let plan = Box::pin(plan_move(&source, Some(&target), &nowhere)).await.unwrap();
    let [warning] = &*plan.warnings else { panic!("{:?}", plan.warnings) };
    assert_data_eq!(warning.text.as_str(), str!["no objects to move in namespace `nosuch`"]);
    assert_data_eq!(
        warning.hint.as_deref().unwrap_or_default(),
        str!["namespace `other` has a Cluster: add `--namespace other`"]
    );
    let route = MoveRoute { source: &source, target: &target };
    assert!(Box::pin(execute_move(route, &nowhere, plan, &keeper("2"))).await.unwrap().is_none());
    assert_eq!([&lab.source, &lab.target].map(|side| side.sandbox().revision()), before);
    let now = (
        find_move_journal(Some(&source), Some(&target)).await.unwrap(),
        find_move_report(Some(&source), Some(&target)).await.unwrap(),
    );
    assert!(now.0.is_some() && now.1.is_some());
    assert_eq!(now, last);
}

#[tokio::test]
async fn a_repeated_move_names_the_finished_one() {
    let lab = Lab::start().await;
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    let named = MoveRequest { clusters: ClusterChoice::Named(BTreeSet::from(["b".to_owned()])), ..request() };
    for (cluster_name, request) in [("a", request()), ("b", named)] {
        lab.source.create(cluster(&format!("team/{cluster_name}"))).await;
        let first = move_lab(&lab, &request, cluster_name).await.unwrap();
        let lines = lab.lines();
        let (source, target) = (lines.source().await, lines.target().await);
        let plan = Box::pin(plan_move(&source, Some(&target), &request)).await.unwrap();
        assert_eq!(plan.finished.map(|journal| journal.run), Some(first.journal.run));
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    }
}

#[tokio::test]
async fn only_moves_between_the_given_clusters_are_reported() {
    let lab = Lab::start().await;
    let other = Lab::start().await;
    futures::join!(
        install_providers(&lab.source),
        install_providers(&lab.target),
        install_providers(&other.target)
    );
    lab.source.create(cluster("team/a")).await;
    move_lab(&lab, &request(), "1").await.unwrap();
    let lines = lab.lines();
    let (source, target) = (lines.source().await, lines.target().await);
    let other = other.lines().target().await;
    for (from, to, is_there) in [
        (&source, Some(&target), true),
        (&source, None, true),
        (&target, None, true),
        (&source, Some(&other), false),
        (&other, Some(&target), false),
        (&target, Some(&source), false),
    ] {
        let report = find_move_report(Some(from), to).await.unwrap();
        assert_eq!(report.is_some(), is_there);
    }
}
