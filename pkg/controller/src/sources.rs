//! The sources of Components: a copy that watches keep.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use apply::{ApiError, GroupKind, ListQuery, ObjectKey, Server, WatchEvent};
use component::ObjectReader;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::BoxStream};
use manifest::Object;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A copy of the sources on the hub. A kind is watched once a Component refers to a source of this kind that exists, so
/// an unused or missing kind causes no requests.
pub(crate) struct SourceCopy {
    hub: Server,
    objects: Mutex<BTreeMap<ObjectKey, Object>>,
    watched: Mutex<BTreeSet<GroupKind>>,
    new_kinds: UnboundedSender<GroupKind>,
}

impl SourceCopy {
    /// Creates an empty copy. Returns the kinds to be watched as well.
    pub(crate) fn new(hub: Server) -> (Self, UnboundedReceiver<GroupKind>) {
        let (new_kinds, received) = unbounded_channel();
        (Self { hub, objects: Mutex::default(), watched: Mutex::default(), new_kinds }, received)
    }

    /// Watches all sources of a kind.
    pub(crate) async fn watch(
        &self,
        kind: &GroupKind,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ApiError>>, ApiError> {
        let kind = self.hub.kind(kind).await?;
        Ok(self.hub.watch(&kind, &ListQuery::default()))
    }

    /// Records a change that a watch reports. Returns the changed source, unless it is gone.
    pub(crate) fn update(&self, event: WatchEvent) -> Option<ObjectKey> {
        match event {
            WatchEvent::Updated(object) => {
                let key = ObjectKey::of(&object);
                lock(&self.objects).insert(key.clone(), object);
                Some(key)
            }
            WatchEvent::Deleted(object) => {
                lock(&self.objects).remove(&ObjectKey::of(&object));
                None
            }
        }
    }

    /// Forgets a kind whose watch has ended. It is watched again once a Component needs it.
    pub(crate) fn forget(&self, kind: &GroupKind) {
        lock(&self.objects).retain(|key, _| key.group_kind() != *kind);
        lock(&self.watched).remove(kind);
    }

    async fn read_from_hub(&self, key: &ObjectKey) -> Result<Option<Object>, ApiError> {
        let found = self.hub.read(key).await?;
        let kind = key.group_kind();
        if found.is_some() && lock(&self.watched).insert(kind.clone()) {
            // Without a receiver, the controller is about to end.
            let _ = self.new_kinds.send(kind);
        }
        Ok(found)
    }
}

impl ObjectReader for SourceCopy {
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Option<Object>, ApiError>> {
        let known = lock(&self.objects).get(key).cloned();
        async move {
            match known {
                Some(object) => Ok(Some(object)),
                // The watch may not have listed the object yet.
                None => self.read_from_hub(key).await,
            }
        }
        .boxed()
    }
}

/// Combines a watch with the kind of its objects.
pub(crate) fn with_kind(
    kind: GroupKind,
    watch: BoxStream<'static, Result<WatchEvent, ApiError>>,
) -> BoxStream<'static, (GroupKind, Option<WatchEvent>)> {
    let end = futures::stream::once(futures::future::ready(None));
    watch.map(Result::ok).chain(end).map(move |event| (kind.clone(), event)).boxed()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
