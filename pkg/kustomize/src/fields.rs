//! The fields that transformers write, by kind.
//!
//! A [`FieldSpec`] names one field of some kinds. A [`FieldTable`] finds the specs of an object by its kind.
//! [`FieldTables`] holds one table per transformer. A walk allocates nothing, and never writes to an object without the
//! field.

pub(crate) mod configurations;
mod defaults;
mod path;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use manifest::{Object, Value};

pub(crate) use path::FieldPath;

use crate::kustomization::entries::FieldSpecEntry;
use crate::{Gvk, ResId, kinds};

/// A pattern of kinds; an empty part matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KindPattern {
    pub(crate) group: Box<str>,
    pub(crate) version: Box<str>,
    pub(crate) kind: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    pub(crate) kind: KindPattern,
    pub(crate) path: FieldPath,
    pub(crate) create: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FieldTable {
    specs: Vec<FieldSpec>,
    /// The specs of each named kind, merged with the specs of every kind, in order.
    by_kind: HashMap<Box<str>, Vec<usize>>,
    /// The specs that apply to every kind.
    any_kind: Vec<usize>,
}

/// The fields that refer to objects of a kind by name.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceTable {
    pub(crate) referent: KindPattern,
    pub(crate) fields: FieldTable,
}

/// An invalid field spec, or an invalid field it leads to. Kinds are written as `KustomizationKind.version.group`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FieldError {
    #[error("two field specs for `{path}` of `{kind}` differ in `create`: set both to the same value")]
    Conflict { kind: String, path: String },
    #[error("a field spec of `{kind}` has no `path`")]
    NoPath { kind: String },
    #[error("`{path}` of `{id}` must be {expected}, not {found}")]
    WrongType { id: Box<ResId>, path: String, expected: &'static str, found: &'static str },
}

/// One field table per transformer.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldTables {
    pub(crate) name_prefix: FieldTable,
    pub(crate) name_suffix: FieldTable,
    pub(crate) namespace: FieldTable,
    pub(crate) common_labels: FieldTable,
    pub(crate) labels: FieldTable,
    pub(crate) template_labels: FieldTable,
    pub(crate) common_annotations: FieldTable,
    pub(crate) images: FieldTable,
    pub(crate) replicas: FieldTable,
    pub(crate) var_references: FieldTable,
    pub(crate) name_references: Vec<ReferenceTable>,
}

impl KindPattern {
    /// True if the pattern matches a group, version and kind.
    pub(crate) fn matches(&self, group: &str, version: &str, kind: &str) -> bool {
        let fits = |pattern: &str, text: &str| pattern.is_empty() || pattern == text;
        fits(&self.kind, kind) && fits(&self.group, group) && fits(&self.version, version)
    }

    fn rank(&self) -> impl Ord + use<> {
        (kinds::rank(&self.kind), kinds::sort_text(&self.group, &self.version, &self.kind))
    }

    /// True if the pattern matches a kind.
    pub(crate) fn selects(&self, gvk: &Gvk) -> bool {
        self.matches(&gvk.group, &gvk.version, &gvk.kind)
    }
}

/// Writes `KustomizationKind.version.group`, with `*` for an empty part. Omits trailing empty parts.
impl fmt::Display for KindPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts =
            [&self.kind, &self.version, &self.group].map(|part| if part.is_empty() { "*" } else { part });
        let text = parts.join(".");
        formatter.write_str(text.strip_suffix(".*.*").or(text.strip_suffix(".*")).unwrap_or(&text))
    }
}

impl FieldSpec {
    /// Calls `see` with each value of the field.
    pub(crate) fn visit(&self, object: &Object, mut see: impl FnMut(&Value)) {
        self.path.visit(object.as_map(), &mut see);
    }

    /// Calls `change` with each value of the field. If the field is missing and the spec creates it, the value is null.
    /// An object without the field stays unwritten.
    pub(crate) fn edit(&self, object: &mut Object, mut change: impl FnMut(&mut Value)) {
        if self.create || self.path.exists_in(object.as_map()) {
            self.path.edit(object.as_map_mut(), self.create, &mut change);
        }
    }
}

