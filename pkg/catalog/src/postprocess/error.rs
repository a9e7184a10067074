//! Errors of filters.

use std::io;
use std::path::PathBuf;

use api::{ErrorExplanation, Explain};

use crate::jsonnet::JsonnetError;
use crate::yaml::YamlError;

/// A filter that fails.
#[derive(Debug, thiserror::Error)]
pub enum PostprocessError {
    /// A builtin filter lacks an argument.
    #[error("Builtin filter '{filter}': filter argument '{argument}' is required")]
    MissingArgument {
        /// The filter.
        filter: String,
        /// The argument.
        argument: &'static str,
    },
    /// An argument that is no text.
    #[error("argument `{argument}` of filter `{filter}` is not a string")]
    NotText {
        /// The filter.
        filter: String,
        /// The argument.
        argument: String,
    },
    /// An object without a field that the filter needs.
    #[error("cannot process `{}`: field does not exist: {field}", path.display())]
    MissingField {
        /// The file.
        path: PathBuf,
        /// The field.
        field: &'static str,
    },
    /// A document that is no object.
    #[error("cannot process `{}`: a document is not an object", path.display())]
    NotObject {
        /// The file.
        path: PathBuf,
    },
    /// A file that is no YAML.
    #[error("cannot read `{}`: {error}", path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: YamlError,
    },
    /// A program that fails.
    #[error(transparent)]
    Jsonnet(#[from] JsonnetError),
    /// A result that is no object.
    #[error("the result of filter `{filter}` is not an object")]
    NotFiles {
        /// The filter.
        filter: String,
    },
    /// A file name that leaves the folder of the filter.
    #[error("`{name}` is outside of the folder of the filter")]
    Outside {
        /// The name.
        name: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {verb} `{}`: {error}", path.display())]
    Io {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
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
