use std::time::Duration;

use apply::{Blocker, Event};
use component::{Component, ComponentKey, StoredComponents};
use tokio::time::{Instant, sleep};

use super::{
    hub::{Hub, Selection, selection},
    listing::{blockers, list_text, listed},
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag, ServerFlags},
    verbs::lifecycle::parse_duration,
};

/// The time between two looks at the cluster.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);
/// The default of `--timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// Wait until Components are ready
///
/// Waits until a controller, or another run, has made all objects of Components ready. If a Component is not ready in time, the
/// exit status is 3. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component wait
  {bin} component wait shop/web shop/db --timeout 5m")]
pub(crate) struct Wait {
    /// Names of Components, with or without NAMESPACE/ [default: all Components, or those of `--namespace`]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Namespace of the Components [default: that of the context for names, or else all namespaces]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Maximum time to wait [default: 10m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &Wait, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let timeout = args.timeout.as_deref().map(parse_duration).transpose()?.unwrap_or(DEFAULT_TIMEOUT);
    let selection =
        selection(&args.names, args.namespace.as_deref(), &args.server.kube, session.environment())?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let components = session.block_on(async {
        let hub = Hub::open_for_reading(&cluster).await?;
        wait(&hub, &selection, timeout, async |_| Ok(false)).await
    })?;
    let components =
        StoredComponents { components: components.unwrap_or_default(), ..StoredComponents::default() };
    session.print(format, &listed(&components, false), list_text)
}

/// Waits until all Components are ready, and returns them. Reports changes of the objects that are not ready. Returns None
/// once `gives_up` returns true for the Components that are not ready.
pub(super) async fn wait(
    hub: &Hub,
    selection: &Selection,
    timeout: Duration,
    mut gives_up: impl AsyncFnMut(&[&Component]) -> Result<bool, Failure>,
) -> Result<Option<Vec<Component>>, Failure> {
    let deadline = Instant::now() + timeout;
    let mut reported: Vec<Blocker> = Vec::new();
    loop {
        let components = hub.select(selection).await?.readable()?;
        let waiting: Vec<&Component> =
            components.iter().filter(|one| !one.status.is_ready(one.generation())).collect();
        if waiting.is_empty() {
            return Ok(Some(components));
        }
        if gives_up(&waiting).await? {
            return Ok(None);
        }
        let blockers: Vec<Blocker> = waiting.iter().flat_map(|one| blockers(one)).collect();
        if blockers != reported {
            hub.cluster.server.events().send(&Event::Waiting { blockers: blockers.clone() });
            reported = blockers;
        }
        if Instant::now() >= deadline {
            let count = crate::ui::format_count(waiting.len(), "Component");
            let failure = Failure::new(Kind::Unhealthy, format!("{count} not ready after {timeout:?}"));
            let cause = |one: &&Component| {
                let message = one.status.ready().map(|ready| ready.message.as_str()).unwrap_or_default();
                format!("{}: {message}", ComponentKey::of(one))
            };
            return Err(waiting.iter().map(cause).fold(failure, Failure::cause));
        }
        sleep(INTERVAL).await;
    }
}
