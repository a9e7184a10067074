//! Requests: the meaning of a path, a method and a query.
//!
//! ```text
//! path ─► path: group, version, plural, namespace, name, subresource
//!      └► route: the served resource, if it allows the method
//! query ─► options: the options of each verb      body ─► body: the object and its irregularities
//! ```

pub(crate) mod body;
pub(crate) mod options;
mod route;

use std::sync::Arc;

use http::{HeaderMap, Method};

use crate::kinds::ResourceType;
pub(crate) use options::Query;
pub(crate) use route::{ResourcePath, Unroutable, route};

/// An operation on resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    /// Reads all objects of a scope.
    List,
    /// Follows changes in a scope.
    Watch,
    Create,
    /// Replaces an object.
    Update,
    /// Changes parts of an object.
    Patch,
    Delete,
    /// Deletes all objects of a scope.
    DeleteCollection,
}

impl Verb {
    /// Returns the word for the verb in discovery, audit and faults.
    pub(crate) fn name(self) -> &'static str {
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

    pub(crate) fn from_name(word: &str) -> Option<Self> {
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
        all.into_iter().find(|verb| verb.name() == word)
    }

    /// Returns the verb of a method at a path. `None` if resources do not support the method.
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
    pub(crate) verb: Verb,
    pub(crate) resource: Arc<ResourceType>,
    /// The path as the client sent it.
    pub(crate) path: ResourcePath,
    pub(crate) query: Query,
    /// The headers, with content types, accepted types and the user agent.
    pub(crate) headers: HeaderMap,
}

impl RequestInfo {
    /// Returns the manager of a write: `fieldManager`, or the user agent up to its first `/`.
    /// Source: kube-apiserver 1.36 `managerOrUserAgent`.
    pub(crate) fn manager(&self) -> String {
        let named = self.query.text("fieldManager");
        if !named.is_empty() {
            return named.to_owned();
        }
        let agent = self.header("user-agent");
        agent.split('/').next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(128).collect()
    }

    /// Returns a header; empty if the header is missing or not text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
