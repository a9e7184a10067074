//! The readiness of a controller: every watch has listed its objects once.

use std::{collections::BTreeSet, sync::Mutex};

use futures::{Stream, TryStreamExt as _};
use kube::runtime::watcher::{self, Event};

use crate::lock::lock;

/// The watches that have not listed their objects yet. A controller without watches, such as one that waits for its lease,
/// is ready.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<BTreeSet<String>>);

impl Readiness {
    /// Returns the kinds that have not been listed.
    pub fn missing(&self) -> Vec<String> {
        lock(&self.0).iter().cloned().collect()
    }

    /// Waits for the first list of a watch.
    pub(crate) fn expect(&self, kind: &str) {
        lock(&self.0).insert(kind.to_owned());
    }

    /// Stops to wait for a watch that has listed its objects, or that has ended.
    pub(crate) fn settle(&self, kind: &str) {
        lock(&self.0).remove(kind);
    }

    /// Records the first list of a watch.
    pub(crate) fn observe<'a, K: 'a>(
        &'a self,
        kind: String,
        events: impl Stream<Item = Result<Event<K>, watcher::Error>> + 'a,
    ) -> impl Stream<Item = Result<Event<K>, watcher::Error>> + 'a {
        events.inspect_ok(move |event| {
            if matches!(event, Event::InitDone) {
                self.settle(&kind);
            }
        })
    }
}
