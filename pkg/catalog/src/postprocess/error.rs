//! Errors of filters.

use std::io;
use std::path::PathBuf;

use api::{ErrorExplanation, Explain};

use crate::jsonnet::JsonnetError;
use crate::yaml::YamlError;

/// A filter that fails.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum PostprocessError {
    /// A builtin filter lacks an argument.
    #[error("Builtin filter '{filter}': filter argument '{argument}' is required")]
    MissingArgument { filter: String, argument: &'static str },
    /// An argument that is no text.
    #[error("argument `{argument}` of filter `{filter}` is not a string")]
    NotText { filter: String, argument: String },
    /// An object without a field that the filter needs.
    #[error("cannot process `{}`: field does not exist: {field}", path.display())]
    MissingField { path: PathBuf, field: &'static str },
    /// A document that is no object.
    #[error("cannot process `{}`: a document is not an object", path.display())]
    NotObject { path: PathBuf },
    /// A file that is no YAML.
    #[error("cannot read `{}`: {error}", path.display())]
    Yaml { path: PathBuf, error: YamlError },
    /// A program that fails.
    #[error(transparent)]
    Jsonnet(#[from] JsonnetError),
    /// A result that is no object.
    #[error("the result of filter `{filter}` is not an object")]
    NotFiles { filter: String },
    /// A file name that leaves the folder of the filter.
    #[error("`{name}` is outside of the folder of the filter")]
    Outside { name: String },
    /// A file cannot be read or written.
    #[error("cannot {verb} `{}`: {error}", path.display())]
    Io {
        /// `read` or `write`.
        verb: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

impl Explain for PostprocessError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Jsonnet(error) => error.explain(),
            Self::MissingField { field, .. } => ErrorExplanation::hint(format!(
                "give each entry of `exclude_objects` and each object a `{field}`"
            )),
            _ => ErrorExplanation::default(),
        }
    }
}
