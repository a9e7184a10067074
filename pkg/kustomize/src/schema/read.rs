//! Reads merge keys from the definitions of an OpenAPI schema.

use std::collections::{HashMap, HashSet};

use manifest::{Map, Value};

use super::{BuiltIn, FieldSchema, Graph, Schema, Type, TypeId, built_in};

const KINDS: &str = "x-kubernetes-group-version-kind";
const STRATEGY: &str = "x-kubernetes-patch-strategy";
const MERGE_KEY: &str = "x-kubernetes-patch-merge-key";
const MERGE_KEYS: &str = "x-kubernetes-list-map-keys";
/// Limit for chained references; a longer chain is treated as a cycle.
const MAX_REFERENCES: usize = 100;

/// Reads all definitions. Ignores malformed ones.
pub(super) fn graph(definitions: &Map<String, Value>, built_in: BuiltIn) -> Graph {
    let mut graph = if built_in == BuiltIn::Absent { Graph::default() } else { built_in::graph() };
    let known = if built_in == BuiltIn::Absent { HashMap::new() } else { built_in::definitions() };
    let first = graph.types.len();
    let own = definitions
        .iter()
        .enumerate()
        .map(|(at, (name, definition))| (name.as_str(), Definition::InFile(definition, TypeId(first + at))));
    let known = known.iter().map(|(name, id)| (name.as_str(), Definition::BuiltIn(*id)));
    let names =
        if built_in == BuiltIn::First { own.chain(known).collect() } else { known.chain(own).collect() };
    graph.types.resize(first + definitions.len(), Type::default());
    let mut reader = Reader { names, graph };
    for (at, definition) in definitions.values().enumerate() {
        let id = TypeId(first + at);
        reader.graph.types[id.0] = reader.read_type(definition);
        for (api_version, kind) in kinds(definition) {
            let kinds = reader.graph.kinds.entry(api_version.into()).or_default();
            if built_in == BuiltIn::First && kinds.contains_key(&*kind) {
                continue;
            }
            kinds.insert(kind.into(), id);
        }
    }
    reader.graph
}

/// Returns the kinds that no path puts into a namespace, except built-in kinds.
/// Source: kyaml 0.21 openapi (`findNamespaceability`).
pub(super) fn cluster_scoped(paths: Option<&Value>) -> HashSet<(String, String)> {
    let paths = || paths.and_then(Value::as_object).into_iter().flatten();
    let kind_of = |item: &Value| kind(item.get("get")?.get(KINDS)?);
    let is_in_namespace = |path: &str| path.contains("namespaces/{namespace}");
    let mut found: HashSet<_> = paths().filter_map(|(_, item)| kind_of(item)).collect();
    for (_, item) in paths().filter(|(path, _)| is_in_namespace(path)) {
        found.retain(|known| Some(known) != kind_of(item).as_ref());
    }
    let built_in = Schema::default();
    found.retain(|(api_version, kind)| built_in.kind(api_version, kind).is_none());
    found
}

/// The target of a reference.
#[derive(Clone, Copy)]
enum Definition<'d> {
    /// A definition of the file.
    InFile(&'d Value, TypeId),
    /// A built-in definition.
    BuiltIn(TypeId),
}

struct Reader<'d> {
    names: HashMap<&'d str, Definition<'d>>,
    graph: Graph,
}

impl<'d> Reader<'d> {
    fn read_type(&mut self, definition: &'d Value) -> Type {
        let properties = definition.get("properties").and_then(Value::as_object).into_iter().flatten();
        let fields = properties.map(|(name, schema)| (name.as_str().into(), self.read_field(schema)));
        let fields = fields.collect();
        let others = definition.get("additionalProperties").filter(|schema| schema.is_object());
        Type { fields, additional: others.map(|schema| self.read_field(schema)) }
    }

    fn read_field(&mut self, schema: &'d Value) -> FieldSchema {
        let (schema, named) = self.follow(schema);
        let is_merged = schema.get(STRATEGY).and_then(Value::as_str);
        let is_merged = is_merged.is_some_and(|strategy| strategy.split(',').any(|word| word == "merge"));
        if schema.get("items").is_none() {
            return FieldSchema { keys: None, type_id: named.or_else(|| self.read_inline(schema)) };
        }
        if !is_merged {
            return FieldSchema::default();
        }
        let (elements, named) = self.follow(&schema["items"]);
        FieldSchema { keys: Some(keys(schema)), type_id: named.or_else(|| self.read_inline(elements)) }
    }

    fn read_inline(&mut self, schema: &'d Value) -> Option<TypeId> {
        if schema.get("properties").is_none() && schema.get("additionalProperties").is_none() {
            return None;
        }
        let inline = self.read_type(schema);
        self.graph.types.push(inline);
        Some(TypeId(self.graph.types.len() - 1))
    }

    /// Follows references to an inline schema. Returns the schema and, for a definition, its type. For a built-in
    /// definition, the schema is null.
    fn follow(&self, schema: &'d Value) -> (&'d Value, Option<TypeId>) {
        let mut at = (schema, None);
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = at.0.get("$ref").and_then(Value::as_str) else { break };
            let name = reference.rsplit('/').next().unwrap_or_default();
            match self.names.get(name) {
                Some(Definition::InFile(definition, id)) => at = (definition, Some(*id)),
                Some(Definition::BuiltIn(id)) => return (&Value::Null, Some(*id)),
                None => break,
            }
        }
        at
    }
}

fn keys(schema: &Value) -> Box<[Box<str>]> {
    let several = schema.get(MERGE_KEYS).and_then(Value::as_array);
    let one = schema.get(MERGE_KEY).map(std::slice::from_ref);
    let keys = several.map(Vec::as_slice).or(one).unwrap_or_default();
    keys.iter().filter_map(Value::as_str).map(Into::into).collect()
}

fn kinds(definition: &Value) -> impl Iterator<Item = (String, String)> {
    let kinds = definition.get(KINDS).and_then(Value::as_array).into_iter().flatten();
    kinds.filter_map(kind)
}

/// Returns the `apiVersion` and the kind of an entry.
fn kind(entry: &Value) -> Option<(String, String)> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = (text("group"), text("version"));
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let kind = entry.get("kind").and_then(Value::as_str)?;
    Some((api_version, kind.to_owned()))
}
