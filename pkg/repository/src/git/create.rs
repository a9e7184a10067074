//! Repositories that are created on this machine, before their remote has any commit.

use std::{ffi::OsString, fs, path::Path};

use transport::{
    AddressOrigin, disk,
    store::{CREATION_PREFIX, is_clone},
};

use super::{
    CloneStore, GitAuthor, GitRemote, RemoteUrl, failure::GitFailure, program::GitCommand,
    remote::sibling_path, worktree::FolderState,
};
use crate::{Error, RepositoryContext};

/// The branch of the first commit.
const FIRST_BRANCH: &str = "master";

/// A file of a first commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// The path in the repository, with slashes.
    pub path: String,
    /// The content of the file.
    pub content: Vec<u8>,
    /// True for a program.
    pub is_executable: bool,
}

/// The first commit of a repository.
#[derive(Clone, Copy, Debug)]
pub struct FirstCommit<'a> {
    /// The files of the commit.
    pub files: &'a [NewFile],
    /// The message of the commit.
    pub message: &'a str,
    /// The author and committer.
    pub author: &'a GitAuthor,
}

impl GitRemote {
    /// Creates the bare clone with a first commit on the branch `master`, and checks this branch out into a folder.
    /// Opens no connection.
    /// # Errors
    /// [`GitFailure::CloneExists`] if the clone is in use; any failure of Git.
    pub async fn create_with_worktree(&self, commit: &FirstCommit<'_>, folder: &Path) -> Result<(), Error> {
        let _lock = self.lock().await?;
        if is_clone(&self.clone) {
            self.remove_unused_clone().await?;
        }
        let temporary = sibling_path(&self.clone, CREATION_PREFIX);
        self.remove(&temporary)?;
        self.initialize(&temporary, &temporary, &["init", "--bare"], commit).await?;
        disk::rename(&temporary, &self.clone)
            .map_err(|error| self.disk_error("create", &self.clone, error))?;
        let mut arguments: Vec<OsString> =
            ["worktree", "add", "--force", "--force", "--"].map(Into::into).into();
        arguments.extend([folder.into(), FIRST_BRANCH.into()]);
        let run = GitCommand::in_clone(&self.context.release_settings().git, &self.clone, arguments);
        run.output().await.map(|_| ()).map_err(|failure| self.error("check out", failure))
    }

    /// Creates a repository in a folder, with a first commit on the branch `master` and with this remote. Opens no
    /// connection. The folder appears with all of its files.
    /// # Errors
    /// The folder exists with content; any failure of Git.
    pub async fn create_in_folder(&self, commit: &FirstCommit<'_>, folder: &Path) -> Result<(), Error> {
        let parent = disk::folder_of(folder);
        // Each run has its own folder, so that two runs do not disturb each other.
        let around = tempfile::Builder::new().prefix(".new-").tempdir_in(parent);
        let around = around.map_err(|error| self.disk_error("create", parent, error))?;
        let temporary = around.path().join("repository");
        self.initialize(&temporary, &temporary.join(".git"), &["init"], commit).await?;
        let reset = ["-C".as_ref(), temporary.as_os_str(), "reset".as_ref(), "--hard".as_ref()];
        let reset = GitCommand::new(&self.context.release_settings().git, reset).output().await;
        reset.map_err(|failure| self.error("create", failure))?;
        disk::rename(&temporary, folder).map_err(|error| self.disk_error("create", folder, error))
    }

    /// Opens the remote of a worktree of one of the clones in a folder. None if the folder is no such worktree.
    /// # Errors
    /// Any failure of Git.
    pub async fn of_worktree(
        folder: &Path,
        clones: &Path,
        context: &RepositoryContext,
    ) -> Result<Option<Self>, Error> {
        let url = [
            "-C".as_ref(),
            folder.as_os_str(),
            "config".as_ref(),
            "--get".as_ref(),
            "remote.origin.url".as_ref(),
        ];
        let Ok(url) = GitCommand::new(&context.release_settings().git, url).output().await else {
            return Ok(None);
        };
        let Ok(url) = RemoteUrl::parse(String::from_utf8_lossy(&url).trim()) else { return Ok(None) };
        let remote = Self::new(url, AddressOrigin::User, CloneStore::Folder(clones), context)?;
        let is_own =
            matches!(remote.folder_state(folder)?, FolderState::OwnWorktree | FolderState::Unfinished);
        Ok(is_own.then_some(remote))
    }

