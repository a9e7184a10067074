//! Requests: method, path and body.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{ApiKind, ObjectKey, RequestEffect};

/// Characters of a path segment, or of a query value, that need no encoding.
const URL_SAFE: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

pub(super) const JSON: &str = "application/json";
/// The size above which a small control plane needs more time for a body.
const LARGE_BYTES: usize = 256 * 1024;
/// The time limit of requests for a lease. A renewal must be retried soon, because the lease expires.
const LEASE_TIMEOUT: Duration = Duration::from_secs(10);

/// A request that can be sent repeatedly.
#[derive(Clone)]
pub(crate) struct ApiCall {
    /// The action for messages, such as `apply Deployment ns/name`.
    pub(crate) action: String,
    pub(super) method: Method,
    pub(super) path: String,
    query: String,
    pub(super) accept: &'static str,
    pub(super) body: Option<Payload>,
    /// True if the answer is a stream.
    pub(super) is_stream: bool,
    /// True if the body has secrets that must not be shown.
    pub(super) is_secret: bool,
    /// The effect on the cluster.
    pub(super) effect: RequestEffect,
}

/// The mode of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// The server stores the result.
    #[default]
    Real,
    /// The server returns the result without storing it.
    DryRun,
}

#[derive(Clone)]
pub(super) struct Payload {
    pub(super) content_type: &'static str,
    pub(super) bytes: Bytes,
}

impl ApiCall {
    pub(crate) fn new(method: Method, action: impl Into<String>, path: impl Into<String>) -> Self {
        let effect = if method == Method::GET { RequestEffect::None } else { RequestEffect::Write };
        Self {
            action: action.into(),
            method,
            path: path.into(),
            query: String::new(),
            accept: JSON,
            body: None,
            is_stream: false,
            is_secret: false,
            effect,
        }
    }

    pub(crate) fn get(action: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(Method::GET, action, path)
    }

    /// Adds a parameter; an empty value adds nothing.
    pub(crate) fn with(mut self, key: &str, value: &str) -> Self {
        if !value.is_empty() {
            let separator = if self.query.is_empty() { '?' } else { '&' };
            self.query.push(separator);
            self.query.push_str(key);
            self.query.push('=');
            self.query.extend(utf8_percent_encode(value, URL_SAFE));
        }
        self
    }

    pub(crate) fn accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub(crate) fn body(mut self, content_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some(Payload { content_type, bytes: bytes.into() });
        self
    }

    /// Marks a request as a read, whatever its method.
    pub(crate) fn read_only(mut self) -> Self {
        self.effect = RequestEffect::None;
        self
    }

    /// Marks a request for the lease itself.
    pub(crate) fn for_lease(mut self) -> Self {
        self.effect = RequestEffect::Lease;
        self
    }

    /// Marks a write as stored or as a dry run.
    pub(super) fn in_mode(self, mode: WriteMode) -> Self {
        match mode {
            WriteMode::Real => self,
            WriteMode::DryRun => self.with("dryRun", "All").read_only(),
        }
    }

    pub(super) fn streaming(mut self) -> Self {
        self.is_stream = true;
        self
    }

    /// Notes if the body is a Secret.
    pub(super) fn for_kind(mut self, kind: &ApiKind) -> Self {
        self.is_secret = kind.group.is_empty() && kind.kind == "Secret";
        self
    }

    /// Returns path and query.
    pub(super) fn target(&self) -> String {
        format!("{}{}", self.path, self.query)
    }

    pub(super) fn is_large(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.bytes.len() > LARGE_BYTES)
    }

    /// Returns the time limit of one try.
    pub(super) fn timeout(&self, usual: Duration) -> Duration {
        match self.effect {
            RequestEffect::Lease => usual.min(LEASE_TIMEOUT),
            _ if self.is_large() => usual * 4,
            _ => usual,
        }
    }
}

/// Returns the path of an object in one version of its kind. An empty name stands for all objects of the kind, an empty
/// namespace for all namespaces.
pub(crate) fn path(kind: &ApiKind, version: &str, namespace: &str, name: &str) -> String {
    let mut path = String::new();
    let mut push = |part: &str| {
        path.push('/');
        path.extend(utf8_percent_encode(part, URL_SAFE));
    };
    if kind.group.is_empty() {
        push("api");
    } else {
        push("apis");
        push(&kind.group);
    }
    push(version);
    if kind.namespaced && !namespace.is_empty() {
        push("namespaces");
        push(namespace);
    }
    push(&kind.plural);
    if !name.is_empty() {
        push(name);
    }
    path
}

/// Describes an action on an object.
pub(crate) fn action(verb: &str, kind: &ApiKind, namespace: &str, name: &str) -> String {
    let key = ObjectKey {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    format!("{verb} {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, plural: &str, namespaced: bool) -> ApiKind {
        let (group, plural) = (group.to_owned(), plural.to_owned());
        ApiKind { group, version: "v1".into(), kind: "Thing".into(), plural, namespaced, verbs: Vec::new() }
    }

    #[test]
    fn paths_follow_the_kubernetes_api() {
        let (pods, roles, things) =
            (kind("", "pods", true), kind("rbac.x.io", "clusterroles", false), kind("x.io", "things", true));
        for (kind, namespace, name, expected) in [
            (&pods, "a", "b", "/api/v1/namespaces/a/pods/b"),
            (&pods, "a", "", "/api/v1/namespaces/a/pods"),
            (&pods, "", "", "/api/v1/pods"),
            (&roles, "", "system:node", "/apis/rbac.x.io/v1/clusterroles/system:node"),
            (&roles, "a", "x", "/apis/rbac.x.io/v1/clusterroles/x"),
            (&things, "a", "b/../c?d", "/apis/x.io/v1/namespaces/a/things/b%2F..%2Fc%3Fd"),
        ] {
            assert_eq!(path(kind, "v1", namespace, name), expected);
        }
    }

    #[test]
    fn parameters_are_escaped_and_empty_ones_omitted() {
        let call = ApiCall::get("x", "/api")
            .with("a", "")
            .with("labelSelector", "a=b,c in (d e)")
            .with("limit", "5");
        assert_eq!(call.target(), "/api?labelSelector=a%3Db%2Cc%20in%20%28d%20e%29&limit=5");
    }
}
