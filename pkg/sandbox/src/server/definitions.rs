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
pub(crate) struct Definitions {
    /// Held while a definition is processed. No code waits while holding the lock. The writer of a definition therefore
    /// sees the complete result, unless the writer left before processing began.
    pub(crate) settling: Mutex<()>,
    /// Served definitions by name.
    pub(crate) served: Mutex<BTreeMap<String, Served>>,
    /// Definitions that wait for the deletion of their objects.
    going: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
pub(crate) struct Served {
    /// The inputs of `resources`.
    pub(crate) origin: Origin,
    pub(crate) resources: Vec<Arc<ResourceType>>,
}

impl Definitions {
    pub(crate) fn set_going(&self, name: &str, going: bool) {
        let mut names = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        if going {
            names.insert(name.to_owned());
        } else {
            names.remove(name);
        }
    }

    /// True if a definition waits for the deletion of its objects.
    pub(crate) fn is_going(&self, name: &str) -> bool {
        self.going.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// The parts of a definition that determine its resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) uid: String,
    pub(crate) generation: i64,
    /// The accepted names, which may differ from the names in the spec.
    pub(crate) accepted: Value,
}
