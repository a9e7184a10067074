//! Templates of cookiecutter: a folder of templates with variables, rendered into files in memory.
//!
//! ```text
//! cookiecutter.json + chosen values ─► variables ─► paths and texts of `{{cookiecutter.slug}}/` ─► files
//! ```
//!
//! Source: cookiecutter 2 generate.py, prompt.py and extensions.py.
//! Differs: hooks of a template are programs and do not run; the user's defaults in `~/.cookiecutterrc` are not read.

mod engine;
mod error;
mod files;
mod ordered;
mod pattern;
#[cfg(test)]
mod tests;
mod variables;

pub use error::CookiecutterError;
pub(crate) use files::{hooks, matches_path, render};
pub(crate) use ordered::OrderedMap;
pub(crate) use variables::variables;
