//! Next steps after errors about Components.

use api::{ErrorExplanation, Explain, output::ErrorKind};
use apply::{EngineError, WriteError};

use crate::{
    ArchiveError, DependencyCycle, FetchError, FieldProblem, InventoryError, ReferenceError, StoreError,
    TargetError, UnreadableComponent, run::RunError,
};

const ADOPTION_HINT: &str = "adopt existing objects with `spec.adoptionPolicy`, or change their names";

impl Explain for FieldProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::kind(ErrorKind::User)
    }
}

impl Explain for DependencyCycle {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint("remove one of these from `spec.dependencies`").with_kind(ErrorKind::User)
    }
}

impl Explain for ReferenceError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match &self.source {
            Some(source) => ErrorExplanation::cause(&**source),
            None => ErrorExplanation::kind(ErrorKind::User),
        }
    }
}

impl Explain for ArchiveError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint("an artifact is a gzipped tar archive of files and folders, without links")
            .with_kind(ErrorKind::User)
    }
}

impl Explain for FetchError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Download { source, .. } => ErrorExplanation::cause(source).with_last_hint(
                "if only pods of the cluster reach this address, download the artifact and use `--source FILE`",
            ),
            Self::UnknownDigest { .. } => {
                ErrorExplanation::hint("set `--artifact-digest-algo=sha256` of the source controller of Flux")
            }
            Self::Digest { .. } => ErrorExplanation::default(),
            Self::Archive { source, .. } => source.explain(),
        }
    }
}

impl Explain for RunError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::InvalidObjects { problems, .. } => ErrorExplanation::errors(problems),
            Self::Plan { problems, .. } => ErrorExplanation::errors(problems).with_hint(ADOPTION_HINT),
            Self::TooManyObjects { .. } => {
                ErrorExplanation::hint("divide the objects among several Components")
                    .with_kind(ErrorKind::User)
            }
            Self::Engine { source, .. } => {
                let cause = ErrorExplanation::cause(&**source);
                match &**source {
                    EngineError::Writes { failed }
                        if failed.iter().any(|(_, error)| matches!(error, WriteError::Plan(_))) =>
                    {
                        cause.with_last_hint(ADOPTION_HINT)
                    }
                    _ => cause,
                }
            }
            Self::NotReady { blockers, .. } => {
                ErrorExplanation::texts(blockers.iter().map(apply::Blocker::describe))
                    .with_hint("re-run the same command to go on waiting, or set `spec.timeout`")
            }
            Self::NotDeleted { blockers, .. } => {
                ErrorExplanation::texts(blockers.iter().map(apply::Blocker::describe))
                    .with_hint("re-run the same command to delete the remaining objects")
            }
            Self::OtherFinalizers { .. } => ErrorExplanation::hint(
                "re-run the same command once these programs have removed their finalizers",
            )
            .with_kind(ErrorKind::Conflict),
            Self::Target(error) => error.explain(),
            Self::Inventory(error) => error.explain(),
            Self::Api(error) => error.explain(),
        }
    }
}

impl Explain for TargetError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Reference { source, .. } => ErrorExplanation::cause(source),
            Self::Kubeconfig { .. } => ErrorExplanation::hint(
                "write certificates, keys and tokens into the kubeconfig of the Secret, without files and plug-ins",
            )
            .with_kind(ErrorKind::User),
            Self::Connect { source, .. } => ErrorExplanation::cause(&**source),
        }
    }
}

impl Explain for UnreadableComponent {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(
            "use the version of capstan that wrote it, or correct or delete the object with kubectl",
        )
    }
}

impl Explain for StoreError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Unreadable { components } => ErrorExplanation::errors(components),
            Self::Api(error) => error.explain(),
        }
    }
}

impl Explain for InventoryError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint("a newer program may have written it; use that program, or a newer capstan")
    }
}
