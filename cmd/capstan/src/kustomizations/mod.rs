//! Builds local and remote kustomizations: fetches the files that the pure builder requests.
//!
//! ```text
//! DIR or URL ─► build over the disk ─┬─► objects, or all problems
//!                  ▲                 └─► requests ─► fetched concurrently through the cache ─┐
//!                  └───────────────────────────── answers ◄─────────────────────────────────┘
//! ```

mod disk;
mod fetch;
mod flags;
mod helm;
mod layer;
mod place;
mod run;

pub(crate) use flags::{Around, KustomizationFlags, RunLayers, configured};
pub(crate) use helm::HelmProgram;
pub(crate) use layer::{KustomizationLayer, found_by_layer};
pub(crate) use place::{FileNames, distinct, shown_place};
pub(crate) use run::{Built, How, build};
