//! Next steps after errors of the controller.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use crate::ControllerError;

impl Explain for ControllerError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoDefinition => {
                ErrorExplanation::hint("install it: `capstan component definition | kubectl apply -f -`")
                    .with_kind(ErrorKind::User)
            }
            Self::Watch { source } | Self::LeaseLost { source } => ErrorExplanation::cause(&**source),
            Self::Api(error) => error.explain(),
        }
    }
}
