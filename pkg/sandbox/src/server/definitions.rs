//! Served custom resource definitions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::kinds::ResourceType;

/// The finalizer that keeps a definition until its objects are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The state of all served definitions.
#[derive(Debug, Default)]
pub(crate) struct ServedDefinitions {
    /// Held while a definition is processed. No code waits while holding the lock. The writer of a definition therefore
    /// sees the complete result, unless the writer left before processing began.
    pub(crate) processing: Mutex<()>,
    /// Served definitions by name.
    pub(crate) served: Mutex<BTreeMap<String, ServedDefinition>>,
    /// Definitions that wait for the deletion of their objects.
    terminating: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
pub(crate) struct ServedDefinition {
    /// The inputs of `resources`.
    pub(crate) origin: DefinitionOrigin,
    pub(crate) resources: Vec<Arc<ResourceType>>,
}

impl ServedDefinitions {
    pub(crate) fn set_terminating(&self, name: &str, terminating: bool) {
        let mut names = self.terminating.lock().unwrap_or_else(PoisonError::into_inner);
        if terminating {
            names.insert(name.to_owned());
        } else {
            names.remove(name);
        }
    }

    /// True if a definition waits for the deletion of its objects.
    pub(crate) fn is_terminating(&self, name: &str) -> bool {
        self.terminating.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// The parts of a definition that determine its resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DefinitionOrigin {
    pub(crate) uid: String,
    pub(crate) generation: i64,
    /// The accepted names, which may differ from the names in the spec.
    pub(crate) accepted: Value,
}
