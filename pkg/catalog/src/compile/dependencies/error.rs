//! Errors of dependencies.

use api::{ErrorExplanation, Explain};

use crate::compile::error::InputError;

/// A dependency that cannot be fetched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DependencyError {
    #[error("`parameters.kapitan.dependencies` of target `{target}` is not a list")]
    NotAList { target: String },
    #[error("`parameters.kapitan.dependencies[{index}]` of target `{target}` is invalid: {reason}")]
    Settings { target: String, index: usize, reason: String },
    #[error("dependency of target `{target}`: `{path}` is outside of the output folder and of its component")]
    Outside { target: String, path: String },
    #[error("cannot fetch {name}")]
    Fetch { name: String, source: Box<repository::Error> },
    #[error("cannot fetch {name}")]
    Chart { name: String, source: Box<repository::ChartSourceError> },
    #[error("cannot fetch {name}: {reason}")]
    Content { name: String, reason: String },
    #[error("cannot write {name}: {error}")]
    Write { name: String, error: InputError },
    #[error("{name}: subdir {folder} not found in repo")]
    NoFolder { name: String, folder: String },
}

impl Explain for DependencyError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Fetch { source, .. } => ErrorExplanation::cause(&**source),
            Self::Chart { source, .. } => ErrorExplanation::cause(&**source),
            Self::Outside { .. } => ErrorExplanation::hint("start `output_path` with `${_base_directory}/`"),
            _ => ErrorExplanation::default(),
        }
    }
}
