//! Folders that are deleted at the end of a run.

use std::path::Path;

use crate::{Failure, session::Session};

/// Creates a folder that is deleted at the end of the run.
pub(super) fn temporary_folder(session: &Session) -> Result<tempfile::TempDir, Failure> {
    let environment = session.environment();
    let folder = ["TMPDIR", "TEMP"].into_iter().find_map(|name| environment.text(name)).unwrap_or("/tmp");
    let created = tempfile::Builder::new().prefix("capstan-catalog-").tempdir_in(folder);
    created.map_err(|error| Failure::io("create a folder in", Path::new(folder), &error))
}
