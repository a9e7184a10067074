//! What is known of the objects on a server.

use std::collections::BTreeMap;

use manifest::Object;

use crate::ObjectKey;

/// What is known of one object on the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// It is there, as it was read.
    Present(Object),
    /// It is not there.
    Absent,
    /// It was not looked for by name: not among what carries the owner's label, and its namespace or kind is there.
    /// A write must be one that fails when the object exists.
    Unseen,
}

/// What is on the server, as far as a plan is about it.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// By key.
    pub objects: BTreeMap<ObjectKey, Observation>,
}

impl Live {
    /// What is known of an object; what was never asked for is unseen.
    pub fn get(&self, key: &ObjectKey) -> &Observation {
        self.objects.get(key).unwrap_or(&Observation::Unseen)
    }

    /// The object, if it was seen.
    pub fn present(&self, key: &ObjectKey) -> Option<&Object> {
        match self.get(key) {
            Observation::Present(object) => Some(object),
            Observation::Absent | Observation::Unseen => None,
        }
    }

    /// Whether an object was seen and is on its way out.
    pub fn is_going(&self, key: &ObjectKey) -> bool {
        self.present(key).is_some_and(is_going)
    }
}

/// Whether an object is on its way out.
pub(crate) fn is_going(object: &Object) -> bool {
    object.get(&["metadata", "deletionTimestamp"]).is_some_and(|at| !at.is_null())
}
