//! Filters that change the compiled files of an instance.
//!
//! ```text
//! `parameters.commodore.postprocess.filters` ─► definition: checked ─► builtin or Jsonnet ─► files of a folder
//! ```
//!
//! Source: Commodore 1.35 postprocess.

mod builtin;
mod definition;
mod error;
mod notice;
mod output;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub use error::PostprocessError;
pub use notice::Notice;
pub use run::{PostprocessRequest, postprocess};
