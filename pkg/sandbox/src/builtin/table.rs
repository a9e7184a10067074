//! The tables of built-in kinds, parsed at first use.
//!
//! ```text
//! resources.txt ─► Resource (a line) ───────────────────────────────┐
//! manifest::builtin::SHAPES ─► Shapes (all definitions) ─► Schemas ─┴─► ResourceType
//!                              └─► protobuf bodies, OpenAPI documents
//! ```
//!
//! `cargo xtask builtin-kinds` generates both tables from the documents of a kube-apiserver. Do not edit the tables.

mod nodes;
mod resources;
mod type_definitions;

use std::sync::{Arc, LazyLock};

use self::resources::Resource;
pub(crate) use self::type_definitions::{
    ApplyListType, DefinitionId, DefinitionKind, ElementType, Field, FieldDefault, ListMerge, TypeDefinition,
    TypeDefinitions, ValueType,
};
use crate::{
    kinds::{ResourceType, Subresource},
    schema::SchemaRoot,
};

/// The Kubernetes release of the tables: version, minor number and build time.
pub(crate) const KUBERNETES_RELEASE: (&str, u32, &str) = ("v1.36.3", 36, "2026-07-22T18:07:38Z");

const INVARIANT: &str = "the tables in this crate are well-formed: a test reads them";

static TYPE_DEFINITIONS: LazyLock<TypeDefinitions> =
    LazyLock::new(|| TypeDefinitions::read(manifest::builtin::SHAPES).expect(INVARIANT));

static RESOURCES: LazyLock<Resources> = LazyLock::new(|| {
    let lines = resources::read(include_str!("resources.txt")).expect(INVARIANT);
    let (schemas, roots) = nodes::schemas(&TYPE_DEFINITIONS);
    let schemas = Arc::new(schemas);
    let types = lines.iter().map(|line| {
        let shape = TYPE_DEFINITIONS.find(line.package, line.kind).expect(INVARIANT);
        let is_served = lines.iter().any(|other| (other.group, other.version) == line.stored);
        let stored = if is_served { line.stored.1 } else { line.version };
        Arc::new(resource_type(line, stored, SchemaRoot::new(Arc::clone(&schemas), roots[shape.index()])))
    });
    Resources { types: types.collect(), lines }
});

struct Resources {
    /// All resources in discovery order.
    types: Vec<Arc<ResourceType>>,
    /// The table line of each resource.
    lines: Vec<Resource>,
}

/// All built-in resources in discovery order. The table is parsed at first use.
pub(crate) fn resources() -> &'static [Arc<ResourceType>] {
    &RESOURCES.types
}

/// The definitions of all built-in kinds and their parts.
pub(crate) fn type_definitions() -> &'static TypeDefinitions {
    &TYPE_DEFINITIONS
}

/// The package of the kinds that every version has, and of `Status`.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Finds the definition of a kind or a part by name. `DeleteOptions` and `Status` exist in every version.
pub(crate) fn find_definition(group: &str, version: &str, name: &str) -> Option<DefinitionId> {
    let of_version = RESOURCES.lines.iter().find(|line| (line.group, line.version) == (group, version))?;
    TYPE_DEFINITIONS.find(of_version.package, name).or_else(|| TYPE_DEFINITIONS.find(META, name))
}

/// The group, version and kind of a definition of a kind.
pub(crate) fn kind_of(definition: &TypeDefinition) -> Option<(&'static str, &'static str, &str)> {
    let (package, kind) = definition.name.rsplit_once('.')?;
    let line = RESOURCES.lines.iter().find(|line| line.package == package);
    let (group, version) = line.map_or(("", "v1"), |line| (line.group, line.version));
    Some((group, version, kind))
}

/// The storage group and version of a resource on the real server. Events of `events.k8s.io` are stored as core events;
/// some kinds are stored in a version that is not served.
pub(crate) fn storage_group_version(resource: &ResourceType) -> (&str, &str) {
    let is_it = |line: &&Resource| {
        line.group == &*resource.group
            && line.version == &*resource.version
            && line.plural == &*resource.plural
    };
    RESOURCES
        .lines
        .iter()
        .find(is_it)
        .map_or((&resource.group, &resource.storage_version), |line| line.stored)
}

fn resource_type(line: &Resource, stored: &str, schema: SchemaRoot) -> ResourceType {
    ResourceType {
        group: line.group.into(),
        version: line.version.into(),
        storage_version: stored.into(),
        plural: line.plural.into(),
        singular: line.singular.into(),
        kind: line.kind.into(),
        list_kind: format!("{}List", line.kind).into(),
        short_names: shared_texts(&line.short_names),
        categories: shared_texts(&line.categories),
        namespaced: line.namespaced,
        verbs: shared_texts(&line.verbs),
        subresources: line.subresources.iter().map(subresource).collect(),
        schema,
        custom: None,
    }
}

fn subresource(line: &resources::Subresource) -> Subresource {
    Subresource {
        name: line.name.into(),
        group: line.group.into(),
        version: line.version.into(),
        kind: line.kind.into(),
        verbs: shared_texts(&line.verbs),
    }
}

fn shared_texts(words: &[&str]) -> Vec<Arc<str>> {
    words.iter().map(|word| Arc::from(*word)).collect()
}

#[cfg(test)]
mod tests;
