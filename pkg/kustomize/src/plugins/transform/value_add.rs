//! `ValueAddTransformer`: writes one value into fields of many objects, such as the name of a project.
//!
//! Source: kustomize v5.8.1 ValueAddTransformer, api/filters/valueadd; differs: a list on the path is entered,
//! kustomize reports an error.

use manifest::Value;

use crate::accumulator::{Accumulator, ResourcePosition};
use crate::fields::FieldPath;
use crate::kustomization::decode::decode;
use crate::scope::Scope;
use crate::selector::Matcher;

use super::super::config::PluginConfig;
use super::super::settings::{ValueAdd, ValueTarget, ValueTargets};

const NAMESPACE: &str = "metadata/namespace";

/// Writes the value into the fields of all targets.
pub(super) fn run(scope: &mut Scope<'_, '_>, config: &PluginConfig, objects: &mut Accumulator) {
    let Some(ValueAdd { value, mut targets, file }) = config.read(scope) else { return };
    if !file.is_empty() {
        targets.extend(load(scope, config, &file));
    }
    if targets.is_empty() {
        scope.report(&config.field, config.missing_field("targets"));
    }
    // The default value is the name of the folder.
    let value = match value.trim() {
        "" => scope.root.folder.name().to_owned(),
        value => value.to_owned(),
    };
    for target in &targets {
        if target.path.is_empty() {
            scope.report(&config.field, config.missing_field("fieldPath"));
            continue;
        }
        for position in find_targets(scope, config, target, objects) {
            add(&value, target, position, objects);
        }
    }
}

fn load(scope: &mut Scope<'_, '_>, config: &PluginConfig, file: &str) -> Vec<ValueTarget> {
    let Some((_, value)) = scope.load_yaml(&config.field, file) else { return Vec::new() };
    let mut faults = Vec::new();
    let targets: ValueTargets = decode(&value, "", &mut faults);
    scope.report_all(&config.field, faults);
    targets.targets
}

fn find_targets(
    scope: &mut Scope<'_, '_>,
    config: &PluginConfig,
    target: &ValueTarget,
    objects: &mut Accumulator,
) -> Vec<ResourcePosition> {
    let Some(selector) = &target.selector else {
        return objects.iter().map(|(position, _)| position).collect();
    };
    let matcher = scope.all_ok(&config.field, Matcher::read(selector));
    matcher.map(|matcher| matcher.find_targets(objects)).unwrap_or_default()
}

fn add(value: &str, target: &ValueTarget, position: ResourcePosition, objects: &mut Accumulator) {
    objects.edit(position, |resource| {
        if target.path == NAMESPACE {
            if !resource.id().gvk.is_cluster_scoped() {
                resource.object.set_namespace(value);
            }
            return;
        }
        let put = &mut |field: &mut Value| {
            let present = field.as_str().unwrap_or_default();
            *field = match usize::try_from(target.position) {
                Ok(position @ 1..) => insert_name(present, position - 1, value).into(),
                _ => value.into(),
            };
        };
        FieldPath::parse(&target.path).edit(resource.object.as_map_mut(), true, put);
    });
}

/// Inserts a name into a path, at the end if the path is shorter.
fn insert_name(path: &str, at: usize, name: &str) -> String {
    let mut names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    names.insert(at.min(names.len()), name);
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_inserted_into_a_path() {
        let cases = [
            ("", 0, "N"),
            ("/", 3, "/N"),
            ("a", 0, "N/a"),
            ("/a", 0, "/N/a"),
            ("/a", 9, "/a/N"),
            ("a/b/c", 2, "a/b/N/c"),
        ];
        for (path, at, expected) in cases {
            assert_eq!(insert_name(path, at, "N"), expected, "{path} {at}");
        }
    }
}
