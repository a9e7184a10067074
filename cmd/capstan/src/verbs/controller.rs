//! `controller`: reconciles the Components of a cluster.

mod deployment;
mod install;
mod log;
mod manifests;
mod uninstall;

use std::{net::SocketAddr, sync::Arc};

use apply::{EventSink, Lease, LeaseRequest, Server};
use component::{ClusterRenderer, Preparation};
use controller::{
    ControllerEvent, ControllerOptions, Endpoint, EventsReceiver, Metrics, Readiness, Shard, ShardError,
    acquire_shard, serve,
};
use inventory::ManagementCluster;
use tokio::{net::TcpListener, task::JoinSet};

use self::log::{ControllerLog, LogFlags};
use crate::{
    Environment, Failure, WithContext as _,
    failure::Kind,
    process,
    session::Session,
    settings::{self, KubeFlags},
};

/// Run the controller of Components
///
/// Reconciles the Components of a cluster until it is stopped, as the controller of component-operator does. Do not run both on
/// one cluster. Logs one JSON object a line. In a pod, it uses the service account of the pod.
#[derive(clap::Args)]
#[command(
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  {bin} controller
  {bin} controller --leader-elect --namespace component-operator-system"
)]
pub(crate) struct Controller {
    #[command(subcommand)]
    verb: Option<ControllerVerb>,

    /// Address of `/metrics`, or 0
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    metrics_bind_address: String,

    /// Address of the probes, or 0
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    health_probe_bind_address: String,

    /// Work only while no other controller works
    #[arg(long)]
    leader_elect: bool,

    /// Reconcile only one shard of Components, as 0/3
    #[arg(long, value_name = "INDEX/COUNT")]
    shard: Option<String>,

    /// Namespace of the Lease of `--leader-elect` [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Service account for Components without `serviceAccountName` and `kubeConfig`
    #[arg(long, value_name = "NAME")]
    default_service_account: Option<String>,

    /// Maximum number of Components that are reconciled at a time
    #[arg(long, value_name = "N", default_value_t = 5)]
    max_concurrent_reconciles: u16,

    /// Address of an events receiver of Flux
    #[arg(long, value_name = "URL")]
    events_address: Option<String>,

    #[command(flatten)]
    log: LogFlags,

    #[command(flatten)]
    kube: KubeFlags,
}

#[derive(clap::Subcommand)]
enum ControllerVerb {
    Install(Box<install::Install>),
    Manifests(manifests::Manifests),
    Uninstall(Box<uninstall::Uninstall>),
}

pub(crate) fn run(args: &Controller, session: &mut Session) -> Result<(), Failure> {
    match &args.verb {
        Some(ControllerVerb::Install(args)) => install::run(args, session),
        Some(ControllerVerb::Manifests(args)) => manifests::run(args, session),
        Some(ControllerVerb::Uninstall(args)) => uninstall::run(args, session),
        None => run_controller(args, session),
    }
}

fn run_controller(args: &Controller, session: &mut Session) -> Result<(), Failure> {
    let (shard, receiver) = (args.shard()?, args.events_receiver(session.environment())?);
    let (metrics, readiness) = (Arc::default(), Arc::default());
    let addresses = [
        (&args.metrics_bind_address, "metrics-bind-address", Endpoint::Metrics(Arc::clone(&metrics))),
        (
            &args.health_probe_bind_address,
            "health-probe-bind-address",
            Endpoint::Probes(Arc::clone(&readiness)),
        ),
    ];
    let log = args.log.log(session.messages());
    let events = log.clone();
    let cluster =
        settings::controller_cluster(&args.kube, EventSink::new(move |event| events.server(event)), session)?;
    let mut endpoints = session.block_on(open_endpoints(addresses))?;
    let mut lease = if args.leader_elect {
        let request = args.lease_request(shard, session.environment())?;
        let waiting = |event: &ControllerEvent| log.controller(event);
        let commands = ManagementCluster::lease_name();
        match session.block_on(acquire_shard(cluster.server(), &request, shard, &commands, waiting)) {
            Err(failure) if failure.kind() == Kind::Interrupted => return Ok(()),
            acquired => Some(acquired?),
        }
    } else {
        None
    };
    let hub = match &lease {
        Some(lease) => cluster.server().with_lease(lease),
        None => cluster.server().without_lease(),
    };
    let reports = Reports { metrics, readiness, receiver, log };
    let ended = args.reconcile(&cluster, hub, shard, reports, lease.as_mut(), session);
    settings::release(lease, session);
    endpoints.abort_all();
    ended
}

