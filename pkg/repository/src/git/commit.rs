//! Commits in worktrees, and their push to the remote.

use std::{ffi::OsString, path::Path};

use bytes::Bytes;

use super::{
    GitCommit, GitRemote, failure::GitFailure, program::GitCommand, remote::LOCAL_REFS, worktree::batch_entry,
};
use crate::Error;

/// The author and committer of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitAuthor {
    /// The full name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

/// A file that differs between the last commit and the index of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedChange {
    /// The path in the index. For a deleted file, the path in the commit.
    pub path: String,
    /// The kind of the change.
    pub kind: StagedChangeKind,
    /// The object before the change; none for an added file.
    pub before: Option<String>,
    /// The object after the change; none for a deleted file.
    pub after: Option<String>,
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StagedChangeKind {
    /// The file is new.
    Added,
    /// The file is gone.
    Deleted,
    /// The content, the mode or the type differs.
    Modified,
    /// The file had another path. Its content may differ too.
    Renamed {
        /// The path in the commit.
        from: String,
    },
}

/// Work in a worktree that only exists there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalWork {
    /// Tracked files differ from the commit.
    pub has_changed_files: bool,
    /// There are files that Git does not track.
    pub has_new_files: bool,
    /// The commit is on no branch and no tag of the remote.
    pub has_new_commits: bool,
}

impl LocalWork {
    /// True if there is any such work.
    pub fn exists(self) -> bool {
        self.has_changed_files || self.has_new_files || self.has_new_commits
    }
}

impl GitRemote {
    /// The default branch of the remote. `None` if the remote has no such branch, such as an empty one. Fetches once per
    /// process.
    /// # Errors
    /// Any failure of the fetch.
    pub async fn default_branch(&self) -> Result<Option<String>, Error> {
        self.tags().await?;
        let head = self.command(&["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"]).output().await;
        let known = head.ok().and_then(|head| {
            let head = String::from_utf8_lossy(&head).trim().to_owned();
            head.strip_prefix("refs/remotes/origin/").map(str::to_owned)
        });
        let candidates = known.into_iter().chain(["master".to_owned(), "main".to_owned()]);
        for branch in candidates {
            let name = format!("refs/remotes/origin/{branch}");
            if self.command(&["rev-parse", "--quiet", "--verify", &name]).output().await.is_ok() {
                return Ok(Some(branch));
            }
        }
        Ok(None)
    }

    /// Reads the commit that is checked out in a worktree.
    /// # Errors
    /// Any failure of Git.
    pub async fn head(&self, folder: &Path) -> Result<GitCommit, Error> {
        let head = self.in_folder(folder, &["rev-parse", "HEAD"]).output().await;
        let head = head.map_err(|failure| self.error("read", failure))?;
        Ok(GitCommit(String::from_utf8_lossy(&head).trim().to_owned()))
    }

    /// Reads the message of the commit that is checked out in a worktree.
    /// # Errors
    /// Any failure of Git.
    pub async fn commit_message(&self, folder: &Path) -> Result<String, Error> {
        let message = self.in_folder(folder, &["log", "-1", "--format=%B"]).output().await;
        let message = message.map_err(|failure| self.error("read", failure))?;
        Ok(String::from_utf8_lossy(&message).trim_end().to_owned())
    }

    /// True if a commit has a file or folder.
    pub async fn has_path(&self, commit: &GitCommit, path: &str) -> bool {
        self.command(&["cat-file", "-e", &format!("{commit}:{path}")]).output().await.is_ok()
    }

    /// Finds work in a worktree that a checkout would lose.
    /// # Errors
    /// Any failure of Git.
    pub async fn local_work(&self, folder: &Path) -> Result<LocalWork, Error> {
        self.local_work_outside(folder, &[]).await
    }

