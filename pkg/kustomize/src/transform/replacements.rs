//! `replacements`: copies values from one field into others.

mod error;
mod path;
mod value;

use manifest::Value;

use crate::ResId;
use crate::accumulator::{Accumulator, ResourcePosition};
use crate::kustomization::decode::decode;
use crate::kustomization::entries::Selector;
use crate::kustomization::replacements::{Replacement, ReplacementEntry, Source, Target};
use crate::scope::Scope;
use crate::selector::Matcher;

use error::ReplacementError;
pub(crate) use path::ValuePath;

/// The default field of a source and a target.
const DEFAULT_PATH: &str = "metadata.name";

/// Applies the entries of `replacements`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    run_entries(scope, "replacements", &scope.kustomization.replacements, objects);
}

/// Applies the given entries in order; `list` names them in reports.
pub(crate) fn run_entries(
    scope: &mut Scope<'_, '_>,
    list: &str,
    entries: &[ReplacementEntry],
    objects: &mut Accumulator,
) {
    for (index, entry) in entries.iter().enumerate() {
        let place = format!("{list}[{index}]");
        let is_written = entry.replacement.source.is_some() || !entry.replacement.targets.is_empty();
        match (entry.path.as_str(), is_written) {
            ("", _) => replace(scope, &place, &entry.replacement, objects),
            (_, true) => scope.report(&place, ReplacementError::PathAndReplacement),
            (path, false) => {
                for replacement in load(scope, &format!("{place}.path"), path) {
                    replace(scope, &place, &replacement, objects);
                }
            }
        }
        scope.record_provenance_from(&place, || scope.named_file(&entry.path), objects);
    }
}

/// Reads a file with one replacement or a list of them. Reports its faults.
fn load(scope: &mut Scope<'_, '_>, place: &str, path: &str) -> Vec<Replacement> {
    let Some((_, value)) = scope.load_yaml(place, path) else { return Vec::new() };
    let mut faults = Vec::new();
    let replacements = match &value {
        Value::Object(_) => vec![decode(&value, path, &mut faults)],
        list => decode(list, path, &mut faults),
    };
    let is_sound = faults.is_empty();
    scope.report_all(place, faults);
    if is_sound { replacements } else { Vec::new() }
}

/// Applies one replacement.
/// Source: kustomize v5.8.1 api/filters/replacement.
fn replace(scope: &mut Scope<'_, '_>, place: &str, replacement: &Replacement, objects: &mut Accumulator) {
    if replacement.targets.is_empty() {
        scope.report(place, ReplacementError::NoTargets);
    }
    let value = match (&replacement.source, &replacement.source_value) {
        (None, None) => Err(ReplacementError::NoSource),
        (Some(_), Some(_)) => Err(ReplacementError::TwoSources),
        (None, Some(value)) => Ok(Value::String(value.clone())),
        (Some(source), None) => read_source(source, objects),
    };
    let value = match value {
        Ok(value) => value,
        // The source may be among the objects that failed to load.
        Err(ReplacementError::NotFound { .. }) if objects.is_partial => return,
        Err(problem) => return scope.report(&format!("{place}.source"), problem),
    };
    for (index, target) in replacement.targets.iter().enumerate() {
        write_target(scope, &format!("{place}.targets[{index}]"), target, &value, objects);
    }
}

/// Returns the value of a source.
fn read_source(source: &Source, objects: &mut Accumulator) -> Result<Value, ReplacementError> {
    let position = find_source(&source.object, objects)?;
    let Some(resource) = objects.get(position) else { return Err(ReplacementError::NoSource) };
    let path = if source.field_path.is_empty() { DEFAULT_PATH } else { &source.field_path };
    let missing = |fault| ReplacementError::Source {
        path: path.to_owned(),
        id: Box::new(resource.id().clone()),
        fault: Box::new(fault),
    };
    let found = ValuePath::parse(path)
        .map_err(|problem| ReplacementError::Path { path: path.to_owned(), problem })?
        .lookup(resource.object.as_map())
        .map_err(missing)?;
    value::part_of(found, &source.options).map_err(missing)
}

