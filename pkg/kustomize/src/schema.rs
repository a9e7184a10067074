//! Merge keys of lists: those of the built-in kinds, and those of `openapi`.
//!
//! A [`Schema`] is a graph of types with only the fields that lead to a list with merge keys. Every other list is
//! replaced, and every mapping is merged.

mod built_in;
pub(crate) mod openapi;
mod read;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use manifest::Object;

/// The merge keys of a build.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    graph: Arc<Graph>,
    /// True if a kustomization chose the schema with `openapi`.
    is_chosen: bool,
    /// The use of the built-in definitions with a chosen schema.
    built_in: BuiltIn,
}

/// The use of the built-in definitions together with `openapi.path`.
///
/// kustomize loads the built-in definitions lazily. So the result depends on the objects and merges before `openapi`.
/// Source: kyaml 0.21 openapi (`IsNamespaceScoped`, `initSchema`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BuiltIn {
    /// No built-in definitions: all kinds so far were ones whose scope kustomize knows.
    #[default]
    Absent,
    /// All built-in definitions, before those of the file: an unknown kind was read, and nothing was merged.
    First,
    /// Only the definitions that the file lacks: an object was merged before.
    Last,
}

/// The schema type of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeId(usize);

/// The schema of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSchema {
    /// The merge keys of the list; empty for a set of single values; `None` for a field without merge keys.
    pub(crate) keys: Option<Box<[Box<str>]>>,
    /// The type of the mapping, or of the elements.
    pub(crate) type_id: Option<TypeId>,
}

#[derive(Debug, Default)]
struct Graph {
    types: Vec<Type>,
    /// The types of kinds, by `apiVersion`, then kind.
    kinds: HashMap<Box<str>, HashMap<Box<str>, TypeId>>,
    /// The cluster-scoped kinds, from the paths of the schema: `apiVersion` and kind.
    cluster_scoped: HashSet<(String, String)>,
}

#[derive(Clone, Debug, Default)]
struct Type {
    fields: HashMap<Box<str>, FieldSchema>,
    /// The schema of fields that are not named.
    additional: Option<FieldSchema>,
}

/// The schema of Kubernetes v1.21.2, the built-in version of kustomize.
impl Default for Schema {
    fn default() -> Self {
        static BUILT_IN: LazyLock<Arc<Graph>> = LazyLock::new(|| Arc::new(built_in::graph()));
        Self { graph: Arc::clone(&BUILT_IN), is_chosen: false, built_in: BuiltIn::default() }
    }
}

impl Schema {
    /// Returns the type of a kind with exactly this `apiVersion`.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.graph.kinds.get(api_version)?.get(kind).copied()
    }

    /// True if `openapi.path` declares the kind of an object as cluster-scoped.
    pub(crate) fn is_cluster_scoped(&self, object: &Object) -> bool {
        let known = &self.graph.cluster_scoped;
        !known.is_empty() && known.contains(&(object.api_version().to_owned(), object.kind().to_owned()))
    }

    /// Records that an object was read.
    pub(crate) fn record_object(&mut self, object: &Object) {
        // Until a schema is chosen, the graph holds the built-in kinds.
        let is_open = self.built_in == BuiltIn::Absent && !self.is_chosen;
        if is_open && self.kind(object.api_version(), object.kind()).is_none() {
            self.built_in = BuiltIn::First;
        }
    }

    /// Records that an object was merged; nothing resets this.
    pub(crate) fn record_merge(&mut self) {
        self.built_in = BuiltIn::Last;
    }

    fn select(&mut self, graph: Graph) {
        self.graph = Arc::new(graph);
        self.is_chosen = true;
    }

    /// Returns the schema of a field of a type.
    pub(crate) fn field(&self, of: TypeId, name: &str) -> Option<&FieldSchema> {
        let found = self.graph.types.get(of.0)?;
        found.fields.get(name).or(found.additional.as_ref())
    }
}

#[cfg(test)]
mod tests;
