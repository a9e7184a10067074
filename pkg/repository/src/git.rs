//! Git remotes, each kept as one bare clone on this machine. Files are read from the clone or checked out as worktrees.
//!
//! ```text
//! RemoteUrl ─► Remote ─┬─► resolve (branch, tag, hash ─► Commit) ─┬─► read, files      no connection
//!                      └─► tags                                   └─► worktree ─► commit ─► push
//!          clone once, fetch once per process, with the user's `git` setup
//! ```
//!
//! - A clone is created under a temporary name and then renamed, so an interrupted process leaves no partial clone.
//! - Repository content is not trusted: no hooks run, submodules are fetched only on request, no symlink may point outside the tree.
//! - Credentials are passed to Git in the environment of its process, and Git sends them to their host only.
//!
//! Out of scope: submodules of submodules, Git LFS, prompts, merges of commits.

mod commit;
mod create;
mod failure;
mod merge;
mod network;
mod program;
mod query;
mod release;
mod remote;
mod session;
mod submodule;
#[cfg(test)]
mod tests;
mod url;
mod worktree;

use std::fmt;

pub use commit::{GitAuthor, LocalWork, StagedChange, StagedChangeKind};
pub use create::{FirstCommit, NewFile};
pub use failure::{GitError, GitFailure};
pub use merge::{FileVersions, MergedFile};
pub use program::GitSettings;
pub(crate) use release::GitRepository;
pub use remote::{CloneStore, GitRemote};
pub use submodule::Submodule;
pub use url::{GitTransport, RemoteUrl, RemoteUrlError};
pub use worktree::{LocalChangesPolicy, Worktree};

/// The full hash of a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitCommit(String);

impl GitCommit {
    /// The hash in lower-case hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if a text is a full SHA-1 or SHA-256 hash.
    fn is_full_hash(text: &str) -> bool {
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl fmt::Display for GitCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
