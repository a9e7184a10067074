//! The tables of built-in kinds, parsed at first use.
//!
//! ```text
//! resources.txt ─► Resource (a line) ───────────────┐
//! manifest::builtin ─► Definition ─► Schemas ───────┴─► ResourceType
//!                      └─► protobuf bodies, OpenAPI documents
//! ```
//!
//! `cargo xtask builtin-kinds` generates both tables from the documents of a kube-apiserver. Do not edit the tables.

mod nodes;
mod resources;

use std::sync::{Arc, LazyLock};

use manifest::builtin::{Definition, find_served};
use serde_json::{Value, json};

pub(crate) use self::nodes::{META, add_object_meta};
use self::resources::Resource;
use crate::{
    kinds::ResourceType,
    schema::{SchemaRoot, Schemas},
};

/// The Kubernetes release of the tables: version, minor number and build time.
pub(crate) const KUBERNETES_RELEASE: (&str, u32, &str) = ("v1.36.3", 36, "2026-07-22T18:07:38Z");

const INVARIANT: &str = "the tables in this crate are well-formed: a test reads them";

static RESOURCES: LazyLock<Resources> = LazyLock::new(|| {
    let mut schemas = Schemas::default();
    let roots = nodes::add_definitions(&mut schemas, &manifest::builtin::served());
    let schemas = Arc::new(schemas);
    let schema = |package: &str, kind: &str| SchemaRoot::new(Arc::clone(&schemas), roots[&(package, kind)]);
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

/// Finds the definition of a kind or a part by name. `DeleteOptions` and `Status` exist in every version.
pub(crate) fn find_definition(group: &str, version: &str, name: &str) -> Option<&'static Definition> {
    let is_version = |line: &Resource| (&*line.served.group, &*line.served.version) == (group, version);
    let package = RESOURCES.find(is_version)?.package;
    find_served(package, name).or_else(|| find_served(META, name))
}

/// Returns an object of a built-in kind without written fields. It contains the fields that the Go type always writes,
/// even if empty. The creator of an object owns the descendants of these fields, but not the fields themselves.
pub(crate) fn empty_object(resource: &ResourceType) -> Value {
    let definition = find_definition(&resource.group, &resource.version, &resource.kind);
    definition.map_or_else(|| json!({}), Definition::unset)
}

pub(crate) fn kind_of(definition: &Definition) -> (&'static str, &'static str, &'static str) {
    let line = RESOURCES.find(|line| line.package == definition.package);
    let (group, version) =
        line.map_or(("", "v1"), |Resource { served, .. }| (&*served.group, &*served.version));
    (group, version, definition.name)
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
