//! Reads the objects of a plan with few requests.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use manifest::Object;

use crate::{
    ApiError, ApiKind, ApplySet, DesiredSet, GroupKind, ItemPhase, ListQuery, LiveObjects, ObjectKey,
    Observation, OwnershipMarks, ServedKinds, Server, key_of,
};

/// The parts of objects that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadDetail {
    /// Whole objects.
    Full,
    /// The identity, the owner and the finalizers of objects.
    Metadata,
}

/// The objects that are read by name if no list includes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadByName {
    /// Applied objects that have not completed their work.
    Applied,
    /// All objects that have not completed their work, including foreign objects in the place of new ones.
    Uncompleted,
    /// All objects, including foreign objects in the place of new ones.
    All,
}

/// The questions to a server, chosen before the first request.
#[derive(Debug, Default)]
struct PendingReads<'k> {
    /// Objects of served kinds, each with the kind for requests.
    pending: BTreeMap<ObjectKey, &'k ApiKind>,
    /// Objects that cannot exist, because their kinds are not served.
    absent: Vec<ObjectKey>,
    /// Namespaces to be read next.
    namespaces: BTreeSet<ObjectKey>,
}

/// The objects of one owner, to be read together with objects of other owners.
#[derive(Clone, Copy, Debug)]
pub struct ObservationTarget<'a> {
    /// The marks of the owner.
    pub marks: &'a OwnershipMarks,
    /// The applied objects.
    pub set: &'a ApplySet,
    /// The desired objects.
    pub desired: &'a DesiredSet,
}

/// The questions and answers about the objects of one owner.
struct SetObservation<'a> {
    target: ObservationTarget<'a>,
    reads: PendingReads<'a>,
    live: LiveObjects,
}

