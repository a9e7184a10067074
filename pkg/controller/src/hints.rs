//! Next steps after errors of the controller.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use crate::{ControllerError, InstallationError, ShardError};

impl Explain for ControllerError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoDefinition => {
                ErrorExplanation::hint("install it: `capstan component definition | kubectl apply -f -`")
                    .with_kind(ErrorKind::User)
            }
            Self::Watch { .. } => ErrorExplanation::hint(
                "compare the definition and the permissions of the controller with `capstan controller manifests --image IMAGE`",
            )
            .with_kind(ErrorKind::Environment),
            Self::LeaseLost { .. } => {
                ErrorExplanation::hint("start this controller again; it waits until the other one has ended")
                    .with_kind(ErrorKind::Conflict)
            }
            Self::Api(error) => error.explain(),
        }
    }
}

impl Explain for ShardError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::kind(ErrorKind::User)
    }
}

impl Explain for InstallationError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Record { .. } => ErrorExplanation::hint(
                "another release of capstan wrote the record; use that release, or delete the ConfigMap and install again",
            )
            .with_kind(ErrorKind::Conflict),
            Self::Install { source, .. } | Self::Remove { source, .. } => ErrorExplanation::cause(&**source),
            Self::NotReady { blockers, .. } => {
                ErrorExplanation::texts(blockers.iter().map(apply::Blocker::describe))
                    .with_hint("re-run the same command to go on waiting, or wait longer with `--timeout`")
            }
            Self::NotDeleted { blockers, .. } => {
                ErrorExplanation::texts(blockers.iter().map(apply::Blocker::describe))
                    .with_hint("re-run the same command to delete the remaining objects")
            }
            Self::Api(error) => error.explain(),
        }
    }
}