impl From<FieldSpecEntry> for FieldSpec {
    fn from(entry: FieldSpecEntry) -> Self {
        let FieldSpecEntry { group, version, kind, path, create } = entry;
        let of = KindPattern { group: group.into(), version: version.into(), kind: kind.into() };
        Self { kind: of, path: FieldPath::parse(&path), create }
    }
}

impl FieldTable {
    /// Finds the specs of an object, in the order of the table.
    pub(crate) fn for_object(&self, object: &Object) -> impl Iterator<Item = &FieldSpec> {
        self.for_parts(object.group(), object.version(), object.kind())
    }

    /// Finds the specs of a kind, in the order of the table.
    pub(crate) fn for_kind(&self, gvk: &Gvk) -> impl Iterator<Item = &FieldSpec> {
        self.for_parts(&gvk.group, &gvk.version, &gvk.kind)
    }

    fn for_parts(&self, group: &str, version: &str, kind: &str) -> impl Iterator<Item = &FieldSpec> {
        let candidates = self.by_kind.get(kind).unwrap_or(&self.any_kind);
        candidates
            .iter()
            .map(|index| &self.specs[*index])
            .filter(move |spec| spec.kind.matches(group, version, kind))
    }

    /// Adds a spec, unless the table has one for the same field of these kinds or of a subset of them.
    /// Source: kustomize v5.8.1 api/types (FsSlice.MergeOne).
    /// # Errors
    /// `Conflict` if the two specs differ in `create`; `NoPath` if the path is empty. Then the table stays unchanged.
    pub(crate) fn add(&mut self, spec: FieldSpec) -> Result<(), FieldError> {
        let kind = || spec.kind.to_string();
        if spec.path.is_empty() {
            return Err(FieldError::NoPath { kind: kind() });
        }
        let covered = |of: &KindPattern| spec.kind.matches(&of.group, &of.version, &of.kind);
        match self.specs.iter().find(|present| present.path == spec.path && covered(&present.kind)) {
            None => self.push(spec),
            Some(present) if present.create == spec.create => {}
            Some(_) => {
                return Err(FieldError::Conflict { kind: kind(), path: spec.path.to_string() });
            }
        }
        Ok(())
    }

    /// Adds all specs of a list. Returns their problems.
    pub(crate) fn add_all(&mut self, specs: impl IntoIterator<Item = FieldSpec>) -> Vec<FieldError> {
        specs.into_iter().filter_map(|spec| self.add(spec).err()).collect()
    }

    /// Adds all specs of another table, in its order. Returns their problems.
    pub(crate) fn merge(&mut self, other: &Self) -> Vec<FieldError> {
        self.add_all(other.specs.iter().cloned())
    }

    /// Sorts the specs by kind, as kustomize does before a merge: the specs of every kind come late.
    fn sort(&mut self) {
        let mut specs = std::mem::take(self).specs;
        specs.sort_by_cached_key(|spec| spec.kind.rank());
        for spec in specs {
            self.push(spec);
        }
    }

    fn push(&mut self, spec: FieldSpec) {
        let index = self.specs.len();
        if spec.kind.kind.is_empty() {
            self.any_kind.push(index);
            self.by_kind.values_mut().for_each(|indices| indices.push(index));
        } else {
            let of_kind = self.by_kind.entry(spec.kind.kind.clone()).or_insert_with(|| self.any_kind.clone());
            of_kind.push(index);
        }
        self.specs.push(spec);
    }
}

impl FromIterator<FieldSpec> for FieldTable {
    fn from_iter<I: IntoIterator<Item = FieldSpec>>(specs: I) -> Self {
        let mut table = Self::default();
        specs.into_iter().for_each(|spec| table.push(spec));
        table
    }
}

impl FieldTables {
    /// Returns the tables of a build without any configuration.
    pub(crate) fn built_in() -> Arc<Self> {
        static BUILT_IN: LazyLock<Arc<FieldTables>> = LazyLock::new(|| Arc::new(defaults::tables().sorted()));
        Arc::clone(&BUILT_IN)
    }

    /// Returns empty tables; every kustomization starts with them.
    pub(crate) fn empty() -> Arc<Self> {
        static NONE: LazyLock<Arc<FieldTables>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }

