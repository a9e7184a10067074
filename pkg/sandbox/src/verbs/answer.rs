//! What a verb came to, before it gets its form.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{watch::Watching, written::Written};
use crate::store::Stored;

/// What a verb came to.
pub(crate) enum Answer {
    /// An object of the resource, as it is stored.
    Stored(u16, Arc<Stored>),
    /// An object of the resource, or its scale.
    Object(u16, Value),
    /// Something of another kind, which has no other form: a `Status`, a review.
    Other(u16, Value),
    /// A list of objects of the resource.
    List(Vec<Arc<Stored>>, BTreeMap<&'static str, Value>),
    /// Changes, as they happen.
    Watch(Box<Watching>),
    /// Plain text.
    Text(String),
}

impl Answer {
    /// An object that was written.
    pub(crate) fn written(code: u16, written: Written) -> Self {
        match written {
            Written::Stored(stored) => Self::Stored(code, stored),
            Written::Dry(object) => Self::Object(code, object),
        }
    }
}