    /// Deletes a worktree, and also the clone if it has no other worktree. Returns true if the clone was deleted.
    /// # Errors
    /// A folder cannot be deleted, or Git fails.
    pub async fn delete_worktree(&self, folder: &Path) -> Result<bool, Error> {
        let _lock = self.lock().await?;
        // Under another name, a folder whose deletion is interrupted is no worktree any more.
        let deleted = sibling_path(folder, ".deleted-");
        self.remove(&deleted)?;
        disk::rename(folder, &deleted).map_err(|error| self.disk_error("delete", folder, error))?;
        self.remove(&deleted)?;
        if self.count_worktrees().await? > 0 {
            return Ok(false);
        }
        self.remove(&self.clone)?;
        Ok(true)
    }

    /// Deletes a clone that an interrupted run has created.
    async fn remove_unused_clone(&self) -> Result<(), Error> {
        let failed = |failure| self.error("create", failure);
        let fetched =
            self.command(&["for-each-ref", "--count=1", "refs/remotes"]).output().await.map_err(failed)?;
        if !fetched.is_empty() || self.count_worktrees().await? > 0 {
            return Err(failed(GitFailure::CloneExists { folder: self.clone.clone() }));
        }
        self.remove(&self.clone)
    }

    async fn count_worktrees(&self) -> Result<usize, Error> {
        let failed = |failure| self.error("read", failure);
        self.command(&["worktree", "prune"]).output().await.map_err(failed)?;
        let list = self.command(&["worktree", "list", "--porcelain"]).output().await.map_err(failed)?;
        let list = String::from_utf8_lossy(&list);
        // The clone itself is the first one.
        Ok(list.lines().filter(|line| line.starts_with("worktree ")).count().saturating_sub(1))
    }

    async fn initialize(
        &self,
        folder: &Path,
        git_folder: &Path,
        init: &[&str],
        commit: &FirstCommit<'_>,
    ) -> Result<(), Error> {
        let failed = |failure| self.error("create", failure);
        let git = &self.context.release_settings().git;
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(|error| self.disk_error("create", parent, error))?;
        }
        let mut arguments: Vec<OsString> =
            init.iter().copied().chain(["--quiet", "--template=", "--"]).map(Into::into).collect();
        arguments.push(folder.into());
        GitCommand::new(git, arguments).output().await.map_err(failed)?;
        let (head, fetch) = (format!("refs/heads/{FIRST_BRANCH}"), "+refs/heads/*:refs/remotes/origin/*");
        for arguments in [
            ["symbolic-ref", "HEAD", &head],
            ["config", "remote.origin.url", self.url.address()],
            ["config", "remote.origin.fetch", fetch],
            ["config", "remote.origin.pushurl", self.url.push_url()],
        ] {
            GitCommand::in_clone(git, git_folder, arguments).output().await.map_err(failed)?;
        }
        let import =
            GitCommand::in_clone(git, git_folder, ["fast-import", "--quiet", "--date-format=now", "--done"]);
        import.input(import_stream(commit)).output().await.map(|_| ()).map_err(failed)
    }
}

/// Returns the input of `git fast-import` for one commit without parents.
fn import_stream(commit: &FirstCommit<'_>) -> Vec<u8> {
    let clean = |text: &str| text.replace(['<', '>', '\n', '\0'], "");
    let who = format!("{} <{}> now", clean(&commit.author.name), clean(&commit.author.email));
    let mut out = format!("commit refs/heads/{FIRST_BRANCH}\nauthor {who}\ncommitter {who}\n").into_bytes();
    let data = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
        out.extend_from_slice(bytes);
        out.push(b'\n');
    };
    data(&mut out, commit.message.as_bytes());
    for file in commit.files {
        let mode = if file.is_executable { "100755" } else { "100644" };
        let path = file.path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        out.extend_from_slice(format!("M {mode} inline \"{path}\"\n").as_bytes());
        data(&mut out, &file.content);
    }
    out.extend_from_slice(b"done\n");
    out
}
