//! The same move by clusterctl, and moves by both tools in turn.
//!
//! The result of a move of three Clusters by clusterctl is recorded in `e2e/fixtures/peer/moved.txt`. If
//! `CAPSTAN_TEST_PEER` names a clusterctl, that binary runs, and `RECORD=1` updates the record.

use std::fs;

use super::pair::Pair;
use crate::{
    management::{is_recording, peer_or_skip},
    project,
};

const RECORD: &str = "e2e/fixtures/peer/moved.txt";

/// Controllers write the statuses on the target, because clusterctl never moves statuses.
async fn moved_by(clusterctl: Option<&std::path::Path>) -> Option<String> {
    let pair = Pair::start().await?;
    pair.fill().await;
    match clusterctl {
        Some(peer) => pair.clusterctl(peer, pair.there()),
        None => pair.capstan(pair.there(), &[]),
    }
    Some(pair.there.picture().await.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_leaves_the_same_objects_as_clusterctl() {
    let Some(found) = moved_by(None).await else { return };
    assert_eq!(found, fs::read_to_string(project(RECORD)).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_move_matches_clusterctl() {
    let Some(peer) = peer_or_skip() else { return };
    let Some(found) = moved_by(Some(&peer)).await else { return };
    if is_recording() {
        fs::write(project(RECORD), &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(project(RECORD)).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn capstan_and_clusterctl_alternate_moves() {
    let Some(peer) = peer_or_skip() else { return };
    let Some(pair) = Pair::start().await else { return };
    let before = pair.fill().await;
    for turn in 1..=2 {
        let when = format!("turn {turn}");
        pair.capstan(pair.there(), &[]);
        pair.there.reconcile().await;
        pair.clusterctl(&peer, pair.back());
        pair.here.reconcile().await;
        let back = pair.here.picture().await;
        back.check(&when);
        before.assert_same(&back, &when);

        pair.clusterctl(&peer, pair.there());
        pair.there.reconcile().await;
        pair.capstan(pair.back(), &[]);
        pair.here.reconcile().await;
        let back = pair.here.picture().await;
        back.check(&when);
        before.assert_same(&back, &when);
    }
}
