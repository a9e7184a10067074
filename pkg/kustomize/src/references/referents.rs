//! The objects that were called otherwise before, and which of them a name means.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use manifest::Value;

use crate::ResId;
use crate::accumulator::Accumulator;
use crate::fields::KindPattern;
use crate::resource::Resource;

/// What names mean: a look-up costs one hash and the few objects that had the name.
#[derive(Debug, Default)]
pub(super) struct Referents {
    all: Vec<Referent>,
    by_name: HashMap<Arc<str>, Vec<usize>>,
    /// For each namespace objects came with, the ones they are in now as they are written, those that never changed included.
    namespaces: HashMap<Arc<str>, HashSet<Arc<str>>>,
}

/// An object that can be referred to.
#[derive(Debug)]
pub(super) struct Referent {
    pub(super) id: ResId,
    former: Vec<ResId>,
    ends: Ends,
}

/// An object that refers to others.
#[derive(Debug)]
pub(super) struct Referrer {
    pub(super) id: ResId,
    ends: Ends,
    /// The namespaces of the service accounts a RoleBinding is for.
    namespaces: HashSet<String>,
}

/// What was put around the name of an object, outermost last.
#[derive(Debug)]
struct Ends {
    prefixes: Vec<Arc<str>>,
    suffixes: Vec<Arc<str>>,
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    /// A name it had.
    pub(super) name: &'a str,
    /// What it is.
    pub(super) kind: &'a KindPattern,
    /// What it is by the reference itself.
    pub(super) role: Option<&'a KindPattern>,
    pub(super) target: Target<'a>,
}

/// What becomes of the answer, which tells when two objects are as good as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// Its name is written.
    Name,
    /// Its name and namespace are written; the reference has no namespace.
    Anywhere,
    /// Its name and namespace are written; this is the namespace of the reference.
    In(&'a str),
}

impl Referents {
    /// Takes up the objects that have a past.
    pub(super) fn of(objects: &Accumulator) -> Self {
        let mut referents = Self::default();
        if objects.iter().all(|(_, resource)| resource.former_ids().is_empty()) {
            return referents;
        }
        for (_, resource) in objects.iter() {
            referents.note_namespace(resource);
            if resource.former_ids().is_empty() {
                continue;
            }
            let index = referents.all.len();
            for id in resource.former_ids() {
                let indices = referents.by_name.entry(Arc::clone(&id.name)).or_default();
                if indices.last() != Some(&index) {
                    indices.push(index);
                }
            }
            let former = resource.former_ids().to_vec();
            referents.all.push(Referent { id: resource.id().clone(), former, ends: Ends::of(resource) });
        }
        referents
    }

    fn note_namespace(&mut self, resource: &Resource) {
        let original = resource.original_id();
        if original.gvk.is_cluster_scoped() {
            return;
        }
        let written = Arc::clone(resource.id().shared_namespace());
        if let Some(present) = self.namespaces.get_mut(original.namespace()) {
            present.insert(written);
        } else {
            self.namespaces.insert(original.namespace().into(), HashSet::from([written]));
        }
    }

    /// Whether no object was called otherwise.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds the object that is meant, if it is one of these.
    /// # Errors
    /// Gives the objects that may be meant where they are several.
    pub(super) fn find(
        &self,
        question: &Question<'_>,
        referrer: &Referrer,
    ) -> Result<Option<&Referent>, Vec<&Referent>> {
        let named = self.by_name.get(question.name).into_iter().flatten().map(|index| &self.all[*index]);
        let is_in = self.place_filter(question.target, referrer);
        let mut found: Vec<&Referent> = named
            .filter(|referent| {
                referent.was_a(question.kind)
                    && question.role.is_none_or(|role| referent.was_a(role))
                    && referrer.reaches(referent)
                    && is_in(referent)
            })
            .collect();
        if found.len() > 1 {
            found.retain(|referent| referent.ends.may_equal(&referrer.ends));
        }
        if found.len() > 1 {
            found.retain(|referent| referent.ends.equal(&referrer.ends));
        }
        let Some(first) = found.first() else { return Ok(None) };
        let is_same = |other: &&Referent| {
            let is_same_place = first.id.written_namespace() == other.id.written_namespace();
            first.id.name == other.id.name && (question.target == Target::Name || is_same_place)
        };
        if found.iter().all(is_same) { Ok(Some(first)) } else { Err(found) }
    }

