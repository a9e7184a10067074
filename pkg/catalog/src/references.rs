//! References to secrets: `?{vaultkv:path/to/secret/key}` in parameters and in compiled files.
//!
//! ```text
//! parameters of targets ─► collect ─► files in `refs/`
//! compiled value ─► replace_in ─► reference with the hash of its file, or the path alone
//! ```
//!
//! Source: Commodore 1.35 refs.py; Kapitan 0.36 for the hash and the form of references.

mod collect;
mod error;
mod find;
mod replace;
#[cfg(test)]
mod tests;

pub(crate) use collect::ReferenceFile;
pub(crate) use collect::collect;
pub(crate) use error::ReferenceError;
pub(crate) use find::references_in;
pub(crate) use replace::References;
