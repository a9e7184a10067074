//! Releases of providers in a local folder, GitHub, GitLab, a web server, a registry, Git or memory.
//!
//! ```text
//! provider url ─► Location ─► open ─► dyn Repository ─┬─► versions ──┐
//!                               ▲                     └─► read ──────┼─► latest_version (newest usable release)
//!                            Context                       ▲         │
//!             settings of hosts (`transport`),             │         ▼
//!             lock, keys, `git`              RepositoryWithOverrides ─► File { bytes, origin }
//! ```
//!
//! ```
//! use api::{Contract, Metadata, ReleaseSeries};
//! use repository::{Location, Repository as _, latest_version, memory::MemoryRepository};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let url = "https://github.com/my/provider/releases/latest/components.yaml";
//! assert!(matches!(Location::parse(url, "infrastructure-my", None), Ok(Location::GitHub(_))));
//!
//! let releases = MemoryRepository::new("components.yaml")
//!     .with_file("v1.0.0", "metadata.yaml", "1.0")
//!     .with_file("v1.1.0", "metadata.yaml", "1.1");
//! let parse = |_: &[u8]| {
//!     let series = ReleaseSeries { major: 1, minor: 1, contract: Contract::new("v1beta2") };
//!     Some(Metadata { release_series: vec![series] })
//! };
//! let latest = latest_version(&releases, "v1beta2", &parse).await.unwrap();
//! assert_eq!(latest.as_str(), "v1.1.0");
//! let metadata = releases.read("v1.1.0", "metadata.yaml").await.unwrap();
//! assert_eq!(metadata.bytes, "1.1");
//! # });
//! ```
//!
//! - Opening a repository is free: no request, no TLS setup, no thread. A local file is one `std::fs` read.
//! - Reading a pinned version needs no API call, and no request once cached. Versions are listed only on demand.
//!
//! May touch: the disk, hosts through `transport`, and the `git` program. May not touch: the environment (callers pass
//! `GOPROXY` and the variables of Git), provider semantics, YAML (callers pass the metadata parser).

mod chart;
mod context;
mod error;
mod fetch;
mod file;
mod folder;
mod github;
mod gitlab;
mod go_proxy;
mod hints;
mod latest;
mod local;
mod location;
mod lock;
mod oci;
mod open;
mod overrides;
mod repository;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub mod git;
pub mod memory;

pub use crate::chart::{
    CHART_ARCHIVES, CHART_CONFIG, CHART_FOLDER, ChartSource, ChartSourceError, FetchedChart, PublishedChart,
    chart_archive, chart_layer, chart_path, find_published_chart, read_stored_chart,
};
pub use context::{ReleaseSettings, RepositoryContext};
pub use error::Error;
pub use fetch::{fetch_file, fetch_headers, fetch_template, fetch_url, fetch_verified, read_file};
pub use file::{File, FileSource};
pub use folder::{FolderIndex, InvalidFolderIndex};
pub use latest::latest_version;
pub use location::{
    FolderLocation, GitHubLocation, GitLabLocation, GitLocation, GitReference, LocalLocation, Location,
    LocationError, OciLocation,
};
pub use lock::{
    LockError, LockFile, LockMismatch, LockSettings, LockedFile, LockedFileOrigin, LockedProvider,
    UnlockedPolicy,
};
pub use oci::{OciError, PackedArtifact, fetch_packed, find_published};
pub use open::open;
pub use overrides::{Overrides, RepositoryWithOverrides};
pub use repository::Repository;
