//! The storage of a CustomResourceDefinition.

use manifest::{Object, Value};

use super::MigrationError;
use crate::{ApiError, ApiKind, GroupKind};

/// Returns the kind of definitions, which every server has in this version.
pub(super) fn kind() -> ApiKind {
    ApiKind {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
        namespaced: false,
        verbs: Vec::new(),
    }
}

/// The storage versions of a definition.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) kind: GroupKind,
    /// The version in which new objects are stored.
    pub(super) storage: String,
    /// `status.storedVersions`: the versions in which objects may be stored.
    stored: Vec<String>,
    pub(super) resource_version: String,
}

impl Definition {
    pub(super) fn of(object: &Object) -> Self {
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let stores = |version: &&Value| version["storage"] == true;
        let stored = object.get(&["status", "storedVersions"]).and_then(Value::as_array);
        Self {
            name: object.name().to_owned(),
            kind: GroupKind::new(text(&["spec", "group"]), text(&["spec", "names", "kind"])),
            storage: versions(object).find(stores).map(name_of).unwrap_or_default().to_owned(),
            stored: stored.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            resource_version: text(&["metadata", "resourceVersion"]),
        }
    }

    /// True if all objects are known to be stored in the storage version.
    pub(super) fn is_migrated(&self) -> bool {
        self.obsolete_versions().is_empty()
    }

    pub(super) fn obsolete_versions(&self) -> Vec<String> {
        self.stored.iter().filter(|version| **version != self.storage).cloned().collect()
    }

    pub(super) fn storage_version_removed(&self) -> MigrationError {
        MigrationError::StorageVersionRemoved { definition: self.name.clone(), version: self.storage.clone() }
    }

    pub(super) fn error(&self, source: ApiError) -> MigrationError {
        MigrationError::Api {
            definition: self.name.clone(),
            version: self.storage.clone(),
            source: Box::new(source),
        }
    }
}

/// True if the definition has the version.
pub(super) fn has_version(definition: &Object, version: &str) -> bool {
    versions(definition).any(|of| name_of(of) == version)
}

fn versions(definition: &Object) -> impl Iterator<Item = &Value> {
    definition.get(&["spec", "versions"]).and_then(Value::as_array).into_iter().flatten()
}

fn name_of(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}
