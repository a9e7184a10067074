//! `controller`: reconciles the Components of a cluster.

mod manifests;

use std::{net::SocketAddr, sync::Arc, time::SystemTime};

use apply::{EventSink, HeldLeasePolicy, Lease, LeaseHolder, LeaseRequest, Server};
use component::{ClusterRenderer, Preparation};
use controller::{ControllerEvent, ControllerOptions, Endpoint, Metrics, lease_name, serve};
use inventory::ManagementCluster;
use jiff::Timestamp;
use tokio::{net::TcpListener, task::JoinSet};

use crate::{
    Failure,
    failure::Kind,
    process,
    session::Session,
    settings::{self, KubeFlags},
    ui::Messages,
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

    /// Address of `/metrics`; 0 for none
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    metrics_bind_address: String,

    /// Address of `/healthz` and `/readyz`; 0 for none
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    health_probe_bind_address: String,

    /// Work only while no other controller works on the cluster
    #[arg(long)]
    leader_elect: bool,

    /// Namespace of the Lease of `--leader-elect` [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Service account for Components without `serviceAccountName` and `kubeConfig`
    #[arg(long, value_name = "NAME")]
    default_service_account: Option<String>,

    /// Maximum number of Components that are reconciled at a time
    #[arg(long, value_name = "N", default_value_t = 5)]
    max_concurrent_reconciles: u16,

    /// Lowest level of log lines
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    zap_log_level: LogLevel,

    #[command(flatten)]
    kube: KubeFlags,
}

#[derive(clap::Subcommand)]
enum ControllerVerb {
    Manifests(manifests::Manifests),
}

/// A level of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum LogLevel {
    /// Every step
    #[default]
    Info,
    /// Steps that fail
    Error,
}

pub(crate) fn run(args: &Controller, session: &mut Session) -> Result<(), Failure> {
    if let Some(ControllerVerb::Manifests(args)) = &args.verb {
        return manifests::run(args, session);
    }
    let addresses = [
        (parse_address(&args.metrics_bind_address, "metrics-bind-address")?, Endpoint::Metrics),
        (parse_address(&args.health_probe_bind_address, "health-probe-bind-address")?, Endpoint::Probes),
    ];
    let cluster = settings::controller_cluster(&args.kube, session)?;
    let metrics = Arc::new(Metrics::default());
    let mut endpoints = session.block_on(open_endpoints(addresses, &metrics))?;
    let lease = if args.leader_elect {
        Some(session.block_on(Lease::acquire(cluster.server(), &args.lease_request(session)?))?)
    } else {
        None
    };
    let hub = match &lease {
        Some(lease) => cluster.server().with_lease(lease),
        None => cluster.server().without_lease(),
    };
    let ended = args.reconcile(&cluster, hub, metrics, session);
    let released = session.block_on(async {
        if let Some(lease) = lease {
            lease.release().await;
        }
        Ok::<_, Failure>(())
    });
    // A lease that was not released expires.
    drop(released);
    endpoints.abort_all();
    ended
}

impl Controller {
    fn reconcile(
        &self,
        cluster: &ManagementCluster,
        hub: Server,
        metrics: Arc<Metrics>,
        session: &Session,
    ) -> Result<(), Failure> {
        let repositories = session.repositories()?;
        let preparation = Preparation { repositories: repositories.clone(), ..Preparation::default() };
        let renderer = ClusterRenderer::new(preparation, hub.clone());
        let (messages, level) = (session.messages().clone(), self.zap_log_level);
        let options = ControllerOptions {
            max_concurrent_reconciles: self.max_concurrent_reconciles,
            default_service_account: self.default_service_account.clone(),
            events: EventSink::new(move |event| log(event, level, &messages)),
        };
        session.block_on(async {
            let hub_uid = cluster.identity().await?.uid;
            let renderer = &renderer;
            let controller =
                controller::Controller { hub, hub_uid, renderer, repositories, metrics, options };
            Ok::<_, Failure>(Box::pin(controller.run(terminated())).await?)
        })
    }

    fn lease_request(&self, session: &Session) -> Result<LeaseRequest, Failure> {
        let environment = session.environment();
        let namespace = self.kube.namespace(self.namespace.as_deref(), environment)?;
        Ok(LeaseRequest {
            name: lease_name(&namespace),
            holder: LeaseHolder {
                host: process::host_name(environment),
                process: process::process_id(),
                verb: "controller".to_owned(),
                since: None,
            },
            has_ended: Arc::new(|holder: &LeaseHolder| process::has_ended(&holder.process)),
            when_held: HeldLeasePolicy::Wait,
            wall_clock: SystemTime::now,
        })
    }
}

/// Parses an address in the form of Go, such as `:8080`. None for `0`.
fn parse_address(text: &str, flag: &str) -> Result<Option<SocketAddr>, Failure> {
    if text == "0" {
        return Ok(None);
    }
    let whole = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text.to_owned() };
    whole.parse().map(Some).map_err(|_| {
        Failure::user(format!("invalid value `{text}` for `--{flag}`"))
            .cause("expected a port such as `:8080`, an address such as `127.0.0.1:8080`, or `0`")
    })
}

/// Opens the ports, and answers requests in the background.
async fn open_endpoints(
    addresses: [(Option<SocketAddr>, Endpoint); 2],
    metrics: &Arc<Metrics>,
) -> Result<JoinSet<()>, Failure> {
    let mut endpoints = JoinSet::new();
    for (address, endpoint) in addresses {
        let Some(address) = address else { continue };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Failure::new(Kind::Environment, format!("cannot listen on {address}")).because(&error)
        })?;
        let metrics = Arc::clone(metrics);
        endpoints.spawn(async move { match serve(listener, endpoint, metrics).await {} });
    }
    Ok(endpoints)
}

/// Returns a future that completes when the process is asked to end, from this call on.
fn terminated() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    async move {
        #[cfg(unix)]
        if let Ok(mut signals) = signals {
            signals.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Logs an event as one line of JSON.
fn log(event: &ControllerEvent, lowest: LogLevel, messages: &Messages) {
    let level = if event.is_error() { LogLevel::Error } else { LogLevel::Info };
    if level >= lowest {
        let mut line = serde_json::to_value(event).unwrap_or_default();
        line["ts"] = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string().into();
        line["level"] = if level == LogLevel::Error { "error" } else { "info" }.into();
        messages.write_plain(&format!("{line}\n"));
    }
}
