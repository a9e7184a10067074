//! The controller of Components in the process of a sandbox.

use std::{error::Error, pin::pin, sync::Arc, time::Duration};

use api::labels::FIELD_MANAGER;
use apply::{ApplyRequest, ConnectionOptions, EventSink, GroupKind, LeaseRequest, Server, ServerOptions};
use component::{ClusterRenderer, ComponentStore, Preparation, definitions};
use controller::{Controller, ControllerEvent, ControllerOptions, Shard, acquire_shard};
use inventory::ManagementCluster;
use repository::RepositoryContext;
use sandbox::Sandbox;
use tokio::time::{Instant, sleep};

use crate::{Failure, failure::Kind, session::Session, settings::lease_request, ui::Messages};

/// The time limit for the kind Component to be served.
const SERVED_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The namespace of the Lease of the controller.
const LEASE_NAMESPACE: &str = "kube-system";

/// A controller that has not started.
pub(super) struct SandboxController {
    hub: Server,
    hub_uid: String,
    lease: LeaseRequest,
    repositories: RepositoryContext,
    messages: Messages,
}

impl SandboxController {
    /// Installs the definitions of Components, and waits until the sandbox serves them.
    pub(super) async fn prepare(
        sandbox: &Sandbox,
        repositories: RepositoryContext,
        session: &Session,
    ) -> Result<Self, Failure> {
        let connection =
            ConnectionOptions::of_client(kube::Client::new(sandbox.clone(), "default"), "capstan/controller");
        // Nobody else writes to the sandbox before it is announced.
        let hub = Server::connect(connection, ServerOptions::default()).await?.without_lease();
        let kind = hub.kind(&GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition")).await?;
        for definition in definitions() {
            hub.apply(&kind, &definition, FIELD_MANAGER, ApplyRequest::default()).await?;
        }
        let deadline = Instant::now() + SERVED_TIMEOUT;
        while !ComponentStore::open(&hub).await?.has_definition() {
            if Instant::now() > deadline {
                return Err(Failure::new(Kind::Environment, "the sandbox does not serve the kind Component"));
            }
            sleep(POLL_INTERVAL).await;
            hub.forget_kinds();
        }
        let identity = ManagementCluster::new(hub.clone(), EventSink::none()).identity().await?;
        let name = Shard::default().lease_name(LEASE_NAMESPACE);
        let lease = lease_request(name, "sandbox start", session.environment());
        let messages = session.messages().clone();
        Ok(Self { hub, hub_uid: identity.uid, lease, repositories, messages })
    }

    /// Reconciles Components until `stop` completes. A failure is a warning, because the sandbox goes on serving.
    pub(super) async fn run(self, stop: impl Future<Output = ()>) {
        let Self { hub, hub_uid, lease, repositories, messages } = self;
        let waiting = |event: &ControllerEvent| report(event, &messages);
        let commands = ManagementCluster::lease_name();
        let mut stop = pin!(stop);
        let mut lease = tokio::select! {
            acquired = acquire_shard(&hub, &lease, Shard::default(), &commands, waiting) => match acquired {
                Ok(lease) => lease,
                Err(error) => return warn(&error, &messages),
            },
            () = stop.as_mut() => return,
        };
        let hub = hub.with_lease(&lease);
        let preparation = Preparation { repositories: repositories.clone(), ..Preparation::default() };
        let renderer = ClusterRenderer::new(preparation, hub.clone());
        let log = messages.clone();
        let controller = Controller {
            hub,
            hub_uid,
            renderer: &renderer,
            repositories,
            metrics: Arc::default(),
            readiness: Arc::default(),
            options: ControllerOptions {
                max_concurrent_reconciles: 5,
                default_service_account: None,
                receiver: None,
                shard: Shard::default(),
                events: EventSink::new(move |event| report(event, &log)),
            },
        };
        if let Err(error) = Box::pin(controller.run_while_leading(&mut lease, stop)).await {
            warn(&error, &messages);
        }
        lease.release().await;
    }
}

fn warn(error: &(dyn Error + 'static), messages: &Messages) {
    messages.warning(format!("the controller of Components has ended: {}", api::with_causes(error)));
}

/// Reports an event in the log of the sandbox.
fn report(event: &ControllerEvent, messages: &Messages) {
    match event {
        ControllerEvent::Stepped { component, state, message, .. } => {
            messages.status(format!("Component {component} is {state}: {message}"));
        }
        ControllerEvent::Gone { component } => messages.status(format!("Component {component} is deleted")),
        ControllerEvent::Failed { component, error, .. } => {
            messages.status(format!("Component {component} is retried: {error}"));
        }
        ControllerEvent::Unreadable { problem } | ControllerEvent::WatchInterrupted { problem } => {
            messages.status(format!("the controller of Components has a problem: {problem}"));
        }
        ControllerEvent::Waiting { holder } => {
            messages.status(format!("the controller of Components waits for {holder}"));
        }
        ControllerEvent::Started | ControllerEvent::Stopping | ControllerEvent::NotNotified { .. } => {}
    }
}
