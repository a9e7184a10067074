//! Results of writes.

use std::sync::Arc;

use serde_json::Value;

use super::{Call, object};
use crate::store::Stored;

/// What a write came to.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    Stored(Arc<Stored>),
    Dry(Value),
}

impl Written {
    /// The object as the resource serves it.
    pub(crate) fn into_value(self, call: &Call<'_>) -> Value {
        match self {
            Self::Stored(stored) => object::read(&call.resource, &stored),
            Self::Dry(object) => object,
        }
    }
}
