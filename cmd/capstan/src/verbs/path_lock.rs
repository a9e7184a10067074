//! Locks of files and folders that one run changes at a time.

use std::path::{Path, PathBuf};

use repository::RepositoryContext;
use transport::store::KeyLock;

use crate::{Failure, session::Session};

/// The words for a lock that another run writes.
pub(crate) const LOCK_WRITER: &str = "that writes the lock";

/// Waits until no other run changes a file or a folder. The place is the start of the name in the message, such as `in the
/// working folder`. Without a cache on this machine, there is no lock.
pub(crate) fn take_turn(
    path: &Path,
    place: &str,
    context: &RepositoryContext,
    session: &Session,
) -> Result<Option<KeyLock>, Failure> {
    let Some(store) = context.store() else { return Ok(None) };
    // Another run may name the same path in another way.
    let place = format!("{place} `{}`", real_path(path).display());
    let messages = session.messages().clone();
    let waits = |holder| messages.waiting_for_run(&place, holder);
    session.block_on(async {
        let locked = store.lock_with(&place, waits).await;
        Ok::<_, Failure>(locked.map_err(|error| context.report_store_error(&error)).ok())
    })
}

/// Returns a path without links. Its last folders may be missing.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let real = |ancestor: &Path| Some((ancestor.canonicalize().ok()?, path.strip_prefix(ancestor).ok()?));
    // A path that ends with a separator differs as text.
    let join = |(real, rest): (PathBuf, &Path)| real.components().chain(rest.components()).collect();
    path.ancestors().find_map(real).map_or_else(|| path.to_owned(), join)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_has_the_same_path_as_later() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        let expected = real.join("a/work/x").display().to_string();
        let paths = ["link/work/x", "a/../link/work/x", "link/./work/x/"].map(|path| root.path().join(path));
        for path in &paths {
            assert_eq!(real_path(path).display().to_string(), expected);
        }
        std::fs::create_dir_all(root.path().join("a/work/x")).unwrap();
        for path in &paths {
            assert_eq!(real_path(path).display().to_string(), expected);
        }
    }
}
