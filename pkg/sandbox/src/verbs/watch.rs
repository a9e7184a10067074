//! Watch.
//!
//! ```text
//! what is there (when asked for) ─► bookmark ─► changes … bookmarks … ─► end: time is up, history is gone, server stops,
//!                                                                        or the custom resource is defined otherwise
//! ```

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt as _, stream, stream::BoxStream};
use serde_json::{Value, json};
use tokio::{
    sync::watch::Receiver,
    time::{Instant, sleep_until},
};

use super::{Call, object, read::Selectors};
use crate::{
    clock::Clock,
    fields,
    kinds::{Kinds, ResourceType},
    request::options::ListOptions,
    respond::{Cut, Presenter},
    status::Status,
    store::{self, Change, Expired, Revision, Stored, Watch, WatchEnd},
};

/// How long a watch without `timeoutSeconds` lasts at least; it lasts up to twice as long.
/// Source: kube-apiserver 1.36 `--min-request-timeout`.
const LEAST_TIMEOUT: Duration = Duration::from_mins(30);
/// How often a watch says how far it is. Source: apiserver 1.36 `defaultBookmarkFrequency`.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);
/// How long before its end a watch says how far it came.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// Events that are there already travel together, up to so many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// A watch that was accepted.
pub(crate) struct Watching {
    resource: Arc<ResourceType>,
    /// What is served by now; `None` for built-in kinds, which stay as they are.
    kinds: Option<Receiver<Arc<Kinds>>>,
    selectors: Selectors,
    presenter: Presenter,
    clock: Clock,
    /// What is still to be told of what was there at the start, the next one last.
    initial: Vec<Arc<Stored>>,
    /// A bookmark is due that ends the initial events.
    initial_end: bool,
    /// `None` once the watch has nothing more to say.
    changes: Result<Watch, Expired>,
    /// As of which revision the initial events are.
    start: Revision,
    bookmarks: bool,
    next_bookmark: Instant,
    deadline: Instant,
    /// The columns of a table were sent.
    columns_sent: bool,
    ended: bool,
}

/// Begins a watch.
/// Fails with 400 for selectors that cannot be read, 500 for a revision that is no number, as the real server has it.
pub(crate) fn watch(
    call: &Call<'_>,
    options: &ListOptions,
    presenter: Presenter,
) -> Result<Watching, Status> {
    let selectors = Selectors::read(call, options)?;
    let asked = object::parse_revision(&options.resource_version).map_err(|why| {
        let shown = crate::go::quoted(&options.resource_version);
        Status::unforeseen(format!("resourceVersion: Invalid value: {shown}: {why}"))
    })?;
    let send_initial = options.send_initial_events.unwrap_or(asked.is_none());
    let (mut initial, mut start) = (Vec::new(), asked.unwrap_or_default());
    if send_initial || asked.is_none() {
        let page = call.server.store.list(&call.scope(), store::ListOptions::default());
        let page = page.map_err(|_| Status::internal("the newest revision is always there"))?;
        if asked.is_some_and(|asked| asked > page.revision) {
            let current = page.revision.0;
            return Err(Status::revision_too_large(asked.unwrap_or_default().0, current));
        }
        start = page.revision;
        if send_initial {
            initial = page.items;
            initial.retain(|item| selectors.matches(item));
            initial.reverse();
        }
    }
    let now = Instant::now();
    let timeout = options.timeout_seconds.map_or_else(
        || LEAST_TIMEOUT.mul_f64(1.0 + fastrand::f64()),
        // A day is as good as for ever, and keeps the sum in range.
        |seconds| Duration::from_secs(seconds.min(24 * 3600)),
    );
    Ok(Watching {
        resource: Arc::clone(&call.resource),
        kinds: call.resource.custom.is_some().then(|| call.server.follow_kinds()),
        selectors,
        presenter,
        clock: call.server.clock.clone(),
        initial,
        initial_end: options.allow_watch_bookmarks && options.send_initial_events == Some(true),
        changes: call.server.store.watch(call.scope(), start),
        start,
        bookmarks: options.allow_watch_bookmarks,
        next_bookmark: now + BOOKMARK_INTERVAL.min(timeout.saturating_sub(LAST_BOOKMARK)),
        deadline: now + timeout,
        columns_sent: false,
        ended: false,
    })
}

