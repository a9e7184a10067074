//! Next steps after an error of a catalog.

use api::{ErrorExplanation, Explain};

use crate::reclass::{ClassError, InventoryError, ParameterProblem, ProblemKind, RenderError, TargetProblem};

impl Explain for InventoryError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Collision { second, .. } => {
                ErrorExplanation::hint(format!("delete or rename `{}`", second.display()))
            }
            _ => ErrorExplanation::default(),
        }
    }
}

impl Explain for RenderError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnknownTarget { similar, .. } => ErrorExplanation::hints(did_you_mean(similar)),
            Self::Problems { problems, .. } => ErrorExplanation::errors(problems),
        }
    }
}

impl Explain for TargetProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Class(ClassError::NotFound { similar, .. }) => {
                ErrorExplanation::hints(did_you_mean(similar))
            }
            Self::Class(_) => ErrorExplanation::default(),
            Self::Parameter(problem) => problem.explain(),
        }
    }
}

impl Explain for ParameterProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        match &self.kind {
            ProblemKind::MissingKey { similar, .. } => ErrorExplanation::hints(did_you_mean(similar)),
            ProblemKind::Constant { key, .. } => ErrorExplanation::hint(format!(
                "remove `{key}` from the later class, or the prefix `=` from the earlier one"
            )),
            ProblemKind::Mismatch { .. } => {
                ErrorExplanation::hint("to replace the earlier value, write the key with the prefix `~`")
            }
            _ => ErrorExplanation::default(),
        }
    }
}

fn did_you_mean(similar: &[String]) -> Option<String> {
    let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}
