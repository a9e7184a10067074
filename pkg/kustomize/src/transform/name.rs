//! `namePrefix` and `nameSuffix`.

use std::sync::Arc;

use manifest::Value;

use crate::Gvk;
use crate::accumulator::Accumulator;
use crate::fields::FieldTable;
use crate::scope::Scope;

/// The end of a name to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affix {
    Prefix,
    Suffix,
}

/// Prepends `namePrefix` to names.
pub(crate) fn run_prefix(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    extend(Affix::Prefix, &scope.kustomization.name_prefix, &tables.name_prefix, objects);
}

/// Appends `nameSuffix` to names.
pub(crate) fn run_suffix(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    extend(Affix::Suffix, &scope.kustomization.name_suffix, &tables.name_suffix, objects);
}

/// Extends one end of the fields of a table. Records the text if the name of the object is among the fields.
pub(crate) fn extend(end: Affix, text: &str, fields: &FieldTable, objects: &mut Accumulator) {
    if text.is_empty() {
        return;
    }
    let shared: Arc<str> = text.into();
    objects.edit_all(|resource| {
        let original = resource.original_id().gvk.clone();
        if has_fixed_name(&original) {
            return;
        }
        for spec in fields.for_kind(&original) {
            spec.edit(&mut resource.object, |value| write(end, text, value));
            if spec.path.equals(&["metadata", "name"]) {
                let ends = match end {
                    Affix::Prefix => &mut resource.prefixes,
                    Affix::Suffix => &mut resource.suffixes,
                };
                ends.push(Arc::clone(&shared));
            }
        }
    });
}

fn write(end: Affix, text: &str, value: &mut Value) {
    let Some(name) = value.as_str() else { return };
    *value = match end {
        Affix::Prefix => format!("{text}{name}").into(),
        Affix::Suffix => format!("{name}{text}").into(),
    };
}

/// True if the name of a kind has a fixed meaning outside of the object.
/// Source: kustomize v5.8.1 PrefixTransformer, which checks the original kind of an object.
fn has_fixed_name(gvk: &Gvk) -> bool {
    match &*gvk.kind {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => &*gvk.group == "apiregistration.k8s.io",
        _ => false,
    }
}
