//! `patches` and their two older forms: strategic merge and JSON patches.
//!
//! ```text
//! entry ─► Body: mappings (strategic merge), operations (JSON 6902), or nothing
//!            └─► objects: those of the target, else the one with the id of the mapping
//! ```

mod body;
mod conflicts;
mod error;
mod operations;
mod strategic;

use manifest::Object;

use crate::accumulator::{Accumulator, ConflictError, ResourcePosition};
use crate::kustomization::entries::{Patch, PatchOptions, Selector};
use crate::merge;
use crate::report::StepError;
use crate::resource::Resource;
use crate::scope::Scope;
use crate::selector::Matcher;
use crate::{BuildProblem, ResId};

pub(crate) use error::PatchError;

use body::PatchBody;
pub(crate) use conflicts::WrittenFields;
use operations::Operations;
use strategic::LabelTreatment;

/// Applies the entries of `patchesStrategicMerge`.
pub(crate) fn run_strategic_merge(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut writes = WrittenFields::new(scope);
    let entries = &scope.kustomization.patches_strategic_merge;
    let mut found = EntryContent::Empty;
    for (index, entry) in entries.iter().enumerate() {
        let place = format!("patchesStrategicMerge[{index}]");
        found = found.max(apply_strategic(scope, &place, entry, objects, &mut writes));
        let file = || if body::is_inline(entry) { None } else { scope.named_file(entry) };
        scope.record_provenance_from(&place, file, objects);
    }
    if found == EntryContent::Empty && !entries.is_empty() {
        scope.report("patchesStrategicMerge", PatchError::Empty);
    }
}

/// Applies the entries of `patches`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut writes = WrittenFields::new(scope);
    for (index, patch) in scope.kustomization.patches.iter().enumerate() {
        let place = format!("patches[{index}]");
        apply(scope, &place, patch, objects, &mut writes);
        scope.record_provenance_from(&place, || scope.named_file(&patch.path), objects);
    }
}

/// Applies the entries of `patchesJson6902`.
pub(crate) fn run_json6902(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut writes = WrittenFields::new(scope);
    for (index, patch) in scope.kustomization.patches_json6902.iter().enumerate() {
        let place = format!("patchesJson6902[{index}]");
        apply_json6902(scope, &place, patch, objects, &mut writes);
        scope.record_provenance_from(&place, || scope.named_file(&patch.path), objects);
    }
}

/// Applies one entry of `patches` in either form; `place` names the entry in reports.
pub(crate) fn apply(
    scope: &mut Scope<'_, '_>,
    place: &str,
    patch: &Patch,
    objects: &mut Accumulator,
    writes: &mut WrittenFields,
) {
    if let Some(body) = body::load(scope, place, patch) {
        apply_body(scope, place, patch, &body, objects, writes);
    }
}

/// Applies one entry of `patchesJson6902`. Reports an empty patch.
pub(crate) fn apply_json6902(
    scope: &mut Scope<'_, '_>,
    place: &str,
    patch: &Patch,
    objects: &mut Accumulator,
    writes: &mut WrittenFields,
) {
    match body::load(scope, place, patch) {
        Some(body) if body.is_empty() => scope.report(place, PatchError::Empty),
        Some(body) => apply_body(scope, place, patch, &body, objects, writes),
        None => {}
    }
}

fn apply_body(
    scope: &mut Scope<'_, '_>,
    place: &str,
    patch: &Patch,
    body: &PatchBody,
    objects: &mut Accumulator,
    writes: &mut WrittenFields,
) {
    let mut entry = EntryApplication { scope, place, options: patch.options, objects, writes };
    match (body, &patch.target) {
        (PatchBody::Empty, _) => {}
        (PatchBody::Operations(_), None) if body.is_empty() => {}
        (PatchBody::Operations(_), None) => entry.report(PatchError::NoTarget),
        (PatchBody::Operations(operations), Some(target)) => entry.apply_operations(operations, target),
        (PatchBody::Mappings(mappings), None) => {
            for mapping in mappings {
                entry.merge_by_id(mapping, LabelTreatment::AsWritten);
            }
        }
        (PatchBody::Mappings(mappings), Some(target)) => match mappings.as_slice() {
            [mapping] => entry.merge_into_targets(mapping, target),
            several => entry.report(PatchError::SeveralWithTarget { count: several.len() }),
        },
    }
}

/// The content of an entry of `patchesStrategicMerge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryContent {
    /// No patch.
    Empty,
    /// A patch, or an invalid patch that was reported.
    Patch,
}

/// Applies one entry of `patchesStrategicMerge`: an inline patch, or the path of its file.
pub(crate) fn apply_strategic(
    scope: &mut Scope<'_, '_>,
    place: &str,
    entry: &str,
    objects: &mut Accumulator,
    writes: &mut WrittenFields,
) -> EntryContent {
    if entry.trim().is_empty() {
        return EntryContent::Empty;
    }
    let patch = if body::is_inline(entry) {
        Patch { text: entry.to_owned(), ..Patch::default() }
    } else {
        Patch { path: entry.to_owned(), ..Patch::default() }
    };
    let Some(body) = body::load(scope, place, &patch) else { return EntryContent::Patch };
    if body.is_empty() {
        return EntryContent::Empty;
    }
    let mut entry = EntryApplication { scope, place, options: patch.options, objects, writes };
    match body {
        PatchBody::Empty => {}
        PatchBody::Operations(_) => entry.report(PatchError::NoTarget),
        PatchBody::Mappings(mappings) => {
            for mapping in &mappings {
                entry.merge_by_id(mapping, LabelTreatment::AsStrings);
            }
        }
    }
    EntryContent::Patch
}

