use std::time::Duration;

use api::output::{MovePhase, ProgressEvent, ProgressStep, StepCounts};
use apply::{ObjectKey, Written};

use crate::ui::{format_count, format_duration};

/// The message of an event.
pub(super) enum EventText {
    Status(String),
    /// A part of a step. The total is shown at the end of the step.
    Progress(String),
    Warning(String),
}

/// Returns the line of an event. Lines that clusterctl has too are identical, because scripts may search for them.
/// Source: clusterctl v1.14, run: message, then `key=<json>` in the order of the call.
pub(super) fn event_text(event: &ProgressEvent) -> Option<EventText> {
    Some(EventText::Status(match event {
        ProgressEvent::Step { .. } => step_line(event)?,
        ProgressEvent::Resuming { what } => format!("resuming {what}"),
        ProgressEvent::Moving { phase, done, of } if done < of || *of == 0 => {
            return Some(EventText::Progress(move_line(*phase, *done, *of)));
        }
        ProgressEvent::Moving { phase, done, of } => move_line(*phase, *done, *of),
        ProgressEvent::Saving { done, of } => {
            return Some(EventText::Progress(format!("read {done} of {of} objects")));
        }
        ProgressEvent::MoveBlocked { objects } => {
            format!("waiting for providers to unblock the move of {}", object_names(objects))
        }
        ProgressEvent::MoveResting { objects } => {
            format!("waiting for controllers to acknowledge the pause of {}", object_names(objects))
        }
        ProgressEvent::Warning { text } => return Some(EventText::Warning(text.clone())),
        _ => return None,
    }))
}

fn step_line(event: &ProgressEvent) -> Option<String> {
    let ProgressEvent::Step { step, provider, from, version, namespace, counts, took } = event else {
        return None;
    };
    let text = |field: &Option<String>| quoted(field.as_deref().unwrap_or_default());
    let (from, to) = (text(from), text(version));
    let reference = || {
        let (name, namespace) = (text(provider), text(namespace));
        format!("Provider={{\"name\":{name},\"namespace\":{namespace}}} providerVersion={to}")
    };
    Some(match step {
        ProgressStep::FetchingProviders => "Fetching providers".to_owned(),
        ProgressStep::CertManagerFound => {
            "Skipping installing cert-manager as it is already installed".to_owned()
        }
        ProgressStep::InstallingCertManager => format!("Installing cert-manager version={to}"),
        ProgressStep::WaitingForCertManager => "Waiting for cert-manager to be available...".to_owned(),
        ProgressStep::CheckingCertManager => "Checking if cert-manager needs upgrade...".to_owned(),
        ProgressStep::CertManagerUpToDate => "Cert-manager is already up to date".to_owned(),
        ProgressStep::PerformingUpgrade => "Performing upgrade...".to_owned(),
        ProgressStep::CheckingReleases => "Checking new release availability...".to_owned(),
        ProgressStep::UpgradingCertManager => format!("Upgrading cert-manager from={from} to={to}"),
        ProgressStep::Installing => {
            let (provider, namespace) = (text(provider), text(namespace));
            format!("Installing provider={provider} version={to} targetNamespace={namespace}")
        }
        ProgressStep::Applied => {
            let StepCounts { number, of, objects } = (*counts)?;
            let (provider, version) = (provider.as_deref()?, version.as_deref()?);
            let (objects, took) = (format_count(objects, "object"), format_duration(*took));
            format!("applied {provider} {version} ({number} of {of}): {objects} in {took}")
        }
        ProgressStep::Deleting => format!("Deleting {}", reference()),
        ProgressStep::CheckingForObjects => format!("Checking for CRs {}", reference()),
        ProgressStep::WaitingForProviders => "Waiting for providers to be available...".to_owned(),
    })
}

/// Returns the live line of a step with a count, or of a step whose text would otherwise repeat the previous line.
pub(super) fn live_line(event: &ProgressEvent) -> Option<String> {
    let ProgressEvent::Step { step, provider, version, counts, .. } = event else { return None };
    let version = version.as_deref();
    match step {
        ProgressStep::InstallingCertManager | ProgressStep::UpgradingCertManager => {
            Some(format!("applying cert-manager {}", version?))
        }
        ProgressStep::Installing => {
            let StepCounts { number, of, .. } = (*counts)?;
            Some(format!("applying {} {} (provider {number} of {of})", provider.as_deref()?, version?))
        }
        _ => None,
    }
}

/// Returns the live line of a step with counted objects.
pub(super) fn counted_line(step: &str, written: usize, of: Option<usize>) -> String {
    match of {
        Some(of) => format!("{step}: object {} of {of}", written.min(of)),
        None => format!("{step}: {}", format_count(written, "object")),
    }
}

fn move_line(phase: MovePhase, done: usize, of: usize) -> String {
    let count = if done < of { format!("{done} of {of}") } else { of.to_string() };
    let resting = if of == 1 { "Cluster or ClusterClass" } else { "Clusters and ClusterClasses" };
    let objects = if of == 1 { "object" } else { "objects" };
    match phase {
        MovePhase::Pausing => format!("paused {count} {resting}"),
        MovePhase::Creating => format!("created {count} {objects} on the target"),
        MovePhase::Verifying => format!("verified {count} {objects} on the target"),
        MovePhase::Deleting => format!("deleted {count} {objects} on the source"),
        MovePhase::Resuming => format!("resumed {count} {resting}"),
        MovePhase::Aborting => format!("removed {count} {objects} from the target"),
        MovePhase::Finished | MovePhase::Aborted => phase.as_str().to_owned(),
    }
}

