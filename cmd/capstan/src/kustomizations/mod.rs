//! Kustomizations on disk and elsewhere: what the pure builder asks for, and what it is given.
//!
//! ```text
//! DIR or URL ─► build over the disk ─┬─► objects, or all problems
//!                  ▲                 └─► wants ─► fetched side by side, through the cache ─┐
//!                  └───────────────────────────── answers ◄────────────────────────────────┘
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
