//! Notifications of Components to an events receiver, such as the notification controller of Flux.

use std::time::Duration;

use component::{Component, ComponentEvent, RECONCILER};
use http::{Method, header::CONTENT_TYPE};
use jiff::Timestamp;
use manifest::Value;
use repository::RepositoryContext;
use serde_json::json;
use tokio::time::timeout;
use transport::{
    Error,
    http::{Request, RequestBody, parse_address, send},
};

use crate::events::{involved_object, whole_seconds};

/// The time limit of a notification with its retries. The next step of the Component waits for it.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A receiver of events over HTTP.
/// Source: fluxcd/pkg runtime/events (the form of events).
#[derive(Clone, Debug)]
pub struct EventsReceiver {
    request: Request,
    /// The name of this controller process.
    instance: String,
}

impl EventsReceiver {
    /// Returns the receiver at a URL. `instance` is the name of the machine or pod of the controller.
    /// # Errors
    /// The text is no URL of HTTP.
    pub fn new(address: &str, instance: String) -> Result<Self, Error> {
        let url = parse_address(address)?;
        if !matches!(url.scheme(), "http" | "https") {
            let url = transport::address::redact_url(&url);
            return Err(Error::FetchUrl { url, reason: "only http and https URLs are allowed" });
        }
        let request = Request { method: Method::POST, ..Request::get(url) };
        let request = request.with_header(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        Ok(Self { request, instance })
    }

    /// Sends an event of a Component. The error is a text for the log.
    pub(crate) async fn notify(
        &self,
        component: &Component,
        event: &ComponentEvent,
        repositories: &RepositoryContext,
    ) -> Result<(), String> {
        let body = self.body(component, event, Timestamp::now()).to_string();
        let request = Request { body: RequestBody::Bytes(body.into()), ..self.request.clone() };
        match timeout(TIMEOUT, send(repositories, &request)).await {
            Ok(sent) => sent.map(drop).map_err(|error| api::with_causes(&error)),
            Err(_) => Err(format!("the events receiver has not answered after {TIMEOUT:?}")),
        }
    }

    fn body(&self, component: &Component, event: &ComponentEvent, now: Timestamp) -> Value {
        let mut involved = involved_object(component);
        involved["resourceVersion"] = json!(component.metadata.get("resourceVersion"));
        json!({
            "involvedObject": involved,
            "severity": if event.is_warning { "error" } else { "info" },
            "timestamp": whole_seconds(now),
            "message": event.message,
            "reason": event.reason,
            "metadata": event.annotations,
            "reportingController": RECONCILER,
            "reportingInstance": self.instance,
        })
    }
}
