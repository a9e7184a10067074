//! Watches that list their objects again when the server has forgotten their revision.

use std::fmt::Debug;

use futures::{Stream, StreamExt as _, stream};
use kube::{
    Api, Resource,
    runtime::{WatchStreamExt as _, watcher},
};
use serde::de::DeserializeOwned;

use crate::sources::status_code;

/// Watches all objects of an API, and retries with growing delays after errors.
///
/// A server may report a forgotten revision as an event of the watch or as status 410 of the answer. The library lists again
/// only after such an event. After the status, it would request the same revision forever.
pub(crate) fn watch<K>(api: Api<K>) -> impl Stream<Item = watcher::Result<watcher::Event<K>>>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let start = move || watcher(api.clone(), watcher::Config::default()).boxed();
    let events = stream::unfold((start(), start), |(mut events, start)| async move {
        let event = events.next().await?;
        if matches!(&event, Err(error @ watcher::Error::WatchStartFailed(_)) if status_code(error) == Some(410))
        {
            events = start();
        }
        Some((event, (events, start)))
    });
    events.default_backoff()
}