fn object_names(objects: &[ObjectKey]) -> String {
    /// The limit of objects that are named. The others are counted.
    const MAX_NAMED: usize = 5;
    let named: Vec<String> = objects.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let more = match objects.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn retry_line(action: &str, why: &str, since: Duration, after: Duration) -> String {
    let tried = if since.as_secs() > 0 { format!(" (for {}s)", since.as_secs()) } else { String::new() };
    format!("cannot {action}{tried}: {why}; retrying in {}", format_duration(after))
}

/// Returns a warning of a server with the request it belongs to.
pub(super) fn warning_line(text: &str, action: &str) -> String {
    let (verb, object) = action.split_once(' ').unwrap_or((action, ""));
    let verb = gerund(verb);
    format!("{text} (API warning while {verb} {object})")
}

/// Returns the `-ing` form of an API verb: `applying` for `apply`.
fn gerund(verb: &str) -> String {
    match verb {
        "get" => "getting".to_owned(),
        verb => format!("{}ing", verb.strip_suffix('e').unwrap_or(verb)),
    }
}

/// Returns the line of a wait for another run.
pub(super) fn lease_line(event: &apply::Event) -> String {
    match event {
        apply::Event::TookOverLease { holder } => {
            format!(
                "waiting {} s for the previous run to stop writing: {holder}",
                apply::lease::MAX_CONFIRMATION_AGE.as_secs()
            )
        }
        apply::Event::WaitingForLease { holder } => {
            format!("waiting for another run on this cluster to finish: {holder}")
        }
        _ => String::new(),
    }
}

pub(super) fn write_line(object: &ObjectKey, how: Written) -> String {
    match how {
        Written::Created => format!("created {object}"),
        Written::Changed => format!("changed {object}"),
        Written::Unchanged => format!("{object} is unchanged"),
    }
}

pub(super) fn migration_line(definition: &str, done: usize, of: Option<usize>) -> String {
    match of {
        Some(of) => format!("migrating objects of {definition}: {done} of {of}"),
        None => format!("migrating objects of {definition}: {done}"),
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn a_deletion_names_the_inventory_entry_as_the_peer_does() {
        let label = "cluster-api".to_owned();
        let event = ProgressEvent::provider(ProgressStep::Deleting, label, "v1.14.0", "capi-system");
        let Some(EventText::Status(text)) = event_text(&event) else { panic!("a deletion is no warning") };
        assert_eq!(
            text,
            r#"Deleting Provider={"name":"cluster-api","namespace":"capi-system"} providerVersion="v1.14.0""#
        );
    }

    #[test]
    fn a_move_reports_progress_within_a_phase_and_a_status_at_its_end() {
        let move_line = |phase, done, of| ProgressEvent::Moving { phase, done, of };
        let name = |name: String| {
            let (group, kind, namespace) = (String::new(), "Host".to_owned(), String::new());
            ObjectKey { group, kind, namespace, name }
        };
        let objects: Vec<_> = (0..7).map(|number| name(number.to_string())).collect();
        let events = [
            move_line(MovePhase::Creating, 3, 12),
            move_line(MovePhase::Deleting, 1, 1),
            ProgressEvent::MoveResting { objects: objects[..1].to_vec() },
            ProgressEvent::MoveBlocked { objects },
        ];
        let texts = events.map(|event| match event_text(&event) {
            Some(EventText::Progress(text)) => format!("part: {text}"),
            Some(EventText::Status(text)) => format!("status: {text}"),
            _ => "something else".to_owned(),
        });
        assert_data_eq!(
            texts.join("\n"),
            str![[r#"
part: created 3 of 12 objects on the target
status: deleted 1 object on the source
status: waiting for controllers to acknowledge the pause of Host 0
status: waiting for providers to unblock the move of Host 0, Host 1, Host 2, Host 3, Host 4 and 2 more
"#]]
        );
    }

    #[test]
    fn a_retry_names_its_reason_its_duration_and_its_delay() {
        let line = |since, after| {
            retry_line("apply Service ns/a", "connection refused", since, Duration::from_millis(after))
        };
        let lines = [line(Duration::ZERO, 250), line(Duration::from_secs(12), 4000)];
        assert_data_eq!(
            lines.join("\n"),
            str![[r#"
cannot apply Service ns/a: connection refused; retrying in 250ms
cannot apply Service ns/a (for 12s): connection refused; retrying in 4s
"#]]
        );
    }

    #[test]
    fn an_api_warning_names_the_request() {
        let verbs = ["apply", "create", "delete", "get", "confirm"];
        let lines = verbs.map(|verb| warning_line("old field", &format!("{verb} Service ns/a")));
        assert_data_eq!(
            lines.join("\n"),
            str![[r#"
old field (API warning while applying Service ns/a)
old field (API warning while creating Service ns/a)
old field (API warning while deleting Service ns/a)
old field (API warning while getting Service ns/a)
old field (API warning while confirming Service ns/a)
"#]]
        );
    }
}
