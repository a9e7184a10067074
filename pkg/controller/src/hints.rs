//! Next steps after errors of the controller.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use crate::{ControllerError, ShardError};

impl Explain for ControllerError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoDefinition => {
                ErrorExplanation::hint("install it: `capstan component definition | kubectl apply -f -`")
                    .with_kind(ErrorKind::User)
            }
            Self::Watch { .. } => ErrorExplanation::hint(
                "compare the definition and the permissions of the controller with `capstan controller manifests`",
            )
            .with_kind(ErrorKind::Environment),
            Self::LeaseLost { source } => ErrorExplanation::cause(&**source),
            Self::Api(error) => error.explain(),
        }
    }
}

impl Explain for ShardError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::kind(ErrorKind::User)
    }
}
