//! Results of verbs before formatting.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{watch::Watching, written::Written};
use crate::store::Stored;

/// The result of a verb.
pub(crate) enum Answer {
    /// A stored object of the resource.
    Stored(u16, Arc<Stored>),
    /// An object of the resource, or its scale.
    Object(u16, Value),
    /// An object of another kind, which has a single form: a `Status`, a review.
    Other(u16, Value),
    /// A list of objects of the resource.
    List(Vec<Arc<Stored>>, BTreeMap<&'static str, Value>),
    /// A stream of changes.
    Watch(Box<Watching>),
    /// Plain text.
    Text(String),
}

impl Answer {
    /// Returns the result of a write.
    pub(crate) fn written(code: u16, written: Written) -> Self {
        match written {
            Written::Stored(stored) => Self::Stored(code, stored),
            Written::Dry(object) => Self::Object(code, object),
        }
    }
}
