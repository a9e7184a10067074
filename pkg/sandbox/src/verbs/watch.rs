//! The watch verb.
//!
//! ```text
//! initial objects (if requested) ─► bookmark ─► changes … bookmarks … ─► end: timeout, expired history, server stop,
//!                                                                        or a changed definition
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
    builtin,
    clock::Clock,
    kinds::{Kinds, ResourceType},
    request::options::ListOptions,
    respond::{ConnectionCut, Presenter},
    status::Status,
    store::{self, Change, Expired, Revision, StoredObject, Watch, WatchEnd},
};

/// The minimum duration of a watch without `timeoutSeconds`; the maximum is twice as long.
/// Source: kube-apiserver 1.36 `--min-request-timeout`.
const MIN_TIMEOUT: Duration = Duration::from_mins(30);
/// The interval between bookmarks. Source: apiserver 1.36 `defaultBookmarkFrequency`.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);
/// The time between the last bookmark and the end of a watch.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// The maximum size of a chunk of pending events, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// An accepted watch.
pub(crate) struct WatchStream {
    resource: Arc<ResourceType>,
    /// The served resources. `None` for built-in kinds, which never change.
    kinds: Option<Receiver<Arc<Kinds>>>,
    selectors: Selectors,
    presenter: Presenter,
    clock: Clock,
    /// The remaining initial objects, in reverse order.
    initial: Vec<Arc<StoredObject>>,
    /// True if a bookmark must end the initial events.
    initial_end: bool,
    /// The changes after `start`, or the error that ends the watch.
    changes: Result<Watch, Expired>,
    /// The revision of the initial events.
    start: Revision,
    bookmarks: bool,
    next_bookmark: Instant,
    deadline: Instant,
    /// True once the columns of a table were sent.
    columns_sent: bool,
    ended: bool,
}

