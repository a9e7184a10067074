//! Results of writes.

use std::sync::Arc;

use serde_json::Value;

use super::{Call, object};
use crate::store::StoredObject;

/// The result of a write.
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