/// The receivers of the reports of a controller.
struct Reports {
    metrics: Arc<Metrics>,
    readiness: Arc<Readiness>,
    receiver: Option<EventsReceiver>,
    log: ControllerLog,
}

impl Controller {
    fn shard(&self) -> Result<Shard, Failure> {
        let Some(text) = &self.shard else { return Ok(Shard::default()) };
        text.parse().map_err(|error: ShardError| {
            Failure::user(format!("invalid value `{text}` for `--shard`")).because(&error)
        })
    }

    fn events_receiver(&self, environment: &Environment) -> Result<Option<EventsReceiver>, Failure> {
        let Some(address) = &self.events_address else { return Ok(None) };
        EventsReceiver::new(address, process::host_name(environment))
            .map(Some)
            .with_context(|| "invalid value for `--events-address`".to_owned())
    }

    fn reconcile(
        &self,
        cluster: &ManagementCluster,
        hub: Server,
        shard: Shard,
        reports: Reports,
        lease: Option<&mut Lease>,
        session: &Session,
    ) -> Result<(), Failure> {
        let repositories = session.repositories()?;
        let preparation = Preparation { repositories: repositories.clone(), ..Preparation::default() };
        let renderer = ClusterRenderer::new(preparation, hub.clone());
        let Reports { metrics, readiness, receiver, log } = reports;
        let options = ControllerOptions {
            max_concurrent_reconciles: self.max_concurrent_reconciles,
            default_service_account: self.default_service_account.clone(),
            receiver,
            shard,
            events: EventSink::new(move |event| log.controller(event)),
        };
        let hub_uid = session.block_on(cluster.identity())?.uid;
        let renderer = &renderer;
        let controller =
            controller::Controller { hub, hub_uid, renderer, repositories, metrics, readiness, options };
        session.block_on_to_end(async |stop| {
            match lease {
                Some(lease) => Box::pin(controller.run_while_leading(lease, stop)).await?,
                None => Box::pin(controller.run(stop)).await?,
            }
            Ok::<_, Failure>(())
        })
    }

    fn lease_request(&self, shard: Shard, environment: &Environment) -> Result<LeaseRequest, Failure> {
        let namespace = self.kube.namespace(self.namespace.as_deref(), environment)?;
        Ok(settings::lease_request(shard.lease_name(&namespace), "controller", environment))
    }
}

/// Parses an address in the form of Go, such as `:8080`. Returns the addresses to try in order; none for `0`. The first one
/// for a port alone serves IPv4 and IPv6.
fn parse_address(text: &str, flag: &str) -> Result<Vec<SocketAddr>, Failure> {
    if text == "0" {
        return Ok(Vec::new());
    }
    let hosts: &[&str] = if text.starts_with(':') { &["[::]", "0.0.0.0"] } else { &[""] };
    let parsed: Result<_, _> = hosts.iter().map(|host| format!("{host}{text}").parse()).collect();
    parsed.map_err(|_| {
        Failure::user(format!("invalid value `{text}` for `--{flag}`"))
            .cause("expected a port such as `:8080`, an address such as `127.0.0.1:8080`, or `0`")
    })
}

/// Opens the ports, and answers requests in the background.
async fn open_endpoints(addresses: [(&String, &str, Endpoint); 2]) -> Result<JoinSet<()>, Failure> {
    let mut endpoints = JoinSet::new();
    for (text, flag, endpoint) in addresses {
        let addresses = parse_address(text, flag)?;
        if addresses.is_empty() {
            continue;
        }
        let listener = TcpListener::bind(&*addresses).await.map_err(|error| {
            Failure::new(Kind::Environment, format!("cannot listen on {text}"))
                .because(&error)
                .hint(format!("use another port with `--{flag}`, or `--{flag} 0` for none"))
        })?;
        endpoints.spawn(async move { match serve(listener, endpoint).await {} });
    }
    Ok(endpoints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_serves_both_versions_of_ip() {
        let parsed = |text: &str| {
            parse_address(text, "flag")
                .map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        for (text, expected) in [
            (":8080", "[::]:8080 0.0.0.0:8080"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::1]:1", "[::1]:1"),
            ("0", ""),
        ] {
            assert_eq!(parsed(text).unwrap(), expected);
        }
        for wrong in ["", "8080", ":70000", "::1", "host:80:80"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