/// Starts a watch.
/// Errors: 400 for invalid selectors, 500 for an invalid revision, as on the real server.
pub(crate) fn watch(
    call: &Call<'_>,
    options: &ListOptions,
    presenter: Presenter,
) -> Result<WatchStream, Status> {
    let selectors = Selectors::read(call, options)?;
    let requested = object::parse_revision(&options.resource_version).map_err(|why| {
        let shown = crate::go::quoted(&options.resource_version);
        Status::internal_without_details(format!("resourceVersion: Invalid value: {shown}: {why}"))
    })?;
    let send_initial = options.send_initial_events.unwrap_or(requested.is_none());
    let (mut initial, mut start) = (Vec::new(), requested.unwrap_or_default());
    if send_initial || requested.is_none() {
        let page = call.server.store.list(&call.scope(), store::ListOptions::default());
        let page = page.map_err(|_| Status::internal("the newest revision is always there"))?;
        if requested.is_some_and(|position| position > page.revision) {
            let current = page.revision.0;
            return Err(Status::revision_too_large(requested.unwrap_or_default().0, current));
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
        || MIN_TIMEOUT.mul_f64(1.0 + fastrand::f64()),
        // One day is practically unlimited and avoids an overflow.
        |seconds| Duration::from_secs(seconds.min(24 * 3600)),
    );
    Ok(WatchStream {
        resource: Arc::clone(&call.resource),
        kinds: call.resource.custom.is_some().then(|| call.server.watch_kinds()),
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

impl WatchStream {
    /// Returns the events as a stream of lines.
    pub(crate) fn into_stream(self) -> BoxStream<'static, Result<Bytes, ConnectionCut>> {
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
            // Checked first: if the resource is gone, its objects were deleted before.
            let removed = self.resource_state() == ResourceState::Removed;
            self.write_initial(&mut out);
            self.write_changes(&mut out);
            if self.resource_state() == ResourceState::Changed {
                // The objects may have the new form already. A client that resumes at the end of this watch receives
                // that form.
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

    /// Returns the current state of the resource.
    /// Source: apiextensions-apiserver 1.36 `crdHandler.tearDown`: a changed definition ends all its watches.
    fn resource_state(&self) -> ResourceState {
        let Some(kinds) = &self.kinds else { return ResourceState::Unchanged };
        let ResourceType { group, version, plural, .. } = &*self.resource;
        match kinds.borrow().find(group, version, plural) {
            None => ResourceState::Removed,
            Some(now) if Arc::ptr_eq(now, &self.resource) => ResourceState::Unchanged,
            Some(_) => ResourceState::Changed,
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

    /// Waits for a change, the next bookmark, a changed definition or the end, whichever comes first.
    async fn wait(&mut self, out: &mut Vec<u8>) {
        let bookmark_at = if self.bookmarks { self.next_bookmark.min(self.deadline) } else { self.deadline };
        let Ok(watch) = &mut self.changes else { return };
        tokio::select! {
            biased;
            change = watch.next() => match change {
                Ok(change) => self.write_change(out, &change),
                Err(end) => self.end(out, end),
            },
            () = wait_for_change(&mut self.kinds) => {}
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
            let position = self.changes.as_ref().map_or(self.start, Watch::position);
            // The real server has no cache for events, so the message comes from its store.
            let status = Status::expired(if &*self.resource.plural == "events" {
                "The resourceVersion for the provided watch is too old.".to_owned()
            } else {
                format!("too old resource version: {position} ({oldest})")
            });
            write_event(out, "ERROR", |out| object::write_json(out, &status.to_value()));
        }
    }

    /// Writes a change from the view of the selectors.
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

    /// Writes a deletion for an object that no longer matches the selectors: its old state with the new revision.
    fn write_leaving(&mut self, out: &mut Vec<u8>, change: &Change) {
        let Some(before) = &change.before else { return };
        let mut object = object::read(&self.resource, before);
        crate::meta::set(&mut object, "resourceVersion", change.revision.to_string());
        if let Ok(object) = self.presenter.represent(object) {
            let object = self.without_columns(object);
            write_event(out, "DELETED", |out| object::write_json(out, &object));
        }
    }

    fn write(&mut self, out: &mut Vec<u8>, event: &str, stored: &StoredObject) {
        if self.presenter.is_table() {
            if let Ok(table) = self.presenter.represent(object::read(&self.resource, stored)) {
                let table = self.without_columns(table);
                write_event(out, event, |out| object::write_json(out, &table));
            }
            return;
        }
        write_event(out, event, |out| {
            // Unsupported forms were refused before the watch started.
            let _ = self.presenter.append(out, stored);
        });
    }

    /// Removes the columns from all tables of a watch except the first.
    fn without_columns(&mut self, mut table: Value) -> Value {
        if self.presenter.is_table() && std::mem::replace(&mut self.columns_sent, true) {
            table["columnDefinitions"] = Value::Null;
        }
        table
    }

    fn write_bookmark(&mut self, out: &mut Vec<u8>, revision: Revision, annotations: Option<Value>) {
        let mut object =
            if self.resource.custom.is_some() { json!({}) } else { builtin::empty_object(&self.resource) };
        object["apiVersion"] = self.resource.api_version().into();
        object["kind"] = self.resource.kind.to_string().into();
        object["metadata"] = json!({"resourceVersion": revision.to_string()});
        if let Some(annotations) = annotations {
            object["metadata"]["annotations"] = annotations;
        }
        if let Ok(object) = self.presenter.represent(object) {
            let object = self.without_columns(object);
            write_event(out, "BOOKMARK", |out| object::write_json(out, &object));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResourceState {
    /// Unchanged since the start of the watch.
    Unchanged,
    /// Served with a changed or different definition.
    Changed,
    Removed,
}

/// Waits until the served resources change; forever for built-in kinds.
async fn wait_for_change(kinds: &mut Option<Receiver<Arc<Kinds>>>) {
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
