//! Servers and objects for tests.

pub(crate) mod model;
mod scripted;

use std::{sync::Mutex, time::Duration};

use manifest::{Object, Value};
use serde_json::json;
use support::fixture::Fixture;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub(crate) use self::scripted::{Reply, ScriptedLab, ScriptedServer};
use crate::{
    ApiKind, ConnectionOptions, Credentials, Event, EventSink, GroupKind, PatchTarget, Server, ServerOptions,
    WriteMode,
};

/// The field manager of tests.
pub(crate) const MANAGER: &str = "me";

/// A sandbox, a connection to it, and the events of the connection.
pub(crate) struct Lab {
    pub(crate) fixture: Fixture,
    pub(crate) server: Server,
    pub(crate) events: EventLog,
}

/// The events of a connection that no test has read.
pub(crate) struct EventLog(Mutex<UnboundedReceiver<Event>>);

impl Lab {
    pub(crate) async fn start() -> Self {
        Self::with_fixture(Fixture::start().await).await
    }

    pub(crate) async fn with_fixture(fixture: Fixture) -> Self {
        let (server, events) = connect(fixture.client(), ServerOptions::default()).await;
        Self { fixture, server, events }
    }

    pub(crate) async fn kind(&self, object: &Object) -> ApiKind {
        self.server.kind(&GroupKind::new(object.group(), object.kind())).await.unwrap()
    }

    /// Creates an object as the manager `test`.
    pub(crate) async fn create(&self, value: &Value) -> Object {
        let object = object(value.clone());
        self.server.create(&self.kind(&object).await, &object, "test", WriteMode::Real).await.unwrap()
    }

    pub(crate) async fn get(&self, value: &Value) -> Object {
        let object = object(value.clone());
        let found = self.server.get(&self.kind(&object).await, object.namespace(), object.name()).await;
        found.unwrap().unwrap()
    }

    pub(crate) async fn set_status(&self, value: &Value, status: &Value) {
        let object = object(value.clone());
        let patch = serde_json::json!({"status": status});
        let (kind, namespace, name) = (self.kind(&object).await, object.namespace(), object.name());
        self.server.patch(&kind, namespace, name, &patch, "test", PatchTarget::Status).await.unwrap();
    }

    pub(crate) async fn delete(&self, value: &Value) {
        let object = object(value.clone());
        let kind = self.kind(&object).await;
        self.server.delete(&kind, object.namespace(), object.name(), None).await.unwrap();
    }

    /// Returns the number of requests of one type, such as `patch configmaps`.
    pub(crate) fn request_count(&self, request: &str) -> usize {
        let requests = self.fixture.sandbox().audit().since(0);
        requests.iter().filter(|sent| format!("{} {}", sent.verb, sent.resource) == request).count()
    }
}

impl EventLog {
    /// Waits for the next event.
    pub(crate) async fn next(&self) -> Event {
        let next = std::future::poll_fn(|context| self.0.lock().unwrap().poll_recv(context));
        next.await.expect("the lab holds the server that sends")
    }

    /// Returns all events since the last call.
    pub(crate) fn take(&self) -> Vec<Event> {
        let mut events = self.0.lock().unwrap();
        std::iter::from_fn(|| events.try_recv().ok()).collect()
    }

    /// Returns the reasons of all retries since the last call.
    pub(crate) fn take_retries(&self) -> Vec<String> {
        let reasons = self.take().into_iter().filter_map(|event| match event {
            Event::Retrying { reason, .. } => Some(reason),
            _ => None,
        });
        reasons.collect()
    }
}

/// Connects without a lease.
async fn connect(client: kube::Client, options: ServerOptions) -> (Server, EventLog) {
    let (sender, events) = unbounded_channel();
    let sink = EventSink::new(move |event: &Event| drop(sender.send(event.clone())));
    let options = ServerOptions { events: sink, ..options };
    let connection = ConnectionOptions::of_client(client, "test/1");
    let server = Server::connect(connection, options).await.unwrap().without_lease();
    (server, EventLog(Mutex::new(events)))
}

/// Returns an object from JSON.
pub(crate) fn object(value: Value) -> Object {
    value.try_into().unwrap()
}

/// Returns a ConfigMap in the default namespace with one value.
pub(crate) fn config_map(name: &str, value: &str) -> Object {
    let metadata = json!({"name": name, "namespace": "default"});
    object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}}))
}

/// Returns the value of the ConfigMap.
pub(crate) fn value(object: &Object) -> &str {
    object.get(&["data", "key"]).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a kubeconfig with one context, `lab`.
pub(crate) fn kubeconfig(cluster: &Value, user: &Value) -> Credentials {
    let config = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
    });
    Credentials::Kubeconfig {
        config: Box::new(serde_json::from_value(config).unwrap()),
        context: "lab".into(),
    }
}

/// Returns the kind of ConfigMaps without discovery.
pub(crate) fn config_maps() -> ApiKind {
    ApiKind {
        group: String::new(),
        version: "v1".into(),
        kind: "ConfigMap".into(),
        plural: "configmaps".into(),
        namespaced: true,
        verbs: Vec::new(),
    }
}

/// The time limit of waits in tests.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(2);
