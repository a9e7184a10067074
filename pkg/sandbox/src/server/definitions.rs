//! The definitions of custom resources that are served.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::kinds::ResourceType;

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What is known of the definitions that are served.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// Held while a definition settles. Nothing waits under it: whoever wrote a definition sees it settled, or is gone
    /// before it began.
    pub(crate) settling: Mutex<()>,
    /// By the names of definitions.
    pub(crate) served: Mutex<BTreeMap<String, Served>>,
    /// Those that wait for their objects to go.
    going: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
pub(crate) struct Served {
    /// What that was made from.
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

    /// Whether a definition waits for its objects to go.
    pub(crate) fn is_going(&self, name: &str) -> bool {
        self.going.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// What of a definition decides what it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) uid: String,
    pub(crate) generation: i64,
    /// Accepted names can be another than those the spec asks for.
    pub(crate) accepted: Value,
}
