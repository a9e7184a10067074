use std::fmt::Write as _;

use api::{
    ObjectKey,
    output::{
        DriftedField, DriftedFieldChange, ProviderHealth, StatusReport, UnfinishedInstallation,
        UnfinishedMove, UnfinishedUpgrade, WaitingFor,
    },
};
use apply::Health;
use management::{ClusterStatus, InstalledHealth, ProviderStatus};
use mover::UnfinishedSaves;

use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag, ServerFlags},
    suggested_commands::SuggestedCommands,
    ui::{NarrowingStep, first_chars, table},
    verbs::{lifecycle, r#move},
};

/// Show installed providers and their health
///
/// Shows versions, objects that are not ready, and objects that have drifted from their release. It also shows unfinished
/// runs with the command that completes each, and the run that is writing to the cluster. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} status
  {bin} status --diff

  # In a script: exit status 3 if anything needs attention
  {bin} status --exit-status -o json")]
pub(crate) struct Status {
    #[command(flatten)]
    output: OutputFlag,

    /// Show drifted fields with their values and managers; of Secrets only sizes
    #[arg(long)]
    diff: bool,

    /// Exit with status 3 if there is no provider, one is not ready or drifted, or a run is unfinished
    #[arg(long = "exit-status")]
    fails_unless_healthy: bool,

    #[command(flatten)]
    server: ServerFlags,
}

/// The length limit of displayed field values, in characters.
const MAX_VALUE_CHARS: usize = 60;

pub(crate) fn run(args: &Status, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let status = session.block_on(management::status(&cluster))?;
    let is_leased = status.lease.as_ref().is_some_and(|lease| !lifecycle::lease_report(lease).expired);
    let runs = r#move::interrupted_runs(&cluster, is_leased, session)?;
    for why in &runs.unreadable_kinds {
        session.messages().warning(format!("cannot look for Clusters of an interrupted save: {why}"));
    }
    let commands = session.messages().commands();
    let report = status_report(status, &runs, args.diff, &commands);
    session.print(format, &report, |report, width| commands.complete(&text(report, width)).into_owned())?;
    if args.fails_unless_healthy { check_health(&report) } else { Ok(()) }
}

/// Fails for a cluster that needs attention. A run that holds the lease is no failure.
fn check_health(report: &StatusReport) -> Result<(), Failure> {
    let not_ready = report.providers.iter().filter(|provider| !provider.ready).count();
    let drifted: usize = report.providers.iter().map(|provider| provider.drift.len()).sum();
    let count = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(one.to_owned()),
        count => Some(format!("{count} {several}")),
    };
    let when = |holds: bool, what: &str| holds.then(|| what.to_owned());
    let unfinished = Unfinished::of(report);
    let problems: Vec<String> = [
        when(report.providers.is_empty(), "no providers are installed"),
        count(not_ready, "one provider is not ready", "providers are not ready"),
        count(drifted, "one object has drifted", "objects have drifted"),
        when(!unfinished.init.is_empty(), "an installation is unfinished"),
        when(unfinished.upgrade.is_some(), "an upgrade is unfinished"),
        when(unfinished.moved.is_some(), "a move is unfinished"),
        when(!report.unfinished_saves.is_empty(), "a save is unfinished"),
        when(!unfinished.restore.is_empty(), "a restore is unfinished"),
        when(report.incomplete, "some objects cannot be read"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match &*problems {
        [] => Ok(()),
        problems => Err(Failure::new(Kind::Unhealthy, problems.join(", "))),
    }
}

/// The unfinished runs of a report, without the run that is writing now.
struct Unfinished<'r> {
    init: &'r [UnfinishedInstallation],
    upgrade: Option<&'r UnfinishedUpgrade>,
    moved: Option<&'r UnfinishedMove>,
    restore: &'r [ObjectKey],
}

impl<'r> Unfinished<'r> {
    fn of(report: &'r StatusReport) -> Self {
        let holder = report.lease.as_ref().filter(|lease| !lease.expired).map(|lease| &*lease.holder.command);
        let is_stopped = |verb: &str| !holder.is_some_and(|command| command.starts_with(verb));
        Self {
            init: if is_stopped("init") { &report.unfinished_init } else { &[] },
            upgrade: report.unfinished_upgrade.as_ref().filter(|_| is_stopped("upgrade")),
            moved: report.unfinished_move.as_ref().filter(|_| is_stopped("move")),
            restore: if is_stopped("restore") { &report.unfinished_restore } else { &[] },
        }
    }
}

