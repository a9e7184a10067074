//! Ownership changes by writes: conflicts with other managers, and the annotation with kubectl's last configuration.
//!
//! Source: structured-merge-diff v6 `merge.Updater` as kube-apiserver 1.36 uses it, and its `lastAppliedManager` and
//! `lastAppliedUpdater`.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::Value;

use super::{
    OtherVersion, TrackedKind,
    compare::{Comparison, compare},
    managed::{self, ManagerId, Managers, Operation, OwnedFields},
    merge::merge,
    path_element::PathElement,
    set::FieldSet,
    shape::Shape,
    typed,
};
use crate::{
    go, meta,
    status::{Cause, Details, Status},
};

/// Fields that an apply would change but other managers own, by manager.
pub(super) type Conflicts = Vec<(ManagerId, Vec<PathElement>)>;

/// The shapes of a resource, by API version.
#[derive(Clone, Copy)]
pub(super) struct VersionedShapes<'a> {
    target: TrackedKind<'a>,
    api_version: &'a str,
}

impl<'a> VersionedShapes<'a> {
    /// `api_version` is the version of the request.
    pub(super) fn new(target: TrackedKind<'a>, api_version: &'a str) -> Self {
        Self { target, api_version }
    }

    /// Returns the shape in the request's version.
    pub(super) fn current(self) -> Shape<'a> {
        Shape::of_object(self.target.schema)
    }

    /// Returns the shape in a version. `None` if the version is not served.
    fn get(self, api_version: &str) -> Option<Shape<'a>> {
        if api_version == self.api_version {
            return Some(self.current());
        }
        Some(Shape::of_object(self.other(api_version)?.schema))
    }

    fn other(self, api_version: &str) -> Option<&'a OtherVersion<'a>> {
        self.target.other_versions.iter().find(|version| version.api_version == api_version)
    }

    /// Compares two objects in a version. Ignores fields that cannot be written through this endpoint.
    fn compare(self, live: &Value, new: &Value, api_version: &str) -> Option<Comparison> {
        let reset = if api_version == self.api_version {
            self.target.reset_fields
        } else {
            self.other(api_version)?.reset_fields
        };
        Some(compare(live, new, self.get(api_version)?).without(&FieldSet::of_fields(reset)))
    }
}

/// Removes changed fields from all managers. Returns the fields that the write set.
pub(super) fn update(
    live: &Value,
    new: &Value,
    managers: &mut Managers,
    versions: VersionedShapes<'_>,
) -> FieldSet {
    reconcile_schemas(managers, versions);
    apply_losses(losses(live, new, managers, versions, None), managers);
    let comparison = versions.compare(live, new, versions.api_version);
    comparison.map(|comparison| comparison.changed()).unwrap_or_default()
}

/// Merges a configuration into the live object and assigns its fields to the applier.
pub(super) fn apply(
    live: &Value,
    configuration: &Value,
    managers: &mut Managers,
    versions: VersionedShapes<'_>,
    applier: &ManagerId,
    force: bool,
) -> Result<Value, Conflicts> {
    reconcile_schemas(managers, versions);
    let shape = versions.current();
    let merged = merge(live, configuration, shape);
    let reset = FieldSet::of_fields(versions.target.reset_fields);
    let fields = typed::fields_of(configuration, shape).recursive_difference(&reset);
    let owned = OwnedFields { fields, api_version: versions.api_version.into(), time: None };
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
    apply_losses(losses, managers);
    Ok(new)
}

/// Removes fields of the previous configuration that the new one omits and no other manager owns.
fn prune(merged: Value, managers: &Managers, before: &OwnedFields, versions: VersionedShapes<'_>) -> Value {
    let Some(shape) = versions.get(&before.api_version) else { return merged };
    let named = |set: &FieldSet, shape: Shape<'_>| typed::with_named_parents(set, Some(shape));
    let had = named(&before.fields, shape);
    let mut pruned = typed::remove(&merged, &had, shape);

    // Restores fields that other managers own or the applier still applies, first in the pruned version.
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

    // Restores descendants of removed fields that never belonged to the applier.
    let all = named(&typed::fields_of(&merged, shape), shape);
    let kept = named(&typed::fields_of(&pruned, shape), shape);
    typed::remove(&merged, &all.difference(&kept).intersection(&had), shape)
}

fn conflicts(losses: Vec<LostFields>) -> Conflicts {
    let paths = |loss: LostFields| {
        let id = loss.id;
        loss.changed.paths().into_iter().map(move |path| (id.clone(), path))
    };
    losses.into_iter().flat_map(paths).collect()
}

/// The loss of one manager through a write.
struct LostFields {
    id: ManagerId,
    /// Owned fields with another value now.
    changed: FieldSet,
    kept: FieldSet,
}

