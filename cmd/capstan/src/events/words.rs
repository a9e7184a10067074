use std::time::Duration;

use apply::{ObjectKey, Written};
use management::Event;

/// What is said of an event.
pub(super) enum Said {
    Status(String),
    Warning(String),
}

/// The line of an event, the peer's where it has one: scripts may look for it.
/// Source: clusterctl v1.14, run: message, then `key=<json>` in the order of the call.
pub(super) fn of_cluster(event: &Event) -> Said {
    Said::Status(match event {
        Event::FetchingProviders => "Fetching providers".to_owned(),
        Event::CertManagerFound => "Skipping installing cert-manager as it is already installed".to_owned(),
        Event::InstallingCertManager { version } => {
            format!("Installing cert-manager version={}", quoted(version))
        }
        Event::WaitingForCertManager => "Waiting for cert-manager to be available...".to_owned(),
        Event::CheckingCertManager => "Checking if cert-manager needs upgrade...".to_owned(),
        Event::CertManagerUpToDate => "Cert-manager is already up to date".to_owned(),
        Event::PerformingUpgrade => "Performing upgrade...".to_owned(),
        Event::CheckingReleases => "Checking new release availability...".to_owned(),
        Event::UpgradingCertManager { from, to } => {
            format!("Upgrading cert-manager from={} to={}", quoted(from), quoted(to))
        }
        Event::Installing { provider, version, namespace } => format!(
            "Installing provider={} version={} targetNamespace={}",
            quoted(&provider.label()),
            quoted(version),
            quoted(namespace)
        ),
        Event::Deleting { provider, version, namespace } => {
            format!("Deleting {}", reference(&provider.label(), version, namespace))
        }
        Event::CheckingForObjects { provider, version, namespace } => {
            format!("Checking for CRs {}", reference(&provider.label(), version, namespace))
        }
        Event::WaitingForProviders => "Waiting for providers to be available...".to_owned(),
        Event::Resuming { what } => format!("going on with {what}"),
        Event::Warning { text } => return Said::Warning(text.clone()),
    })
}

fn reference(label: &str, version: &str, namespace: &str) -> String {
    format!(
        "Provider={{\"name\":{},\"namespace\":{}}} providerVersion={}",
        quoted(label),
        quoted(namespace),
        quoted(version)
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A request that is tried again.
pub(super) fn retrying(action: &str, why: &str, since: Duration, after: Duration) -> String {
    let tried = if since.as_secs() > 0 { format!(" (for {}s)", since.as_secs()) } else { String::new() };
    format!("cannot {action}{tried}: {why}; trying again in {}", pause(after))
}

fn pause(after: Duration) -> String {
    if after.as_secs() > 0 { format!("{}s", after.as_secs()) } else { format!("{}ms", after.as_millis()) }
}

/// A write that was done.
pub(super) fn wrote(object: &ObjectKey, how: Written) -> String {
    match how {
        Written::Created => format!("created {object}"),
        Written::Changed => format!("changed {object}"),
        Written::Unchanged => format!("found {object} as it should be"),
    }
}

/// How far a migration is.
pub(super) fn migrating(definition: &str, done: usize, of: Option<usize>) -> String {
    match of {
        Some(of) => format!("migrating objects of {definition}: {done} of {of}"),
        None => format!("migrating objects of {definition}: {done}"),
    }
}

#[cfg(test)]
mod tests {
    use api::{ProviderId, ProviderType};

    use super::*;

    #[test]
    fn a_deletion_names_the_inventory_entry_as_the_peer_does() {
        let event = Event::Deleting {
            provider: ProviderId::new(ProviderType::Core, "cluster-api"),
            version: "v1.14.0".to_owned(),
            namespace: "capi-system".to_owned(),
        };
        let Said::Status(text) = of_cluster(&event) else { panic!("a deletion is no warning") };
        assert_eq!(
            text,
            r#"Deleting Provider={"name":"cluster-api","namespace":"capi-system"} providerVersion="v1.14.0""#
        );
    }

    #[test]
    fn a_retry_says_why_since_when_and_when_next() {
        let said = |since, after| {
            retrying("apply Service ns/a", "connection refused", since, Duration::from_millis(after))
        };
        assert_eq!(
            said(Duration::ZERO, 250),
            "cannot apply Service ns/a: connection refused; trying again in 250ms"
        );
        assert_eq!(
            said(Duration::from_secs(12), 4000),
            "cannot apply Service ns/a (for 12s): connection refused; trying again in 4s"
        );
    }
}
