//! Errors of a single component.

use api::{ErrorExplanation, Explain};

use crate::CatalogError;
use crate::compile::{CompileError, DependencyError};
use crate::postprocess::PostprocessError;
use crate::references::ReferenceError;

/// A component, package or catalog that cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The component, its parameters or its Jsonnet libraries.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A dependency cannot be fetched.
    #[error(transparent)]
    Dependency(#[from] DependencyError),
    /// A reference to a secret cannot be stored.
    #[error(transparent)]
    References(#[from] ReferenceError),
    /// An input fails.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A filter fails.
    #[error(transparent)]
    Postprocess(#[from] PostprocessError),
}

impl Explain for ComponentError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Catalog(error) => error.explain(),
            Self::Dependency(error) => error.explain(),
            Self::References(error) => error.explain(),
            Self::Compile(error) => error.explain(),
            Self::Postprocess(error) => error.explain(),
        }
    }
}
