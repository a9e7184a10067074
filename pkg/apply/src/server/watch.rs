//! Watches: all objects, then every change, across interrupted connections.

mod known;
mod lines;

use std::{collections::VecDeque, time::Duration};

use futures::stream::{BoxStream, StreamExt as _, unfold};
use manifest::{Map, Value};
use serde::Deserialize;
use tokio::time::{Instant, timeout};

use self::{known::Known, lines::Lines};
use super::{List, Server, WatchEvent, call::Call, read, send::asked, shared::Line};
use crate::{ApiError, ApiKind, NoAnswer, retry::Tries};

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The time for which the server keeps a watch open.
const OPEN_FOR: Duration = Duration::from_secs(290);
/// The additional time after which an open watch counts as dead.
const GRACE: Duration = Duration::from_secs(30);

impl Server {
    /// Reports every object of a list, then every change. The stream ends only with a permanent error. After an
    /// interrupted watch or a 410, the objects are listed again, and objects deleted meanwhile are reported too.
    pub fn watch(&self, kind: &ApiKind, list: &List) -> BoxStream<'static, Result<WatchEvent, ApiError>> {
        let watch = Watch {
            server: self.clone(),
            kind: kind.clone(),
            list: List { at_most: None, ..list.clone() },
            known: Known::default(),
            untold: VecDeque::new(),
            version: None,
            open: None,
            tries: Tries::new(self.events().clone()),
            ended: false,
        };
        unfold(watch, Watch::next).boxed()
    }
}

struct Watch {
    server: Server,
    kind: ApiKind,
    list: List,
    known: Known,
    /// Events that the caller has not received yet.
    untold: VecDeque<WatchEvent>,
    /// The resource version of the last known change. None if a list is needed.
    version: Option<String>,
    open: Option<Open>,
    tries: Tries,
    ended: bool,
}

/// An open watch.
struct Open {
    lines: Lines,
    call: Call,
    since: Instant,
    told: bool,
}

/// One line of a watch.
#[derive(Deserialize)]
struct Change {
    r#type: String,
    object: Map<String, Value>,
}

impl Watch {
    async fn next(mut self) -> Option<(Result<WatchEvent, ApiError>, Self)> {
        loop {
            if let Some(event) = self.untold.pop_front() {
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
        } else if !error.can_pass() {
            return Err(error);
        }
        self.tries.pause_endlessly(&self.action(), &error).await;
        Ok(())
    }

    async fn relist(&mut self) -> Result<(), ApiError> {
        let listed = self.server.list_with_version(&self.kind, &self.list).await?;
        self.untold.extend(self.known.replace(listed.objects));
        self.version = Some(listed.version);
        Ok(())
    }

    async fn reopen(&mut self, version: &str) -> Result<(), ApiError> {
        let mut call = read::list_call(&self.kind, &self.list)
            .with("watch", "true")
            .with("allowWatchBookmarks", "true")
            .with("resourceVersion", version)
            .with("timeoutSeconds", &OPEN_FOR.as_secs().to_string())
            .streamed();
        call.action = self.action();
        if self.list.metadata_only {
            call = call.accept(METADATA);
        }
        let lines = self.server.lines(&call).await?;
        self.open = Some(Open { lines, call, since: Instant::now(), told: false });
        Ok(())
    }

    async fn read(&mut self) -> Result<(), ApiError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let patience = (OPEN_FOR + GRACE).saturating_sub(open.since.elapsed());
        let line = match timeout(patience, open.lines.next()).await {
            Ok(line) => line,
            Err(_) => Ok(None),
        };
        let asked = self.server.asked(&open.call);
        match line {
            Ok(Some(line)) => {
                open.told = true;
                let change = serde_json::from_slice::<Change>(&line);
                let change = change.map_err(|error| asked.misunderstood(200, error.to_string()))?;
                if change.r#type == "ERROR" {
                    return Err(asked.event(Value::Object(change.object)));
                }
                self.tell(change);
                Ok(())
            }
            // Watches end regularly; only a watch that ends at once is a failure.
            Ok(None) | Err(_) if open.told || open.since.elapsed() >= OPEN_FOR => {
                self.open = None;
                Ok(())
            }
            Ok(None) => {
                Err(asked.unreachable(false, NoAnswer::Connection { problem: "the watch ended".into() }))
            }
            Err(error) => Err(asked.lost(&error)),
        }
    }

    fn tell(&mut self, change: Change) {
        self.tries = Tries::new(self.server.events().clone());
        let object = read::typed(&self.kind, change.object);
        let version = object.get(&["metadata", "resourceVersion"]).and_then(Value::as_str);
        self.version = version.map(str::to_owned).or(self.version.take());
        match &*change.r#type {
            "ADDED" | "MODIFIED" => {
                self.known.add(&object);
                self.untold.push_back(WatchEvent::Is(object));
            }
            "DELETED" => {
                self.known.remove(&object);
                self.untold.push_back(WatchEvent::Gone(object));
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
    async fn lines(&self, call: &Call) -> Result<Lines, ApiError> {
        let patience = self.shared.settings.request_timeout;
        self.shared.gate.pass().await;
        let open = |line: Line| async move {
            let opened = timeout(patience, self.open(call, &line)).await;
            opened.unwrap_or_else(|_| Err(asked(call, &line).timed_out(patience)))
        };
        Ok(Lines::new(self.renewing(call, open).await?.into_body()))
    }
}
