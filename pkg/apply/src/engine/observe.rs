//! Reads the objects of a plan with few requests.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use manifest::Object;

use crate::{
    ApiError, ApiKind, ApplySet, DesiredSet, GroupKind, Kinds, List, Live, Marks, ObjectKey, Observation,
    Phase, Server,
};

/// The parts of objects that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Whole objects.
    Full,
    /// The identity, the owner and the finalizers of objects.
    Metadata,
}

/// The objects that are read by name if no list includes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByName {
    /// Applied objects that have not completed their work.
    Applied,
    /// All objects, including foreign objects in the place of new ones.
    All,
}

/// The questions to a server, chosen before the first request.
#[derive(Debug, Default)]
struct Questions<'k> {
    /// Objects of served kinds, each with the kind for requests.
    asked: BTreeMap<ObjectKey, &'k ApiKind>,
    /// Objects that cannot exist, because their kinds are not served.
    absent: Vec<ObjectKey>,
    /// Namespaces to be read next.
    namespaces: BTreeSet<ObjectKey>,
}

/// The objects of one owner, to be read together with objects of other owners.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'a> {
    /// The marks of the owner.
    pub marks: &'a Marks,
    /// The applied objects.
    pub set: &'a ApplySet,
    /// The desired objects.
    pub desired: &'a DesiredSet,
}

/// The questions and answers about the objects of one owner.
struct Look<'a> {
    sought: Sought<'a>,
    questions: Questions<'a>,
    live: Live,
}