/// Returns the losses of all managers but one through a change.
fn losses(
    live: &Value,
    new: &Value,
    managers: &Managers,
    versions: VersionedShapes<'_>,
    except: Option<&ManagerId>,
) -> Vec<LostFields> {
    let mut comparisons: BTreeMap<&str, Option<Comparison>> = BTreeMap::new();
    let mut out = Vec::new();
    for (id, owned) in managers.iter().filter(|(id, _)| Some(*id) != except) {
        let comparison = comparisons
            .entry(&owned.api_version)
            .or_insert_with_key(|api_version| versions.compare(live, new, api_version));
        let Some(comparison) = comparison else { continue };
        let changed = owned.fields.intersection(&comparison.changed());
        let kept = owned.fields.difference(&comparison.removed).difference(&changed);
        out.push(LostFields { id: id.clone(), changed, kept });
    }
    out
}

/// Applies the losses. Removes managers without fields.
fn apply_losses(losses: Vec<LostFields>, managers: &mut Managers) {
    for loss in losses {
        if let Some(owned) = managers.get_mut(&loss.id) {
            owned.fields = loss.kept;
        }
    }
    managers.retain(|_, owned| !owned.fields.is_empty());
}

/// Drops entries of versions that are no longer served, and adapts the others to schema changes.
fn reconcile_schemas(managers: &mut Managers, versions: VersionedShapes<'_>) {
    managers.retain(|_, owned| {
        let Some(shape) = versions.get(&owned.api_version) else { return false };
        owned.fields = typed::reconcile_schema(&owned.fields, shape);
        true
    });
}

/// Returns status 409 with a cause for each field and a message that lists the fields by owner.
pub(super) fn conflict_status(conflicts: &Conflicts) -> Status {
    let causes = conflicts
        .iter()
        .map(|(id, path)| Cause {
            reason: "FieldManagerConflict".into(),
            message: format!("conflict with {}", format_manager(id)),
            field: format_path(path),
        })
        .collect();
    Status::new(409, "Conflict", conflict_message(conflicts))
        .with_details(Details { causes, ..Details::default() })
}

fn conflict_message(conflicts: &Conflicts) -> String {
    if let [(id, path)] = conflicts.as_slice() {
        let (manager, path) = (format_manager(id), format_path(path));
        return format!("Apply failed with 1 conflict: conflict with {manager}: {path}");
    }
    let mut by_manager: BTreeMap<&ManagerId, Vec<&Vec<PathElement>>> = BTreeMap::new();
    for (id, path) in conflicts {
        by_manager.entry(id).or_default().push(path);
    }
    let mut lines = Vec::new();
    for (id, paths) in by_manager {
        lines.push(format!("conflicts with {}:", format_manager(id)));
        lines.extend(paths.into_iter().map(|path| format!("- {}", format_path(path))));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

fn format_manager(id: &ManagerId) -> String {
    let mut out = go::quoted(&id.name);
    if !id.subresource.is_empty() {
        out += " with subresource ";
        out += &go::quoted(&id.subresource);
    }
    if id.operation == Operation::Update {
        out += " using ";
        out += &id.api_version;
    }
    out
}

fn format_path(path: &[PathElement]) -> String {
    path.iter().fold(String::new(), |mut out, element| {
        write!(out, "{element}").expect("a String takes everything");
        out
    })
}

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The maximum total size of the annotations of an object.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

fn annotation(object: &Value) -> Option<&str> {
    let text = meta::annotation(object, ANNOTATION)?;
    (!text.is_empty()).then_some(text)
}

/// Returns the fields of a client-side apply that did not change since. `kubectl` may take them over without a
/// conflict.
pub(super) fn last_applied_fields(
    live: &Value,
    versions: VersionedShapes<'_>,
    api_version: &str,
) -> Option<FieldSet> {
    let applied: Value = serde_json::from_str(annotation(live)?).ok()?;
    if applied.get("apiVersion")?.as_str()? != api_version {
        return None;
    }
    let shape = versions.current();
    typed::check(live, shape, false).ok()?;
    typed::check(&applied, shape, false).ok()?;
    let difference = compare(&applied, live, shape);
    Some(
        typed::fields_of(&applied, shape)
            .difference(&difference.modified)
            .difference(&difference.added)
            .difference(&difference.removed),
    )
}

/// Updates an existing annotation after an apply. Removes the annotation if it gets too long.
pub(super) fn update_last_applied(object: &mut Value, configuration: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut applied = configuration.clone();
    managed::clear(&mut applied);
    if let Some(annotations) = annotations_mut(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let text = manifest::go_json(&applied) + "\n";
    let Some(annotations) = annotations_mut(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let bytes: usize =
        annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > MAX_ANNOTATIONS_BYTES {
        annotations.remove(ANNOTATION);
    }
}

fn annotations_mut(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}