    /// Finds work in a worktree that a checkout would lose, except for files in some folders of it.
    /// # Errors
    /// Any failure of Git.
    pub async fn local_work_outside(&self, folder: &Path, ignored: &[&str]) -> Result<LocalWork, Error> {
        let failed = |failure| self.error("read", failure);
        let ignored = ignored.iter().map(|name| format!(":(top,exclude){name}"));
        let arguments = ["status", "--porcelain", "--", "."].map(str::to_owned);
        let arguments: Vec<String> = arguments.into_iter().chain(ignored).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let status = self.in_folder(folder, &arguments).output().await.map_err(failed)?;
        let is_new = |line: &&[u8]| line.starts_with(b"??");
        let lines = || status.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let known = ["--remotes", "--tags", "--glob=refs/capstan"];
        let arguments = [&["rev-list", "--max-count=1", "HEAD", "--not"], &known[..]].concat();
        // A worktree without commits has none to lose.
        let new = self.in_folder(folder, &arguments).output().await.unwrap_or_default();
        Ok(LocalWork {
            has_changed_files: lines().any(|line| !is_new(&line)),
            has_new_files: lines().any(|line| is_new(&line)),
            has_new_commits: !new.is_empty(),
        })
    }

    /// Creates a commit without files and without parents, once for each clone.
    /// # Errors
    /// Any failure of Git.
    pub async fn create_empty_commit(&self, message: &str, author: &GitAuthor) -> Result<GitCommit, Error> {
        let failed = |failure| self.error("commit to", failure);
        if let Some(commit) = self.stored_commit(FIRST_COMMIT).await {
            return Ok(commit);
        }
        let tree = line(&self.command(&["mktree"]).output().await.map_err(failed)?);
        let run = signed(self.command(&["commit-tree", &tree]), author).input(message);
        let commit = GitCommit(line(&run.output().await.map_err(failed)?));
        self.store_commit(FIRST_COMMIT, Some(&commit)).await?;
        Ok(commit)
    }

    /// Adds all files of a worktree to its index, and removes missing files. Returns the changes to the last commit,
    /// sorted by path.
    /// # Errors
    /// Any failure of Git.
    pub async fn stage(&self, folder: &Path) -> Result<Vec<StagedChange>, Error> {
        let failed = |failure| self.error("stage", failure);
        self.in_folder(folder, &["add", "--all", "--", "."]).output().await.map_err(failed)?;
        let arguments = ["diff-index", "--cached", "--find-renames", "--full-index", "-z", "HEAD", "--"];
        let listing = self.in_folder(folder, &arguments).output().await.map_err(failed)?;
        changes(&listing).ok_or_else(|| failed(GitFailure::Unreadable { what: "changes" }))
    }

    /// Removes all changes from the index of a worktree. The files stay as they are.
    /// # Errors
    /// Any failure of Git.
    pub async fn unstage(&self, folder: &Path) -> Result<(), Error> {
        let run = self.in_folder(folder, &["reset", "--quiet"]);
        run.output().await.map(|_| ()).map_err(|failure| self.error("stage", failure))
    }

