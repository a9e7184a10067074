//! `configurations` and `crds`: field tables of one's own.

mod definitions;

use std::sync::Arc;

use manifest::Value;
use manifest::yaml::{self, Limits, YamlError};

use crate::TreePath;
use crate::accumulator::Accumulator;
use crate::build::Scope;
use crate::kustomization::decode::{Fields, FromFields, decode};
use crate::kustomization::entries::FieldSpecEntry;
use crate::problems::ProblemKind;

use super::{FieldProblem, FieldSpec, FieldTables, KindPattern};

/// Adds the built-in tables, with those of the files under `configurations`.
/// Source: kustomize v5.8.1 api/internal/plugins/builtinconfig, where what is merged first decides which specs cover others:
/// first the files with each other, then with the built-in tables, then with those of the folders below.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut own = FieldTables::built_in();
    let files = &scope.kustomization.configurations;
    if !files.is_empty() {
        let configured = read_files("configurations", files, yaml::read_value_strict, configured, scope);
        for problem in Arc::make_mut(&mut own).merge(&configured) {
            scope.problem("configurations", problem);
        }
    }
    for problem in objects.add_tables(&own) {
        scope.problem("configurations", problem);
    }
}

/// Adds what the definitions under `crds` say about references and labels.
pub(crate) fn run_crds(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let files = &scope.kustomization.crds;
    if files.is_empty() {
        return;
    }
    let tables = read_files("crds", files, yaml::read_value, definitions::tables, scope);
    for problem in objects.add_tables(&Arc::new(tables)) {
        scope.problem("crds", problem);
    }
}

type Read = fn(&str, &Limits) -> Result<Value, YamlError>;
type Tables = fn(&Value) -> (FieldTables, Vec<ProblemKind>);

/// Makes tables of files, one after the other.
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
        let Some((file, bytes)) = scope.load(&field, entry) else { continue };
        let problems = match parse(&file, &bytes, read) {
            Ok(value) => {
                let (tables, mut problems) = tables(&value);
                problems.extend(all.merge(&tables).into_iter().map(Into::into));
                problems
            }
            Err(problem) => vec![problem],
        };
        for problem in problems {
            scope.problem(&field, problem);
        }
    }
    all
}

fn parse(file: &TreePath, bytes: &[u8], read: Read) -> Result<Value, ProblemKind> {
    let unreadable = |reason: String| ProblemKind::Yaml { file: file.clone(), reason };
    let text = str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    read(text, &Limits::default()).map_err(|error| unreadable(error.to_string()))
}

/// Reads the tables of a file, whose keys are those of a kustomization where they name the same.
fn configured(value: &Value) -> (FieldTables, Vec<ProblemKind>) {
    let mut faults = Vec::new();
    let file: Configuration = decode(value, "", &mut faults);
    let (tables, problems) = file.tables();
    let faults = faults.into_iter().map(Into::into);
    (tables, faults.chain(problems.into_iter().map(Into::into)).collect())
}

/// A file under `configurations`.
#[derive(Debug, Default)]
struct Configuration {
    name_prefix: Vec<FieldSpecEntry>,
    name_suffix: Vec<FieldSpecEntry>,
    namespace: Vec<FieldSpecEntry>,
    common_labels: Vec<FieldSpecEntry>,
    labels: Vec<FieldSpecEntry>,
    template_labels: Vec<FieldSpecEntry>,
    common_annotations: Vec<FieldSpecEntry>,
    images: Vec<FieldSpecEntry>,
    replicas: Vec<FieldSpecEntry>,
    var_references: Vec<FieldSpecEntry>,
    name_references: Vec<ReferenceEntry>,
}

/// The fields that refer to objects of a kind.
#[derive(Debug, Default)]
struct ReferenceEntry {
    group: String,
    version: String,
    kind: String,
    fields: Vec<FieldSpecEntry>,
}

impl Configuration {
    fn tables(self) -> (FieldTables, Vec<FieldProblem>) {
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

impl FromFields for Configuration {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            name_prefix: fields.take("namePrefix"),
            name_suffix: fields.take("nameSuffix"),
            namespace: fields.take("namespace"),
            common_labels: fields.take("commonLabels"),
            labels: fields.take("labels"),
            template_labels: fields.take("templateLabels"),
            common_annotations: fields.take("commonAnnotations"),
            images: fields.take("images"),
            replicas: fields.take("replicas"),
            var_references: fields.take("varReference"),
            name_references: fields.take("nameReference"),
        }
    }
}

impl FromFields for ReferenceEntry {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        Self {
            group: fields.take("group"),
            version: fields.take("version"),
            kind: fields.take("kind"),
            fields: fields.take("fieldSpecs"),
        }
    }
}

#[cfg(test)]
mod tests;