    /// A namespace in a reference is one objects came with, or, where none did, one they are in now.
    fn place_filter<'a>(
        &self,
        target: Target<'a>,
        referrer: &Referrer,
    ) -> impl Fn(&Referent) -> bool + use<'a> {
        let wanted = if let Target::In(namespace) = target { Some(namespace) } else { None };
        let places = wanted.and_then(|namespace| self.namespaces.get(namespace));
        let is_original = places.into_iter().flatten().any(|written| referrer.sees(written));
        move |referent| {
            let Some(wanted) = wanted else { return true };
            let id = if is_original { referent.former.first() } else { None }.unwrap_or(&referent.id);
            !id.gvk.is_cluster_scoped() && id.namespace() == wanted
        }
    }
}

impl Referent {
    fn was_a(&self, kind: &KindPattern) -> bool {
        self.former.iter().any(|id| kind.selects(&id.gvk))
    }
}

impl Referrer {
    /// Takes up an object; `None` for a RoleBinding with a service account whose namespace is no text.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        let mut namespaces = HashSet::new();
        if resource.object.kind() == "RoleBinding" {
            let subjects = resource.object.get(&["subjects"]).and_then(Value::as_array);
            let accounts =
                subjects.into_iter().flatten().filter(|subject| subject["kind"] == "ServiceAccount");
            for namespace in accounts.filter_map(|subject| subject.get("namespace")) {
                namespaces.insert(namespace.as_str()?.to_owned());
            }
        }
        Some(Self { id: resource.id().clone(), ends: Ends::of(resource), namespaces })
    }

    /// Whether it can refer to an object: to those of the whole cluster, those in its namespace, and a RoleBinding to the
    /// service accounts it is for.
    fn reaches(&self, referent: &Referent) -> bool {
        let id = &referent.id;
        self.id.gvk.is_cluster_scoped()
            || id.gvk.is_cluster_scoped()
            || id.namespace() == self.id.namespace()
            || (&*id.gvk.kind == "ServiceAccount" && self.namespaces.contains(id.written_namespace()))
    }

    /// Whether an object in a namespace, as it is written, is among those it looks at.
    fn sees(&self, written: &str) -> bool {
        let namespace = if written.is_empty() { "default" } else { written };
        self.id.gvk.is_cluster_scoped()
            || namespace == self.id.namespace()
            || self.namespaces.contains(written)
    }
}

impl Ends {
    fn of(resource: &Resource) -> Self {
        Self { prefixes: resource.prefixes.clone(), suffixes: resource.suffixes.clone() }
    }

    /// Whether both ends are the same, as far as there are any.
    fn may_equal(&self, other: &Self) -> bool {
        let may = |a: &[Arc<str>], b: &[Arc<str>]| a.is_empty() || b.is_empty() || end_alike(a, b);
        may(&self.prefixes, &other.prefixes) && may(&self.suffixes, &other.suffixes)
    }

    /// Whether both ends are the same.
    fn equal(&self, other: &Self) -> bool {
        end_alike(&self.prefixes, &other.prefixes) && end_alike(&self.suffixes, &other.suffixes)
    }
}

/// Whether the shorter is the end of the longer; an empty one is the end of an empty one alone.
fn end_alike(first: &[Arc<str>], second: &[Arc<str>]) -> bool {
    first.is_empty() == second.is_empty() && first.iter().rev().zip(second.iter().rev()).all(|(a, b)| a == b)
}
