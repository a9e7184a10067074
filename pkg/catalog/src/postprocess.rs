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
mod output;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use error::PostprocessError;
pub(crate) use run::{PostprocessRequest, postprocess};
