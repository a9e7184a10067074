use std::time::Duration;

use api::output::{LeaseHolder, ProgressEvent};
use apply::waiting_for;

use super::event_text;

/// Returns the JSON line of a server event. `None` for events that only go to the log.
pub(super) fn progress_event(event: &apply::Event) -> Option<ProgressEvent> {
    Some(match event {
        apply::Event::Requested { .. } => return None,
        apply::Event::Retrying { action, reason: why, since, after } => ProgressEvent::Retrying {
            action: action.clone(),
            why: why.clone(),
            for_seconds: since.as_secs(),
            after_milliseconds: milliseconds(*after),
        },
        apply::Event::Warning { text, action } => {
            ProgressEvent::Warning { text: event_text::warning_line(text, action) }
        }
        apply::Event::Wrote { object, how } => ProgressEvent::Wrote { object: object.clone(), how: *how },
        apply::Event::Deleted { object } => ProgressEvent::Deleted { object: object.clone() },
        apply::Event::WaitingForLease { holder } => {
            ProgressEvent::WaitingForLease { holder: lease_holder(holder) }
        }
        apply::Event::TookOverLease { holder } => {
            ProgressEvent::TookOverLease { holder: lease_holder(holder) }
        }
        apply::Event::Waiting { blockers } => ProgressEvent::Waiting { blockers: waiting_for(blockers) },
        apply::Event::Migrating { definition, done, total: of } => {
            ProgressEvent::Migrating { definition: definition.clone(), done: *done, of: *of }
        }
    })
}

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

/// Returns the last line of a successful verb.
pub(super) fn result_event(result: &str, took: Duration) -> ProgressEvent {
    ProgressEvent::Done { text: result.to_owned(), milliseconds: milliseconds(took) }
}