fn status_report(
    status: ClusterStatus,
    runs: &UnfinishedSaves,
    with_fields: bool,
    commands: &SuggestedCommands,
) -> StatusReport {
    let printed_provider = |provider| provider_health(provider, with_fields);
    let mut providers: Vec<ProviderHealth> = status.providers.into_iter().map(printed_provider).collect();
    providers.sort_by(|a, b| (&a.id, &a.namespace).cmp(&(&b.id, &b.namespace)));
    StatusReport {
        providers,
        unfinished_init: lifecycle::unfinished_init(&status.unfinished_init.unwrap_or_default()),
        unfinished_upgrade: status.unfinished_upgrade,
        unfinished_move: status.unfinished_move.map(|journal| r#move::unfinished_move(&journal, commands)),
        unfinished_saves: runs.saves.iter().map(|save| r#move::open_save(save, commands)).collect(),
        unfinished_restore: runs.restoring.clone(),
        restore_command: status
            .restore_command
            .filter(|_| !runs.restoring.is_empty())
            .map(|command| commands.complete_command(&command)),
        lease: status.lease.as_ref().map(lifecycle::lease_report),
        incomplete: status.is_incomplete || !runs.unreadable_kinds.is_empty(),
    }
}

fn provider_health(status: ProviderStatus, with_fields: bool) -> ProviderHealth {
    let not_ready = match &status.health {
        InstalledHealth::Ready => Vec::new(),
        InstalledHealth::NotReady(blockers) => apply::waiting_for(blockers),
    };
    ProviderHealth {
        provider: status.installed.id.label(),
        id: status.installed.id,
        version: status.installed.version,
        namespace: status.installed.namespace,
        ready: status.health == InstalledHealth::Ready,
        not_ready,
        recorded: status.recorded,
        drift: status.drift.iter().map(|drift| drift.object.clone()).collect(),
        drifted_fields: with_fields
            .then(|| status.drift.into_iter().filter(|drift| !drift.fields.is_empty()).collect()),
    }
}

fn text(report: &StatusReport, width: Option<usize>) -> String {
    let mut text = match &*report.providers {
        [] => "no providers are installed\n".to_owned(),
        _ => providers_text(report, width),
    };
    let unfinished = Unfinished::of(report);
    if !unfinished.init.is_empty() {
        let _ = write!(text, "\n{}", lifecycle::init_text(unfinished.init));
    }
    if let Some(upgrade) = unfinished.upgrade {
        let _ = write!(text, "\n{}", lifecycle::upgrade_text(upgrade));
    }
    if let Some(unfinished) = unfinished.moved {
        let _ = write!(text, "\n{}", lifecycle::move_text(unfinished));
    }
    report.unfinished_saves.iter().for_each(|save| r#move::add_save(save, &mut text));
    if !unfinished.restore.is_empty() {
        r#move::add_restore(unfinished.restore, report.restore_command.as_deref(), &mut text);
    }
    if let Some(lease) = &report.lease {
        let _ = write!(text, "\n{}", lifecycle::lease_text(lease));
    }
    text
}

fn providers_text(report: &StatusReport, width: Option<usize>) -> String {
    let drift: Vec<String> = report.providers.iter().map(drift_text).collect();
    let rows: Vec<[&str; 5]> = report
        .providers
        .iter()
        .zip(&drift)
        .map(|(provider, drift)| {
            let health = if provider.ready { "ready" } else { "not ready" };
            [&*provider.provider, &*provider.version, &*provider.namespace, health, drift]
        })
        .collect();
    let ways = [
        NarrowingStep::Drop("NAMESPACE"),
        NarrowingStep::Shorten("NAME", 18),
        NarrowingStep::Shorten("DRIFT", 12),
    ];
    let mut text = table(width, &ways, ["NAME", "VERSION", "NAMESPACE", "HEALTH", "DRIFT"], &rows);
    for provider in report.providers.iter().filter(|one| !one.ready || !one.drift.is_empty()) {
        let _ = writeln!(text, "\n{}", provider.provider);
        add_blockers(&provider.not_ready, 1, &mut text);
        for object in provider.drift.iter().filter(|object| !is_reported_missing(object, provider)) {
            let _ = writeln!(text, "  {object}: differs from the applied version");
            let fields = provider.drifted_fields.iter().flatten().filter(|drifted| drifted.object == *object);
            for field in fields.flat_map(|drifted| &drifted.fields) {
                let _ = writeln!(text, "    {}", field_text(field));
            }
        }
    }
    text
}

/// Returns a field in one line: its path, its value, and its manager.
fn field_text(field: &DriftedField) -> String {
    let mut text = format!("{}: ", field.path);
    match &field.value {
        None => text.push_str("removed"),
        Some(value) => text.push_str(&first_chars(&value.to_string(), MAX_VALUE_CHARS)),
    }
    match (field.change, &field.manager) {
        (DriftedFieldChange::Removed, _) => {}
        (_, None) => text.push_str(", set by no manager (a default of the server)"),
        (_, Some(manager)) => {
            let _ = write!(text, ", set by {manager}");
            if let Some(time) = &field.time {
                let _ = write!(text, " at {time}");
            }
        }
    }
    match field.change {
        DriftedFieldChange::Added => text.push_str(" (added)"),
        DriftedFieldChange::Possible => text.push_str(" (possibly; the applied fields are not recorded)"),
        DriftedFieldChange::Changed | DriftedFieldChange::Removed => {}
    }
    text
}

fn drift_text(provider: &ProviderHealth) -> String {
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
        let _ = writeln!(text, "{}{}: {message}", "  ".repeat(depth), blocker.object);
        add_blockers(&blocker.below, depth + 1, text);
    }
}

/// True if the object is already listed as missing, so its drift need not repeat that.
fn is_reported_missing(object: &ObjectKey, provider: &ProviderHealth) -> bool {
    let missing = Health::NotFound.as_str();
    provider.not_ready.iter().any(|blocker| blocker.health == missing && blocker.object == *object)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use api::{
        ProviderId, ProviderType,
        output::{DriftedObject, UnfinishedProvider},
    };
    use apply::{Blocker, LeaseHolder, LeaseState};
    use provider::InstalledProvider;
    use serde_json::json;
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
        text(&status_report(status, &UnfinishedSaves::default(), true, &SuggestedCommands::default()), None)
    }

    fn empty() -> ClusterStatus {
        ClusterStatus {
            providers: Vec::new(),
            unfinished_init: None,
            unfinished_upgrade: None,
            unfinished_move: None,
            restore_command: None,
            lease: None,
            is_incomplete: false,
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
        Blocker { object: key(kind, "manager"), status, since: Duration::ZERO, children: below }
    }

    #[test]
    fn problems_are_listed_below_the_table() {
        let pod = blocker("Pod", "image cannot be pulled", vec![]);
        let not_ready =
            InstalledHealth::NotReady(vec![blocker("Deployment", "Available: 0 of 1 replicas", vec![pod])]);
        let mut drifted = status(ProviderType::Core, "cluster-api", InstalledHealth::Ready);
        drifted.drift.push(DriftedObject { object: key("Service", "webhook"), fields: vec![] });
        let mut foreign = status(ProviderType::Bootstrap, "kubeadm", InstalledHealth::Ready);
        foreign.recorded = false;
        let statuses = vec![status(ProviderType::Infrastructure, "aws", not_ready), drifted, foreign];
        assert_data_eq!(
            shown(statuses),
            str![[r#"
NAME                 VERSION   NAMESPACE            HEALTH      DRIFT
cluster-api          v1.14.0   cluster-api-system   ready       1 object
bootstrap-kubeadm    v1.14.0   kubeadm-system       ready       unknown, installed by another tool
infrastructure-aws   v1.14.0   aws-system           not ready   none

cluster-api
  Service ns/webhook: differs from the applied version

infrastructure-aws
  Deployment ns/manager: Available: 0 of 1 replicas
    Pod ns/manager: image cannot be pulled

"#]]
        );
    }

    #[test]
    fn a_drifted_field_has_its_value_and_its_manager() {
        let field = |path: &str, change, value: Option<serde_json::Value>, manager: Option<&str>| {
            let time = manager.map(|_| "2026-01-02T03:04:05Z".to_owned());
            DriftedField { path: path.to_owned(), change, value, manager: manager.map(str::to_owned), time }
        };
        let mut drifted = status(ProviderType::Core, "cluster-api", InstalledHealth::Ready);
        let fields = vec![
            field(".spec.replicas", DriftedFieldChange::Changed, Some(json!(3)), Some("kubectl-edit")),
            field(".spec.paused", DriftedFieldChange::Changed, Some(json!(false)), None),
            field(".spec.image", DriftedFieldChange::Removed, None, None),
            field(".data.a", DriftedFieldChange::Added, Some(json!("x".repeat(80))), Some("capstan")),
            field(".data.b", DriftedFieldChange::Possible, Some(json!("y")), Some("helm")),
        ];
        drifted.drift.push(DriftedObject { object: key("Deployment", "manager"), fields });
        assert_data_eq!(
            shown(vec![drifted]),
            str![[r#"
NAME          VERSION   NAMESPACE            HEALTH    DRIFT
cluster-api   v1.14.0   cluster-api-system   ready     1 object

cluster-api
  Deployment ns/manager: differs from the applied version
    .spec.replicas: 3, set by kubectl-edit at 2026-01-02T03:04:05Z
    .spec.paused: false, set by no manager (a default of the server)
    .spec.image: removed
    .data.a: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, set by capstan at 2026-01-02T03:04:05Z (added)
    .data.b: "y", set by helm at 2026-01-02T03:04:05Z (possibly; the applied fields are not recorded)

"#]]
        );
    }

    #[test]
    fn a_narrow_terminal_shows_health_and_drift_first() {
        let mut foreign = status(ProviderType::ControlPlane, "kubeadm", InstalledHealth::Ready);
        foreign.recorded = false;
        let broken = InstalledHealth::NotReady(vec![blocker("Deployment", "late", vec![])]);
        let providers = vec![foreign, status(ProviderType::Infrastructure, "somebodys-own-cloud", broken)];
        let report = status_report(
            ClusterStatus { providers, ..empty() },
            &UnfinishedSaves::default(),
            false,
            &SuggestedCommands::default(),
        );
        let table = |width| text(&report, Some(width)).lines().take(3).collect::<Vec<_>>().join("\n");
        assert_data_eq!(
            table(100),
            str![[r"
NAME                                VERSION  HEALTH     DRIFT
control-plane-kubeadm               v1.14.0  ready      unknown, installed by another tool
infrastructure-somebodys-own-cloud  v1.14.0  not ready  none
"]]
        );
        assert_data_eq!(
            table(80),
            str![[r"
NAME                      VERSION  HEALTH     DRIFT
control-plane-kubeadm     v1.14.0  ready      unknown, installed by another tool
infrastructu…s-own-cloud  v1.14.0  not ready  none
"]]
        );
        assert_data_eq!(
            table(60),
            str![[r"
NAME                VERSION  HEALTH     DRIFT
control-p…-kubeadm  v1.14.0  ready      unknown, i…ther tool
infrastru…wn-cloud  v1.14.0  not ready  none
"]]
        );
    }

    #[test]
    fn a_missing_object_is_listed_once() {
        let mut missing = blocker("Service", "it is not there", vec![]);
        missing.status.health = Health::NotFound;
        let mut of =
            status(ProviderType::Core, "cluster-api", InstalledHealth::NotReady(vec![missing.clone()]));
        let drifted = |object| DriftedObject { object, fields: vec![] };
        of.drift = vec![drifted(missing.object), drifted(key("Role", "changed"))];
        assert_data_eq!(
            shown(vec![of]),
            str![[r#"
NAME          VERSION   NAMESPACE            HEALTH      DRIFT
cluster-api   v1.14.0   cluster-api-system   not ready   2 objects

cluster-api
  Service ns/manager: it is not there
  Role ns/changed: differs from the applied version

"#]]
        );
    }

    #[test]
    fn an_empty_cluster_is_not_a_failure() {
        assert_data_eq!(
            shown(Vec::new()),
            str![[r#"
no providers are installed

"#]]
        );
    }

    #[test]
    fn an_unfinished_rollback_shows_finished_providers() {
        let row = |provider: &str, done| UnfinishedProvider {
            provider: provider.to_owned(),
            from: "v1.0.0".to_owned(),
            to: "v1.1.0".to_owned(),
            done,
        };
        let journal = UnfinishedUpgrade {
            begun: "2026-11-21T20:48:49Z".to_owned(),
            rolling_back: true,
            providers: vec![row("infrastructure-aws", true), row("infrastructure-docker", false)],
        };
        let shown = |lease| {
            let status = ClusterStatus { unfinished_upgrade: Some(journal.clone()), lease, ..empty() };
            text(
                &status_report(status, &UnfinishedSaves::default(), true, &SuggestedCommands::default()),
                None,
            )
        };
        let holder = LeaseHolder {
            host: "laptop".to_owned(),
            process: "elsewhere".to_owned(),
            verb: "upgrade resume".to_owned(),
            since: None,
        };
        assert_data_eq!(
            shown(Some(LeaseState { holder, is_expired: false })),
            str![[r#"
no providers are installed

`upgrade resume` on `laptop` (process elsewhere) is writing to this cluster

"#]]
        );
        assert_data_eq!(
            shown(None),
            str![[r#"
no providers are installed

the rollback of the upgrade started at 2026-11-21T20:48:49Z is unfinished:
  infrastructure-aws: v1.1.0 to v1.0.0
  infrastructure-docker: v1.1.0 to v1.0.0, done
run `capstan upgrade resume` to complete the rollback
run `capstan upgrade abort` to forget the upgrade and keep its changes

"#]]
        );
    }
}
