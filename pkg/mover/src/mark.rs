//! Marks on paused objects: the run of a move, of a save or of a restore.

use apply::{ApiError, GroupKind, ListQuery, ObjectKey};
use inventory::ManagementCluster;
use workload::MARK;

/// Prefix of the marks of saves.
pub(crate) const SAVE: &str = "save-";

/// The mark of a restore.
pub(crate) const RESTORE: &str = "restore";

/// Returns the process of the save that set a mark; none for other marks.
pub(crate) fn process_of(run: &str) -> Option<&str> {
    run.strip_prefix(SAVE)
}

/// True if a save set the mark.
pub(crate) fn is_mark_of_save(run: &str) -> bool {
    process_of(run).is_some()
}

/// The kinds of `cluster.x-k8s.io` that moves and saves pause and mark.
pub(crate) const RESTING: [&str; 2] = ["ClusterClass", "Cluster"];

/// Returns all marked objects, each with the run in its mark.
pub(crate) async fn marked(cluster: &ManagementCluster) -> Result<Vec<(ObjectKey, String)>, ApiError> {
    let mut found = Vec::new();
    for kind in RESTING {
        found.extend(marked_of(cluster, kind).await?);
    }
    Ok(found)
}

/// Returns the marked objects of one kind, each with the run in its mark.
pub(crate) async fn marked_of(
    cluster: &ManagementCluster,
    kind: &str,
) -> Result<Vec<(ObjectKey, String)>, ApiError> {
    let kind = match cluster.server.kind(&GroupKind::new("cluster.x-k8s.io", kind)).await {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        kind => kind?,
    };
    let list = ListQuery { metadata_only: true, ..ListQuery::default() };
    let mut pages = cluster.server.pages(&kind, &list);
    let found = pages.gather(|found: &mut Vec<_>, object| {
        let run = object.annotation(MARK).map(str::to_owned);
        found.extend(run.map(|run| (ObjectKey::of(&object), run)));
    });
    found.await
}
