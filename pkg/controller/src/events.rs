//! Kubernetes Events of Components.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use apply::{ApiError, GroupKind, Server, WriteMode};
use component::{API_VERSION, Component, ComponentEvent, ComponentKey, KIND, RECONCILER};
use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;
use tokio::time::Instant;

use crate::lock::lock;

/// The time for which an equal event is not repeated.
const REPEAT_AFTER: Duration = Duration::from_mins(5);
/// The limit of the message of an Event.
const MAX_MESSAGE_CHARS: usize = 1024;

/// Writes Events. A failure is ignored, because Events are only for readers.
#[derive(Debug)]
pub(crate) struct EventRecorder {
    server: Server,
    last: Mutex<BTreeMap<ComponentKey, (ComponentEvent, Instant)>>,
}

impl EventRecorder {
    pub(crate) fn new(server: &Server) -> Self {
        Self { server: server.retrying_for(Duration::ZERO), last: Mutex::default() }
    }

    /// Writes an event, unless it repeats the last one. Returns true if it is new.
    pub(crate) async fn record(&self, component: &Component, event: &ComponentEvent) -> bool {
        let is_new = self.is_new(&ComponentKey::of(component), event);
        if is_new {
            let _ = self.write(component, event).await;
        }
        is_new
    }

    /// Forgets the last event of a Component that is gone.
    pub(crate) fn forget(&self, key: &ComponentKey) {
        lock(&self.last).remove(key);
    }

    fn is_new(&self, key: &ComponentKey, event: &ComponentEvent) -> bool {
        let mut last = lock(&self.last);
        let is_repeated =
            |(known, at): &(ComponentEvent, Instant)| known == event && at.elapsed() < REPEAT_AFTER;
        if last.get(key).is_some_and(is_repeated) {
            return false;
        }
        last.insert(key.clone(), (event.clone(), Instant::now()));
        true
    }

    async fn write(&self, component: &Component, event: &ComponentEvent) -> Result<(), ApiError> {
        let kind = self.server.kind(&GroupKind::new("", "Event")).await?;
        let object = event_object(component, event, Timestamp::now());
        self.server.create(&kind, &object, RECONCILER, WriteMode::Real).await.map(drop)
    }
}

/// Returns the reference of an event to its Component.
pub(crate) fn involved_object(component: &Component) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "namespace": component.namespace(),
        "name": component.name(),
        "uid": component.metadata.get("uid"),
    })
}

/// Returns a time as text, in UTC without fractions.
pub(crate) fn whole_seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn event_object(component: &Component, event: &ComponentEvent, now: Timestamp) -> Object {
    let (namespace, name) = (component.namespace(), component.name());
    let message: String = event.message.chars().take(MAX_MESSAGE_CHARS).collect();
    let time = whole_seconds(now);
    let object = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": format!("{name}.{:x}", now.as_nanosecond()),
            "namespace": namespace,
            "annotations": event.annotations,
        },
        "involvedObject": involved_object(component),
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "message": message,
        "source": {"component": RECONCILER},
        "reportingComponent": RECONCILER,
        "reportingInstance": "",
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    });
    Object::try_from(object).expect("invariant: the literal above is a mapping")
}
