//! Releases of providers, wherever they live: local folder, GitHub, GitLab, a web server, registry, Git, memory.
//!
//! ```text
//! provider url ─► Location ─► open ─► dyn Repository ─┬─► versions ──┐
//!                               ▲                     └─► read ──────┼─► latest (newest usable release)
//!                            Context                       ▲         │
//!             how hosts are reached (`transport`),         │         ▼
//!             lock, keys, the `git` program          WithOverrides ─► File { bytes, origin }
//! ```
//!
//! - Opening a repository costs nothing: no request, no TLS set-up, no thread. A local file is one `std::fs` read.
//! - A pinned version is read without any call to an API, and once it is kept without any request; versions are listed
//!   only when somebody asks.
//!
//! May touch: the disk, hosts through `transport`, and the `git` program. May not touch: the environment (`GOPROXY` and the
//! variables of Git are handed in), what a provider means, YAML (the metadata parser is handed in).

mod context;
mod error;
mod fetch;
mod file;
mod folder;
mod github;
mod gitlab;
mod go_proxy;
mod latest;
mod local;
mod location;
mod lock;
mod oci;
mod open;
mod overrides;
mod reader;
#[cfg(test)]
mod tests;

pub mod git;
pub mod memory;

pub use context::{Context, ReleaseSettings};
pub use error::Error;
pub use fetch::{fetch_file, fetch_template, fetch_url, read_file};
pub use file::{File, Origin};
pub use folder::{FolderIndex, InvalidFolderIndex};
pub use latest::latest;
pub use location::{
    FolderLocation, GitHubLocation, GitLabLocation, GitLocation, GitReference, LocalLocation, Location,
    LocationError, OciLocation,
};
pub use lock::{
    FileOrigin, Lock, LockError, LockSettings, LockedFile, LockedProvider, NotAsLocked, Unlocked,
};
pub use oci::{OciError, published};
pub use open::open;
pub use overrides::{Overrides, WithOverrides};
pub use reader::Repository;
