use std::time::Duration;

use apply::{Connection, Server, ServerSettings};
use management::ManagementCluster;

use super::{KubeFlags, kubeconfig::CLUSTER_HEADING};
use crate::{Failure, events::ProgressFormat, platform, session::Session};

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
    /// Requests that may be under way at the same time [default: 16]
    #[arg(long, value_name = "N", help_heading = CLUSTER_HEADING)]
    pub(crate) max_in_flight: Option<i64>,

    /// How to tell progress: auto draws on a terminal and prints lines elsewhere, json prints one object a line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = CLUSTER_HEADING)]
    pub(crate) progress: ProgressFormat,
}

/// More would only queue at the server.
const MOST_IN_FLIGHT: usize = 256;

impl PaceFlags {
    /// # Errors
    /// Names the flag that cannot be used.
    fn settings(&self) -> Result<ServerSettings, Failure> {
        let max_in_flight = match self.max_in_flight {
            None => ServerSettings::default().max_in_flight,
            Some(number) => {
                let number = usize::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| {
                    Failure::user(format!("invalid value `{number}` for `--max-in-flight`"))
                        .cause(format!("a number from 1 to {MOST_IN_FLIGHT} is expected"))
                })?;
                number.min(MOST_IN_FLIGHT)
            }
        };
        Ok(ServerSettings { max_in_flight, ..ServerSettings::default() })
    }
}

/// The management cluster of the kubeconfig, connected. Nothing is asked of it yet.
/// # Errors
/// Says which flag, file, context or credential plugin is wrong.
pub(crate) fn management_cluster(
    kube: &KubeFlags,
    pace: &PaceFlags,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    connect(kube, pace, session, pace.settings()?)
}

/// The same for a verb that can do without: it is not waited for long.
/// # Errors
/// As for the other.
pub(crate) fn management_cluster_if_near(
    kube: &KubeFlags,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    /// Source: clusterctl v1.14 client/cluster/proxy.go (CheckClusterAvailable) gives up after 5 s.
    const PATIENCE: Duration = Duration::from_secs(5);
    let pace = PaceFlags::default();
    let settings = ServerSettings { request_timeout: PATIENCE, retry_for: PATIENCE, ..pace.settings()? };
    connect(kube, &pace, session, settings)
}

fn connect(
    kube: &KubeFlags,
    pace: &PaceFlags,
    session: &Session,
    mut settings: ServerSettings,
) -> Result<ManagementCluster, Failure> {
    let connection = Connection {
        credentials: kube.credentials(session.environment())?,
        impersonation: None,
        user_agent: format!(
            "capstan/{} ({}/{})",
            env!("CARGO_PKG_VERSION"),
            platform::operating_system(),
            platform::architecture()
        ),
    };
    let events = session.cluster_events(pace.progress);
    settings.events = events.of_server();
    let server = session.block_on(Box::pin(Server::connect(connection, settings)))?;
    Ok(ManagementCluster::new(server, events.of_cluster()))
}
