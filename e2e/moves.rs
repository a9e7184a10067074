//! Clusters moved between two management clusters with garbage collection.

#[cfg(unix)]
mod abandoned;
mod killed;
mod pair;
mod peer;
mod picture;
#[cfg(unix)]
mod stopped;
mod turns;

use pair::{Pair, STATUSES};
pub(crate) use picture::Picture;

// Row: PRV-74
// Row: PRV-76
#[tokio::test(flavor = "multi_thread")]
async fn three_clusters_move_unchanged_to_another_server() {
    let Some(pair) = Pair::start().await else { return };
    let before = pair.fill().await;
    pair.capstan(pair.there(), &[]);
    let [left, come] = [pair.here.picture().await, pair.there.picture().await];
    left.check("left");
    come.check("come");
    before.moving().without_statuses().assert_same(&come, "come");
    before.staying().assert_same(&left, "left");

    // An object moved without status must be reconciled before it is moved again.
    let refused = pair.run(pair.back(), &[]);
    assert_eq!(refused.status, 1, "{refused}");
    assert!(refused.stderr.contains("not provisioned yet: Cluster team/a"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_is_copied_on_request() {
    let Some(pair) = Pair::start().await else { return };
    let before = pair.fill().await;
    pair.capstan(pair.there(), &STATUSES);
    pair.capstan(pair.back(), &STATUSES);
    let back = pair.here.picture().await;
    back.check("there and back");
    before.assert_same(&back, "there and back");
}
