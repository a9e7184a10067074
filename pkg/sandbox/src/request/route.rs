//! Routing from a path such as `/api/v1/namespaces/a/pods/b/status` to a served resource, with the real server's errors
//! for unknown paths.

use std::sync::Arc;

use percent_encoding::percent_decode_str;

use super::Verb;
use crate::{
    kinds::{Kinds, ResourceType},
    status::Status,
};

/// A path without a resource.
#[derive(Debug)]
pub(crate) enum Unroutable {
    /// `404 page not found` in plain text: the real server's response if no handler took the request.
    PageNotFound,
    Status(Status),
}

/// Finds the resource at a path.
/// Source: kube-apiserver 1.36, measured. Built-in groups know their paths and methods in advance and answer with a
/// `Status`. Custom resources are looked up per request; paths they reject end at the plain page.
pub(crate) fn route(
    kinds: &Kinds,
    path: &ResourcePath,
    verb: Option<Verb>,
) -> Result<Arc<ResourceType>, Unroutable> {
    let Some(resource) = kinds.find(&path.group, &path.version, &path.plural) else {
        let built_in = kinds.resources().iter().any(|r| *r.group == path.group && r.custom.is_none());
        return Err(if built_in {
            Unroutable::Status(Status::no_such_resource())
        } else {
            Unroutable::PageNotFound
        });
    };
    if resource.custom.is_some() {
        custom(resource, path, verb)?;
    } else {
        built_in(resource, path, verb)?;
    }
    Ok(Arc::clone(resource))
}

fn built_in(resource: &ResourceType, path: &ResourcePath, verb: Option<Verb>) -> Result<(), Unroutable> {
    let missing = || Unroutable::Status(Status::no_such_resource());
    let across = resource.namespaced && path.namespace.is_empty();
    let wrong_scope = !resource.namespaced && !path.namespace.is_empty();
    // Only `proxy` has further path segments, and the sandbox has nothing to connect to.
    if wrong_scope || (across && !path.name.is_empty()) || !path.extra_segments.is_empty() {
        return Err(missing());
    }
    let word = verb.map(Verb::name).unwrap_or_default();
    let allowed = if path.subresource.is_empty() {
        let fits = match verb {
            Some(Verb::Create | Verb::List | Verb::DeleteCollection | Verb::Watch) => path.name.is_empty(),
            _ => !path.name.is_empty(),
        };
        let everywhere = !across || matches!(verb, Some(Verb::List | Verb::Watch));
        fits && everywhere && resource.verbs.iter().any(|verb| &**verb == word)
    } else {
        let subresource = resource.subresource(&path.subresource).ok_or_else(missing)?;
        subresource.verbs.iter().any(|verb| &**verb == word)
    };
    if allowed { Ok(()) } else { Err(Unroutable::Status(Status::method_not_allowed())) }
}

/// Checks the path and verb of a request for a custom resource.
/// Source: apiextensions-apiserver 1.36 `crdHandler.ServeHTTP`.
fn custom(resource: &ResourceType, path: &ResourcePath, verb: Option<Verb>) -> Result<(), Unroutable> {
    let across = resource.namespaced && path.namespace.is_empty();
    let wrong_scope = !resource.namespaced && !path.namespace.is_empty();
    let everywhere = matches!(verb, Some(Verb::List | Verb::Watch)) && path.name.is_empty();
    if wrong_scope || (across && !everywhere) {
        return Err(Unroutable::PageNotFound);
    }
    if !path.subresource.is_empty() {
        if resource.subresource(&path.subresource).is_none() {
            return Err(Unroutable::Status(Status::not_found(&resource.group, &resource.plural, &path.name)));
        }
        if !matches!(verb, Some(Verb::Get | Verb::Update | Verb::Patch)) {
            return Err(not_supported(resource, verb));
        }
    }
    match verb {
        None => Err(not_supported(resource, verb)),
        Some(Verb::Update | Verb::Patch) if path.name.is_empty() => {
            Err(Unroutable::Status(Status::bad_request("name must be provided")))
        }
        Some(_) => Ok(()),
    }
}