impl Server {
    /// Reads the objects of several owners as [`observe`](crate::Engine::observe) does for one owner. One list of each
    /// kind covers all owners, so the number of requests does not grow.
    /// Shape: in the order of the owners.
    pub async fn observe_all(
        &self,
        sought: &[ObservationTarget<'_>],
        by_name: ReadByName,
        detail: ReadDetail,
    ) -> Result<Vec<LiveObjects>, ApiError> {
        let keys = || {
            let desired = sought.iter().flat_map(|one| &one.desired.objects).map(|object| &object.key);
            desired.chain(sought.iter().flat_map(|one| &one.set.items).map(|item| &item.key))
        };
        let has_all = |kinds: &ServedKinds| keys().all(|key| kinds.preferred(&key.group_kind()).is_some());
        let mut kinds = self.kinds_with(has_all).await?;
        let recorded = || sought.iter().flat_map(|one| &one.set.items).map(|item| item.key.group_kind());
        if recorded().any(|kind| kinds.preferred(&kind).is_none()) {
            // Objects of kinds that do not exist are gone. The known kinds may be older than a definition.
            kinds = Box::pin(self.newer_kinds(&kinds, recorded())).await?;
        }
        let mut looks: Vec<_> = sought.iter().map(|one| SetObservation::new(*one, &kinds)).collect();
        self.read_namespaces(&kinds, &mut looks).await?;
        let found = self.list_owned(&looks, detail).await?;
        add_objects(&mut looks, found);
        for look in &mut looks {
            look.queue_namespaces();
        }
        self.read_namespaces(&kinds, &mut looks).await?;
        let named: Vec<_> = looks.iter().map(|look| self.read_by_name(look, by_name)).collect();
        let named = try_join_all(named).await?;
        for (look, found) in looks.iter_mut().zip(named) {
            look.live.objects.extend(found);
        }
        Ok(looks.into_iter().map(|look| look.live).collect())
    }

    async fn read_object(
        &self,
        kind: &ApiKind,
        key: &ObjectKey,
    ) -> Result<(ObjectKey, Observation), ApiError> {
        let found = self.get(kind, &key.namespace, &key.name).await?;
        Ok((key.clone(), found.map_or(Observation::Absent, Observation::Present)))
    }

    async fn read_namespaces(
        &self,
        kinds: &ServedKinds,
        looks: &mut [SetObservation<'_>],
    ) -> Result<(), ApiError> {
        let Some(kind) = kinds.preferred(&GroupKind::new("", "Namespace")) else { return Ok(()) };
        let keys: BTreeSet<_> = looks.iter().flat_map(|look| &look.reads.namespaces).cloned().collect();
        let found = try_join_all(keys.iter().map(|key| self.read_object(kind, key))).await?;
        let found: BTreeMap<_, _> = found.into_iter().collect();
        for look in looks {
            look.add_namespaces(&found);
        }
        Ok(())
    }

    /// Lists the objects with the owners' labels, with one request for each kind.
    async fn list_owned(
        &self,
        looks: &[SetObservation<'_>],
        detail: ReadDetail,
    ) -> Result<Vec<Object>, ApiError> {
        let asking: Vec<_> = looks.iter().filter(|look| !look.is_first_install()).collect();
        let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for look in &asking {
            let (key, value) = &look.target.marks.label;
            owners.entry(key).or_default().insert(value);
        }
        let lists = owners.into_iter().flat_map(|(key, values)| {
            let values: Vec<_> = values.into_iter().collect();
            let selector = match *values {
                [only] => format!("{key}={only}"),
                _ => format!("{key} in ({})", values.join(",")),
            };
            lists(&asking, &selector, detail)
        });
        let found: Vec<_> = lists.map(async |(kind, list)| self.list(kind, &list).await).collect();
        Ok(try_join_all(found).await?.into_iter().flatten().collect())
    }

    async fn read_by_name(
        &self,
        look: &SetObservation<'_>,
        by_name: ReadByName,
    ) -> Result<Vec<(ObjectKey, Observation)>, ApiError> {
        let is_asked_for = |key: &ObjectKey| {
            let item = look.target.set.item(key);
            by_name == ReadByName::All
                || item.map_or(by_name == ReadByName::Uncompleted, |item| item.phase != ItemPhase::Completed)
        };
        let named = look.reads.pending.iter().filter(|(key, _)| is_asked_for(key));
        try_join_all(named.map(|(key, kind)| self.read_object(kind, key))).await
    }
}

impl<'a> SetObservation<'a> {
    fn new(sought: ObservationTarget<'a>, kinds: &'a ServedKinds) -> Self {
        let mut questions = PendingReads::of(sought.set, sought.desired, kinds);
        let mut live = LiveObjects::default();
        live.objects.extend(questions.absent.drain(..).map(|key| (key, Observation::Absent)));
        Self { target: sought, reads: questions, live }
    }

    fn add_namespaces(&mut self, found: &BTreeMap<ObjectKey, Observation>) {
        for key in std::mem::take(&mut self.reads.namespaces) {
            if let Some(found) = found.get(&key) {
                self.reads.pending.remove(&key);
                self.live.objects.insert(key, found.clone());
            }
        }
        self.reads.drop_without_namespace(&mut self.live);
    }

    /// Adds questions about the namespaces of objects that no list includes. The objects may be gone with their
    /// namespaces.
    fn queue_namespaces(&mut self) {
        let namespaces = self.reads.pending.keys().filter_map(namespace_of);
        self.reads.namespaces = namespaces.filter(|key| !self.live.objects.contains_key(key)).collect();
    }

    fn is_first_install(&self) -> bool {
        is_first_install(self.target.set, self.target.desired, &self.live)
    }
}

impl<'k> PendingReads<'k> {
    fn of(set: &ApplySet, desired: &DesiredSet, kinds: &'k ServedKinds) -> Self {
        let mut questions = Self::default();
        // The existence of desired objects, and the right time for their writes, depend on their namespaces.
        questions.namespaces.extend(desired.objects.iter().filter_map(|object| namespace_of(&object.key)));
        // Desired objects come first, because they determine the version for reads.
        let wanted = desired.objects.iter().map(|object| (&object.key, object.version.as_str()));
        let known = set.items.iter().map(|item| (&item.key, item.version.as_str()));
        let mut versions: BTreeMap<GroupKind, &'k ApiKind> = BTreeMap::new();
        for (key, version) in wanted.chain(known) {
            let group_kind = key.group_kind();
            if !versions.contains_key(&group_kind)
                && let Some(kind) = served_kind(kinds, &group_kind, version)
            {
                versions.insert(group_kind.clone(), kind);
            }
            match versions.get(&group_kind) {
                Some(kind) => questions.add(key, kind),
                None => questions.absent.push(key.clone()),
            }
        }
        questions
    }

    fn add(&mut self, key: &ObjectKey, kind: &'k ApiKind) {
        if key.is_namespace() {
            self.namespaces.insert(key.clone());
        }
        self.pending.insert(key.clone(), kind);
    }

    fn drop_without_namespace(&mut self, live: &mut LiveObjects) {
        let mut absent = Vec::new();
        self.pending.retain(|key, _| {
            let namespace = ObjectKey::of_namespace(&key.namespace);
            let there = key.namespace.is_empty() || *live.get(&namespace) != Observation::Absent;
            if !there {
                absent.push((key.clone(), Observation::Absent));
            }
            there
        });
        live.objects.extend(absent);
    }
}

/// Hands out listed objects to the owners that look for them. Objects that nobody looks for are dropped.
fn add_objects<'k>(looks: &mut [SetObservation<'k>], found: Vec<Object>) {
    // The keys move to the askers and back, because there are as many as objects.
    let mut askers: BTreeMap<ObjectKey, Vec<(usize, &'k ApiKind)>> = BTreeMap::new();
    for (at, look) in looks.iter_mut().enumerate().filter(|(_, look)| !look.is_first_install()) {
        for (key, kind) in std::mem::take(&mut look.reads.pending) {
            askers.entry(key).or_insert_with(|| Vec::with_capacity(1)).push((at, kind));
        }
    }
    for object in found {
        let key = key_of(&object);
        if let Some(((last, _), others)) = askers.remove(&key).as_deref().and_then(<[_]>::split_last) {
            for (at, _) in others {
                looks[*at].live.objects.insert(key.clone(), Observation::Present(object.clone()));
            }
            looks[*last].live.objects.insert(key, Observation::Present(object));
        }
    }
    for (key, unanswered) in askers {
        for (at, kind) in unanswered {
            looks[at].reads.pending.insert(key.clone(), kind);
        }
    }
}

/// Returns one list for each kind: in one namespace if it has all objects of the kind, else in all namespaces.
fn lists<'l>(
    looks: &[&'l SetObservation<'_>],
    selector: &str,
    detail: ReadDetail,
) -> Vec<(&'l ApiKind, ListQuery)> {
    let mut by_kind: BTreeMap<GroupKind, (&ApiKind, BTreeSet<&str>)> = BTreeMap::new();
    for (key, kind) in looks.iter().flat_map(|look| &look.reads.pending) {
        by_kind.entry(key.group_kind()).or_insert((kind, BTreeSet::new())).1.insert(&key.namespace);
    }
    let listable = by_kind.into_values().filter(|(kind, _)| kind.supports("list"));
    let list = |namespaces: &BTreeSet<&str>| ListQuery {
        namespace: match namespaces.first() {
            Some(only) if namespaces.len() == 1 && !only.is_empty() => Some((*only).to_owned()),
            _ => None,
        },
        labels: selector.to_owned(),
        metadata_only: detail == ReadDetail::Metadata,
        ..ListQuery::default()
    };
    listable.map(|(kind, namespaces)| (kind, list(&namespaces))).collect()
}

fn namespace_of(key: &ObjectKey) -> Option<ObjectKey> {
    (!key.namespace.is_empty()).then(|| ObjectKey::of_namespace(&key.namespace))
}

/// Returns the kind in this version, or else in the server's preferred version.
pub(super) fn served_kind<'k>(
    kinds: &'k ServedKinds,
    kind: &GroupKind,
    version: &str,
) -> Option<&'k ApiKind> {
    kinds.version(kind, version).or_else(|| kinds.preferred(kind))
}

/// True if nothing is recorded and no namespace of the set exists. Then the set is not installed, and writes that
/// require missing objects detect all others.
fn is_first_install(set: &ApplySet, desired: &DesiredSet, live: &LiveObjects) -> bool {
    let mut new_namespaces =
        desired.objects.iter().map(|object| &object.key).filter(|key| key.is_namespace()).peekable();
    set.items.is_empty()
        && new_namespaces.peek().is_some()
        && new_namespaces.all(|key| *live.get(key) == Observation::Absent)
}
