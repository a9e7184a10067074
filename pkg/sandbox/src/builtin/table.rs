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
use crate::{kinds::ResourceType, schema::SchemaRoot};

/// The Kubernetes release of the tables: version, minor number and build time.
pub(crate) const KUBERNETES_RELEASE: (&str, u32, &str) = ("v1.36.3", 36, "2026-07-22T18:07:38Z");

const INVARIANT: &str = "the tables in this crate are well-formed: a test reads them";

static TYPE_DEFINITIONS: LazyLock<TypeDefinitions> =
    LazyLock::new(|| TypeDefinitions::read(manifest::builtin::SHAPES).expect(INVARIANT));

static RESOURCES: LazyLock<Resources> = LazyLock::new(|| {
    let (schemas, roots) = nodes::schemas(&TYPE_DEFINITIONS);
    let schemas = Arc::new(schemas);
    let schema = |package: &str, kind: &str| {
        let definition = TYPE_DEFINITIONS.find(package, kind).expect(INVARIANT);
        SchemaRoot::new(Arc::clone(&schemas), roots[definition.index()])
    };
    let mut lines = resources::read(include_str!("resources.txt"), schema).expect(INVARIANT);
    let served: Vec<_> =
        lines.iter().map(|line| (line.served.group.clone(), line.served.version.clone())).collect();
    for Resource { stored: (group, version), served: resource, .. } in &mut lines {
        if served.iter().any(|served| (&*served.0, &*served.1) == (*group, *version)) {
            resource.storage_version = (*version).into();
        }
    }
    Resources { types: lines.iter().map(|line| Arc::new(line.served.clone())).collect(), lines }
});

struct Resources {
    /// All resources in discovery order.
    types: Vec<Arc<ResourceType>>,
    /// The table line of each resource.
    lines: Vec<Resource>,
}

impl Resources {
    fn find(&self, is_it: impl Fn(&Resource) -> bool) -> Option<&Resource> {
        self.lines.iter().find(|line| is_it(line))
    }
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
    let is_version = |line: &Resource| (&*line.served.group, &*line.served.version) == (group, version);
    let package = RESOURCES.find(is_version)?.package;
    TYPE_DEFINITIONS.find(package, name).or_else(|| TYPE_DEFINITIONS.find(META, name))
}

/// The group, version and kind of a definition of a kind.
pub(crate) fn kind_of(definition: &TypeDefinition) -> Option<(&'static str, &'static str, &str)> {
    let (package, kind) = definition.name.rsplit_once('.')?;
    let line = RESOURCES.find(|line| line.package == package);
    let (group, version) =
        line.map_or(("", "v1"), |Resource { served, .. }| (&*served.group, &*served.version));
    Some((group, version, kind))
}

/// The storage group and version of a resource on the real server. Events of `events.k8s.io` are stored as core events;
/// some kinds are stored in a version that is not served.
pub(crate) fn storage_group_version(resource: &ResourceType) -> (&str, &str) {
    let key =
        |resource: &ResourceType| [&resource.group, &resource.version, &resource.plural].map(Arc::clone);
    let line = RESOURCES.find(|line| key(&line.served) == key(resource));
    line.map_or((&resource.group, &resource.storage_version), |line| line.stored)
}

#[cfg(test)]
mod tests;