impl Watching {
    /// The events as a stream of lines.
    pub(crate) fn into_stream(self) -> BoxStream<'static, Result<Bytes, Cut>> {
        stream::unfold(self, |mut watching| async move {
            let chunk = watching.next_chunk().await?;
            Some((Ok(Bytes::from(chunk)), watching))
        })
        .boxed()
    }

    async fn next_chunk(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        while !self.ended {
            self.presenter.set_now(self.clock.timestamp().as_second());
            // Asked first: what is served no more was deleted before.
            let removed = self.served() == Served::NoMore;
            self.write_initial(&mut out);
            self.write_changes(&mut out);
            if self.served() == Served::Otherwise {
                // What was read may be of the new form. Who watches again from where this ends gets it in that.
                return None;
            }
            if !out.is_empty() {
                return Some(out);
            }
            if removed {
                return None;
            }
            self.wait(&mut out).await;
        }
        (!out.is_empty()).then_some(out)
    }

    /// How the resource is served by now. Source: apiextensions-apiserver 1.36 `crdHandler.tearDown`: a definition that
    /// changes takes all watches with it.
    fn served(&self) -> Served {
        let Some(kinds) = &self.kinds else { return Served::AsBefore };
        let ResourceType { group, version, plural, .. } = &*self.resource;
        match kinds.borrow().find(group, version, plural) {
            None => Served::NoMore,
            Some(now) if Arc::ptr_eq(now, &self.resource) => Served::AsBefore,
            Some(_) => Served::Otherwise,
        }
    }

    fn write_initial(&mut self, out: &mut Vec<u8>) {
        while out.len() < CHUNK_BYTES {
            let Some(next) = self.initial.pop() else { break };
            self.write(out, "ADDED", &next);
        }
        if self.initial.is_empty() && std::mem::take(&mut self.initial_end) {
            let annotations = json!({"k8s.io/initial-events-end": "true"});
            self.write_bookmark(out, self.start, Some(annotations));
        }
    }

    /// Writes the changes that are there already.
    fn write_changes(&mut self, out: &mut Vec<u8>) {
        while self.initial.is_empty() && !self.ended && out.len() < CHUNK_BYTES {
            let next = match &mut self.changes {
                Ok(watch) => watch.try_next(),
                Err(expired) => Err(WatchEnd::Expired(*expired)),
            };
            match next {
                Ok(Some(change)) => self.write_change(out, &change),
                Ok(None) => return,
                Err(end) => self.end(out, end),
            }
        }
    }

    /// Waits for a change, for the next bookmark, for another definition or for the end, whichever comes first.
    async fn wait(&mut self, out: &mut Vec<u8>) {
        let bookmark_at = if self.bookmarks { self.next_bookmark.min(self.deadline) } else { self.deadline };
        let Ok(watch) = &mut self.changes else { return };
        tokio::select! {
            biased;
            change = watch.next() => match change {
                Ok(change) => self.write_change(out, &change),
                Err(end) => self.end(out, end),
            },
            () = change_of(&mut self.kinds) => {}
            () = sleep_until(bookmark_at) => {
                let position = watch.position();
                if Instant::now() >= self.deadline {
                    self.ended = true;
                } else {
                    self.write_bookmark(out, position, None);
                    let before_the_end = self.deadline.checked_sub(LAST_BOOKMARK).unwrap_or(self.deadline);
                    let last = before_the_end <= Instant::now();
                    let regular = Instant::now() + BOOKMARK_INTERVAL;
                    self.next_bookmark = if last { self.deadline } else { regular.min(before_the_end) };
                }
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>, end: WatchEnd) {
        self.ended = true;
        if let WatchEnd::Expired(Expired { oldest }) = end {
            let asked = self.changes.as_ref().map_or(self.start, Watch::position);
            // The real server keeps no cache of events: there it is the store that says no.
            let status = Status::expired(if &*self.resource.plural == "events" {
                "The resourceVersion for the provided watch is too old.".to_owned()
            } else {
                format!("too old resource version: {asked} ({oldest})")
            });
            write_event(out, "ERROR", |out| object::write_json(out, &status.to_value()));
        }
    }

    /// A change as those see it who see only what the selectors take.
    fn write_change(&mut self, out: &mut Vec<u8>, change: &Change) {
        let before = change.before.as_ref().is_some_and(|before| self.selectors.matches(before));
        let after = !change.deleted && self.selectors.matches(&change.after);
        match (before, after) {
            (true, true) => self.write(out, "MODIFIED", &change.after),
            (false, true) => self.write(out, "ADDED", &change.after),
            (true, false) if change.deleted => self.write(out, "DELETED", &change.after),
            (true, false) => self.write_leaving(out, change),
            (false, false) => {}
        }
    }

    /// An object that the selectors do not take any more is told as deleted: as it was, but with the new revision.
    fn write_leaving(&mut self, out: &mut Vec<u8>, change: &Change) {
        let Some(before) = &change.before else { return };
        let mut object = object::read(&self.resource, before);
        crate::meta::set(&mut object, "resourceVersion", change.revision.to_string());
        if let Ok(object) = self.presenter.shaped(object) {
            let object = self.without_columns(object);
            write_event(out, "DELETED", |out| object::write_json(out, &object));
        }
    }

    fn write(&mut self, out: &mut Vec<u8>, event: &str, stored: &Stored) {
        if self.presenter.is_table() {
            if let Ok(table) = self.presenter.shaped(object::read(&self.resource, stored)) {
                let table = self.without_columns(table);
                write_event(out, event, |out| object::write_json(out, &table));
            }
            return;
        }
        write_event(out, event, |out| {
            // A form that no object can be given was refused before the watch began.
            let _ = self.presenter.append(out, stored);
        });
    }

    /// Only the first table of a watch has its columns.
    fn without_columns(&mut self, mut table: Value) -> Value {
        if self.presenter.is_table() && std::mem::replace(&mut self.columns_sent, true) {
            table["columnDefinitions"] = Value::Null;
        }
        table
    }

    fn write_bookmark(&mut self, out: &mut Vec<u8>, revision: Revision, annotations: Option<Value>) {
        let mut object = if self.resource.custom.is_some() {
            json!({})
        } else {
            fields::empty(self.resource.schema.schema())
        };
        object["apiVersion"] = self.resource.api_version().into();
        object["kind"] = self.resource.kind.to_string().into();
        object["metadata"] = json!({"resourceVersion": revision.to_string()});
        if let Some(annotations) = annotations {
            object["metadata"]["annotations"] = annotations;
        }
        if let Ok(object) = self.presenter.shaped(object) {
            let object = self.without_columns(object);
            write_event(out, "BOOKMARK", |out| object::write_json(out, &object));
        }
    }
}

/// How the resource of a watch is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    /// As it was when the watch began.
    AsBefore,
    /// By another definition, or another state of it.
    Otherwise,
    NoMore,
}

/// Waits until something else is served; for ever where that does not matter.
async fn change_of(kinds: &mut Option<Receiver<Arc<Kinds>>>) {
    if let Some(kinds) = kinds
        && kinds.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

fn write_event(out: &mut Vec<u8>, event: &str, object: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(event.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
    object(out);
    out.extend_from_slice(b"}\n");
}
