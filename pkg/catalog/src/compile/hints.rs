//! Next steps after an error of a target.

use api::{ErrorExplanation, Explain};

use super::error::{CompileError, InputError, TargetError};

impl Explain for CompileError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Targets(targets) => ErrorExplanation::errors(targets),
            Self::Output { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for TargetError {
    fn explain(&self) -> ErrorExplanation<'_> {
        self.error.explain()
    }
}

impl Explain for InputError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Missing { searched, .. } => ErrorExplanation::texts(
                searched.iter().map(|folder| format!("searched `{}`", folder.display())),
            ),
            Self::Outside { .. } => {
                ErrorExplanation::hint("write into the target, or into `${_base_directory}`")
            }
            Self::Jsonnet(error) => error.explain(),
            Self::Reference(error) => error.explain(),
            Self::Helm { hints, .. } | Self::Kustomize { hints, .. } | Self::External { hints, .. } => {
                ErrorExplanation::hints(hints.iter().cloned())
            }
            _ => ErrorExplanation::default(),
        }
    }
}
