use std::error::Error;

use apply::{EngineError, LeaseError, WriteError};
use bundle::BundleError;
use management::{LifecycleError, RenderError, ResolveError, StatusError};
use mover::MoveError;
use workload::{DiscoverError, RolloutError, WorkloadKubeconfigError};

use super::rules::as_error;

/// The error that another one only passes on. Such a one shows its text and its sources, never itself, so a look along
/// the chain would miss its facts.
pub(super) fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    std::iter::successors(Some(error), |error| passed_on(*error)).last().unwrap_or(error)
}

fn passed_on<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    as_error::<LifecycleError>(error)
        .and_then(of_lifecycle)
        .or_else(|| as_error::<MoveError>(error).and_then(of_move))
        .or_else(|| as_error::<DiscoverError>(error).and_then(of_discovery))
        .or_else(|| as_error::<StatusError>(error).map(of_status))
        .or_else(|| as_error::<RenderError>(error).and_then(of_rendering))
        .or_else(|| as_error::<WriteError>(error).map(of_write))
        .or_else(|| as_error::<WorkloadKubeconfigError>(error).and_then(of_workload))
        .or_else(|| as_error::<RolloutError>(error).and_then(of_rollout))
        .or_else(|| match as_error(error) {
            Some(BundleError::Repository(inner)) => Some(inner),
            Some(BundleError::Transport(inner)) => Some(inner),
            _ => None,
        })
        .or_else(|| match as_error(error) {
            Some(repository::Error::Transport(inner)) => Some(inner),
            _ => None,
        })
        .or_else(|| match as_error(error) {
            Some(EngineError::Api(inner)) => Some(inner),
            _ => None,
        })
        .or_else(|| match as_error(error) {
            Some(LeaseError::Api(inner)) => Some(inner),
            _ => None,
        })
        .or_else(|| match as_error(error) {
            Some(ResolveError::Release(inner)) => Some(inner),
            _ => None,
        })
}

fn of_lifecycle(error: &LifecycleError) -> Option<&(dyn Error + 'static)> {
    match error {
        LifecycleError::Contract(inner) => Some(inner),
        LifecycleError::Inventory(inner) => Some(inner),
        LifecycleError::Problems(inner) => Some(inner),
        LifecycleError::CertManager(inner) => Some(inner),
        LifecycleError::Upgrade(inner) => Some(inner),
        LifecycleError::Delete(inner) => Some(inner),
        LifecycleError::NotReady(inner) => Some(inner),
        LifecycleError::Unfinished(inner) => Some(inner),
        LifecycleError::Journal(inner) => Some(&**inner),
        LifecycleError::Api(inner) => Some(inner),
        LifecycleError::Resolve { .. } | LifecycleError::Objects { .. } => None,
    }
}

fn of_move(error: &MoveError) -> Option<&(dyn Error + 'static)> {
    match error {
        MoveError::Problems(inner) => Some(inner),
        MoveError::Journal(inner) => Some(inner),
        _ => None,
    }
}

fn of_discovery(error: &DiscoverError) -> Option<&(dyn Error + 'static)> {
    match error {
        DiscoverError::Inventory(inner) => Some(inner),
        DiscoverError::Api(inner) => Some(inner),
        DiscoverError::Definition { .. } => None,
    }
}

fn of_status(error: &StatusError) -> &(dyn Error + 'static) {
    match error {
        StatusError::Inventory(inner) => inner,
        StatusError::Api(inner) => inner,
    }
}

fn of_rendering(error: &RenderError) -> Option<&(dyn Error + 'static)> {
    match error {
        RenderError::Config(inner) => Some(inner),
        RenderError::CertManager(inner) => Some(inner),
        RenderError::Problems(inner) => Some(inner),
        RenderError::Resolve { .. } => None,
    }
}

fn of_write(error: &WriteError) -> &(dyn Error + 'static) {
    match error {
        WriteError::Api(inner) => inner,
        WriteError::Impossible(inner) => inner,
    }
}

fn of_workload(error: &WorkloadKubeconfigError) -> Option<&(dyn Error + 'static)> {
    match error {
        WorkloadKubeconfigError::Contract(inner) => Some(inner),
        WorkloadKubeconfigError::Api(inner) => Some(inner),
        _ => None,
    }
}

fn of_rollout(error: &RolloutError) -> Option<&(dyn Error + 'static)> {
    match error {
        RolloutError::Contract(inner) => Some(inner),
        RolloutError::Api(inner) => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use inventory::{ContractError, Problem, Problems};

    use crate::hints::{for_error, members};

    use super::*;

    #[test]
    fn a_full_disk_is_told_from_within_a_bundle() {
        let full = || BundleError::Write { path: "x".into(), source: std::io::ErrorKind::StorageFull.into() };
        assert_eq!(for_error(&full()), ["make room and run it again"]);
        let unsent = BundleError::Unsent { address: "oci://lab/x:v1".to_owned(), source: Box::new(full()) };
        assert_eq!(for_error(&unsent).last().map(String::as_str), Some("make room and run it again"));
    }

    #[test]
    fn what_a_bundle_only_passes_on_keeps_its_hints() {
        let pinned = || repository::Error::CannotList { place: "https://lab".to_owned() };
        assert_eq!(for_error(&BundleError::Repository(pinned())), for_error(&pinned()));
        assert!(!for_error(&pinned()).is_empty());
    }

    #[test]
    fn facts_of_an_error_that_is_only_passed_on_are_found() {
        let absent = LifecycleError::Contract(ContractError::Absent);
        assert_eq!(for_error(&absent), ["`capstan init` installs it"]);
        let problem = |text: &str| Problem {
            text: text.to_owned(),
            hint: Some(format!("mend {text}")),
            can_be_ignored: false,
        };
        let problems = LifecycleError::Problems(Problems { problems: vec![problem("one"), problem("two")] });
        assert_eq!(members(&problems), ["one", "two"]);
        assert_eq!(for_error(&problems), ["mend one", "mend two"]);
    }
}
