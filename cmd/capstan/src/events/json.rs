use std::time::Duration;

use api::{
    ProviderId,
    output::{LeaseHolder, ProgressLine, StepCounts},
};
use apply::Written;
use management::{Event, object_name, waiting_for};
use provider::InstalledProvider;

use super::words;

/// The line of a server's event; none for those that belong into the log.
pub(super) fn of_server(event: &apply::Event) -> Option<ProgressLine> {
    Some(match event {
        apply::Event::Requested { .. } => return None,
        apply::Event::Retrying { action, why, since, after } => ProgressLine::Retrying {
            action: action.clone(),
            why: why.clone(),
            for_seconds: since.as_secs(),
            after_milliseconds: milliseconds(*after),
        },
        apply::Event::Warning { text, action } => ProgressLine::Warning { text: words::warned(text, action) },
        apply::Event::Wrote { object, how } => {
            ProgressLine::Wrote { object: object_name(object), how: word(*how) }
        }
        apply::Event::Deleted { object } => ProgressLine::Deleted { object: object_name(object) },
        apply::Event::WaitingForLease { holder } => {
            ProgressLine::WaitingForLease { holder: lease_holder(holder) }
        }
        apply::Event::TookOverLease { holder } => {
            ProgressLine::TookOverLease { holder: lease_holder(holder) }
        }
        apply::Event::Waiting { blockers } => ProgressLine::Waiting { blockers: waiting_for(blockers) },
        apply::Event::Migrating { definition, done, of } => {
            ProgressLine::Migrating { definition: definition.clone(), done: *done, of: *of }
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

fn word(how: Written) -> &'static str {
    match how {
        Written::Created => "created",
        Written::Changed => "changed",
        Written::Unchanged => "unchanged",
    }
}

/// The line of an event of a management cluster.
pub(super) fn of_cluster(event: &Event) -> ProgressLine {
    match event {
        Event::FetchingProviders => bare("fetchingProviders"),
        Event::CertManagerFound => bare("certManagerFound"),
        Event::WaitingForCertManager => bare("waitingForCertManager"),
        Event::CheckingCertManager => bare("checkingCertManager"),
        Event::CertManagerUpToDate => bare("certManagerUpToDate"),
        Event::PerformingUpgrade => bare("performingUpgrade"),
        Event::CheckingReleases => bare("checkingReleases"),
        Event::WaitingForProviders => bare("waitingForProviders"),
        Event::InstallingCertManager { version } => cert_manager("installingCertManager", None, version),
        Event::UpgradingCertManager { from, to } => {
            cert_manager("upgradingCertManager", Some(from.clone()), to)
        }
        Event::Installing { provider, version, namespace, number, of, objects } => {
            let counts = StepCounts { number: *number, of: *of, objects: *objects };
            of_provider("installing", provider, version, namespace, Some(counts))
        }
        Event::Applied { installed, number, of, objects, .. } => {
            let InstalledProvider { id, version, namespace } = installed;
            let counts = StepCounts { number: *number, of: *of, objects: *objects };
            of_provider("applied", id, version, namespace, Some(counts))
        }
        Event::Deleting { provider, version, namespace } => {
            of_provider("deleting", provider, version, namespace, None)
        }
        Event::CheckingForObjects { provider, version, namespace } => {
            of_provider("checkingForObjects", provider, version, namespace, None)
        }
        Event::Resuming { what } => ProgressLine::Resuming { what: what.clone() },
        Event::Moving { phase, done, of } => {
            ProgressLine::Moving { phase: phase.as_str(), done: *done, of: *of }
        }
        Event::Saving { done, of } => ProgressLine::Saving { done: *done, of: *of },
        Event::MoveBlocked { objects } => {
            ProgressLine::MoveBlocked { objects: objects.iter().map(object_name).collect() }
        }
        Event::MoveResting { objects } => {
            ProgressLine::MoveResting { objects: objects.iter().map(object_name).collect() }
        }
        Event::Warning { text } => ProgressLine::Warning { text: text.clone() },
    }
}

/// The last line of a verb that has succeeded.
pub(super) fn done(result: &str, took: Duration) -> ProgressLine {
    ProgressLine::Done { text: result.to_owned(), milliseconds: milliseconds(took) }
}

fn bare(step: &'static str) -> ProgressLine {
    ProgressLine::Step { step, provider: None, from: None, version: None, namespace: None, counts: None }
}

fn cert_manager(step: &'static str, from: Option<String>, version: &str) -> ProgressLine {
    ProgressLine::Step {
        step,
        provider: None,
        from,
        version: Some(version.to_owned()),
        namespace: None,
        counts: None,
    }
}

fn of_provider(
    step: &'static str,
    provider: &ProviderId,
    version: &str,
    namespace: &str,
    counts: Option<StepCounts>,
) -> ProgressLine {
    ProgressLine::Step {
        step,
        provider: Some(provider.label()),
        from: None,
        version: Some(version.to_owned()),
        namespace: Some(namespace.to_owned()),
        counts,
    }
}
