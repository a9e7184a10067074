//! Errors of commands that change the installed providers.

use api::output::UnfinishedUpgrade;
use apply::{ApiError, EngineError, ObjectKey};
use inventory::{ContractError, InventoryError, PreflightProblems};
use mover::{JournalError, MoveJournal, listed};

use crate::{CertManagerError, DeleteError, LifecycleVerb, NotReady, ResolveError, UpgradeError};

/// An error of `init`, `upgrade` or `delete`, while planning or executing.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    #[error(transparent)]
    Contract(#[from] ContractError),
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// Providers that cannot be rendered, each with its reason.
    #[error("cannot render {}", verb.rendered(errors.len()))]
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
    #[error("{} started at {} is unfinished", _0.subject(), _0.begun)]
    Upgrade(UnfinishedUpgrade),
    /// An unfinished move from or to this cluster.
    #[error("the move started at {} from `{}` to `{}` is unfinished", _0.begun, _0.source.address, _0.target.address)]
    Move(Box<MoveJournal>),
    /// An unfinished restore to this cluster.
    #[error("a restore is unfinished; it has paused {}", listed(paused))]
    Restore {
        /// The command that completes the restore.
        command: String,
        /// The Clusters and ClusterClasses that the restore has paused.
        paused: Vec<ObjectKey>,
    },
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
            Self::Upgrade(_) => "this change may prevent completing it or rolling it back",
            Self::Move(_) => {
                "this change may prevent completing or undoing it; its Clusters stay paused until you resume them"
            }
            Self::Restore { .. } => {
                "this change may prevent completing it; its Clusters stay paused until you resume them"
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
            Self::Upgrade if providers == 1 => "a new provider version".to_owned(),
            Self::Upgrade => format!("{providers} new provider versions"),
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
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::testing::docker;

    #[test]
    fn each_verb_has_its_own_error_text() {
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
        assert_data_eq!(unrendered(LifecycleVerb::Init, 1), str!["cannot render a provider"]);
        assert_data_eq!(unrendered(LifecycleVerb::Init, 2), str!["cannot render 2 providers"]);
        assert_data_eq!(unrendered(LifecycleVerb::Upgrade, 1), str!["cannot render a new provider version"]);
        let refused = [LifecycleVerb::Init, LifecycleVerb::Upgrade, LifecycleVerb::Delete].map(|verb| {
            LifecycleError::apply_error(verb, docker(), EngineError::Writes { failed: Vec::new() })
                .to_string()
        });
        assert_data_eq!(
            refused.join("\n"),
            str![[r#"
cannot install `infrastructure-docker`
cannot upgrade `infrastructure-docker`
cannot delete `infrastructure-docker`
"#]]
        );
    }
}
