//! Errors of commands that change the installed providers.

use apply::{ApiError, EngineError};
use inventory::{ContractError, InventoryError, PreflightProblems};
use mover::{JournalError, MoveJournal};

use crate::{
    CertManagerError, DeleteError, JournalState, LifecycleVerb, NotReady, ResolveError, UpgradeError,
};

/// An error of `init`, `upgrade` or `delete`, while planning or executing.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    #[error(transparent)]
    Contract(#[from] ContractError),
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// Providers that cannot be rendered, each with its reason.
    #[error("{} cannot be rendered", verb.rendered(errors.len()))]
    Resolve { verb: LifecycleVerb, errors: Vec<ResolveError> },
    /// Problems found before any write.
    #[error(transparent)]
    Problems(#[from] PreflightProblems),
    #[error(transparent)]
    CertManager(#[from] CertManagerError),
    #[error(transparent)]
    Upgrade(#[from] UpgradeError),
    #[error(transparent)]
    Delete(#[from] DeleteError),
    /// An object of a provider failed. Finished steps are recorded.
    #[error("cannot {} `{provider}`", verb.of_one())]
    Apply {
        verb: LifecycleVerb,
        provider: api::ProviderId,
        #[source]
        source: Box<EngineError>,
    },
    #[error(transparent)]
    Unfinished(#[from] UnfinishedRun),
    /// The journal of a move cannot be read.
    #[error(transparent)]
    Journal(#[from] Box<JournalError>),
    /// Objects that are not ready or not gone in time, if that is a failure.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// An interrupted run that must be completed or undone before other changes.
#[derive(Debug, thiserror::Error)]
pub enum UnfinishedRun {
    /// An unfinished upgrade.
    #[error("the upgrade begun at {} is not finished", _0.begun)]
    Upgrade(JournalState),
    /// An unfinished move from or to this cluster.
    #[error("the move begun at {} from `{}` to `{}` is not finished", _0.begun, _0.source.address, _0.target.address)]
    Move(Box<MoveJournal>),
}

impl From<JournalError> for LifecycleError {
    fn from(error: JournalError) -> Self {
        Self::Journal(Box::new(error))
    }
}

impl LifecycleError {
    pub(crate) fn apply_error(verb: LifecycleVerb, provider: api::ProviderId, source: EngineError) -> Self {
        Self::Apply { verb, provider, source: Box::new(source) }
    }
}

impl UnfinishedRun {
    /// Returns the warning for a change that ignores the interrupted run.
    pub(crate) fn abandon_warning(&self) -> String {
        let lost = match self {
            Self::Upgrade(_) => "it may be impossible to complete it or to roll it back",
            Self::Move(_) => {
                "it may be impossible to complete it or to undo it; its Clusters stay paused until you resume them"
            }
        };
        format!("{self}; {lost}")
    }
}

impl LifecycleVerb {
    /// Returns the verb for a single provider.
    fn of_one(self) -> &'static str {
        match self {
            Self::Init => "install",
            Self::Upgrade => "upgrade",
            Self::Delete => "delete",
        }
    }

    /// Returns the number of rendered items, in words.
    fn rendered(self, providers: usize) -> String {
        match self {
            Self::Upgrade => format!("{providers} of the new versions"),
            Self::Init | Self::Delete => several(providers),
        }
    }
}

/// Returns the number of providers, as the start of a sentence.
pub(crate) fn several(providers: usize) -> String {
    if providers == 1 { "a provider".to_owned() } else { format!("{providers} providers") }
}

#[cfg(test)]
mod tests {
    use provider::config::UnknownProvider;

    use super::*;
    use crate::tests::docker;

    #[test]
    fn each_verb_tells_in_its_own_words_what_it_could_not_do() {
        let unrendered = |verb, count| {
            let unknown = || UnknownProvider {
                provider_type: docker().provider_type,
                name: docker().name,
                suggestions: Vec::new(),
                other_types: Vec::new(),
            };
            let error = || ResolveError::Unknown { provider: docker(), source: Box::new(unknown()) };
            let errors = std::iter::repeat_with(error).take(count).collect();
            LifecycleError::Resolve { verb, errors }.to_string()
        };
        assert_eq!(unrendered(LifecycleVerb::Init, 1), "a provider cannot be rendered");
        assert_eq!(unrendered(LifecycleVerb::Init, 2), "2 providers cannot be rendered");
        assert_eq!(unrendered(LifecycleVerb::Upgrade, 1), "1 of the new versions cannot be rendered");
        for (verb, text) in [
            (LifecycleVerb::Init, "install"),
            (LifecycleVerb::Upgrade, "upgrade"),
            (LifecycleVerb::Delete, "delete"),
        ] {
            let refused =
                LifecycleError::apply_error(verb, docker(), EngineError::Writes { failed: Vec::new() });
            assert_eq!(refused.to_string(), format!("cannot {text} `infrastructure-docker`"));
        }
    }
}
