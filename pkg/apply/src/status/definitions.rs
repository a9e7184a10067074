//! Definitions and other kinds that add kinds.

use super::{Conditions, Health, Status, conditions::awaited};

/// Returns the status of a definition. Rejected names are a failure until the other definition is deleted; a definition
/// in installation is in progress.
pub(super) fn definition(conditions: &Conditions<'_>) -> Status {
    let (names, established) = (conditions.get("NamesAccepted"), conditions.get("Established"));
    if let Some(names) = names.filter(|condition| condition.status == "False") {
        return Status::of(Health::Failed, names.words());
    }
    match established {
        Some(established) if established.status == "False" && established.reason != "Installing" => {
            Status::of(Health::Failed, established.words())
        }
        Some(established) if !established.is_true() => Status::in_progress(established.words()),
        Some(_) => need(conditions, "NamesAccepted"),
        None => awaited(conditions, "Established"),
    }
}

pub(super) fn api_service(conditions: &Conditions<'_>) -> Status {
    need(conditions, "Available")
}

fn need(conditions: &Conditions<'_>, kind: &str) -> Status {
    if conditions.get_true(kind).is_some() { Status::current() } else { awaited(conditions, kind) }
}
