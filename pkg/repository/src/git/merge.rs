//! Merges of single files, and repositories that are not clones of this program.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use transport::AddressOrigin;

use super::{GitRemote, RemoteUrl, program::GitCommand, session::GitSession};
use crate::{Error, RepositoryContext};

/// The maximum number of conflicts that Git reports as the status of a merge.
const MAX_CONFLICTS: i32 = 127;

/// The three versions of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileVersions<'a> {
    /// The common ancestor.
    pub base: &'a [u8],
    /// The version in the repository.
    pub current: &'a [u8],
    /// The version with the changes to apply.
    pub other: &'a [u8],
}

/// A merged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedFile {
    /// The content. Both versions of a conflict are in it, between markers.
    pub content: Vec<u8>,
    /// True if both versions changed the same lines.
    pub has_conflicts: bool,
}

impl GitRemote {
    /// Opens the repository whose top folder is a folder of the user. None if there is no such repository. The URL is that
    /// of its remote `origin`, or else the folder.
    /// # Errors
    /// The URL of the remote is not valid.
    pub async fn of_repository(folder: &Path, context: &RepositoryContext) -> Result<Option<Self>, Error> {
        let git = |arguments: &[&str]| {
            let folder = ["-C".as_ref(), folder.as_os_str()];
            let arguments = folder.into_iter().chain(arguments.iter().map(AsRef::<OsStr>::as_ref));
            GitCommand::new(&context.release_settings().git, arguments)
        };
        let Ok(found) = git(&["rev-parse", "--show-prefix", "--git-common-dir"]).output().await else {
            return Ok(None);
        };
        let found = String::from_utf8_lossy(&found).into_owned();
        let Some(("", common)) = found.split_once('\n') else { return Ok(None) };
        let clone = folder.join(PathBuf::from(common.trim_end_matches('\n')));
        let origin = git(&["config", "--get", "remote.origin.url"]).output().await.unwrap_or_default();
        let origin = String::from_utf8_lossy(&origin).trim().to_owned();
        let url = if origin.is_empty() { folder.display().to_string() } else { origin };
        let url = RemoteUrl::parse(&url)
            .map_err(|source| Error::RemoteUrl { url: transport::address::redact_text(&url), source })?;
        let cache = context.session::<GitSession>().remote_cache(&clone);
        Ok(Some(Self { context: context.clone(), url, clone, cache, named_by: AddressOrigin::User }))
    }

    /// Merges the changes between two versions of a file into a third one, in files of a temporary folder.
    /// # Errors
    /// A temporary file cannot be written; Git fails, such as on a binary file.
    pub async fn merge_file(&self, versions: FileVersions<'_>, folder: &Path) -> Result<MergedFile, Error> {
        for (name, content) in
            [("current", versions.current), ("base", versions.base), ("template", versions.other)]
        {
            let path = folder.join(name);
            fs::write(&path, content).map_err(|error| self.disk_error("merge", &path, error))?;
        }
        let arguments = ["-C".as_ref(), folder.as_os_str()]
            .into_iter()
            .chain(["merge-file", "--stdout", "--quiet", "current", "base", "template"].map(AsRef::as_ref));
        let run = GitCommand::new(&self.context.release_settings().git, arguments);
        let merged = run.output_with_status(MAX_CONFLICTS).await;
        let (content, status) = merged.map_err(|failure| self.error("merge", failure))?;
        Ok(MergedFile { content: content.to_vec(), has_conflicts: status > 0 })
    }
}
