use std::time::Duration;

use api::output::{LeaseHolder, ProgressEvent};
use apply::{object_name, waiting_for};

use super::words;

/// The line of a server's event; none for those that belong into the log.
pub(super) fn of_server(event: &apply::Event) -> Option<ProgressEvent> {
    Some(match event {
        apply::Event::Requested { .. } => return None,
        apply::Event::Retrying { action, why, since, after } => ProgressEvent::Retrying {
            action: action.clone(),
            why: why.clone(),
            for_seconds: since.as_secs(),
            after_milliseconds: milliseconds(*after),
        },
        apply::Event::Warning { text, action } => {
            ProgressEvent::Warning { text: words::warned(text, action) }
        }
        apply::Event::Wrote { object, how } => {
            ProgressEvent::Wrote { object: object_name(object), how: *how }
        }
        apply::Event::Deleted { object } => ProgressEvent::Deleted { object: object_name(object) },
        apply::Event::WaitingForLease { holder } => {
            ProgressEvent::WaitingForLease { holder: lease_holder(holder) }
        }
        apply::Event::TookOverLease { holder } => {
            ProgressEvent::TookOverLease { holder: lease_holder(holder) }
        }
        apply::Event::Waiting { blockers } => ProgressEvent::Waiting { blockers: waiting_for(blockers) },
        apply::Event::Migrating { definition, done, of } => {
            ProgressEvent::Migrating { definition: definition.clone(), done: *done, of: *of }
        }
    })
}

/// A run that holds a lease, for scripts.
pub(crate) fn lease_holder(holder: &apply::LeaseHolder) -> LeaseHolder {
    LeaseHolder {
        host: holder.host.clone(),
        process: holder.process.clone(),
        command: holder.verb.clone(),
        since: holder.since.map(|since| format!("{since:.0}")),
    }
}

fn milliseconds(after: Duration) -> u64 {
    u64::try_from(after.as_millis()).unwrap_or(u64::MAX)
}

/// The last line of a verb that has succeeded.
pub(super) fn done(result: &str, took: Duration) -> ProgressEvent {
    ProgressEvent::Done { text: result.to_owned(), milliseconds: milliseconds(took) }
}
