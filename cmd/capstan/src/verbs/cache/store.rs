use repository::Store;

use crate::{Failure, session::Session};

/// The cache of this run.
/// # Errors
/// When it is switched off, or there is no folder for it.
pub(super) fn store(session: &Session) -> Result<Store, Failure> {
    session.repositories()?.store().cloned().ok_or_else(|| {
        Failure::user("nothing is kept: the cache is `off`, or no home folder is known")
            .hint("name a folder with `CAPSTAN_CACHE_DIR`, or as `cache.folder` in clusterctl.yaml")
    })
}
