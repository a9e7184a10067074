//! Worktrees: commits of a clone, checked out into folders.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use super::{
    GitCommit, GitRemote,
    failure::GitFailure,
    program::GitCommand,
    query::{TreeEntry, entries},
};
use crate::Error;

/// Disables all conversions of file content during a checkout. Filters are programs of the user, and a foreign
/// repository must not select one. This file takes precedence over all other attributes files.
const ATTRIBUTES: &str = "* -filter -ident -text !working-tree-encoding\n";

/// Policy for uncommitted changes in a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalChangesPolicy {
    /// Fail.
    Refuse,
    /// Discard the changes.
    Discard,
}

/// A commit checked out into a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// The checked-out commit.
    pub commit: GitCommit,
    /// Paths of submodules, sorted. Their folders are empty.
    pub submodules: Vec<String>,
}

impl GitRemote {
    /// Creates a worktree of the clone in a folder, or moves the existing worktree to a commit. The checkout is always
    /// complete.
    ///
    /// An unfinished worktree is created again. Untracked files are kept. Files have exactly the content of the
    /// repository: the user's filters and line endings are not applied.
    /// # Errors
    /// [`GitFailure::ForeignFolder`] if the folder contains anything else; [`GitFailure::LocalChanges`] if refused;
    /// [`GitFailure::LinkEscapes`] if a symlink of the commit points outside its tree. No file is written in that
    /// case. Any Git error.
    pub async fn worktree(
        &self,
        commit: &GitCommit,
        folder: &Path,
        changes: LocalChangesPolicy,
    ) -> Result<Worktree, Error> {
        let submodules = self.check_tree(commit).await?;
        let _lock = self.lock().await?;
        self.write_attributes()?;
        match self.folder_state(folder)? {
            FolderState::OwnWorktree => self.check_out(commit, folder, changes).await?,
            FolderState::Unfinished => {
                fs::remove_dir_all(folder).map_err(|error| self.disk_error("check out", folder, error))?;
                self.add_worktree(commit, folder).await?;
            }
            FolderState::Free => self.add_worktree(commit, folder).await?,
            FolderState::Foreign => {
                let folder = folder.to_owned();
                return Err(self.error("check out", GitFailure::ForeignFolder { folder }));
            }
        }
        Ok(Worktree { commit: commit.clone(), submodules })
    }

    fn write_attributes(&self) -> Result<(), Error> {
        let path = self.clone.join("info/attributes");
        if fs::read(&path).is_ok_and(|there| there == ATTRIBUTES.as_bytes()) {
            return Ok(());
        }
        fs::create_dir_all(self.clone.join("info"))
            .and_then(|()| fs::write(&path, ATTRIBUTES))
            .map_err(|error| self.disk_error("check out", &path, error))
    }

    async fn add_worktree(&self, commit: &GitCommit, folder: &Path) -> Result<(), Error> {
        // `--force` twice, because an unfinished worktree is locked.
        let mut arguments =
            ["worktree", "add", "--force", "--force", "--detach", "--"].map(Into::into).to_vec();
        arguments.extend([folder.into(), commit.as_str().into()]);
        let run = GitCommand::in_clone::<std::ffi::OsString>(
            &self.context.release_settings().git,
            &self.clone,
            arguments,
        );
        run.output().await.map(|_| ()).map_err(|failure| self.error("check out", failure))
    }

    async fn check_out(
        &self,
        commit: &GitCommit,
        folder: &Path,
        changes: LocalChangesPolicy,
    ) -> Result<(), Error> {
        let failed = |failure| self.error("check out", failure);
        let run = |arguments: &[&str]| {
            let arguments =
                ["-C".as_ref(), folder.as_os_str()].into_iter().chain(arguments.iter().map(AsRef::as_ref));
            GitCommand::new(&self.context.release_settings().git, arguments)
        };
        if changes == LocalChangesPolicy::Refuse {
            let status = run(&["status", "--porcelain=v2", "--branch", "--untracked-files=no"]);
            let status = CheckedOut::parse(&status.output().await.map_err(failed)?);
            if status.has_changes {
                return Err(failed(GitFailure::LocalChanges { folder: folder.to_owned() }));
            }
            // All files are there, so that a checkout would change nothing.
            if status.is_detached && status.commit == commit.as_str() {
                return Ok(());
            }
        }
        let force: &[&str] = if changes == LocalChangesPolicy::Discard { &["--force"] } else { &[] };
        let checkout = [&["checkout", "--quiet", "--detach"], force, &[commit.as_str(), "--"]].concat();
        run(&checkout).output().await.map(|_| ()).map_err(failed)
    }

