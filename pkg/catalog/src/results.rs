//! The results of earlier runs: which facts a compiled target depends on, and its files.
//!
//! ```text
//! target ─► Reads: files, folders and parameters, each with its digest ─► facts
//! facts that all hold ─► the files of the earlier run; else the target is compiled again
//! ```

mod fact;
pub(crate) mod files;
mod reads;
mod store;

pub(crate) use fact::CurrentFacts;
pub(crate) use reads::{NodeDigests, Reads};
pub(crate) use store::{CachedTarget, OutputFiles, ResultCache};
