use std::fmt::Write as _;

use api::output::{ObjectName, ProviderHealth, StatusReport, WaitingFor};
use apply::Health;
use management::{ClusterStatus, InstalledHealth, ProviderStatus};

use crate::{
    Failure,
    session::Session,
    settings::{self, OutputFormat, ServerFlags},
    suggested_commands::SuggestedCommands,
    ui::table,
    verbs::{lifecycle, r#move::unfinished_move},
};

/// Show what is installed on a management cluster, and how it is
///
/// Shows versions, what is not ready and why, what has drifted, unfinished runs with the command that completes each, and the
/// run that is writing to the cluster now. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} status
  {bin} status -o json")]
pub(crate) struct Status {
    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) fn run(args: &Status, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let status = session.block_on(management::status(&cluster))?;
    let commands = session.messages().commands();
    let report = printed(status, &commands);
    let text = format.render(&report, |report| commands.complete(&text(report)).into_owned())?;
    session.printer().data(text)
}

fn printed(status: ClusterStatus, commands: &SuggestedCommands) -> StatusReport {
    let mut providers: Vec<ProviderHealth> = status.providers.into_iter().map(printed_provider).collect();
    providers.sort_by(|a, b| (&a.id, &a.namespace).cmp(&(&b.id, &b.namespace)));
    StatusReport {
        providers,
        unfinished_init: lifecycle::unfinished_init(&status.unfinished_init.unwrap_or_default()),
        unfinished_upgrade: status.unfinished_upgrade.as_ref().map(lifecycle::unfinished_upgrade),
        unfinished_move: status.unfinished_move.map(|journal| unfinished_move(&journal, commands)),
        lease: status.lease.as_ref().map(lifecycle::lease),
    }
}

fn printed_provider(status: ProviderStatus) -> ProviderHealth {
    let not_ready = match &status.health {
        InstalledHealth::Ready => Vec::new(),
        InstalledHealth::NotReady(blockers) => management::waiting_for(blockers),
    };
    ProviderHealth {
        provider: status.installed.id.label(),
        id: status.installed.id,
        version: status.installed.version,
        namespace: status.installed.namespace,
        ready: status.health == InstalledHealth::Ready,
        not_ready,
        recorded: status.recorded,
        drift: status.drift.iter().map(management::object_name).collect(),
    }
}

fn text(report: &StatusReport) -> String {
    let mut text = match &*report.providers {
        [] => "no providers are installed\n".to_owned(),
        _ => providers_text(report),
    };
    if !report.unfinished_init.is_empty() {
        let _ = write!(text, "\n{}", lifecycle::init_text(&report.unfinished_init));
    }
    if let Some(upgrade) = &report.unfinished_upgrade {
        let _ = write!(text, "\n{}", lifecycle::upgrade_text(upgrade));
    }
    if let Some(unfinished) = &report.unfinished_move {
        let _ = write!(text, "\n{}", lifecycle::move_text(unfinished));
    }
    if let Some(lease) = &report.lease {
        let _ = write!(text, "\n{}", lifecycle::lease_text(lease));
    }
    text
}

fn providers_text(report: &StatusReport) -> String {
    let drift: Vec<String> = report.providers.iter().map(drift).collect();
    let rows: Vec<[&str; 5]> = report
        .providers
        .iter()
        .zip(&drift)
        .map(|(provider, drift)| {
            let health = if provider.ready { "ready" } else { "not ready" };
            [&*provider.provider, &*provider.version, &*provider.namespace, health, drift]
        })
        .collect();
    let mut text = table(["NAME", "VERSION", "NAMESPACE", "HEALTH", "DRIFT"], &rows);
    for provider in report.providers.iter().filter(|one| !one.ready || !one.drift.is_empty()) {
        let _ = writeln!(text, "\n{}", provider.provider);
        add_blockers(&provider.not_ready, 1, &mut text);
        for object in provider.drift.iter().filter(|object| !is_told_missing(object, provider)) {
            let _ = writeln!(text, "  {}: not as it was applied", shown(object));
        }
    }
    text
}

fn drift(provider: &ProviderHealth) -> String {
    match (provider.recorded, provider.drift.len()) {
        (false, _) => "unknown, installed by another tool".to_owned(),
        (true, 0) => "none".to_owned(),
        (true, 1) => "1 object".to_owned(),
        (true, several) => format!("{several} objects"),
    }
}

fn add_blockers(blockers: &[WaitingFor], depth: usize, text: &mut String) {
    for blocker in blockers {
        let message = if blocker.message.is_empty() { &blocker.health } else { &blocker.message };
        let _ = writeln!(text, "{}{}: {message}", "  ".repeat(depth), shown(&blocker.object));
        add_blockers(&blocker.below, depth + 1, text);
    }
}

/// What is missing has drifted too; once is enough.
fn is_told_missing(object: &ObjectName, provider: &ProviderHealth) -> bool {
    let missing = Health::NotFound.as_str();
    provider.not_ready.iter().any(|blocker| blocker.health == missing && blocker.object == *object)
}

fn shown(object: &ObjectName) -> String {
    match object.namespace.as_str() {
        "" => format!("{} {}", object.kind, object.name),
        namespace => format!("{} {namespace}/{}", object.kind, object.name),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use api::{ProviderId, ProviderType};
    use apply::{Blocker, ObjectKey};
    use management::JournalState;
    use provider::InstalledProvider;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn status(provider_type: ProviderType, name: &str, health: InstalledHealth) -> ProviderStatus {
        let installed = InstalledProvider {
            id: ProviderId::new(provider_type, name),
            version: "v1.14.0".to_owned(),
            namespace: format!("{name}-system"),
        };
        ProviderStatus { installed, health, recorded: true, drift: Vec::new() }
    }

    fn shown(providers: Vec<ProviderStatus>) -> String {
        let status = ClusterStatus { providers, ..empty() };
        text(&printed(status, &SuggestedCommands::default()))
    }

    fn empty() -> ClusterStatus {
        ClusterStatus {
            providers: Vec::new(),
            unfinished_init: None,
            unfinished_upgrade: None,
            unfinished_move: None,
            lease: None,
        }
    }

    fn key(kind: &str, name: &str) -> ObjectKey {
        ObjectKey {
            group: String::new(),
            kind: kind.to_owned(),
            namespace: "ns".to_owned(),
            name: name.to_owned(),
        }
    }

    fn blocker(kind: &str, message: &str, below: Vec<Blocker>) -> Blocker {
        let status = apply::Status { health: Health::InProgress, message: message.to_owned() };
        Blocker { object: key(kind, "manager"), status, since: Duration::ZERO, below }
    }

    #[test]
    fn what_is_not_ready_or_has_drifted_is_told_below_the_table() {
        let pod = blocker("Pod", "image cannot be pulled", vec![]);
        let not_ready =
            InstalledHealth::NotReady(vec![blocker("Deployment", "Available: 0 of 1 replicas", vec![pod])]);
        let mut drifted = status(ProviderType::Core, "cluster-api", InstalledHealth::Ready);
        drifted.drift.push(key("Service", "webhook"));
        let mut foreign = status(ProviderType::Bootstrap, "kubeadm", InstalledHealth::Ready);
        foreign.recorded = false;
        let statuses = vec![status(ProviderType::Infrastructure, "aws", not_ready), drifted, foreign];
        assert_data_eq!(
            shown(statuses),
            str![[r"
NAME                 VERSION   NAMESPACE            HEALTH      DRIFT
cluster-api          v1.14.0   cluster-api-system   ready       1 object
bootstrap-kubeadm    v1.14.0   kubeadm-system       ready       unknown, installed by another tool
infrastructure-aws   v1.14.0   aws-system           not ready   none

cluster-api
  Service ns/webhook: not as it was applied

infrastructure-aws
  Deployment ns/manager: Available: 0 of 1 replicas
    Pod ns/manager: image cannot be pulled

"]]
        );
    }

    #[test]
    fn a_missing_object_is_told_once() {
        let mut gone = blocker("Service", "it is not there", vec![]);
        gone.status.health = Health::NotFound;
        let mut of = status(ProviderType::Core, "cluster-api", InstalledHealth::NotReady(vec![gone.clone()]));
        of.drift = vec![gone.object, key("Role", "changed")];
        assert!(shown(vec![of]).ends_with(
            "\ncluster-api\n  Service ns/manager: it is not there\n  Role ns/changed: not as it was applied\n"
        ));
    }

    #[test]
    fn an_empty_cluster_is_no_failure() {
        assert_eq!(shown(Vec::new()), "no providers are installed\n");
    }

    #[test]
    fn going_back_from_an_upgrade_tells_what_is_back_already() {
        let row = |name: &str, done| {
            let id = ProviderId::new(ProviderType::Infrastructure, name);
            (id, "v1.0.0".to_owned(), "v1.1.0".to_owned(), done)
        };
        let journal = JournalState {
            begun: "2026-11-21T20:48:49Z".to_owned(),
            finished: false,
            rolling_back: true,
            providers: vec![row("aws", true), row("docker", false)],
        };
        let status = ClusterStatus { unfinished_upgrade: Some(journal), ..empty() };
        assert_data_eq!(
            text(&printed(status, &SuggestedCommands::default())),
            str![[r"
no providers are installed

going back from the upgrade begun at 2026-11-21T20:48:49Z is not finished:
  infrastructure-aws: v1.1.0 to v1.0.0
  infrastructure-docker: v1.1.0 to v1.0.0, done
`capstan upgrade resume` goes on with that, `capstan upgrade abort` leaves things as they are

"]]
        );
    }
}
