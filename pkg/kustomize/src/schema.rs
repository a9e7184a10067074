//! How lists are merged: merge keys of the built-in kinds, and of `openapi`.
//!
//! A [`Schema`] is a graph of types. It holds only the fields that lead to a list with merge keys: every other list is
//! replaced, and every mapping is merged.

mod built_in;
mod read;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use manifest::{Limits, Object, Value, type_name, yaml};

use crate::accumulator::Accumulator;
use crate::build::Scope;
use crate::problems::ProblemKind;

/// The versions of the built-in schema that can be named; both are the one.
const VERSIONS: [&str; 2] = ["v1.21.2", "v1_21_2"];

/// An `openapi` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// Two schemas at once.
    #[error("`openapi` has both `path` and `version`: keep one")]
    Both,
    /// A version that is not built in.
    #[error(
        "`openapi.version` is `{0}`; only `v1.21.2` is built in, another schema is given by `openapi.path`"
    )]
    Version(String),
    /// A field nobody knows.
    #[error("there is no field `openapi.{0}`: write `path` or `version`")]
    UnknownField(String),
    /// A file that is no schema.
    #[error("`{file}` is no OpenAPI schema: `definitions` must be a mapping, this is {found}")]
    NoDefinitions {
        /// The file.
        file: crate::TreePath,
        /// What is there.
        found: &'static str,
    },
}

/// The merge keys that hold for a build.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    graph: Arc<Graph>,
    /// Whether a kustomization said which.
    is_chosen: bool,
    /// What becomes of the built-in definitions when one does.
    built_in: BuiltIn,
}

/// What remains of the built-in definitions beside those of `openapi.path`.
///
/// The peer keeps what it has read, and by what came before a schema it has read them, or means to.
/// Source: kyaml 0.21 openapi (`IsNamespaceScoped`, `initSchema`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BuiltIn {
    /// Nothing: only kinds came that it knows the scope of.
    #[default]
    Absent,
    /// All, before those of the file: a kind came that is not built in, and nothing was merged.
    First,
    /// What the file does not define: something was merged.
    Last,
}

/// The type of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeId(usize);

/// What a schema says about a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    /// The keys that tell the elements of a list apart: none where they are single values, each once.
    pub(crate) keys: Option<Box<[Box<str>]>>,
    /// The type of the mapping, or of the elements.
    pub(crate) of: Option<TypeId>,
}

#[derive(Debug, Default)]
struct Graph {
    types: Vec<Type>,
    /// By `apiVersion`, then kind.
    kinds: HashMap<Box<str>, HashMap<Box<str>, TypeId>>,
    /// Kinds without a namespace by the paths of the schema: `apiVersion` and kind.
    cluster_scoped: HashSet<(String, String)>,
}

#[derive(Clone, Debug, Default)]
struct Type {
    fields: HashMap<Box<str>, Field>,
    /// What holds for the fields that are not named.
    others: Option<Field>,
}

/// The schema of Kubernetes v1.21.2, which is the one kustomize has.
impl Default for Schema {
    fn default() -> Self {
        static BUILT_IN: LazyLock<Arc<Graph>> = LazyLock::new(|| Arc::new(built_in::graph()));
        Self { graph: Arc::clone(&BUILT_IN), is_chosen: false, built_in: BuiltIn::default() }
    }
}

impl Schema {
    /// Finds the type of a kind; only the exact `apiVersion` counts.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.graph.kinds.get(api_version)?.get(kind).copied()
    }

    /// Whether `openapi.path` says that objects of a kind have no namespace.
    pub(crate) fn is_cluster_scoped(&self, object: &Object) -> bool {
        let known = &self.graph.cluster_scoped;
        !known.is_empty() && known.contains(&(object.api_version().to_owned(), object.kind().to_owned()))
    }

    /// Notes an object that is read.
    pub(crate) fn note_object(&mut self, object: &Object) {
        // As long as no schema is chosen, the kinds are the built-in ones.
        let is_open = self.built_in == BuiltIn::Absent && !self.is_chosen;
        if is_open && self.kind(object.api_version(), object.kind()).is_none() {
            self.built_in = BuiltIn::First;
        }
    }

    /// Notes that something is merged, which nothing takes back.
    pub(crate) fn note_merge(&mut self) {
        self.built_in = BuiltIn::Last;
    }

    fn choose(&mut self, graph: Graph) {
        self.graph = Arc::new(graph);
        self.is_chosen = true;
    }

    /// Finds what holds for a field of a type.
    pub(crate) fn field(&self, of: TypeId, name: &str) -> Option<&Field> {
        let found = self.graph.types.get(of.0)?;
        found.fields.get(name).or(found.others.as_ref())
    }
}

/// Takes the schema of `openapi`, unless a kustomization before this one did.
/// Source: kyaml 0.21 openapi (`SetSchema`).
pub(crate) fn run(scope: &mut Scope<'_, '_>, _objects: &mut Accumulator) {
    let wanted = &scope.kustomization.openapi;
    if wanted.is_empty() || scope.session.schema.is_chosen {
        return;
    }
    for name in wanted.keys().filter(|name| !matches!(name.as_str(), "path" | "version")) {
        scope.problem("openapi", SchemaProblem::UnknownField(name.clone()));
    }
    match (wanted.get("path"), wanted.get("version")) {
        (Some(_), Some(_)) => scope.problem("openapi", SchemaProblem::Both),
        (Some(path), None) => load(scope, path),
        (None, Some(version)) if VERSIONS.contains(&version.as_str()) => {
            scope.session.schema.is_chosen = true;
        }
        (None, Some(version)) => scope.problem("openapi.version", SchemaProblem::Version(version.clone())),
        (None, None) => {}
    }
}

fn load(scope: &mut Scope<'_, '_>, path: &str) {
    let Some((file, bytes)) = scope.load("openapi.path", path) else { return };
    let text = str::from_utf8(&bytes).map_err(|error| error.to_string());
    let read =
        text.and_then(|text| yaml::read_value(text, &Limits::default()).map_err(|error| error.to_string()));
    match read {
        Err(reason) => scope.problem("openapi.path", ProblemKind::Yaml { file, reason }),
        Ok(content) => match content.get("definitions") {
            Some(Value::Object(definitions)) => {
                let schema = &mut scope.session.schema;
                let mut graph = read::graph(definitions, schema.built_in);
                graph.cluster_scoped = read::cluster_scoped(content.get("paths"));
                schema.choose(graph);
            }
            other => {
                let found = other.map_or("absent", type_name);
                scope.problem("openapi.path", SchemaProblem::NoDefinitions { file, found });
            }
        },
    }
}

#[cfg(test)]
mod tests;
