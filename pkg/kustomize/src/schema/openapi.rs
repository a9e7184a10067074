//! `openapi`: the schema that a kustomization selects.

use manifest::{Value, type_name};

use crate::TreePath;
use crate::accumulator::Accumulator;
use crate::scope::Scope;

use super::read;

/// The valid names of the built-in schema.
const VERSIONS: [&str; 2] = ["v1.21.2", "v1_21_2"];

/// An invalid `openapi` field.
#[derive(Debug, thiserror::Error)]
enum SchemaError {
    #[error("`openapi.path` cannot be combined with `openapi.version`")]
    Both,
    #[error("`openapi.version` must be `v1.21.2`, not `{0}`: set `openapi.path` for another schema")]
    Version(String),
    #[error("unknown field `openapi.{0}`: use `path` or `version`")]
    UnknownField(String),
    #[error("`{file}` is not an OpenAPI schema: `definitions` must be a mapping, not {found}")]
    NoDefinitions { file: TreePath, found: &'static str },
}

/// Loads the schema of `openapi`, unless an earlier kustomization chose one.
/// Source: kyaml 0.21 openapi (`SetSchema`).
pub(crate) fn run(scope: &mut Scope<'_, '_>, _objects: &mut Accumulator) {
    let wanted = &scope.kustomization.openapi;
    if wanted.is_empty() || scope.session.schema.is_chosen {
        return;
    }
    for name in wanted.keys().filter(|name| !matches!(name.as_str(), "path" | "version")) {
        scope.report("openapi", SchemaError::UnknownField(name.clone()));
    }
    match (wanted.get("path"), wanted.get("version")) {
        (Some(_), Some(_)) => scope.report("openapi", SchemaError::Both),
        (Some(path), None) => load(scope, path),
        (None, Some(version)) if VERSIONS.contains(&version.as_str()) => {
            scope.session.schema.is_chosen = true;
        }
        (None, Some(version)) => scope.report("openapi.version", SchemaError::Version(version.clone())),
        (None, None) => {}
    }
}

fn load(scope: &mut Scope<'_, '_>, path: &str) {
    let Some((file, content)) = scope.load_yaml("openapi.path", path) else { return };
    match content.get("definitions") {
        Some(Value::Object(definitions)) => {
            let schema = &mut scope.session.schema;
            let mut graph = read::graph(definitions, schema.built_in);
            graph.cluster_scoped = read::cluster_scoped(content.get("paths"));
            schema.select(graph);
        }
        other => {
            let found = other.map_or("absent", type_name);
            scope.report("openapi.path", SchemaError::NoDefinitions { file, found });
        }
    }
}
