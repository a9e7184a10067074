//! Git: a bare clone of each remote on this machine, read without a checkout, or checked out as worktrees.
//!
//! ```text
//! RemoteUrl ─► Remote ─┬─► resolve (branch, tag, hash ─► Commit) ─┬─► read, files      no connection
//!                      └─► tags                                   └─► worktree         no connection
//!          clone once, fetch once in a process, by the program `git` as the user has set it up
//! ```
//!
//! - A clone is made beside its place and renamed; who is killed leaves nothing that is taken for one.
//! - What a repository holds is not trusted: no hook runs, no module is fetched, no link leads out.
//! - Credentials reach Git by the environment of its process, and Git gives them to their host alone.
//!
//! Deliberately absent: commits and pushes, submodules, Git LFS, prompts.

mod failure;
mod network;
mod program;
mod query;
mod release;
mod remote;
mod session;
#[cfg(test)]
mod tests;
mod url;
mod worktree;

use std::fmt;

pub use failure::{GitError, GitFailure};
pub use program::GitSettings;
pub(crate) use release::GitRepository;
pub use remote::{Clones, Remote};
pub use url::{RemoteUrl, RemoteUrlError, Transport};
pub use worktree::{LocalChanges, Worktree};

/// The full hash of a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Commit(String);

impl Commit {
    /// The hash in lower-case hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text is a hash that was not cut short: SHA-1 or SHA-256.
    fn is_full(text: &str) -> bool {
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
