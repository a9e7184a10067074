//! The renamed objects, and the look-up of an object by a former name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use manifest::Value;

use crate::ResId;
use crate::accumulator::Accumulator;
use crate::fields::KindPattern;
use crate::resource::Resource;

/// Renamed objects by former name: a look-up costs one hash and a scan of the few objects with that name.
#[derive(Debug, Default)]
pub(super) struct Referents {
    all: Vec<Referent>,
    by_name: HashMap<Arc<str>, Vec<usize>>,
    /// The current namespaces of objects, as written, by original namespace. Includes objects that never changed.
    namespaces: HashMap<Arc<str>, HashSet<Arc<str>>>,
}

/// An object that references can name.
#[derive(Debug)]
pub(super) struct Referent {
    pub(super) id: ResId,
    former: Vec<ResId>,
    affixes: NameAffixes,
}

/// An object with references.
#[derive(Debug)]
pub(super) struct Referrer {
    pub(super) id: ResId,
    affixes: NameAffixes,
    /// The namespaces of the service accounts among the subjects of a RoleBinding.
    namespaces: HashSet<String>,
}

/// The prefixes and suffixes added to the name of an object, outermost last.
#[derive(Debug)]
struct NameAffixes {
    prefixes: Vec<Arc<str>>,
    suffixes: Vec<Arc<str>>,
}

/// A look-up of a referenced object.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceQuery<'a> {
    /// A former name of the object.
    pub(super) name: &'a str,
    /// The kind of the object.
    pub(super) kind: &'a KindPattern,
    /// The kind of the object as given by the reference itself.
    pub(super) role: Option<&'a KindPattern>,
    pub(super) target: RewriteTarget<'a>,
}

/// The parts of the reference that are rewritten; they decide if two objects are equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RewriteTarget<'a> {
    /// Only the name is rewritten.
    Name,
    /// Name and namespace are rewritten; the reference has no namespace.
    Anywhere,
    /// Name and namespace are rewritten; this is the namespace of the reference.
    In(&'a str),
}

impl Referents {
    /// Indexes the objects with former ids.
    pub(super) fn of(objects: &Accumulator) -> Self {
        let mut referents = Self::default();
        if objects.iter().all(|(_, resource)| resource.former_ids().is_empty()) {
            return referents;
        }
        for (_, resource) in objects.iter() {
            referents.record_namespace(resource);
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
            referents.all.push(Referent {
                id: resource.id().clone(),
                former,
                affixes: NameAffixes::of(resource),
            });
        }
        referents
    }

    fn record_namespace(&mut self, resource: &Resource) {
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

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds the referenced object. `None` if it is not a renamed object.
    /// # Errors
    /// The candidates, if there are several.
    pub(super) fn find(
        &self,
        query: &ReferenceQuery<'_>,
        referrer: &Referrer,
    ) -> Result<Option<&Referent>, Vec<&Referent>> {
        let named = self.by_name.get(query.name).into_iter().flatten().map(|index| &self.all[*index]);
        let is_in = self.namespace_filter(query.target, referrer);
        let mut found: Vec<&Referent> = named
            .filter(|referent| {
                referent.had_kind(query.kind)
                    && query.role.is_none_or(|role| referent.had_kind(role))
                    && referrer.can_refer_to(referent)
                    && is_in(referent)
            })
            .collect();
        if found.len() > 1 {
            found.retain(|referent| referent.affixes.may_equal(&referrer.affixes));
        }
        if found.len() > 1 {
            found.retain(|referent| referent.affixes.equal(&referrer.affixes));
        }
        let Some(first) = found.first() else { return Ok(None) };
        let is_same = |other: &&Referent| {
            let is_same_place = first.id.written_namespace() == other.id.written_namespace();
            first.id.name == other.id.name && (query.target == RewriteTarget::Name || is_same_place)
        };
        if found.iter().all(is_same) { Ok(Some(first)) } else { Err(found) }
    }

    /// Returns a filter by the namespace of a reference. It is an original namespace of objects, or, if no object has
    /// it as its original one, a current namespace.
    fn namespace_filter<'a>(
        &self,
        target: RewriteTarget<'a>,
        referrer: &Referrer,
    ) -> impl Fn(&Referent) -> bool + use<'a> {
        let wanted = if let RewriteTarget::In(namespace) = target { Some(namespace) } else { None };
        let places = wanted.and_then(|namespace| self.namespaces.get(namespace));
        let is_original = places.into_iter().flatten().any(|written| referrer.can_see_namespace(written));
        move |referent| {
            let Some(wanted) = wanted else { return true };
            let id = if is_original { referent.former.first() } else { None }.unwrap_or(&referent.id);
            !id.gvk.is_cluster_scoped() && id.namespace() == wanted
        }
    }
}

impl Referent {
    fn had_kind(&self, kind: &KindPattern) -> bool {
        self.former.iter().any(|id| kind.selects(&id.gvk))
    }
}

impl Referrer {
    /// Describes an object with references. `None` for a RoleBinding with a service account whose namespace is no
    /// string.
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
        Some(Self { id: resource.id().clone(), affixes: NameAffixes::of(resource), namespaces })
    }

    /// True if the object can refer to another one: cluster-scoped, in its namespace, or a service account that a
    /// RoleBinding names.
    fn can_refer_to(&self, referent: &Referent) -> bool {
        let id = &referent.id;
        self.id.gvk.is_cluster_scoped()
            || id.gvk.is_cluster_scoped()
            || id.namespace() == self.id.namespace()
            || (&*id.gvk.kind == "ServiceAccount" && self.namespaces.contains(id.written_namespace()))
    }

    /// True if the object can refer to objects in a namespace, given as written.
    fn can_see_namespace(&self, written: &str) -> bool {
        let namespace = if written.is_empty() { "default" } else { written };
        self.id.gvk.is_cluster_scoped()
            || namespace == self.id.namespace()
            || self.namespaces.contains(written)
    }
}

impl NameAffixes {
    fn of(resource: &Resource) -> Self {
        Self { prefixes: resource.prefixes.clone(), suffixes: resource.suffixes.clone() }
    }

    /// True if both prefixes and both suffixes match; missing ones match any.
    fn may_equal(&self, other: &Self) -> bool {
        let may = |a: &[Arc<str>], b: &[Arc<str>]| a.is_empty() || b.is_empty() || have_same_end(a, b);
        may(&self.prefixes, &other.prefixes) && may(&self.suffixes, &other.suffixes)
    }

    /// True if both prefixes and both suffixes match.
    fn equal(&self, other: &Self) -> bool {
        have_same_end(&self.prefixes, &other.prefixes) && have_same_end(&self.suffixes, &other.suffixes)
    }
}

/// True if the shorter list is the end of the longer one; an empty list only matches an empty list.
fn have_same_end(first: &[Arc<str>], second: &[Arc<str>]) -> bool {
    first.is_empty() == second.is_empty() && first.iter().rev().zip(second.iter().rev()).all(|(a, b)| a == b)
}
