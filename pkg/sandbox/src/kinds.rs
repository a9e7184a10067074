//! What the server serves: one entry for each group, version and resource.

use std::sync::Arc;

use crate::schema::SchemaRoot;

/// One resource in one version, as served.
#[derive(Clone, Debug)]
pub(crate) struct ResourceType {
    /// The API group; empty for core.
    pub group: Arc<str>,
    /// The served version, such as `v1`.
    pub version: Arc<str>,
    /// The version objects are stored in. Another one is converted when it is read and written.
    pub storage_version: Arc<str>,
    /// `deployments`.
    pub plural: Arc<str>,
    /// `deployment`.
    pub singular: Arc<str>,
    /// `Deployment`.
    pub kind: Arc<str>,
    /// `DeploymentList`.
    pub list_kind: Arc<str>,
    /// `deploy`.
    pub short_names: Vec<Arc<str>>,
    /// `all`.
    pub categories: Vec<Arc<str>>,
    /// Its objects live in namespaces.
    pub namespaced: bool,
    /// What may be done with it, in the words of discovery (`create`, `deletecollection`, …).
    pub verbs: Vec<Arc<str>>,
    /// `/status` and `/scale` and the others, by name.
    pub subresources: Vec<Subresource>,
    /// The shape of its objects.
    pub schema: SchemaRoot,
    /// What only custom resources have.
    pub custom: Option<Arc<CustomResource>>,
}

/// A part of an object with an address of its own.
#[derive(Clone, Debug)]
pub(crate) struct Subresource {
    /// `status`, `scale`, `approval`, `finalize`, `eviction`, `binding`, `token`, `log`…
    pub name: Arc<str>,
    /// The group, version and kind that travels, such as `autoscaling/v1 Scale`.
    pub group: Arc<str>,
    /// See `group`.
    pub version: Arc<str>,
    /// See `group`.
    pub kind: Arc<str>,
    /// What may be done with it.
    pub verbs: Vec<Arc<str>>,
}

/// What only custom resources have: one version of a CustomResourceDefinition.
#[derive(Clone, Debug, Default)]
pub(crate) struct CustomResource {
    /// The name of its definition, `plural.group`.
    pub definition: Arc<str>,
    /// Counts changes of the definition: objects stored under an older number are defaulted and pruned when read.
    pub generation: u64,
    /// The shape of the version objects are stored in, when that is another one.
    pub storage_schema: Option<SchemaRoot>,
    /// The status subresource is on.
    pub status: bool,
    /// The scale subresource, if it is on.
    pub scale: Option<ScalePaths>,
    /// The columns a table has after the name.
    pub columns: Vec<PrinterColumn>,
    /// JSON paths of fields that field selectors may name, such as `.spec.color`.
    pub selectable_fields: Vec<Arc<str>>,
    /// What the server warns of whenever the version is used (`deprecationWarning`).
    pub deprecation_warning: Option<Arc<str>>,
    /// A webhook would convert between this version and the one that is stored. The sandbox calls none: objects are the
    /// same in both, and a warning says so.
    pub wants_conversion: bool,
}

/// Where a scale subresource finds its numbers, as simple JSON paths (`.spec.replicas`).
#[derive(Clone, Debug)]
pub(crate) struct ScalePaths {
    /// `specReplicasPath`.
    pub spec_replicas: Arc<str>,
    /// `statusReplicasPath`.
    pub status_replicas: Arc<str>,
    /// `labelSelectorPath`.
    pub label_selector: Option<Arc<str>>,
}

/// A column of a table (`additionalPrinterColumns`).
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    /// The heading.
    pub name: Arc<str>,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: Arc<str>,
    /// `name` for what identifies the object.
    pub format: Arc<str>,
    /// One sentence for people.
    pub description: Arc<str>,
    /// Above 0 only wide tables show it.
    pub priority: i32,
    /// Where the value is.
    pub json_path: Arc<str>,
}

/// Everything that is served at one moment. A change of a custom resource definition makes another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    resources: Vec<Arc<ResourceType>>,
    counter: u64,
}

impl Kinds {
    /// Puts the built-in resources and those of all accepted definitions together.
    pub(crate) fn new(resources: Vec<Arc<ResourceType>>, counter: u64) -> Self {
        Self { resources, counter }
    }

    /// In the order discovery lists them: core, then groups and versions by priority.
    pub(crate) fn resources(&self) -> &[Arc<ResourceType>] {
        &self.resources
    }

    /// Grows with each change: documents made from it may be kept as long as it stays.
    pub(crate) fn counter(&self) -> u64 {
        self.counter
    }

    /// What answers at this address.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<ResourceType>> {
        self.resources.iter().find(|r| &*r.group == group && &*r.version == version && &*r.plural == plural)
    }

    /// What objects of this kind are.
    pub(crate) fn find_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<ResourceType>> {
        self.resources.iter().find(|r| &*r.group == group && &*r.version == version && &*r.kind == kind)
    }

    /// The first version of a kind, in the order of discovery: the preferred one.
    pub(crate) fn preferred(&self, group: &str, kind: &str) -> Option<&Arc<ResourceType>> {
        self.resources.iter().find(|r| &*r.group == group && &*r.kind == kind)
    }
}

impl ResourceType {
    /// `v1` or `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| &*subresource.name == name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::schema::{Node, Schemas};

    /// A resource of which a test says all that matters.
    pub(crate) fn resource(group: &str, plural: &str, custom: Option<CustomResource>) -> ResourceType {
        let mut schemas = Schemas::default();
        let root = schemas.add(Node::default());
        ResourceType {
            group: group.into(),
            version: "v1".into(),
            storage_version: "v1".into(),
            plural: plural.into(),
            singular: "".into(),
            kind: "".into(),
            list_kind: "".into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            verbs: Vec::new(),
            subresources: Vec::new(),
            schema: SchemaRoot::new(Arc::new(schemas), root),
            custom: custom.map(Arc::new),
        }
    }
}
