//! Errors of templates of cookiecutter.

use std::io;
use std::path::PathBuf;

use crate::compile::ToolError;

/// A template that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CookiecutterError {
    #[error("it has no file `cookiecutter.json`")]
    NoVariables,
    #[error("it has no folder such as `{{{{cookiecutter.slug}}}}`")]
    NoTemplate,
    #[error("cannot parse `cookiecutter.json`")]
    Parse(#[source] serde_json::Error),
    #[error("`{value}` is no choice for variable `{name}`: {choices}")]
    Choice { name: String, value: String, choices: String },
    #[error("`{value}` is no yes or no for variable `{name}`")]
    Switch { name: String, value: String },
    #[error("it needs the extension `{name}`, which is not supported")]
    Extension { name: String },
    #[error("it sets `{name}` in `_jinja2_env_vars`, which is not supported")]
    Setting { name: String },
    #[error("cannot render variable `{name}`: {reason}")]
    Variable { name: String, reason: String },
    #[error("cannot render `{path}`: {reason}")]
    Text { path: String, reason: String },
    #[error("the path `{path}` leads out of the new folder")]
    Escapes { path: String },
    #[error("`{first}` and `{second}` have the same path `{path}`")]
    Twice { first: String, second: String, path: String },
    #[error("it has more than {limit} files")]
    TooMany { limit: usize },
    #[error("its files are larger than {limit_mib} MiB")]
    TooLarge { limit_mib: u64 },
    #[error("hook `{hook}` failed: {}", error.reason)]
    Hook { hook: String, error: ToolError },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`", path.display())]
    Disk { path: PathBuf, source: io::Error },
}
