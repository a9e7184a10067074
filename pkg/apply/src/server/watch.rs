//! Watches: all objects, then every change, across interrupted connections.

mod cache;
mod lines;

use std::{collections::VecDeque, time::Duration};

use futures::stream::{BoxStream, StreamExt as _, unfold};
use manifest::{Map, Value};
use serde::Deserialize;
use tokio::time::{Instant, timeout};

use self::{cache::WatchCache, lines::Lines};
use super::{
    ListQuery, Server, WatchEvent,
    call::{ApiCall, request_context},
    read,
    shared::NumberedConnection,
};
use crate::{ApiError, ApiKind, NetworkError, retry::RetryState};

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The time for which the server keeps a watch open.
const WATCH_TIMEOUT: Duration = Duration::from_secs(290);
/// The additional time after which an open watch counts as dead.
const GRACE: Duration = Duration::from_secs(30);

impl Server {
    /// Reports every object of a list, then every change. The stream ends only with a permanent error. After an
    /// interrupted watch or a 410, the objects are listed again, and objects deleted meanwhile are reported too.
    pub fn watch(
        &self,
        kind: &ApiKind,
        list: &ListQuery,
    ) -> BoxStream<'static, Result<WatchEvent, ApiError>> {
        let watch = Watch {
            server: self.clone(),
            kind: kind.clone(),
            list: ListQuery { limit: None, ..list.clone() },
            cache: WatchCache::default(),
            pending: VecDeque::new(),
            version: None,
            open: None,
            tries: RetryState::new(self.events().clone()),
            ended: false,
        };
        unfold(watch, Watch::next).boxed()
    }
}

struct Watch {
    server: Server,
    kind: ApiKind,
    list: ListQuery,
    cache: WatchCache,
    /// Events that the caller has not received yet.
    pending: VecDeque<WatchEvent>,
    /// The resource version of the last known change. None if a list is needed.
    version: Option<String>,
    open: Option<OpenWatch>,
    tries: RetryState,
    ended: bool,
}

/// An open watch.
struct OpenWatch {
    lines: Lines,
    call: ApiCall,
    since: Instant,
    has_events: bool,
}

/// One line of a watch.
#[derive(Deserialize)]
struct RawEvent {
    r#type: String,
    object: Map<String, Value>,
}

impl Watch {
    async fn next(mut self) -> Option<(Result<WatchEvent, ApiError>, Self)> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some((Ok(event), self));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.step().await {
                self.ended = true;
                return Some((Err(error), self));
            }
        }
    }

    /// Takes the next step: lists, opens a watch, or reads a line.
    async fn step(&mut self) -> Result<(), ApiError> {
        let step = match (&self.version, &mut self.open) {
            (None, _) => self.relist().await,
            (Some(version), None) => {
                let version = version.clone();
                self.reopen(&version).await
            }
            (Some(_), Some(_)) => self.read().await,
        };
        let Err(error) = step else { return Ok(()) };
        self.open = None;
        if error.code() == Some(410) {
            self.version = None;
        } else if !error.is_temporary() {
            return Err(error);
        }
        self.tries.pause_without_limit(&self.action(), &error).await;
        Ok(())
    }

    async fn relist(&mut self) -> Result<(), ApiError> {
        let listed = self.server.list_with_version(&self.kind, &self.list).await?;
        self.pending.extend(self.cache.replace(listed.objects));
        self.version = Some(listed.version);
        Ok(())
    }

    async fn reopen(&mut self, version: &str) -> Result<(), ApiError> {
        let mut call = read::list_call(&self.kind, &self.list)
            .with("watch", "true")
            .with("allowWatchBookmarks", "true")
            .with("resourceVersion", version)
            .with("timeoutSeconds", &WATCH_TIMEOUT.as_secs().to_string())
            .streaming();
        call.action = self.action();
        if self.list.metadata_only {
            call = call.accept(METADATA);
        }
        let lines = self.server.open_lines(&call).await?;
        self.open = Some(OpenWatch { lines, call, since: Instant::now(), has_events: false });
        Ok(())
    }

    async fn read(&mut self) -> Result<(), ApiError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let patience = (WATCH_TIMEOUT + GRACE).saturating_sub(open.since.elapsed());
        let line = match timeout(patience, open.lines.next()).await {
            Ok(line) => line,
            Err(_) => Ok(None),
        };
        let context = self.server.request_context(&open.call);
        match line {
            Ok(Some(line)) => {
                open.has_events = true;
                let change = serde_json::from_slice::<RawEvent>(&line);
                let change = change.map_err(|error| context.invalid_answer(200, error.to_string()))?;
                if change.r#type == "ERROR" {
                    return Err(context.watch_error(Value::Object(change.object)));
                }
                self.queue_event(change);
                Ok(())
            }
            // Watches end regularly; only a watch that ends at once is a failure.
            Ok(None) | Err(_) if open.has_events || open.since.elapsed() >= WATCH_TIMEOUT => {
                self.open = None;
                Ok(())
            }
            Ok(None) => {
                Err(context
                    .unreachable(false, NetworkError::Connection { problem: "the watch ended".into() }))
            }
            Err(error) => Err(context.network_error(&error)),
        }
    }

    fn queue_event(&mut self, change: RawEvent) {
        self.tries = RetryState::new(self.server.events().clone());
        let object = read::with_kind(&self.kind, change.object);
        let version = object.get(&["metadata", "resourceVersion"]).and_then(Value::as_str);
        self.version = version.map(str::to_owned).or(self.version.take());
        match &*change.r#type {
            "ADDED" | "MODIFIED" => {
                self.cache.add(&object);
                self.pending.push_back(WatchEvent::Updated(object));
            }
            "DELETED" => {
                self.cache.remove(&object);
                self.pending.push_back(WatchEvent::Deleted(object));
            }
            // A bookmark only has a version.
            _ => {}
        }
    }

    fn action(&self) -> String {
        format!("watch objects of kind `{}`", self.kind.group_kind())
    }
}

impl Server {
    /// Opens an answer that is read line by line. It holds no permit, because it may stay open for long.
    async fn open_lines(&self, call: &ApiCall) -> Result<Lines, ApiError> {
        let patience = self.shared.settings.request_timeout;
        self.wait_to_send(call).await?;
        let open = |line: NumberedConnection| async move {
            let opened = timeout(patience, self.open(call, &line)).await;
            opened.unwrap_or_else(|_| Err(request_context(call, &line).timed_out(patience)))
        };
        Ok(Lines::new(self.with_fresh_credentials(call, open).await?.into_body()))
    }
}