impl Server {
    /// Reads the objects of several owners as [`observe`](crate::Engine::observe) does for one owner. One list of each
    /// kind covers all owners, so the number of requests does not grow.
    /// Shape: in the order of the owners.
    pub async fn observe_all(
        &self,
        sought: &[Sought<'_>],
        by_name: ByName,
        detail: Detail,
    ) -> Result<Vec<Live>, ApiError> {
        let keys = || {
            let desired = sought.iter().flat_map(|one| &one.desired.objects).map(|object| &object.key);
            desired.chain(sought.iter().flat_map(|one| &one.set.items).map(|item| &item.key))
        };
        let has_all = |kinds: &Kinds| keys().all(|key| kinds.preferred(&key.group_kind()).is_some());
        let kinds = self.kinds_with(has_all).await?;
        let mut looks: Vec<_> = sought.iter().map(|one| Look::new(*one, &kinds)).collect();
        self.look_for_namespaces(&kinds, &mut looks).await?;
        for object in self.look_for_owned(&looks, detail).await? {
            let key = ObjectKey::of(&object);
            for look in looks.iter_mut().filter(|look| !look.is_first_install()) {
                look.saw(&key, &object);
            }
        }
        for look in &mut looks {
            look.suspect_namespaces();
        }
        self.look_for_namespaces(&kinds, &mut looks).await?;
        let named: Vec<_> = looks.iter().map(|look| self.look_by_name(look, by_name)).collect();
        let named = try_join_all(named).await?;
        for (look, found) in looks.iter_mut().zip(named) {
            look.live.objects.extend(found);
        }
        Ok(looks.into_iter().map(|look| look.live).collect())
    }

    async fn look_at(&self, kind: &ApiKind, key: &ObjectKey) -> Result<(ObjectKey, Observation), ApiError> {
        let found = self.get(kind, &key.namespace, &key.name).await?;
        Ok((key.clone(), found.map_or(Observation::Absent, Observation::Present)))
    }

    async fn look_for_namespaces(&self, kinds: &Kinds, looks: &mut [Look<'_>]) -> Result<(), ApiError> {
        let Some(kind) = kinds.preferred(&GroupKind::new("", "Namespace")) else { return Ok(()) };
        let keys: BTreeSet<_> = looks.iter().flat_map(|look| &look.questions.namespaces).cloned().collect();
        let found = try_join_all(keys.iter().map(|key| self.look_at(kind, key))).await?;
        let found: BTreeMap<_, _> = found.into_iter().collect();
        for look in looks {
            look.saw_namespaces(&found);
        }
        Ok(())
    }

    /// Lists the objects with the owners' labels, with one request for each kind.
    async fn look_for_owned(&self, looks: &[Look<'_>], detail: Detail) -> Result<Vec<Object>, ApiError> {
        let asking: Vec<_> = looks.iter().filter(|look| !look.is_first_install()).collect();
        let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for look in &asking {
            let (key, value) = &look.sought.marks.label;
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

    async fn look_by_name(
        &self,
        look: &Look<'_>,
        by_name: ByName,
    ) -> Result<Vec<(ObjectKey, Observation)>, ApiError> {
        let is_asked_for = |key: &ObjectKey| {
            let item = look.sought.set.item(key);
            by_name == ByName::All || item.is_some_and(|item| item.phase != Phase::Completed)
        };
        let named = look.questions.asked.iter().filter(|(key, _)| is_asked_for(key));
        try_join_all(named.map(|(key, kind)| self.look_at(kind, key))).await
    }
}

impl<'a> Look<'a> {
    fn new(sought: Sought<'a>, kinds: &'a Kinds) -> Self {
        let mut questions = Questions::of(sought.set, sought.desired, kinds);
        let mut live = Live::default();
        live.objects.extend(questions.absent.drain(..).map(|key| (key, Observation::Absent)));
        Self { sought, questions, live }
    }

    fn saw_namespaces(&mut self, found: &BTreeMap<ObjectKey, Observation>) {
        for key in std::mem::take(&mut self.questions.namespaces) {
            if let Some(found) = found.get(&key) {
                self.questions.asked.remove(&key);
                self.live.objects.insert(key, found.clone());
            }
        }
        self.questions.drop_what_has_no_namespace(&mut self.live);
    }

    /// Adds questions about the namespaces of objects that no list includes. The objects may be gone with their
    /// namespaces.
    fn suspect_namespaces(&mut self) {
        let namespaces = self.questions.asked.keys().filter_map(namespace_of);
        self.questions.namespaces = namespaces.filter(|key| !self.live.objects.contains_key(key)).collect();
    }

    fn saw(&mut self, key: &ObjectKey, object: &Object) {
        if self.questions.asked.remove(key).is_some() {
            self.live.objects.insert(key.clone(), Observation::Present(object.clone()));
        }
    }

    fn is_first_install(&self) -> bool {
        is_first_install(self.sought.set, self.sought.desired, &self.live)
    }
}

impl<'k> Questions<'k> {
    fn of(set: &ApplySet, desired: &DesiredSet, kinds: &'k Kinds) -> Self {
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
                && let Some(kind) = served(kinds, &group_kind, version)
            {
                versions.insert(group_kind.clone(), kind);
            }
            match versions.get(&group_kind) {
                Some(kind) => questions.ask(key, kind),
                None => questions.absent.push(key.clone()),
            }
        }
        questions
    }

    fn ask(&mut self, key: &ObjectKey, kind: &'k ApiKind) {
        if key.is_namespace() {
            self.namespaces.insert(key.clone());
        }
        self.asked.insert(key.clone(), kind);
    }

    fn drop_what_has_no_namespace(&mut self, live: &mut Live) {
        let mut gone = Vec::new();
        self.asked.retain(|key, _| {
            let namespace = ObjectKey::of_namespace(&key.namespace);
            let there = key.namespace.is_empty() || *live.get(&namespace) != Observation::Absent;
            if !there {
                gone.push((key.clone(), Observation::Absent));
            }
            there
        });
        live.objects.extend(gone);
    }
}

/// Returns one list for each kind: in one namespace if it has all objects of the kind, else in all namespaces.
fn lists<'l>(looks: &[&'l Look<'_>], selector: &str, detail: Detail) -> Vec<(&'l ApiKind, List)> {
    let mut by_kind: BTreeMap<GroupKind, (&ApiKind, BTreeSet<&str>)> = BTreeMap::new();
    for (key, kind) in looks.iter().flat_map(|look| &look.questions.asked) {
        by_kind.entry(key.group_kind()).or_insert((kind, BTreeSet::new())).1.insert(&key.namespace);
    }
    let listable = by_kind.into_values().filter(|(kind, _)| kind.can("list"));
    let list = |namespaces: &BTreeSet<&str>| List {
        namespace: match namespaces.first() {
            Some(only) if namespaces.len() == 1 && !only.is_empty() => Some((*only).to_owned()),
            _ => None,
        },
        labels: selector.to_owned(),
        metadata_only: detail == Detail::Metadata,
        ..List::default()
    };
    listable.map(|(kind, namespaces)| (kind, list(&namespaces))).collect()
}

fn namespace_of(key: &ObjectKey) -> Option<ObjectKey> {
    (!key.namespace.is_empty()).then(|| ObjectKey::of_namespace(&key.namespace))
}

/// Returns the kind in this version, or else in the server's preferred version.
pub(super) fn served<'k>(kinds: &'k Kinds, kind: &GroupKind, version: &str) -> Option<&'k ApiKind> {
    kinds.version(kind, version).or_else(|| kinds.preferred(kind))
}

/// True if nothing is recorded and no namespace of the set exists. Then the set is not installed, and writes that
/// require missing objects detect all others.
fn is_first_install(set: &ApplySet, desired: &DesiredSet, live: &Live) -> bool {
    let mut brought =
        desired.objects.iter().map(|object| &object.key).filter(|key| key.is_namespace()).peekable();
    set.items.is_empty()
        && brought.peek().is_some()
        && brought.all(|key| *live.get(key) == Observation::Absent)
}
