use std::time::Duration;

use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
use inventory::ManagementCluster;

use super::{CLUSTER, KubeFlags, KubeconfigError};
use crate::{
    Environment, Failure,
    events::{ApiWarnings, ClusterEvents, ProgressFormat},
    program,
    session::Session,
};

/// The flags that say how a management cluster is worked on, for verbs that change it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ServerFlags {
    #[command(flatten)]
    pub(crate) kube: KubeFlags,

    #[command(flatten)]
    pub(crate) pace: PaceFlags,
}

/// The flags of a connection that is made already.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PaceFlags {
    /// Maximum number of concurrent requests [default: 16]
    #[arg(long, value_name = "N", help_heading = CLUSTER)]
    pub(crate) max_in_flight: Option<i64>,

    /// Format of progress: live on a terminal and plain lines elsewhere (auto), or one JSON object per line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = CLUSTER)]
    pub(crate) progress: ProgressFormat,
}

/// The limit of parallel requests. More requests would only queue at the server.
const MAX_IN_FLIGHT: usize = 256;

impl PaceFlags {
    fn settings(&self) -> Result<ServerOptions, Failure> {
        let max_in_flight = match self.max_in_flight {
            None => ServerOptions::default().max_in_flight,
            Some(number) => {
                let valid =
                    usize::try_from(number).ok().filter(|number| (1..=MAX_IN_FLIGHT).contains(number));
                valid.ok_or_else(|| {
                    Failure::user(format!("invalid value `{number}` for `--max-in-flight`"))
                        .cause(format!("expected a number from 1 to {MAX_IN_FLIGHT}"))
                })?
            }
        };
        Ok(ServerOptions { max_in_flight, ..ServerOptions::default() })
    }
}

/// Connects to the management cluster of the kubeconfig. Sends no request yet.
pub(crate) fn management_cluster(
    kube: &KubeFlags,
    pace: &PaceFlags,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    management_cluster_hiding_warnings(kube, pace, ApiWarnings::default(), session)
}

/// Connects to the management cluster and hides some warnings of its server.
pub(crate) fn management_cluster_hiding_warnings(
    kube: &KubeFlags,
    pace: &PaceFlags,
    hidden: ApiWarnings,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    let events = session.cluster_events(pace.progress).with_hidden_warnings(hidden);
    let settings = ServerOptions { events: events.server_sink(), ..pace.settings()? };
    connect(kube, &events, session, settings)
}

/// Connects for a verb that shows the availability of its server itself. Requests are not retried and time out after
/// `patience`.
pub(crate) fn watched_management_cluster(
    kube: &KubeFlags,
    pace: &PaceFlags,
    timeout: Duration,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    let events = session.cluster_events(pace.progress);
    let settings = ServerOptions {
        request_timeout: timeout,
        retry_for: Duration::ZERO,
        events: events.request_sink(),
        ..pace.settings()?
    };
    connect(kube, &events, session, settings)
}

/// Connects for a controller, which takes failed steps again itself.
pub(crate) fn controller_cluster(
    kube: &KubeFlags,
    requests: EventSink<apply::Event>,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    /// The time for retries of one request.
    const RETRY_FOR: Duration = Duration::from_secs(10);
    let events = session.cluster_events(ProgressFormat::default());
    let settings = ServerOptions { retry_for: RETRY_FOR, events: requests, ..ServerOptions::default() };
    connect(kube, &events, session, settings)
}

/// Connects for a verb that also works without the cluster. The wait is short.
pub(crate) fn optional_management_cluster(
    kube: &KubeFlags,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    /// Source: clusterctl v1.14 client/cluster/proxy.go (CheckClusterAvailable) times out after 5 s.
    const OPTIONAL_TIMEOUT: Duration = Duration::from_secs(5);
    let pace = PaceFlags::default();
    let events = session.cluster_events(pace.progress);
    let settings = ServerOptions {
        request_timeout: OPTIONAL_TIMEOUT,
        retry_for: OPTIONAL_TIMEOUT,
        events: events.server_sink(),
        ..pace.settings()?
    };
    connect(kube, &events, session, settings)
}

fn connect(
    kube: &KubeFlags,
    events: &ClusterEvents,
    session: &Session,
    settings: ServerOptions,
) -> Result<ManagementCluster, Failure> {
    let connection = connection(kube, session.environment())?;
    let server = session.block_on(Box::pin(Server::connect(connection, settings)))?;
    Ok(ManagementCluster::new(server, events.cluster_sink()))
}

/// Connects for completion, without output and with a short timeout.
pub(crate) async fn completion_cluster(
    kube: &KubeFlags,
    environment: &Environment,
    timeout: Duration,
) -> Result<ManagementCluster, Failure> {
    let settings =
        ServerOptions { request_timeout: timeout, retry_for: Duration::ZERO, ..ServerOptions::default() };
    let server = Server::connect(connection(kube, environment)?, settings).await?;
    Ok(ManagementCluster::new(server, EventSink::none()))
}

fn connection(kube: &KubeFlags, environment: &Environment) -> Result<ConnectionOptions, KubeconfigError> {
    Ok(ConnectionOptions {
        credentials: kube.credentials(environment)?,
        impersonation: None,
        user_agent: format!(
            "capstan/{} ({}/{})",
            env!("CARGO_PKG_VERSION"),
            program::operating_system(),
            program::architecture()
        ),
    })
}
