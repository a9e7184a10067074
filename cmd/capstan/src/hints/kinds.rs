use std::error::Error;

use apply::{ApiError, InUse, LeaseError};
use management::UnfinishedRun;
use mover::{JournalError, MoveError};
use provider::{
    MissingValues, ReleaseError,
    config::{ConfigError, UnknownProvider},
};
use repository::NotAsLocked;
use workload::{DescribeError, InvalidResource, RolloutError};

use super::{inner::innermost, rules::as_error};
use crate::{
    failure::{Kind, chain},
    settings::{KubeconfigError, SettingsError},
};

/// The kind of an error of a library, by the outermost error of its chain that has one.
pub(crate) fn kind_of(error: &(dyn Error + 'static)) -> Kind {
    let kind = |error| {
        let error = innermost(error);
        if is_of_user(error) {
            Some(Kind::User)
        } else if is_conflict(error) {
            Some(Kind::Conflict)
        } else {
            None
        }
    };
    chain(error).find_map(kind).unwrap_or(Kind::Environment)
}

fn is_of_user(error: &(dyn Error + 'static)) -> bool {
    as_error::<MissingValues>(error).is_some()
        || as_error::<UnknownProvider>(error).is_some()
        || as_error::<ConfigError>(error).is_some()
        || as_error::<SettingsError>(error).is_some()
        || as_error::<InvalidResource>(error).is_some()
        || matches!(as_error(error), Some(ReleaseError::Version { .. }))
        || matches!(as_error(error), Some(DescribeError::NoSuchCluster { .. }))
        || matches!(as_error(error), Some(RolloutError::NotFound { .. } | RolloutError::Unknown { .. }))
        || matches!(as_error(error), Some(MoveError::SameCluster))
        || matches!(
            as_error(error),
            Some(KubeconfigError::NoCurrentContext { .. } | KubeconfigError::NoSuchContext { .. })
        )
}

fn is_conflict(error: &(dyn Error + 'static)) -> bool {
    as_error::<NotAsLocked>(error).is_some()
        || as_error::<InUse>(error).is_some()
        || as_error::<UnfinishedRun>(error).is_some()
        || matches!(as_error(error), Some(LeaseError::Held { .. }))
        || matches!(as_error(error), Some(ApiError::LeaseLost { .. }))
        || matches!(as_error(error), Some(JournalError::Another { .. } | JournalError::TakenOver))
}

#[cfg(test)]
mod tests {
    use management::LifecycleError;

    use super::*;

    #[test]
    fn the_kind_of_an_error_is_found_below_the_errors_that_only_pass_it_on() {
        let not_found = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert_eq!(kind_of(&not_found), Kind::Environment);
        assert_eq!(kind_of(&KubeconfigError::NoCurrentContext { known: Vec::new() }), Kind::User);
        let taken_over = || JournalError::TakenOver;
        assert_eq!(kind_of(&taken_over()), Kind::Conflict);
        assert_eq!(kind_of(&MoveError::Journal(taken_over())), Kind::Conflict);
        assert_eq!(kind_of(&LifecycleError::Contract(inventory::ContractError::Absent)), Kind::Environment);
    }
}
