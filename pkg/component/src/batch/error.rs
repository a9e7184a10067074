use api::{ErrorExplanation, Explain, error_chain, output::ErrorKind};
use apply::{ApiError, ObjectKey};

use crate::{ComponentKey, DependencyCycle, PrepareError, RunError, StoreError, TargetError};

/// The reason why Components cannot be planned or applied.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Components depend on each other.
    #[error(transparent)]
    Cycle(#[from] DependencyCycle),
    /// The problems of some Components.
    #[error("cannot apply {}", count(.problems))]
    #[allow(missing_docs)]
    Problems { problems: Vec<ComponentProblem> },
    /// The failure of a run. Components before it are applied.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The failure of the storage of Components.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The failure of the server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// The reason why one Component cannot be planned.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ComponentProblem {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A Component that may need objects of its dependencies, which are only planned.
    #[error(transparent)]
    BeforeDependencies(PrepareError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("Component `{component}` waits for other Components")]
    Dependencies { component: ComponentKey, waiting: Vec<String> },
    #[error("Component `{component}` is being deleted")]
    Deleting { component: ComponentKey },
    #[error("Component `{component}` has the same objects as Component `{owner}`")]
    SharedObjects { component: ComponentKey, owner: ComponentKey, objects: Vec<ObjectKey> },
}

fn count(problems: &[ComponentProblem]) -> String {
    match problems.len() {
        1 => "1 Component".to_owned(),
        several => format!("{several} Components"),
    }
}

impl Explain for BatchError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Cycle(error) => error.explain(),
            Self::Problems { problems } => match problems.as_slice() {
                [only] => ErrorExplanation::cause(only),
                several => explain_all(several),
            },
            Self::Run(error) => error.explain(),
            Self::Store(error) => error.explain(),
            Self::Api(error) => error.explain(),
        }
    }
}

/// Explains several problems, each with its causes on one line.
fn explain_all(problems: &[ComponentProblem]) -> ErrorExplanation<'_> {
    let chains: Vec<_> = problems.iter().map(|problem| error_chain(problem)).collect();
    let mut hints: Vec<String> = Vec::new();
    for hint in chains.iter().flat_map(|chain| &chain.hints) {
        if !hints.contains(hint) {
            hints.push(hint.clone());
        }
    }
    let explained = ErrorExplanation::texts(chains.iter().map(|chain| chain.lines.join(": ")));
    let kind = chains.iter().find_map(|chain| chain.kind);
    let explained = hints.into_iter().fold(explained, ErrorExplanation::with_hint);
    match kind {
        Some(kind) => explained.with_kind(kind),
        None => explained,
    }
}

impl Explain for ComponentProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Prepare(error) => error.explain(),
            Self::BeforeDependencies(error) => error
                .explain()
                .with_last_hint("if it needs objects of its dependencies, apply the dependencies first"),
            Self::Target(error) => error.explain(),
            Self::Run(error) => error.explain(),
            Self::Api(error) => error.explain(),
            Self::Dependencies { waiting, .. } => ErrorExplanation::texts(waiting.iter().cloned())
                .with_hint(
                    "apply the dependencies with the same command, or wait with `capstan component wait`",
                )
                .with_kind(ErrorKind::Conflict),
            Self::Deleting { component } => ErrorExplanation::hint(format!(
                "complete the deletion with `capstan component delete {} -n {}`, then apply again",
                component.name, component.namespace
            ))
            .with_kind(ErrorKind::Conflict),
            Self::SharedObjects { objects, .. } => ErrorExplanation::texts(
                objects.iter().map(ToString::to_string),
            )
            .with_hint("keep each object in one Component, or set `spec.adoptionPolicy: Always` in both"),
        }
    }
}