fn not_supported(resource: &ResourceType, verb: Option<Verb>) -> Unroutable {
    let what = crate::status::qualified(&resource.plural, &resource.group);
    let word = verb.map(Verb::name).unwrap_or_default();
    let message = format!("{word} is not supported on resources of kind \"{what}\"");
    let details = crate::status::Details {
        group: resource.group.to_string(),
        kind: resource.plural.to_string(),
        ..crate::status::Details::default()
    };
    Unroutable::Status(Status::new(405, "MethodNotAllowed", message).with_details(details))
}

/// A path below `/api/{version}/` or `/apis/{group}/{version}/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    /// The API group; empty for core.
    pub(crate) group: String,
    pub(crate) version: String,
    /// The namespace; empty for cluster-scoped objects and for all namespaces.
    pub(crate) namespace: String,
    pub(crate) plural: String,
    /// The object's name; empty for a collection.
    pub(crate) name: String,
    /// The subresource, such as `status`; empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) extra_segments: Vec<String>,
    /// True for the old form of a watch, with `watch/` before the resource.
    pub(crate) legacy_watch: bool,
}

impl ResourcePath {
    /// Parses a path. `None` if the path names no resource (`/version`, `/apis/apps/v1`).
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let mut parts = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| percent_decode_str(part).decode_utf8_lossy());
        let group = match parts.next()?.as_ref() {
            "api" => String::new(),
            "apis" => parts.next()?.into_owned(),
            _ => return None,
        };
        let version = parts.next()?.into_owned();
        let mut parts: Vec<String> = parts.map(std::borrow::Cow::into_owned).collect();
        let mut found = Self { group, version, ..Self::default() };
        if parts.len() > 1 && parts[0] == "watch" {
            found.legacy_watch = true;
            parts.remove(0);
        }
        // A namespace is a resource too: `namespaces/a` and `namespaces/a/status` name it. Other paths are inside it.
        let in_namespace = parts.len() > 2
            && parts[0] == "namespaces"
            && !matches!(parts[2].as_str(), "status" | "finalize");
        let mut parts = parts.into_iter();
        if in_namespace {
            found.namespace = parts.nth(1)?;
        }
        found.plural = parts.next()?;
        found.name = parts.next().unwrap_or_default();
        found.subresource = parts.next().unwrap_or_default();
        found.extra_segments = parts.collect();
        Some(found)
    }
}

#[cfg(test)]
mod path_tests {
    use super::*;

    fn read(path: &str) -> String {
        ResourcePath::parse(path).map_or("none".to_owned(), |path| {
            let ResourcePath {
                group,
                version,
                namespace,
                plural,
                name,
                subresource,
                extra_segments: rest,
                legacy_watch,
            } = path;
            format!(
                "{group}|{version}|{namespace}|{plural}|{name}|{subresource}|{}|{legacy_watch}",
                rest.join("/")
            )
        })
    }

    #[test]
    fn paths_are_parsed_into_group_version_and_resource() {
        for (path, parts) in [
            ("/api/v1/pods", "|v1||pods||||false"),
            ("/api/v1/namespaces/a/pods/b/status", "|v1|a|pods|b|status||false"),
            ("/api/v1/namespaces", "|v1||namespaces||||false"),
            ("/api/v1/namespaces/a", "|v1||namespaces|a|||false"),
            ("/api/v1/namespaces/a/finalize", "|v1||namespaces|a|finalize||false"),
            ("/apis/apps/v1/namespaces/a/deployments/", "apps|v1|a|deployments||||false"),
            ("/apis/x.io/v1/nodes/a%2Fb", "x.io|v1||nodes|a/b|||false"),
            ("/api/v1/watch/namespaces/a/pods", "|v1|a|pods||||true"),
            ("/api/v1/nodes/a/proxy/b/c", "|v1||nodes|a|proxy|b/c|false"),
            ("/apis/apps/v1", "none"),
            ("/version", "none"),
            ("/", "none"),
        ] {
            assert_eq!(read(path), parts, "{path}");
        }
    }
}