    /// Reads objects, such as those of staged changes, in the same order.
    /// # Errors
    /// Any failure of Git.
    pub async fn read_objects(&self, objects: &[&str]) -> Result<Vec<Bytes>, Error> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let failed = |failure| self.error("read", failure);
        let questions: String = objects.iter().flat_map(|object| [*object, "\n"]).collect();
        let run = self.command(&["cat-file", "--batch"]).input(questions);
        let answer = run.output().await.map_err(failed)?;
        let (mut rest, mut contents) = (&answer[..], Vec::new());
        for _ in objects {
            let (content, behind) =
                batch_entry(rest).ok_or_else(|| failed(GitFailure::Unreadable { what: "objects" }))?;
            contents.push(answer.slice_ref(content));
            rest = behind;
        }
        Ok(contents)
    }

    /// Commits the index of a worktree.
    /// # Errors
    /// Any failure of Git.
    pub async fn commit(&self, folder: &Path, message: &str, author: &GitAuthor) -> Result<GitCommit, Error> {
        let arguments =
            ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-"];
        let run = signed(self.in_folder(folder, &arguments), author).input(message);
        run.output().await.map_err(|failure| self.error("commit to", failure))?;
        self.head(folder).await
    }

    /// Creates a commit of the index of a worktree. The worktree stays at its own commit until [`Self::record_push`].
    /// # Errors
    /// Any failure of Git.
    pub async fn commit_index(
        &self,
        folder: &Path,
        message: &str,
        author: &GitAuthor,
    ) -> Result<GitCommit, Error> {
        let failed = |failure| self.error("commit to", failure);
        let tree = line(&self.in_folder(folder, &["write-tree"]).output().await.map_err(failed)?);
        let arguments = ["commit-tree", "-p", "HEAD", &tree];
        let run = signed(self.in_folder(folder, &arguments), author).input(message);
        Ok(GitCommit(line(&run.output().await.map_err(failed)?)))
    }

    /// Deletes the files in some folders of a worktree that Git does not track.
    /// # Errors
    /// Any failure of Git.
    pub async fn delete_new_files(&self, folder: &Path, within: &[&str]) -> Result<(), Error> {
        let arguments = [&["clean", "--quiet", "-ffd", "--"], within].concat();
        let run = self.in_folder(folder, &arguments);
        run.output().await.map(|_| ()).map_err(|failure| self.error("check out", failure))
    }

    /// Pushes a commit to a branch of the remote. The branch must be an ancestor of the commit.
    /// # Errors
    /// Any failure of the connection; the answer of the host if it rejects the push.
    pub async fn push(&self, commit: &GitCommit, branch: &str) -> Result<(), Error> {
        self.push_refspec(&format!("{commit}:refs/heads/{branch}")).await
    }

    /// Replaces a branch of the remote by a commit. Commits that are only on the branch are lost.
    /// # Errors
    /// Those of [`Self::push`].
    pub async fn replace_branch(&self, commit: &GitCommit, branch: &str) -> Result<(), Error> {
        self.push_refspec(&format!("+{commit}:refs/heads/{branch}")).await
    }

    async fn push_refspec(&self, refspec: &str) -> Result<(), Error> {
        let push: Vec<OsString> =
            ["push", "--porcelain", "--no-verify", "--", "origin", refspec].map(Into::into).into();
        self.run_on_network("push to", &push, Some(&self.clone)).await
    }

    /// Moves a worktree, and the known state of the branch, to a commit of the index that was pushed. Files and index stay as
    /// they are.
    /// # Errors
    /// Any failure of Git.
    pub async fn record_push(&self, folder: &Path, commit: &GitCommit, branch: &str) -> Result<(), Error> {
        let branch = format!("refs/remotes/origin/{branch}");
        let known = self.command(&["update-ref", &branch, commit.as_str()]).output().await;
        known.map_err(|failure| self.error("update the clone of", failure))?;
        let run = self.in_folder(folder, &["update-ref", "--no-deref", "HEAD", commit.as_str()]);
        run.output().await.map(|_| ()).map_err(|failure| self.error("update the worktree of", failure))
    }

    /// Returns the commit that the clone stores under a name.
    pub async fn stored_commit(&self, name: &str) -> Option<GitCommit> {
        let name = format!("{LOCAL_REFS}{name}");
        let commit = self.command(&["rev-parse", "--quiet", "--verify", &name]).output().await.ok()?;
        Some(GitCommit(line(&commit)))
    }

    /// Stores a commit in the clone under a name, or nothing. Git keeps stored commits, and they are no local work.
    /// # Errors
    /// Any failure of Git.
    pub async fn store_commit(&self, name: &str, commit: Option<&GitCommit>) -> Result<(), Error> {
        let name = format!("{LOCAL_REFS}{name}");
        let run = match commit {
            Some(commit) => self.command(&["update-ref", &name, commit.as_str()]),
            None => self.command(&["update-ref", "-d", &name]),
        };
        run.output().await.map(|_| ()).map_err(|failure| self.error("update the clone of", failure))
    }

    /// The user's name and address in the configuration of Git.
    pub async fn configured_author(&self) -> Option<GitAuthor> {
        let value = async |key: &str| {
            let text = self.command(&["config", "--get", key]).output().await.ok()?;
            let text = String::from_utf8_lossy(&text).trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        Some(GitAuthor { name: value("user.name").await?, email: value("user.email").await? })
    }

    /// The shortest unique prefix of a hash, with at least `length` digits.
    pub async fn abbreviate(&self, commit: &GitCommit, length: usize) -> String {
        let run = self.command(&["rev-parse", &format!("--short={length}"), commit.as_str()]);
        let short = run.output().await.map(|short| String::from_utf8_lossy(&short).trim().to_owned());
        short.unwrap_or_else(|_| commit.as_str().chars().take(length).collect())
    }

    /// Creates a run in a worktree.
    fn in_folder(&self, folder: &Path, arguments: &[&str]) -> GitCommand {
        let arguments =
            ["-C".as_ref(), folder.as_os_str()].into_iter().chain(arguments.iter().map(AsRef::as_ref));
        GitCommand::new(&self.context.release_settings().git, arguments)
    }
}

