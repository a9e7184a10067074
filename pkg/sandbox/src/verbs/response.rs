//! Results of verbs and writes before formatting.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{Call, object, watch::WatchStream};
use crate::store::StoredObject;

/// The result of a verb.
pub(crate) enum VerbResponse {
    /// A stored object of the resource.
    Stored(u16, Arc<StoredObject>),
    /// An object of the resource, or its scale.
    Object(u16, Value),
    /// An object of another kind, which has a single form: a `Status`, a review.
    OtherKind(u16, Value),
    /// A list of objects of the resource.
    List(Vec<Arc<StoredObject>>, BTreeMap<&'static str, Value>),
    /// A stream of changes.
    Watch(Box<WatchStream>),
    /// Plain text.
    Text(String),
}

impl VerbResponse {
    pub(crate) fn from_write(code: u16, written: WriteResult) -> Self {
        match written {
            WriteResult::Stored(stored) => Self::Stored(code, stored),
            WriteResult::DryRun(object) => Self::Object(code, object),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum WriteResult {
    Stored(Arc<StoredObject>),
    DryRun(Value),
}

impl WriteResult {
    /// Returns the object in the form that the resource serves.
    pub(crate) fn into_value(self, call: &Call<'_>) -> Value {
        match self {
            Self::Stored(stored) => object::read(&call.resource, &stored),
            Self::DryRun(object) => object,
        }
    }
}
