//! Served resources: one entry for each group, version and resource.

use std::{cmp::Reverse, sync::Arc};

use crate::schema::SchemaRoot;

/// One resource in one version, as served.
#[derive(Clone, Debug)]
pub(crate) struct ResourceType {
    /// The API group; empty for core.
    pub group: Arc<str>,
    /// The served version, such as `v1`.
    pub version: Arc<str>,
    /// The storage version. Objects in other versions are converted when they are read and written.
    pub storage_version: Arc<str>,
    /// The plural, such as `deployments`.
    pub plural: Arc<str>,
    /// The singular, such as `deployment`.
    pub singular: Arc<str>,
    /// The kind, such as `Deployment`.
    pub kind: Arc<str>,
    /// The list kind, such as `DeploymentList`.
    pub list_kind: Arc<str>,
    /// Short names, such as `deploy`.
    pub short_names: Vec<Arc<str>>,
    /// Categories, such as `all`.
    pub categories: Vec<Arc<str>>,
    /// True if the objects live in namespaces.
    pub namespaced: bool,
    /// Supported verbs, as discovery names them (`create`, `deletecollection`, …).
    pub verbs: Vec<Arc<str>>,
    /// The subresources: `/status`, `/scale` and others.
    pub subresources: Vec<Subresource>,
    /// The schema of the objects.
    pub schema: SchemaRoot,
    /// Settings of custom resources. `None` for built-in resources.
    pub custom: Option<Arc<CustomResource>>,
}

/// A part of an object with its own endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Subresource {
    /// The name: `status`, `scale`, `approval`, `finalize`, `eviction`, `binding`, `token`, `log`…
    pub name: Arc<str>,
    /// The group of the kind in requests and responses, such as `autoscaling/v1 Scale`.
    pub group: Arc<str>,
    pub version: Arc<str>,
    pub kind: Arc<str>,
    /// The verbs that the kind supports.
    pub verbs: Vec<Arc<str>>,
}

/// The settings of one version of a CustomResourceDefinition.
#[derive(Clone, Debug, Default)]
pub(crate) struct CustomResource {
    /// The name of the definition, `plural.group`.
    pub definition: Arc<str>,
    /// The generation of the definition. Objects stored under an older generation are defaulted and pruned when read.
    pub generation: u64,
    /// The schema of the storage version. `None` if this version is the storage version.
    pub storage_schema: Option<SchemaRoot>,
    /// True if the status subresource is enabled.
    pub status: bool,
    /// The scale subresource, if enabled.
    pub scale: Option<ScalePaths>,
    /// The columns of a table after the name.
    pub columns: Vec<PrinterColumn>,
    /// JSON paths of the fields that field selectors may use, such as `.spec.color`.
    pub selectable_fields: Vec<Arc<str>>,
    /// The warning on each use of the version (`deprecationWarning`).
    pub deprecation_warning: Option<Arc<str>>,
    /// True if the definition names a conversion webhook. The sandbox calls none: objects are equal in both versions,
    /// and a warning says so.
    pub has_conversion_webhook: bool,
}

/// The fields of a scale subresource, as simple JSON paths (`.spec.replicas`).
#[derive(Clone, Debug)]
pub(crate) struct ScalePaths {
    pub spec_replicas: Arc<str>,
    pub status_replicas: Arc<str>,
    pub label_selector: Option<Arc<str>>,
}

/// A column of a table (`additionalPrinterColumns`).
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    /// The column heading.
    pub name: Arc<str>,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: Arc<str>,
    /// The format; `name` marks the identity of the object.
    pub format: Arc<str>,
    pub description: Arc<str>,
    /// The priority. Only wide tables show columns above 0.
    pub priority: i32,
    /// The path of the value.
    pub json_path: Arc<str>,
}

/// All served resources at one moment. A change of a custom resource definition creates a new instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    resources: Vec<Arc<ResourceType>>,
    generation: u64,
}

impl Kinds {
    /// Combines the built-in resources with those of all accepted definitions.
    pub(crate) fn new(resources: Vec<Arc<ResourceType>>, counter: u64) -> Self {
        Self { resources, generation: counter }
    }

    /// Returns the resources in discovery order: core first, then groups and versions by priority.
    pub(crate) fn resources(&self) -> &[Arc<ResourceType>] {
        &self.resources
    }

    /// Returns a number that grows with each change. Documents made from these kinds stay valid until the number
    /// changes.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<ResourceType>> {
        self.resources.iter().find(|r| &*r.group == group && &*r.version == version && &*r.plural == plural)
    }

    pub(crate) fn find_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<ResourceType>> {
        self.resources.iter().find(|r| &*r.group == group && &*r.version == version && &*r.kind == kind)
    }

    /// Returns the preferred version of a kind, the first one in discovery order.
    pub(crate) fn preferred(&self, group: &str, kind: &str) -> Option<&Arc<ResourceType>> {
        self.resources.iter().find(|r| &*r.group == group && &*r.kind == kind)
    }
}

impl ResourceType {
    /// Returns the `apiVersion`, such as `v1` or `apps/v1`.
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

/// The sort key of a version name; the greatest is preferred: `v2`, `v1`, `v2beta1`, `v1alpha1`, then other names
/// alphabetically. Source: apimachinery 1.36 `pkg/version/helpers.go`.
pub(crate) fn version_priority(version: &str) -> VersionPriority {
    // The stability and the numbers come first. Other names have the lowest priority, in alphabetical order.
    (kube_version(version), Reverse(version.to_owned()))
}

pub(crate) type VersionPriority = (Option<(u8, u64, u64)>, Reverse<String>);

fn kube_version(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('0'));
    let major = number(&rest[..digits])?;
    match &rest[digits..] {
        "" => Some((2, major, 0)),
        stage => {
            let (level, minor) = match stage.strip_prefix("beta") {
                Some(minor) => (1, minor),
                None => (0, stage.strip_prefix("alpha")?),
            };
            Some((level, major, number(minor)?))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::schema::{Node, Schemas};

    /// A minimal resource for tests.
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
