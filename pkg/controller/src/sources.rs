//! The sources of Components: copies that watches keep, and the steps that their changes cause.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex},
    time::Duration,
};

use apply::{ApiError, ApiKind, GroupKind, ObjectKey, Server};
use component::{
    ArtifactReference, ComponentKey, GROUP, HttpRepository, ObjectReader, http_state, read_source,
};
use futures::{
    FutureExt as _, StreamExt as _,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use kube::{
    Api, ResourceExt as _,
    api::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta, PartialObjectMeta, TypeMeta},
    runtime::{
        WatchStreamExt as _, reflector,
        reflector::{ObjectRef, Store, store::Writer},
        watcher,
    },
};
use manifest::{Object, Value};
use repository::RepositoryContext;
use tokio::time::{MissedTickBehavior, interval};

use crate::{
    Readiness, Shard,
    changes::behind,
    lock::lock,
    watch::watch,
    watched_component::{WatchedComponent, WatchedSource},
};

/// The interval at which URLs are read.
/// Source: component-operator 0.3.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(30);
/// The limit of URLs that are read at a time.
const MAX_POLLS: usize = 4;

/// The sources on the hub. A kind is watched once a Component refers to a source of this kind that exists, so an unused
/// or missing kind causes no requests.
pub(crate) struct SourceCopy {
    hub: Server,
    readiness: Arc<Readiness>,
    kinds: Mutex<BTreeMap<GroupKind, WatchedKind>>,
    new_kinds: UnboundedSender<GroupKind>,
    /// The first revision of each source that a step has read from the hub.
    first_reads: Mutex<BTreeMap<ObjectKey, String>>,
}

/// A source that a watch has reported, with its revision.
type ReportedSource = (ObjectKey, Option<String>);

/// A kind of sources that is watched.
#[derive(Clone)]
enum WatchedKind {
    /// The watch has not begun, or it reports metadata only.
    WithoutCopy,
    /// The copies of all sources of the kind, without their desired states.
    Copied(Store<DynamicObject>, ApiResource),
}

impl SourceCopy {
    /// Creates an empty copy. Returns the kinds to be watched as well.
    pub(crate) fn new(hub: Server, readiness: Arc<Readiness>) -> (Self, UnboundedReceiver<GroupKind>) {
        let (new_kinds, received) = unbounded();
        let (kinds, first_reads) = (Mutex::default(), Mutex::default());
        (Self { hub, readiness, kinds, new_kinds, first_reads }, received)
    }