    /// Adds the specs of other tables. Returns the conflicts.
    ///
    /// If a spec of a single kind exists, a spec of every kind for the same field is not added. So the order of merges
    /// matters.
    pub(crate) fn merge(&mut self, other: &Self) -> Vec<FieldError> {
        let mut other = other.clone();
        let mut problems = Vec::new();
        for (into, from) in self.tables().into_iter().zip(other.tables()) {
            problems.extend(into.merge(from));
        }
        for ReferenceTable { referent, fields } in &other.name_references {
            problems.extend(self.add_references(referent, fields.specs.iter().cloned()));
        }
        self.tables().into_iter().for_each(FieldTable::sort);
        problems
    }

    /// Sorts the specs of every table into merge order.
    pub(crate) fn sorted(mut self) -> Self {
        self.tables().into_iter().for_each(FieldTable::sort);
        self
    }

    /// The tables that belong to one transformer each.
    fn tables(&mut self) -> [&mut FieldTable; 10] {
        [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.images,
            &mut self.replicas,
            &mut self.var_references,
        ]
    }

    /// Adds fields that refer to objects of a kind. Returns the conflicts.
    pub(crate) fn add_references(
        &mut self,
        referent: &KindPattern,
        fields: impl IntoIterator<Item = FieldSpec>,
    ) -> Vec<FieldError> {
        let tables = &mut self.name_references;
        let index = tables.iter().position(|table| table.referent == *referent).unwrap_or_else(|| {
            let index = tables.partition_point(|table| table.referent.rank() <= referent.rank());
            tables
                .insert(index, ReferenceTable { referent: referent.clone(), fields: FieldTable::default() });
            index
        });
        tables[index].fields.add_all(fields)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use snapbox::{assert_data_eq, str};

    use super::*;

    fn spec(kind: &str, path: &str, create: bool) -> FieldSpec {
        FieldSpecEntry { kind: kind.into(), path: path.into(), create, ..FieldSpecEntry::default() }.into()
    }

    fn pod() -> Object {
        let spec = json!({"containers": [{"name": "a"}, {"name": "b"}]});
        Object::try_from(json!({"apiVersion": "v1", "kind": "Pod", "spec": spec})).unwrap()
    }

    #[test]
    fn paths_descend_into_lists() {
        let mut pod = pod();
        spec("", "spec/containers[]/name", false).edit(&mut pod, |name| *name = json!("x"));
        assert_eq!(pod.get(&["spec", "containers"]), Some(&json!([{"name": "x"}, {"name": "x"}])));
    }

    #[test]
    fn a_field_is_created_only_if_the_spec_allows_it() {
        let mut pod = pod();
        let before = pod.clone();
        spec("", "metadata/labels", false).edit(&mut pod, |labels| *labels = json!({}));
        assert_eq!(pod, before);
        spec("", "metadata/labels", true).edit(&mut pod, |labels| *labels = json!({}));
        assert_eq!(pod.get(&["metadata", "labels"]), Some(&json!({})));
    }

    #[test]
    fn a_table_finds_the_specs_of_a_kind_in_order() {
        let specs =
            [spec("Pod", "a", false), spec("", "b", false), spec("Job", "c", false), spec("Pod", "d", false)];
        let table: FieldTable = specs.into_iter().collect();
        let paths =
            |object: &Object| table.for_object(object).map(|spec| spec.path.to_string()).collect::<Vec<_>>();
        assert_eq!(paths(&pod()), ["a", "b", "d"]);
        assert_eq!(paths(&Object::default()), ["b"]);
    }

    #[test]
    fn a_spec_is_not_added_if_one_exists_for_some_of_its_kinds() {
        let mut table: FieldTable = [spec("Pod", "a", true)].into_iter().collect();
        assert!(table.add(spec("", "a", true)).is_ok());
        assert!(table.add(spec("Job", "a", false)).is_ok());
        assert_eq!(table.specs, [spec("Pod", "a", true), spec("Job", "a", false)]);
        let reported = [spec("", "a", false), spec("Pod", "", false)]
            .map(|spec| table.add(spec).unwrap_err().to_string());
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
two field specs for `a` of `*` differ in `create`: set both to the same value
a field spec of `Pod` has no `path`
"#]]
        );
    }
}