/// Finds the only object with a current or former id that matches every part of a selector. An empty namespace counts
/// as `default`, even for cluster-scoped kinds.
/// Source: kustomize v5.8.1 api/filters/replacement, as observed.
fn find_source(selector: &Selector, objects: &mut Accumulator) -> Result<ResourcePosition, ReplacementError> {
    let fits = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
    let is_meant = |id: &ResId| {
        let namespace = Some(id.written_namespace()).filter(|written| !written.is_empty());
        fits(&selector.name, &id.name)
            && fits(&selector.kind, &id.gvk.kind)
            && fits(&selector.group, &id.gvk.group)
            && fits(&selector.version, &id.gvk.version)
            && fits(&selector.namespace, namespace.unwrap_or("default"))
    };
    let candidates = if selector.name.is_empty() {
        objects.iter().map(|(position, _)| position).collect()
    } else {
        objects.find_by_any_name(&selector.name)
    };
    let is_source =
        |at: &ResourcePosition| objects.get(*at).is_some_and(|resource| resource.ids().any(is_meant));
    let found: Vec<ResourcePosition> = candidates.into_iter().filter(is_source).collect();
    match found.as_slice() {
        [position] => Ok(*position),
        [] => {
            let ids = objects.iter().map(|(_, resource)| resource.id());
            let names = ids.filter(|id| fits(&selector.kind, &id.gvk.kind)).map(|id| &*id.name);
            let near = api::similar_names(&selector.name, names).into_iter().map(str::to_owned).collect();
            Err(ReplacementError::NotFound { selector: error::describe(selector), suggestions: near })
        }
        several => {
            Err(ReplacementError::Several { selector: error::describe(selector), count: several.len() })
        }
    }
}

/// Writes a value into the fields of a target.
fn write_target(
    scope: &mut Scope<'_, '_>,
    place: &str,
    target: &Target,
    value: &Value,
    objects: &mut Accumulator,
) {
    let Some(select) = &target.select else {
        return scope.report(place, ReplacementError::NoSelect);
    };
    let mut read = |selector| scope.all_ok(place, Matcher::read(selector));
    let selected = read(select);
    let rejected: Vec<Option<Matcher>> = target.reject.iter().map(read).collect();
    let (Some(selected), Some(rejected)) = (selected, rejected.into_iter().collect::<Option<Vec<_>>>())
    else {
        return;
    };
    let Some(paths) = parse_paths(scope, place, &target.field_paths) else { return };
    for position in selected.find_known(objects) {
        let is_rejected = |resource: &crate::resource::Resource| {
            rejected.iter().any(|reject| {
                (reject.restricts_id() && reject.matches_any_id(resource))
                    || (reject.restricts_metadata() && reject.matches_metadata(&resource.object))
            })
        };
        if objects.get(position).is_none_or(is_rejected) {
            continue;
        }
        for (text, path) in &paths {
            let written = objects.edit(position, |resource| {
                let id = resource.id().clone();
                let create = target.options.create.then_some(value);
                let write = &mut |found: path::TargetValue<'_>| value::write(found, value, &target.options);
                path.edit(resource.object.as_map_mut(), create, write).map_err(|fault| {
                    ReplacementError::Target { path: text.clone(), id: Box::new(id), fault: Box::new(fault) }
                })
            });
            if let Some(Err(problem)) = written {
                scope.report(place, problem);
            }
        }
    }
}

fn parse_paths(scope: &mut Scope<'_, '_>, place: &str, texts: &[String]) -> Option<Vec<(String, ValuePath)>> {
    let default = [DEFAULT_PATH.to_owned()];
    let texts = if texts.is_empty() { &default } else { texts };
    let mut paths = Vec::with_capacity(texts.len());
    for text in texts {
        match ValuePath::parse(text) {
            Ok(path) => paths.push((text.clone(), path)),
            Err(problem) => {
                scope.report(place, ReplacementError::Path { path: text.clone(), problem });
            }
        }
    }
    (paths.len() == texts.len()).then_some(paths)
}

#[cfg(test)]
mod tests;
