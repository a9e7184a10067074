//! Marks on paused objects: the run of a move, of a save or of a restore.

use apply::{ApiError, GroupKind, ListQuery, ObjectKey, key_of};
use inventory::ManagementCluster;
use workload::MOVE_MARK;

/// Prefix of the marks of saves.
pub(crate) const SAVE_PREFIX: &str = "save-";

/// The mark of a restore.
pub(crate) const RESTORE_MARK: &str = "restore";

/// Returns the process of the save that set a mark; none for other marks.
pub(crate) fn save_process(run: &str) -> Option<&str> {
    run.strip_prefix(SAVE_PREFIX)
}

/// True if a save set the mark.
pub(crate) fn is_save_mark(run: &str) -> bool {
    save_process(run).is_some()
}

/// The kinds of `cluster.x-k8s.io` that moves and saves pause and mark.
pub(crate) const PAUSABLE_KINDS: [&str; 2] = ["ClusterClass", "Cluster"];

/// Returns all marked objects, each with the run in its mark.
pub(crate) async fn marked_objects(
    cluster: &ManagementCluster,
) -> Result<Vec<(ObjectKey, String)>, ApiError> {
    let mut found = Vec::new();
    for kind in PAUSABLE_KINDS {
        found.extend(marked_objects_of_kind(cluster, kind).await?);
    }
    Ok(found)
}

/// Returns the objects that a restore has paused and not yet resumed.
/// # Errors
/// The failure of the server.
pub async fn restoring_objects(cluster: &ManagementCluster) -> Result<Vec<ObjectKey>, ApiError> {
    let marked = marked_objects(cluster).await?.into_iter();
    Ok(marked.filter(|(_, run)| run == RESTORE_MARK).map(|(key, _)| key).collect())
}

/// Returns the marked objects of one kind, each with the run in its mark.
pub(crate) async fn marked_objects_of_kind(
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
        let run = object.annotation(MOVE_MARK).map(str::to_owned);
        found.extend(run.map(|run| (key_of(&object), run)));
    });
    found.await
}
