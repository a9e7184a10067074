//! An open watch that returns events one by one.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use serde_json::Value;
use tokio::time::timeout;

use crate::api::ServerError;

/// The maximum wait for an event. A case fails after this time.
const EVENT_TIMEOUT: Duration = Duration::from_secs(15);

/// A stream of JSON events.
#[derive(Debug)]
pub(super) struct Watch {
    body: UnsyncBoxBody<Bytes, ServerError>,
    read: Vec<u8>,
}

impl Watch {
    pub(super) fn new(body: UnsyncBoxBody<Bytes, ServerError>) -> Self {
        Self { body, read: Vec::new() }
    }

    /// Returns the next event. `None` if the server has ended the watch.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, String> {
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return serde_json::from_slice(&line).map(Some).map_err(|error| error.to_string());
            }
            match timeout(EVENT_TIMEOUT, self.body.frame()).await {
                Err(_) => return Err(format!("no event within {} s", EVENT_TIMEOUT.as_secs())),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(format!("the watch broke: {error}")),
                Ok(Some(Ok(frame))) => self.read.extend(frame.into_data().unwrap_or_default()),
            }
        }
    }
}
