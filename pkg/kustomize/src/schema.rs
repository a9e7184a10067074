//! How lists are merged: merge keys of the built-in kinds, and of `openapi`.
//!
//! A [`Schema`] is a graph of types. It holds only the fields that lead to a list with merge keys: every other list is
//! replaced, and every mapping is merged.

mod built_in;
pub(crate) mod openapi;
mod read;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use manifest::Object;

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

#[cfg(test)]
mod tests;
