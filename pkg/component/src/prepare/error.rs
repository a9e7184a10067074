use api::{ErrorExplanation, Explain, output::ErrorKind};
use sops::SopsError;

use crate::{ComponentKey, FetchError, ReferenceError, RenderError};

/// The reason why the objects of a Component cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum PrepareError {
    /// References that cannot be resolved now. A later run may succeed.
    #[error("cannot resolve the references of Component `{component}`")]
    References { component: ComponentKey, problems: Vec<ReferenceError> },
    #[error("cannot fetch the source of Component `{component}`")]
    Fetch { component: ComponentKey, source: Box<FetchError> },
    #[error("cannot read the keys in `spec.decryption` of Component `{component}`")]
    Keys { component: ComponentKey, source: Box<SopsError> },
    #[error("cannot render Component `{component}`")]
    Render { component: ComponentKey, source: Box<RenderError> },
}

impl Explain for PrepareError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::References { problems, .. } => {
                let text =
                    |problem: &ReferenceError| format!("{}: {}", problem.field, api::with_causes(problem));
                let is_of_server = problems.iter().any(|problem| problem.source.is_some());
                let kind = if is_of_server { ErrorKind::Environment } else { ErrorKind::User };
                ErrorExplanation::texts(problems.iter().map(text)).with_kind(kind)
            }
            Self::Fetch { source, .. } => ErrorExplanation::cause(&**source),
            Self::Keys { source, .. } => ErrorExplanation::cause(&**source).with_kind(ErrorKind::User),
            Self::Render { source, .. } => ErrorExplanation::cause(&**source),
        }
    }
}
