//! How writes move ownership.
//!
//! Source: structured-merge-diff v6 `merge.Updater` as kube-apiserver 1.36 uses it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    OtherVersion, Target,
    compare::{Comparison, compare},
    element::Element,
    managed::{ManagerId, Managers, Owned},
    merge::merge,
    set::FieldSet,
    shape::Shape,
    typed,
};

/// Fields somebody else owns and an apply would change, by owner.
pub(super) type Conflicts = Vec<(ManagerId, Vec<Element>)>;

/// The shapes of a resource, by API version.
#[derive(Clone, Copy)]
pub(super) struct Versions<'a> {
    target: Target<'a>,
    api_version: &'a str,
}

impl<'a> Versions<'a> {
    /// `api_version` is the one of the request.
    pub(super) fn new(target: Target<'a>, api_version: &'a str) -> Self {
        Self { target, api_version }
    }

    /// The shape in the version of the request.
    pub(super) fn current(self) -> Shape<'a> {
        Shape::of_object(self.target.schema)
    }

    /// The shape in a version, if that is served.
    fn get(self, api_version: &str) -> Option<Shape<'a>> {
        if api_version == self.api_version {
            return Some(self.current());
        }
        Some(Shape::of_object(self.other(api_version)?.schema))
    }

    fn other(self, api_version: &str) -> Option<&'a OtherVersion<'a>> {
        self.target.others.iter().find(|version| version.api_version == api_version)
    }

    /// What differs between two objects in a version, without what cannot be written through this address.
    fn compare(self, live: &Value, new: &Value, api_version: &str) -> Option<Comparison> {
        let reset =
            if api_version == self.api_version { self.target.reset } else { self.other(api_version)?.reset };
        Some(compare(live, new, self.get(api_version)?).without(&FieldSet::of_fields(reset)))
    }
}

/// Takes from all managers what a write changed, and returns what it wrote itself.
pub(super) fn update(live: &Value, new: &Value, managers: &mut Managers, versions: Versions<'_>) -> FieldSet {
    follow_schemas(managers, versions);
    take(losses(live, new, managers, versions, None), managers);
    let comparison = versions.compare(live, new, versions.api_version);
    comparison.map(|comparison| comparison.changed()).unwrap_or_default()
}

/// Lays a configuration over the live object and makes its fields the applier's.
pub(super) fn apply(
    live: &Value,
    configuration: &Value,
    managers: &mut Managers,
    versions: Versions<'_>,
    applier: &ManagerId,
    force: bool,
) -> Result<Value, Conflicts> {
    follow_schemas(managers, versions);
    let shape = versions.current();
    let merged = merge(live, configuration, shape);
    let reset = FieldSet::of_fields(versions.target.reset);
    let fields = typed::fields_of(configuration, shape).recursive_difference(&reset);
    let owned = Owned { fields, api_version: versions.api_version.into(), time: None };
    let before = managers.insert(applier.clone(), owned);
    if let Some(owned) = managers.get_mut(applier) {
        owned.time = before.as_ref().and_then(|before| before.time.clone());
    }
    let new = match &before {
        Some(before) if !before.fields.is_empty() => prune(merged, managers, before, versions),
        _ => merged,
    };
    let losses = losses(live, &new, managers, versions, Some(applier));
    if !force && losses.iter().any(|loss| !loss.changed.is_empty()) {
        return Err(conflicts(losses));
    }
    take(losses, managers);
    Ok(new)
}

/// Removes what the applier applied before, applies no longer, and nobody else owns.
fn prune(merged: Value, managers: &Managers, before: &Owned, versions: Versions<'_>) -> Value {
    let Some(shape) = versions.get(&before.api_version) else { return merged };
    let named = |set: &FieldSet, shape: Shape<'_>| typed::with_named_parents(set, Some(shape));
    let had = named(&before.fields, shape);
    let mut pruned = typed::remove(&merged, &had, shape);

    // Back comes what others own, or the applier still applies; first in the version that was pruned.
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for manager in managers.values() {
        owned.entry(&manager.api_version).or_default().extend(&manager.fields);
    }
    let first = owned.remove_entry(&*before.api_version);
    for (api_version, fields) in first.into_iter().chain(owned) {
        let Some(shape) = versions.get(api_version) else { continue };
        let mut keep = named(&typed::fields_of(&pruned, shape), shape);
        keep.extend(&named(&fields, shape));
        let drop = named(&typed::fields_of(&merged, shape), shape).difference(&keep);
        pruned = typed::remove(&merged, &drop, shape);
    }

    // And what stood below those fields without being the applier's.
    let all = named(&typed::fields_of(&merged, shape), shape);
    let kept = named(&typed::fields_of(&pruned, shape), shape);
    typed::remove(&merged, &all.difference(&kept).intersection(&had), shape)
}

fn conflicts(losses: Vec<Loss>) -> Conflicts {
    let paths = |loss: Loss| {
        let id = loss.id;
        loss.changed.paths().into_iter().map(move |path| (id.clone(), path))
    };
    losses.into_iter().flat_map(paths).collect()
}

/// What a write takes from one manager.
struct Loss {
    id: ManagerId,
    /// What it owns and now has another value.
    changed: FieldSet,
    kept: FieldSet,
}

/// What the difference between two objects takes from all managers but one.
fn losses(
    live: &Value,
    new: &Value,
    managers: &Managers,
    versions: Versions<'_>,
    except: Option<&ManagerId>,
) -> Vec<Loss> {
    let mut comparisons: BTreeMap<&str, Option<Comparison>> = BTreeMap::new();
    let mut out = Vec::new();
    for (id, owned) in managers.iter().filter(|(id, _)| Some(*id) != except) {
        let comparison = comparisons
            .entry(&owned.api_version)
            .or_insert_with_key(|api_version| versions.compare(live, new, api_version));
        let Some(comparison) = comparison else { continue };
        let changed = owned.fields.intersection(&comparison.changed());
        let kept = owned.fields.difference(&comparison.removed).difference(&changed);
        out.push(Loss { id: id.clone(), changed, kept });
    }
    out
}

/// Takes it. Managers left with nothing go.
fn take(losses: Vec<Loss>, managers: &mut Managers) {
    for loss in losses {
        if let Some(owned) = managers.get_mut(&loss.id) {
            owned.fields = loss.kept;
        }
    }
    managers.retain(|_, owned| !owned.fields.is_empty());
}

/// Forgets entries of versions that are no longer served, and follows changes of the schema in the others.
fn follow_schemas(managers: &mut Managers, versions: Versions<'_>) {
    managers.retain(|_, owned| {
        let Some(shape) = versions.get(&owned.api_version) else { return false };
        owned.fields = typed::follow_schema(&owned.fields, shape);
        true
    });
}
