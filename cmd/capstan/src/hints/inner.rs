use std::error::Error;

use apply::{EngineError, WriteError};
use management::{DeleteError, InitError, RenderError, ResolveError, StatusError, UpgradeError};

use super::rules::as_error;

/// The error that another one only passes on. Such a one shows its text and its sources, never itself, so a look along
/// the chain would miss its facts.
pub(super) fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    std::iter::successors(Some(error), |error| passed_on(*error)).last().unwrap_or(error)
}

fn passed_on<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    as_error::<InitError>(error)
        .and_then(of_init)
        .or_else(|| as_error::<UpgradeError>(error).and_then(of_upgrade))
        .or_else(|| as_error::<DeleteError>(error).and_then(of_deletion))
        .or_else(|| as_error::<StatusError>(error).map(of_status))
        .or_else(|| as_error::<RenderError>(error).and_then(of_rendering))
        .or_else(|| as_error::<WriteError>(error).map(of_write))
        .or_else(|| match as_error(error) {
            Some(EngineError::Api(inner)) => Some(inner),
            _ => None,
        })
        .or_else(|| match as_error(error) {
            Some(ResolveError::Release(inner)) => Some(inner),
            _ => None,
        })
}

fn of_init(error: &InitError) -> Option<&(dyn Error + 'static)> {
    match error {
        InitError::Contract(inner) => Some(inner),
        InitError::Inventory(inner) => Some(inner),
        InitError::Problems(inner) => Some(inner),
        InitError::CertManager(inner) => Some(inner),
        InitError::NotReady(inner) => Some(inner),
        InitError::Api(inner) => Some(inner),
        _ => None,
    }
}

fn of_upgrade(error: &UpgradeError) -> Option<&(dyn Error + 'static)> {
    match error {
        UpgradeError::Contract(inner) => Some(inner),
        UpgradeError::Inventory(inner) => Some(inner),
        UpgradeError::Problems(inner) => Some(inner),
        UpgradeError::CertManager(inner) => Some(inner),
        UpgradeError::NotReady(inner) => Some(inner),
        UpgradeError::Api(inner) => Some(inner),
        _ => None,
    }
}

fn of_deletion(error: &DeleteError) -> Option<&(dyn Error + 'static)> {
    match error {
        DeleteError::Contract(inner) => Some(inner),
        DeleteError::Inventory(inner) => Some(inner),
        DeleteError::NotReady(inner) => Some(inner),
        DeleteError::Api(inner) => Some(inner),
        _ => None,
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

#[cfg(test)]
mod tests {
    use management::{ContractError, Problem, Problems};

    use crate::hints::{for_error, members};

    use super::*;

    #[test]
    fn facts_of_an_error_that_is_only_passed_on_are_found() {
        let absent = InitError::Contract(ContractError::Absent);
        assert_eq!(for_error(&absent), ["`init` installs it"]);
        let problem = |text: &str| Problem {
            text: text.to_owned(),
            hint: Some(format!("mend {text}")),
            can_be_ignored: false,
        };
        let problems = UpgradeError::Problems(Problems { problems: vec![problem("one"), problem("two")] });
        assert_eq!(members(&problems), ["one", "two"]);
        assert_eq!(for_error(&problems), ["mend one", "mend two"]);
    }
}
