//! The files of targets: programs, templates, charts and kustomizations, compiled in parallel.
//!
//! ```text
//! nodes ─► target ─► inputs in order: search paths ─► jsonnet, jinja2, helm, … ─► files of a temporary folder
//! all targets succeeded ─► the files of `compiled/TARGET` that differ are replaced
//! ```
//!
//! Source: Kapitan 0.36 as Commodore 1.35 uses it. Differs: all failed targets are reported, no file is written
//! or removed outside of the folder of its target or component.

mod context;
mod dependencies;
mod documents;
mod error;
mod hints;
mod inputs;
mod natives;
mod output_tree;
mod prune;
mod run;
mod schema;
mod search;
mod settings;
mod target;
#[cfg(test)]
mod tests;
mod toml;
mod tools;
mod writable;

pub use crate::jsonnet::{JsonnetError, SourcePosition, TracePoint};
pub use dependencies::DependencyError;
pub(crate) use dependencies::fetch_dependencies;
pub use error::{CompileError, InputError, TargetError};
pub use run::StoredResults;
pub(crate) use run::{CompileRequest, compile};
pub use tools::{KustomizationOutput, ProgramCall, ToolError, Tools};

pub(crate) use context::node_value;
pub(crate) use natives::{file_names, read_text, sha256, text_argument};
pub(crate) use search::find_files;
pub(crate) use toml::write as write_toml;

/// The value of `_kustomize_wrapper`: an input of type `external` with this path builds the kustomization in
/// `INPUT_DIR` into the folder of its first argument.
pub(crate) const KUSTOMIZE_WRAPPER: &str = "/capstan/kustomize";
