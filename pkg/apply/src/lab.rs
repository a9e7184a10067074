//! A sandbox with a server, for tests.

use std::sync::Mutex;

use manifest::{Object, Value};
use support::fixture::Fixture;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    ApiKind, Event, EventSink, GroupKind, PatchTarget, Server, ServerOptions, WriteMode, testing::connection,
};

pub(crate) use crate::fixtures::object;

/// A server and its events.
pub(crate) struct Lab {
    pub(crate) fixture: Fixture,
    pub(crate) server: Server,
    events: Mutex<UnboundedReceiver<Event>>,
}

impl Lab {
    pub(crate) async fn start() -> Self {
        Self::with_fixture(Fixture::start().await).await
    }

    pub(crate) async fn with_fixture(fixture: Fixture) -> Self {
        let (sender, events) = unbounded_channel();
        let sink = EventSink::new(move |event: &Event| drop(sender.send(event.clone())));
        let settings = ServerOptions { events: sink, ..ServerOptions::default() };
        let server = Server::connect(connection(fixture.client()), settings).await.unwrap().without_lease();
        Self { fixture, server, events: Mutex::new(events) }
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

    /// Waits for the next event.
    pub(crate) async fn event(&self) -> Event {
        let next = std::future::poll_fn(|context| self.events.lock().unwrap().poll_recv(context));
        next.await.expect("the lab holds the server that sends")
    }

    /// Returns all events since the last call.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = self.events.lock().unwrap();
        std::iter::from_fn(|| events.try_recv().ok()).collect()
    }
}
