//! Builds local and remote kustomizations: fetches the files that the pure builder requests.
//!
//! ```text
//! DIR or URL ─► build over the disk ─┬─► objects, or all problems
//!                  ▲                 └─► requests ─► fetched concurrently through the cache ─┐
//!                  └───────────────────────────── answers ◄─────────────────────────────────┘
//! ```

mod build;
mod disk;
mod fetch;
mod file_names;
mod flags;
mod overlay;

pub(crate) use build::{KustomizationBuild, build};
pub(crate) use disk::{DiskTree, tree_path};
pub(crate) use file_names::{FileNames, distinct_problems, shown_location};
pub(crate) use flags::{KustomizationFlags, RunOverlays, RunScope, configured_overlays};
pub(crate) use overlay::{KustomizationOverlay, files_read_by_overlay};