    /// The current state of the folder for a worktree.
    pub(super) fn folder_state(&self, folder: &Path) -> Result<FolderState, Error> {
        let Ok(link) = fs::read_to_string(folder.join(".git")) else {
            return match fs::read_dir(folder).map(|mut names| names.next().is_none()) {
                Ok(true) => Ok(FolderState::Free),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FolderState::Free),
                Ok(false) => Ok(FolderState::Foreign),
                Err(error) => Err(self.disk_error("check out", folder, error)),
            };
        };
        let administration = PathBuf::from(link.trim().strip_prefix("gitdir: ").unwrap_or_default());
        let same =
            |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        let is_ours =
            administration.parent().is_some_and(|worktrees| same(worktrees, &self.clone.join("worktrees")));
        // Git holds this lock until all files exist.
        let is_locked =
            fs::read_to_string(administration.join("locked")).is_ok_and(|why| why.trim() == "initializing");
        Ok(match (is_ours, is_locked) {
            (true, false) => FolderState::OwnWorktree,
            (true, true) => FolderState::Unfinished,
            (false, _) => FolderState::Foreign,
        })
    }

    /// Fails if a symlink points outside the tree. Returns the paths of submodules.
    async fn check_tree(&self, commit: &GitCommit) -> Result<Vec<String>, Error> {
        let listing = self.list_tree(commit).await?;
        let links: Vec<TreeEntry<'_>> = entries(&listing).filter(TreeEntry::is_link).collect();
        for (link, target) in links.iter().zip(self.link_targets(&links).await?) {
            if escapes_root(&link.path, &target) {
                let (path, commit) = (link.path.clone().into_owned(), commit.to_string());
                return Err(self.error("check out", GitFailure::LinkEscapes { path, commit, target }));
            }
        }
        Ok(entries(&listing).filter(TreeEntry::is_submodule).map(|entry| entry.path.into_owned()).collect())
    }

    /// The targets of symlinks, in the same order.
    async fn link_targets(&self, links: &[TreeEntry<'_>]) -> Result<Vec<String>, Error> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let objects: Vec<&str> = links.iter().map(|link| link.object).collect();
        let contents = self.read_objects(&objects).await?;
        Ok(contents.iter().map(|content| String::from_utf8_lossy(content).into_owned()).collect())
    }
}

/// The checked-out state of a worktree, as `git status` reports it.
#[derive(Debug, Default, PartialEq, Eq)]
struct CheckedOut {
    commit: String,
    /// No branch is checked out.
    is_detached: bool,
    /// Tracked files differ from the commit.
    has_changes: bool,
}

impl CheckedOut {
    /// Parses the output of `git status --porcelain=v2 --branch`.
    fn parse(output: &[u8]) -> Self {
        let mut state = Self::default();
        for line in String::from_utf8_lossy(output).lines() {
            if let Some(commit) = line.strip_prefix("# branch.oid ") {
                commit.clone_into(&mut state.commit);
            } else if line == "# branch.head (detached)" {
                state.is_detached = true;
            }
            state.has_changes |= !line.starts_with('#');
        }
        state
    }
}

/// The state of the folder for a worktree.
pub(super) enum FolderState {
    /// The folder is missing or empty.
    Free,
    /// A worktree of this clone.
    OwnWorktree,
    /// A worktree with missing files.
    Unfinished,
    /// Any other content.
    Foreign,
}

/// Splits `object type size NEWLINE content NEWLINE` into the content and the remaining bytes.
pub(super) fn batch_entry(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let header_end = answer.iter().position(|byte| *byte == b'\n')?;
    let size: usize = std::str::from_utf8(&answer[..header_end]).ok()?.rsplit(' ').next()?.parse().ok()?;
    let content = answer.get(header_end + 1..)?;
    Some((content.get(..size)?, content.get(size + 1..)?))
}

/// True if a symlink may point outside the tree. Both paths are relative to the root of the tree.
///
/// A `..` after a name counts as outside: the name may be another symlink, and then its parent is unknown.
fn escapes_root(path: &str, target: &str) -> bool {
    let folders = path.matches('/').count();
    let climbs = Path::new(target).components().take_while(|part| *part == Component::ParentDir).count();
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    climbs > folders || !Path::new(target).components().skip(climbs).all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::{CheckedOut, escapes_root};

    #[test]
    fn a_status_has_the_commit_and_the_changes() {
        for (output, commit, is_detached, has_changes) in [
            ("# branch.oid 1f\n# branch.head (detached)\n", "1f", true, false),
            ("# branch.oid 1f\n# branch.head main\n# branch.ab +0 -0\n", "1f", false, false),
            ("# branch.oid (initial)\n# branch.head main\n", "(initial)", false, false),
            ("# branch.oid 1f\n# branch.head (detached)\n1 .D N... 0 0 0 a b c\n", "1f", true, true),
            ("# branch.oid 1f\n# branch.head (detached)\n? a\n", "1f", true, true),
        ] {
            let expected = CheckedOut { commit: commit.to_owned(), is_detached, has_changes };
            assert_eq!(CheckedOut::parse(output.as_bytes()), expected, "{output}");
        }
    }

    #[test]
    fn links_outside_the_root_are_detected() {
        for (path, target) in
            [("a", "../b"), ("a/b", "../../c"), ("a", "/etc/passwd"), ("a/b/c/e", "d/../..")]
        {
            assert!(escapes_root(path, target), "{path} -> {target}");
        }
        for (path, target) in [("a", "b"), ("a/b", "../c"), ("a/b/c", "../../d"), ("a", "./b/c")] {
            assert!(!escapes_root(path, target), "{path} -> {target}");
        }
    }
}
