//! A move is stopped by a signal, a second move takes over, and the first move is resumed.

use std::process::Stdio;

use serde_json::json;
use support::{
    fixture::{list, merge},
    kind::CLUSTER,
    object_snapshot::client_from_kubeconfig,
};

use super::{
    pair::{NAMESPACE, Pair, Side},
    turns::Turns,
};
use crate::{line::resume, server::differences};

/// The number of stop points, evenly spaced over the bytes that a move sends. Each point takes 30 seconds, in which the
/// second move waits. Raise to 50 for a thorough run.
const POINTS: u64 = 4;

/// Stops a move, takes over, changes every Cluster, and resumes the move. True if the move was stopped before its end.
async fn superseded(turns: &Turns, turn: u64) -> bool {
    let point = turn + 1;
    let when = format!("stopped at point {point}");
    turns.meter.restart();
    let mut command = turns.command(turn);
    let first = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let first = turns.meter.stop_at(turns.bytes * point / (POINTS + 1), first);
    let [from, to] = turns.sides(turn);
    let is_unfinished = turns.pair.status(from)["unfinishedMove"].is_object();

    turns.complete(turn, &["--take-over", "--yes"]);
    turns.check(turn, &when).await;
    label_clusters(to, Some("edited")).await;
    let before = [from.server.everything().await, to.server.everything().await];
    let status = resume(first);
    let after = [from.server.everything().await, to.server.everything().await];
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(differences(before, after), Vec::<String>::new(), "{when}");
    }
    if is_unfinished {
        assert_eq!(status, Some(1), "{when}");
    }
    label_clusters(to, None).await;
    is_unfinished
}

async fn label_clusters(side: &Side, value: Option<&str>) {
    let client = client_from_kubeconfig(side.kubeconfig()).await;
    for cluster in list(&client, CLUSTER, NAMESPACE).await {
        let place = format!("{NAMESPACE}/{}", cluster["metadata"]["name"].as_str().unwrap());
        let patch = json!({"metadata": {"labels": {"example.org/label": value}}});
        merge(&client, CLUSTER, &place, &patch).await;
    }
}

async fn superseded_at_every_point(pair: Pair) {
    let turns = Turns::start(pair).await;
    let mut stopped = 0;
    for turn in 0..POINTS {
        stopped += u64::from(superseded(&turns, turn).await);
    }
    assert!(stopped * 4 >= POINTS * 3, "only {stopped} were stopped before their end");
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_move_changes_nothing_on_sandboxes() {
    superseded_at_every_point(Pair::on_sandboxes().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_move_changes_nothing_on_real_api_servers() {
    let Some(pair) = Pair::start().await else { return };
    superseded_at_every_point(pair).await;
}
