//! Marks on objects that are paused: the run of a move, of a save or of a restore.

use apply::{ApiError, GroupKind, List, ObjectKey};
use inventory::ManagementCluster;
use workload::MARK;

/// Prefix of the marks of saves.
pub(crate) const SAVE: &str = "save-";

/// The mark of a restore.
pub(crate) const RESTORE: &str = "restore";

/// The process whose save has put a mark; none when it is of something else.
pub(crate) fn process_of(run: &str) -> Option<&str> {
    run.strip_prefix(SAVE)
}

/// Returns true if a save has put a mark.
pub(crate) fn is_mark_of_save(run: &str) -> bool {
    process_of(run).is_some()
}

/// The kinds of `cluster.x-k8s.io` that a move or a save pauses, and marks.
pub(crate) const RESTING: [&str; 2] = ["ClusterClass", "Cluster"];

/// What carries the mark of a move, with the run.
pub(crate) async fn marked(cluster: &ManagementCluster) -> Result<Vec<(ObjectKey, String)>, ApiError> {
    let mut found = Vec::new();
    for kind in RESTING {
        found.extend(marked_of(cluster, kind).await?);
    }
    Ok(found)
}

/// The same for one of the kinds.
pub(crate) async fn marked_of(
    cluster: &ManagementCluster,
    kind: &str,
) -> Result<Vec<(ObjectKey, String)>, ApiError> {
    let kind = match cluster.server.kind(&GroupKind::new("cluster.x-k8s.io", kind)).await {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        kind => kind?,
    };
    let list = List { metadata_only: true, ..List::default() };
    let mut pages = cluster.server.pages(&kind, &list);
    let found = pages.gather(|found: &mut Vec<_>, object| {
        let run = object.annotation(MARK).map(str::to_owned);
        found.extend(run.map(|run| (ObjectKey::of(&object), run)));
    });
    found.await
}