/// The application of one entry.
struct EntryApplication<'e, 's, 'a> {
    scope: &'e mut Scope<'s, 'a>,
    place: &'e str,
    options: PatchOptions,
    objects: &'e mut Accumulator,
    writes: &'e mut WrittenFields,
}

impl EntryApplication<'_, '_, '_> {
    fn report(&mut self, problem: impl Into<StepError>) {
        self.scope.report(self.place, problem);
    }

    /// Merges into the only object that has or had the id of the patch.
    fn merge_by_id(&mut self, mapping: &Object, labels: LabelTreatment) {
        let id = ResId::of(mapping);
        let found: Vec<ResourcePosition> = self.objects.find_by_any_id(&id).collect();
        match found.as_slice() {
            [position] => self.merge(mapping, labels, &[*position]),
            // The object may be among those that failed to load.
            [] if self.objects.is_partial => {}
            [] => {
                let names = self.objects.iter().map(|(_, resource)| resource.id());
                let names = names.filter(|other| other.gvk.kind == id.gvk.kind).map(|other| &*other.name);
                let near = api::similar_names(&id.name, names).into_iter().map(str::to_owned).collect();
                self.report(PatchError::NoObject { id: Box::new(id), suggestions: near });
            }
            several => self.report(PatchError::SeveralObjects { id: Box::new(id), count: several.len() }),
        }
    }

    fn merge_into_targets(&mut self, mapping: &Object, target: &Selector) {
        if let Some(targets) = self.targets(target) {
            self.merge(mapping, LabelTreatment::AsStrings, &targets);
        }
    }

    fn merge(&mut self, mapping: &Object, labels: LabelTreatment, targets: &[ResourcePosition]) {
        for field in strategic::foreign_directives(mapping) {
            self.scope.warn(self.place, PatchError::ForeignDirective { field });
        }
        if strategic::replaces_object(mapping) {
            self.scope.warn(self.place, PatchError::ReplacesObject);
        }
        let patch = strategic::prepare(mapping, labels, self.options);
        self.scope.session.schema.record_merge();
        let (schema, options) = (self.scope.session.schema.clone(), self.options);
        let written_for = schema.kind(mapping.api_version(), mapping.kind());
        for position in targets {
            self.writes.record_mapping(self.scope, self.place, self.objects, *position, &patch, &schema);
            self.edit(*position, |resource| {
                if let Some(fields) = resource.empty_fields.take() {
                    merge::drop_empty(&mut resource.object, &fields, &schema);
                }
                let merged = strategic::apply(&mut resource.object, &patch, written_for, options, &schema);
                merged.map_err(|problem| PatchError::Merge { id: Box::new(resource.id().clone()), problem })
            });
        }
    }

    fn apply_operations(&mut self, operations: &Operations, target: &Selector) {
        for position in self.targets(target).unwrap_or_default() {
            self.writes.record_operations(self.scope, self.place, self.objects, position, operations);
            self.edit(position, |resource| {
                operations.apply(&mut resource.object).map_err(|failed| PatchError::Operation {
                    id: Box::new(resource.id().clone()),
                    failed: Box::new(failed),
                })
            });
        }
    }

    /// Finds the objects of a target. Warns if there are none.
    fn targets(&mut self, target: &Selector) -> Option<Vec<ResourcePosition>> {
        let matcher = self.scope.all_ok(self.place, Matcher::read(target))?;
        let found = matcher.find_targets(self.objects);
        if found.is_empty() && !self.objects.is_partial {
            self.scope.warn(self.place, PatchError::Unmatched);
        }
        Some(found)
    }

    /// Changes an object. Reports a new id that another object already has.
    fn edit(
        &mut self,
        position: ResourcePosition,
        change: impl FnOnce(&mut Resource) -> Result<(), PatchError>,
    ) {
        let before = self.objects.get(position).map(|resource| resource.id().clone());
        if let Some(Err(problem)) = self.objects.edit(position, change) {
            self.report(problem);
        }
        let Some(resource) = self.objects.get(position).filter(|after| Some(after.id()) != before.as_ref())
        else {
            return;
        };
        let id = resource.id().clone();
        let is_other = |at: &ResourcePosition| {
            *at != position && self.objects.get(*at).is_some_and(|other| *other.id() == id)
        };
        let other = self.objects.find_by_any_id(&id).find(is_other);
        if let Some(other) = other {
            let origin = |at| self.objects.get(at).map(|each| each.origin.to_string()).unwrap_or_default();
            let (first, second) = (origin(other), origin(position));
            self.report(ConflictError::Object { id: Box::new(id), first, second });
        }
    }
}

impl BuildProblem {
    /// True for the warning that no object matches the target of a patch.
    pub fn is_unmatched_target(&self) -> bool {
        matches!(self.error.downcast_ref(), Some(PatchError::Unmatched))
    }
}

#[cfg(test)]
mod tests;