    /// Watches all sources of a kind until the kind is no longer served. Returns the Components that need a step.
    pub(crate) fn watch<'a>(
        &'a self,
        kind: GroupKind,
        components: &'a Store<WatchedComponent>,
    ) -> BoxStream<'a, ComponentKey> {
        let served = kind.clone();
        let changed = async move {
            match self.hub.kind(&served).await {
                Ok(served) => self.changed_sources(&served),
                Err(_) => stream::empty().boxed(),
            }
        };
        self.readiness.expect(&kind.kind);
        let forget = async move {
            self.readiness.settle(&kind.kind);
            lock(&self.kinds).remove(&kind);
            None
        };
        let changed = changed.flatten_stream().map(Some).chain(forget.into_stream()).filter_map(ready);
        let changed = changed.filter(|source| ready(!self.is_known(source)));
        let due = move |(source, _)| self.components_behind(source, components);
        changed.then(due).flat_map(stream::iter).boxed()
    }

    fn changed_sources(&self, kind: &ApiKind) -> BoxStream<'_, ReportedSource> {
        let client = self.hub.client();
        let version = GroupVersionKind::gvk(&kind.group, &kind.version, &kind.kind);
        let resource = ApiResource::from_gvk_with_plural(&version, &kind.plural);
        let group_kind = kind.group_kind();
        let reported = move |metadata: &ObjectMeta| {
            let key = ObjectKey {
                group: group_kind.group.clone(),
                kind: group_kind.kind.clone(),
                namespace: metadata.namespace.clone().unwrap_or_default(),
                name: metadata.name.clone().unwrap_or_default(),
            };
            (key, metadata.resource_version.clone())
        };
        if kind.group == GROUP {
            // The files of Blueprints may be large.
            let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(client, &resource);
            let events = self.readiness.observe(kind.kind.clone(), watch(api)).applied_objects();
            return while_served(events).map(move |one| reported(&one.metadata)).boxed();
        }
        let writer = Writer::new(resource.clone());
        let copied = WatchedKind::Copied(writer.as_reader(), resource.clone());
        lock(&self.kinds).insert(kind.group_kind(), copied);
        let types = TypeMeta { api_version: resource.api_version.clone(), kind: resource.kind.clone() };
        let api: Api<DynamicObject> = Api::all_with(client, &resource);
        let events = watch(api).modify(move |source| {
            source.managed_fields_mut().clear();
            source.types = Some(types.clone());
            if let Some(fields) = source.data.as_object_mut() {
                fields.remove("spec");
            }
        });
        let events = self.readiness.observe(kind.kind.clone(), events);
        let changed = reflector(writer, events).applied_objects();
        while_served(changed).map(move |one| reported(&one.metadata)).boxed()
    }

    /// Returns the Components that have not attempted the artifact of a source. A source that is not ready causes no
    /// step.
    async fn components_behind(
        &self,
        source: ObjectKey,
        components: &Store<WatchedComponent>,
    ) -> Vec<ComponentKey> {
        let watched = WatchedSource::Object(source.clone());
        if components.find(|one| one.source.as_ref() == Some(&watched)).is_none() {
            return Vec::new();
        }
        let state = read_source(&source, self).await;
        state.map(|state| behind(components, &watched, &state.artifact)).unwrap_or_default()
    }

    /// True for the revision that steps have read before the watch reported it, such as in the first list.
    fn is_known(&self, (key, revision): &ReportedSource) -> bool {
        let mut first_reads = lock(&self.first_reads);
        let is_known = revision.is_some() && first_reads.get(key) == revision.as_ref();
        if !is_known {
            first_reads.remove(key);
        }
        is_known
    }

    async fn read_from_hub(&self, key: &ObjectKey) -> Result<Option<Object>, ApiError> {
        let found = self.hub.read(key).await?;
        if let Some(revision) =
            found.as_ref().and_then(|found| found.get(&["metadata", "resourceVersion"])?.as_str())
        {
            lock(&self.first_reads).entry(key.clone()).or_insert_with(|| revision.to_owned());
        }
        if found.is_some()
            && let Entry::Vacant(unknown) = lock(&self.kinds).entry(key.group_kind())
        {
            unknown.insert(WatchedKind::WithoutCopy);
            // Without a receiver, the controller is about to end.
            let _ = self.new_kinds.unbounded_send(key.group_kind());
        }
        Ok(found)
    }

    fn copy_of(&self, key: &ObjectKey) -> Option<Object> {
        let Some(WatchedKind::Copied(store, resource)) = lock(&self.kinds).get(&key.group_kind()).cloned()
        else {
            return None;
        };
        let found = store.get(&ObjectRef::new_with(&key.name, resource).within(&key.namespace))?;
        let json: Value = serde_json::to_value(&*found).ok()?;
        Object::try_from(json).ok()
    }
}

impl ObjectReader for SourceCopy {
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Option<Object>, ApiError>> {
        match self.copy_of(key) {
            Some(known) => ready(Ok(Some(known))).boxed(),
            // The watch may not have listed the object yet.
            None => self.read_from_hub(key).boxed(),
        }
    }
}

