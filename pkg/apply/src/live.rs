//! Observed objects of a server.

use std::collections::BTreeMap;

use manifest::Object;

use crate::ObjectKey;

/// The observation of one object on the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// The object exists.
    Present(Object),
    /// The object does not exist.
    Absent,
    /// The object was not read by name: no list of the owner's objects includes it, and its namespace and kind exist. A
    /// write must fail if the object exists.
    Unobserved,
}

/// The objects on the server that concern a plan.
#[derive(Clone, Debug, Default)]
pub struct LiveObjects {
    /// Observations by key.
    pub objects: BTreeMap<ObjectKey, Observation>,
}

impl LiveObjects {
    /// Returns the observation of an object; `Unobserved` if it was never requested.
    pub fn get(&self, key: &ObjectKey) -> &Observation {
        self.objects.get(key).unwrap_or(&Observation::Unobserved)
    }

    /// Returns the object, if it exists.
    pub fn present(&self, key: &ObjectKey) -> Option<&Object> {
        match self.get(key) {
            Observation::Present(object) => Some(object),
            Observation::Absent | Observation::Unobserved => None,
        }
    }

    /// True if the object exists and is terminating.
    pub fn is_terminating(&self, key: &ObjectKey) -> bool {
        self.present(key).is_some_and(is_terminating)
    }
}

/// True if the object is terminating.
pub(crate) fn is_terminating(object: &Object) -> bool {
    object.get(&["metadata", "deletionTimestamp"]).is_some_and(|at| !at.is_null())
}
