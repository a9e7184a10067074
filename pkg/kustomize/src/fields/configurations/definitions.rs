//! Field tables from type definitions in OpenAPI form: references to names, and labels.
//!
//! ```text
//! github.com/example/v1.Kind: {Schema: {properties: {spec: {$ref: github.com/example/v1.Spec}, ..}}}
//! ```

use manifest::{Map, Value, type_name};

use crate::kustomization::decode::DecodeError;
use crate::report::StepError;

use super::super::{FieldError, FieldPath, FieldSpec, FieldTables, KindPattern};

type Definitions = Map<String, Value>;

/// Returns the field tables of the kinds among definitions. A kind is a type with a kind, an apiVersion and metadata.
/// Source: kustomize v5.8.1 api/internal/accumulator (LoadConfigFromCRDs); differs: the walk stops at a type that
/// contains itself.
pub(super) fn tables(value: &Value) -> (FieldTables, Vec<StepError>) {
    let mut found = FieldTables::default();
    let definitions = match value {
        Value::Object(definitions) => definitions,
        Value::Null => return (found, Vec::new()),
        other => {
            let found_type = type_name(other).to_owned();
            let expected = "a mapping of definitions";
            let problem = DecodeError::WrongType { field: String::new(), expected, found: found_type };
            return (found, vec![problem.into()]);
        }
    };
    let mut problems = Vec::new();
    for name in definitions.keys() {
        let Some(properties) = properties(definitions, name) else { continue };
        if ["kind", "apiVersion", "metadata"].iter().all(|field| properties.contains_key(*field)) {
            let kind = name.rsplit('.').next().unwrap_or_default();
            let mut walk = Walk { definitions, kind, tables: &mut found, problems: &mut problems };
            walk.enter(&mut vec![name], &mut Vec::new());
        }
    }
    (found, problems.into_iter().map(Into::into).collect())
}

/// The walk through the types of one kind.
struct Walk<'a> {
    definitions: &'a Definitions,
    kind: &'a str,
    tables: &'a mut FieldTables,
    problems: &'a mut Vec<FieldError>,
}

impl<'a> Walk<'a> {
    /// Visits the fields of the last type in `types`, a chain of references; `path` leads to that type.
    fn enter(&mut self, types: &mut Vec<&'a str>, path: &mut Vec<&'a str>) {
        let Some(properties) = types.last().and_then(|name| properties(self.definitions, name)) else {
            return;
        };
        for (name, property) in properties {
            path.push(name);
            self.record(property, path);
            let next = property.get("$ref").and_then(Value::as_str).filter(|next| !types.contains(next));
            if let Some(next) = next {
                types.push(next);
                self.enter(types, path);
                types.pop();
            }
            path.pop();
        }
    }

    fn record(&mut self, property: &Value, path: &[&str]) {
        let says = |name: &str| property.get(name).and_then(Value::as_str);
        let marks = [
            (says("x-kubernetes-annotation"), &mut self.tables.common_annotations),
            (says("x-kubernetes-label-selector"), &mut self.tables.common_labels),
            (says("x-kubernetes-identity"), &mut self.tables.name_prefix),
        ];
        for (_, table) in marks.into_iter().filter(|(mark, _)| mark.is_some()) {
            self.problems.extend(table.add(spec(self.kind, path)).err());
        }
        let version = says("x-kubernetes-object-ref-api-version");
        let Some((version, kind)) = version.zip(says("x-kubernetes-object-ref-kind")) else { return };
        let key = says("x-kubernetes-object-ref-name-key").unwrap_or("name");
        let referent = KindPattern { group: "".into(), version: version.into(), kind: kind.into() };
        let field = spec(self.kind, &[path, &[key]].concat());
        self.problems.extend(self.tables.add_references(&referent, [field]));
    }
}

fn spec(kind: &str, path: &[&str]) -> FieldSpec {
    let of = KindPattern { kind: kind.into(), ..KindPattern::default() };
    FieldSpec { kind: of, path: FieldPath::parse(&path.join("/")), create: false }
}

fn properties<'a>(definitions: &'a Definitions, name: &str) -> Option<&'a Map<String, Value>> {
    let definition = definitions.get(name)?.as_object()?;
    let schema = definition.iter().find(|(key, _)| key.eq_ignore_ascii_case("schema"));
    schema?.1.get("properties")?.as_object()
}