/// Reads the URLs of Components regularly. Returns the Components that need a step, because a URL has another artifact
/// than in the last round.
pub(crate) fn poll_urls<'a>(
    components: &'a Store<WatchedComponent>,
    shard: Shard,
    repositories: &'a RepositoryContext,
    every: Duration,
) -> BoxStream<'a, ComponentKey> {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is due at once, when every Component has a step anyway.
    ticks.reset();
    let rounds = stream::unfold((ticks, Vec::new()), move |(mut ticks, known)| async move {
        ticks.tick().await;
        let read = |url: HttpRepository| async move {
            // A URL that cannot be read is read again in the next round.
            http_state(&url, repositories).await.ok().map(|state| (url, state.artifact))
        };
        let current: Vec<UrlState> = stream::iter(urls(components, shard))
            .map(read)
            .buffer_unordered(MAX_POLLS)
            .filter_map(ready)
            .collect()
            .await;
        let due = current
            .iter()
            .filter(|state| !known.contains(*state))
            .flat_map(|(url, artifact)| behind(components, &WatchedSource::Url(url.clone()), artifact));
        let due: Vec<ComponentKey> = due.collect();
        Some((stream::iter(due), (ticks, current)))
    });
    rounds.flatten().boxed()
}

/// A URL and its artifact.
type UrlState = (HttpRepository, ArtifactReference);

/// Returns the URLs of the Components of a shard, each once.
fn urls(components: &Store<WatchedComponent>, shard: Shard) -> Vec<HttpRepository> {
    let mut urls = Vec::new();
    for component in components.state() {
        if let Some(WatchedSource::Url(url)) = &component.source
            && !urls.contains(url)
            && shard.contains(&component.key())
        {
            urls.push(url.clone());
        }
    }
    urls
}

/// Returns the objects of a watch, until its kind is no longer served. The watch retries after all errors.
fn while_served<'a, K: Send + 'a>(
    objects: impl futures::Stream<Item = Result<K, watcher::Error>> + Send + 'a,
) -> BoxStream<'a, K> {
    let is_served = |object: &Result<K, watcher::Error>| {
        ready(!matches!(object, Err(error) if status_code(error) == Some(404)))
    };
    objects.take_while(is_served).filter_map(|object| ready(object.ok())).boxed()
}

/// Returns the status code of the answer that a watch failed with.
pub(crate) fn status_code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kube::runtime::watcher::Event;
    use serde_json::json;
    use support::host::{FakeHost, Reply};
    use tokio::time::timeout;
    use transport::Settings;

    use super::*;
    use crate::changes::WatchedComponents;

    #[tokio::test]
    async fn a_new_artifact_behind_a_url_needs_one_step() {
        let host = FakeHost::internet();
        let artifact = |tag: &str| Reply::status(200).header("etag", tag);
        let replies = [artifact("1"), Reply::status(404), artifact("1"), artifact("2"), artifact("2")];
        host.on_sequence("files.example.org/a.tgz", replies);
        let repositories = RepositoryContext::new(Settings {
            extra_roots: vec![host.ca_pem().as_bytes().to_vec()],
            system_roots: false,
            resolve: BTreeMap::from([("files.example.org".to_owned(), host.address())]),
            ..Settings::default()
        });
        let mut components = WatchedComponents::new();
        components.record(&Event::Init);
        for name in ["web", "api"] {
            let component = json!({
                "metadata": {"name": name, "namespace": "ns"},
                "spec": {"sourceRef": {"httpRepository": {"url": "https://files.example.org/a.tgz"}}},
                "status": {"lastAttemptedDigest": "1", "lastAttemptedRevision": "1", "observedGeneration": 1},
            });
            components.record(&Event::InitApply(serde_json::from_value(component).unwrap()));
        }
        components.record(&Event::InitDone);
        let store = components.store();
        let mut due = poll_urls(&store, Shard::default(), &repositories, Duration::from_millis(20));
        let first = [due.next().await.unwrap().name, due.next().await.unwrap().name];
        assert!(first.contains(&"web".to_owned()) && first.contains(&"api".to_owned()), "{first:?}");
        assert!(host.received().len() >= 4, "{:?}", host.addresses());
        assert!(timeout(Duration::from_millis(300), due.next()).await.is_err());
        assert!(host.received().len() > 6);
    }
}
