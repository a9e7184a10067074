//! Templates of cookiecutter: a folder of templates with variables, rendered into files in memory.
//!
//! ```text
//! cookiecutter.json + chosen values ─► variables ─► paths and texts of `{{cookiecutter.slug}}/` ─► files
//! ```
//!
//! Source: cookiecutter 2 generate.py, prompt.py and extensions.py.
//! Differs: the caller runs the hooks of a template, which are programs; the user's defaults in `~/.cookiecutterrc` are not read.

mod engine;
mod error;
mod files;
mod ordered;
#[cfg(test)]
mod tests;
mod variables;

pub use error::CookiecutterError;
pub(crate) use files::{
    POST_HOOK, PRE_HOOK, hook_name, hooks, matches_path, project_name, read_folder, render, render_hook,
};
pub(crate) use ordered::OrderedMap;
pub(crate) use variables::variables;
