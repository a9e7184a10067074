//! Routing from a path to a served resource, with the real server's errors for unknown paths.

use std::sync::Arc;

use super::{ResourcePath, Verb};
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
