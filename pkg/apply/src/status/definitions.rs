//! Definitions and other kinds that add kinds.

use super::{Conditions, Health, Status, conditions::missing_condition_status};

/// Returns the status of a definition. Rejected names are a failure until the other definition is deleted; a definition
/// in installation is in progress.
pub(super) fn definition(conditions: &Conditions<'_>) -> Status {
    let (names, established) = (conditions.get("NamesAccepted"), conditions.get("Established"));
    if let Some(names) = names.filter(|condition| condition.status == "False") {
        return Status::of(Health::Failed, names.describe());
    }
    match established {
        Some(established) if established.status == "False" && established.reason != "Installing" => {
            Status::of(Health::Failed, established.describe())
        }
        Some(established) if !established.is_true() => Status::in_progress(established.describe()),
        Some(_) => require_condition(conditions, "NamesAccepted"),
        None => missing_condition_status(conditions, "Established"),
    }
}

pub(super) fn api_service(conditions: &Conditions<'_>) -> Status {
    require_condition(conditions, "Available")
}

fn require_condition(conditions: &Conditions<'_>, kind: &str) -> Status {
    if conditions.get_true(kind).is_some() {
        Status::current()
    } else {
        missing_condition_status(conditions, kind)
    }
}
