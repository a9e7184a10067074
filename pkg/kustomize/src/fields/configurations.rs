//! `configurations` and `crds`: custom field tables.

mod definitions;

use std::sync::Arc;

use manifest::Value;
use manifest::yaml::{self, YamlError, YamlLimits};

use crate::accumulator::Accumulator;
use crate::kustomization::decode::{decode, mappings};
use crate::kustomization::entries::FieldSpecEntry;
use crate::report::StepError;
use crate::scope::Scope;

use super::{FieldError, FieldSpec, FieldTables, KindPattern};

/// Adds the built-in tables and the tables of the files under `configurations`.
/// Source: kustomize v5.8.1 api/internal/plugins/builtinconfig. The merge order decides which specs cover others: the
/// files with each other, then the built-in tables, then the tables of nested folders.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut own = FieldTables::built_in();
    let files = &scope.kustomization.configurations;
    if !files.is_empty() {
        let configured = read_files("configurations", files, yaml::read_value_strict, parse_tables, scope);
        scope.report_all("configurations", Arc::make_mut(&mut own).merge(&configured));
    }
    scope.report_all("configurations", objects.add_tables(&own));
}

/// Adds the references and labels that the definitions under `crds` declare.
pub(crate) fn run_crds(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let files = &scope.kustomization.crds;
    if files.is_empty() {
        return;
    }
    let tables = read_files("crds", files, yaml::read_value, definitions::tables, scope);
    scope.report_all("crds", objects.add_tables(&Arc::new(tables)));
}

type Read = fn(&str, &YamlLimits) -> Result<Value, YamlError>;
type Tables = fn(&Value) -> (FieldTables, Vec<StepError>);

/// Reads tables from files and merges them in order.
fn read_files(
    list: &str,
    files: &[String],
    read: Read,
    tables: Tables,
    scope: &mut Scope<'_, '_>,
) -> FieldTables {
    let mut all = FieldTables::default();
    for (index, entry) in files.iter().enumerate() {
        let field = format!("{list}[{index}]");
        let Some((_, value)) = scope.load_yaml_with(&field, entry, read) else { continue };
        let (tables, problems) = tables(&value);
        scope.report_all(&field, problems);
        scope.report_all(&field, all.merge(&tables));
    }
    all
}

/// Reads the tables of a file. Its keys match the fields of a kustomization if both name the same thing.
fn parse_tables(value: &Value) -> (FieldTables, Vec<StepError>) {
    let mut faults = Vec::new();
    let file: Configuration = decode(value, "", &mut faults);
    let (tables, problems) = file.tables();
    let faults = faults.into_iter().map(Into::into);
    (tables, faults.chain(problems.into_iter().map(Into::into)).collect())
}

mappings! {
    /// A file under `configurations`.
    Configuration {
        name_prefix: Vec<FieldSpecEntry> = "namePrefix",
        name_suffix: Vec<FieldSpecEntry> = "nameSuffix",
        namespace: Vec<FieldSpecEntry> = "namespace",
        common_labels: Vec<FieldSpecEntry> = "commonLabels",
        labels: Vec<FieldSpecEntry> = "labels",
        template_labels: Vec<FieldSpecEntry> = "templateLabels",
        common_annotations: Vec<FieldSpecEntry> = "commonAnnotations",
        images: Vec<FieldSpecEntry> = "images",
        replicas: Vec<FieldSpecEntry> = "replicas",
        var_references: Vec<FieldSpecEntry> = "varReference",
        name_references: Vec<ReferenceEntry> = "nameReference",
    }
    /// The fields that refer to objects of one kind.
    ReferenceEntry {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        fields: Vec<FieldSpecEntry> = "fieldSpecs",
    }
}

impl Configuration {
    fn tables(self) -> (FieldTables, Vec<FieldError>) {
        let table = |entries: Vec<FieldSpecEntry>| entries.into_iter().map(FieldSpec::from).collect();
        let mut tables = FieldTables {
            name_prefix: table(self.name_prefix),
            name_suffix: table(self.name_suffix),
            namespace: table(self.namespace),
            common_labels: table(self.common_labels),
            labels: table(self.labels),
            template_labels: table(self.template_labels),
            common_annotations: table(self.common_annotations),
            images: table(self.images),
            replicas: table(self.replicas),
            var_references: table(self.var_references),
            name_references: Vec::new(),
        };
        let mut problems = Vec::new();
        for ReferenceEntry { group, version, kind, fields } in self.name_references {
            let referent = KindPattern { group: group.into(), version: version.into(), kind: kind.into() };
            problems.extend(tables.add_references(&referent, fields.into_iter().map(FieldSpec::from)));
        }
        (tables.sorted(), problems)
    }
}

#[cfg(test)]
mod tests;