/// The stored first commit for an empty remote.
const FIRST_COMMIT: &str = "first-commit";

/// Returns the only line of an output.
fn line(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_owned()
}

/// Sets author and committer of a run.
fn signed(run: GitCommand, author: &GitAuthor) -> GitCommand {
    run.variable("GIT_AUTHOR_NAME", &author.name)
        .variable("GIT_AUTHOR_EMAIL", &author.email)
        .variable("GIT_COMMITTER_NAME", &author.name)
        .variable("GIT_COMMITTER_EMAIL", &author.email)
}

/// Parses raw changes: `:mode mode object object status NUL path NUL`, with a second path for renamed files.
fn changes(listing: &[u8]) -> Option<Vec<StagedChange>> {
    let mut fields = listing.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut changes = Vec::new();
    while let Some(header) = fields.next().filter(|header| !header.is_empty()) {
        let words: Vec<&str> = header.strip_prefix(':')?.split(' ').collect();
        let [_, _, before, after, status] = words[..] else { return None };
        let object = |object: &str| object.contains(|c| c != '0').then(|| object.to_owned());
        let path = fields.next()?.into_owned();
        let (kind, path) = match status.chars().next()? {
            'A' => (StagedChangeKind::Added, path),
            'D' => (StagedChangeKind::Deleted, path),
            'R' => (StagedChangeKind::Renamed { from: path }, fields.next()?.into_owned()),
            _ => (StagedChangeKind::Modified, path),
        };
        changes.push(StagedChange { path, kind, before: object(before), after: object(after) });
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_changes_are_parsed() {
        let text = ":000000 100644 0000000 abc A\0new\0:100644 100644 abc def R090\0old\0moved\0:100644 000000 abc 000 D\0gone\0";
        let kinds: Vec<_> = changes(text.as_bytes())
            .unwrap()
            .into_iter()
            .map(|change| (change.path, change.kind, change.before, change.after))
            .collect();
        let (abc, def) = (Some("abc".to_owned()), Some("def".to_owned()));
        assert_eq!(
            kinds,
            [
                ("new".to_owned(), StagedChangeKind::Added, None, abc.clone()),
                ("moved".to_owned(), StagedChangeKind::Renamed { from: "old".to_owned() }, abc.clone(), def),
                ("gone".to_owned(), StagedChangeKind::Deleted, abc, None),
            ]
        );
        assert_eq!(changes(b"garbage\0"), None);
        assert_eq!(changes(b""), Some(Vec::new()));
    }
}
