//! Requests: what an address, a method and a query ask for.
//!
//! ```text
//! path ─► path: group, version, plural, namespace, name, subresource
//!      └► route: which served resource that is, and whether the method may be used on it
//! query ─► options: what each verb reads of it      body ─► body: the object, with what is odd about it
//! ```

pub(crate) mod body;
pub(crate) mod options;
mod path;
mod route;

use std::sync::Arc;

use http::{HeaderMap, Method};

use crate::kinds::ResourceType;

pub(crate) use options::Query;
pub(crate) use path::ResourcePath;
pub(crate) use route::{Unroutable, route};

/// What may be done with resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    /// All objects of a scope.
    List,
    /// Changes in a scope.
    Watch,
    Create,
    /// Another state of an object, whole.
    Update,
    /// A change of an object.
    Patch,
    /// The end of an object.
    Delete,
    /// The end of all objects of a scope.
    DeleteCollection,
}

impl Verb {
    /// The word of it, as discovery, audit and faults use it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// The verb of this word.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let all = [
            Self::Get,
            Self::List,
            Self::Watch,
            Self::Create,
            Self::Update,
            Self::Patch,
            Self::Delete,
            Self::DeleteCollection,
        ];
        all.into_iter().find(|verb| verb.word() == word)
    }

    /// What a method means at an address; nothing when it is no method for resources.
    pub(crate) fn of(method: &Method, path: &ResourcePath, query: &Query) -> Option<Self> {
        let named = !path.name.is_empty();
        Some(match *method {
            Method::GET if named && !path.legacy_watch => Self::Get,
            Method::GET if path.legacy_watch || query.flag("watch") => Self::Watch,
            Method::GET => Self::List,
            Method::POST => Self::Create,
            Method::PUT => Self::Update,
            Method::PATCH => Self::Patch,
            Method::DELETE if named => Self::Delete,
            Method::DELETE => Self::DeleteCollection,
            _ => return None,
        })
    }
}

/// A request for a resource that is served.
#[derive(Clone, Debug)]
pub(crate) struct RequestInfo {
    /// What is to be done.
    pub(crate) verb: Verb,
    pub(crate) resource: Arc<ResourceType>,
    /// Where, as the client said it.
    pub(crate) path: ResourcePath,
    pub(crate) query: Query,
    /// Which form the body has and which the answer may have, and who asks.
    pub(crate) headers: HeaderMap,
}

impl RequestInfo {
    /// Who writes: `fieldManager`, or what stands before the first `/` of the user agent.
    /// Source: kube-apiserver 1.36 `managerOrUserAgent`.
    pub(crate) fn manager(&self) -> String {
        let named = self.query.text("fieldManager");
        if !named.is_empty() {
            return named.to_owned();
        }
        let agent = self.header("user-agent");
        agent.split('/').next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(128).collect()
    }

    /// A header as text; empty when it is not there or is no text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
