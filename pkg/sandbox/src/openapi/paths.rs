//! Paths: the operations at each URL and their parameters.

use serde_json::{Map, Value, json};

use super::{
    definitions::{GVK, gvk, name_of},
    reference,
};
use crate::{
    builtin::{self, META},
    kinds::{ResourceType, Subresource},
};

type Parameter = (&'static str, &'static str);

const WRITE: &[Parameter] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
const PATCH: &[Parameter] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];
const DELETE: &[Parameter] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];
const LIST: &[Parameter] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];

/// One operation: the verb in discovery, the HTTP method, `x-kubernetes-action`, the first word of its id, its
/// parameters, and the bodies of request and response.
struct Operation(&'static str, &'static str, &'static str, &'static str, &'static [Parameter], Body, Body);

impl Operation {
    /// Returns the operation id, such as `deleteAppsV1CollectionNamespacedDeployment`.
    fn id(&self, target: &PathTarget<'_>) -> String {
        let collection = if self.0 == "deletecollection" { "Collection" } else { "" };
        format!("{}{}{collection}{}", self.3, id_of_version(target.resource), target.id)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Empty,
    Object,
    List,
    Patch,
    DeleteOptions,
    Status,
}

const COLLECTION: [Operation; 3] = [
    Operation("list", "get", "list", "list", LIST, Body::Empty, Body::List),
    Operation("create", "post", "post", "create", WRITE, Body::Object, Body::Object),
    Operation(
        "deletecollection",
        "delete",
        "deletecollection",
        "delete",
        DELETE,
        Body::DeleteOptions,
        Body::Status,
    ),
];

const ITEM: [Operation; 4] = [
    Operation("get", "get", "get", "read", &[], Body::Empty, Body::Object),
    Operation("update", "put", "put", "replace", WRITE, Body::Object, Body::Object),
    Operation("delete", "delete", "delete", "delete", DELETE, Body::DeleteOptions, Body::Status),
    Operation("patch", "patch", "patch", "patch", PATCH, Body::Patch, Body::Object),
];

/// The resource or subresource at a URL.
struct PathTarget<'a> {
    resource: &'a ResourceType,
    /// The name of the definition in request and response bodies.
    definition: String,
    gvk: Value,
    /// The last words of the operation ids.
    id: String,
    /// True if a strategic merge patch is supported.
    strategic: bool,
}

/// The paths of a document by URL.
#[derive(Default)]
pub(super) struct Paths(pub(super) Map<String, Value>);

impl Paths {
    pub(super) fn add(&mut self, resource: &ResourceType) {
        let prefix = if resource.group.is_empty() { "api" } else { "apis" };
        let base = format!("/{prefix}/{}", resource.api_version());
        let plural = &resource.plural;
        let scope = if resource.namespaced { "Namespaced" } else { "" };
        let id = format!("{scope}{}", resource.kind);
        let target = PathTarget {
            resource,
            definition: name_of(resource),
            gvk: gvk(&resource.group, &resource.version, &resource.kind),
            strategic: resource.custom.is_none(),
            id,
        };
        let all = if resource.namespaced {
            let id = format!("{}ForAllNamespaces", resource.kind);
            let everywhere =
                PathTarget { id, definition: target.definition.clone(), gvk: target.gvk.clone(), ..target };
            self.put(format!("{base}/{plural}"), &everywhere, &COLLECTION[..1], &resource.verbs, &[]);
            format!("{base}/namespaces/{{namespace}}/{plural}")
        } else {
            format!("{base}/{plural}")
        };
        let outer: &[&str] = if resource.namespaced { &["namespace"] } else { &[] };
        let inner: &[&str] = if resource.namespaced { &["name", "namespace"] } else { &["name"] };
        self.put(all.clone(), &target, &COLLECTION, &resource.verbs, outer);
        let item = format!("{all}/{{name}}");
        self.put(item.clone(), &target, &ITEM, &resource.verbs, inner);
        for part in &resource.subresources {
            self.add_subresource(&item, &target, part, inner);
        }
    }

    fn add_subresource(&mut self, item: &str, owner: &PathTarget<'_>, part: &Subresource, places: &[&str]) {
        let own = (&part.group, &part.version, &part.kind);
        let resource = owner.resource;
        let definition = if own == (&resource.group, &resource.version, &resource.kind) {
            owner.definition.clone()
        } else if let Some(shape) = builtin::find_definition(&part.group, &part.version, &part.kind) {
            shape.full_name()
        } else {
            return; // options of a connection, which is no operation on objects
        };
        // All operations of a custom resource name the custom kind.
        let gvk = if resource.custom.is_some() {
            owner.gvk.clone()
        } else {
            gvk(&part.group, &part.version, &part.kind)
        };
        let target =
            PathTarget { resource, definition, gvk, id: owner.id.clone() + &capital(&part.name), ..*owner };
        let path = format!("{item}/{}", part.name);
        self.put(path.clone(), &target, &COLLECTION[1..2], &part.verbs, places);
        self.put(path, &target, &ITEM, &part.verbs, places);
    }

    /// Adds the operations whose verbs are supported.
    fn put(
        &mut self,
        path: String,
        target: &PathTarget<'_>,
        operations: &[Operation],
        verbs: &[std::sync::Arc<str>],
        places: &[&str],
    ) {
        let present = operations.iter().filter(|operation| verbs.iter().any(|verb| &**verb == operation.0));
        let made: Vec<_> =
            present.map(|operation| (operation.1, operation_value(operation, target))).collect();
        if made.is_empty() {
            return;
        }
        let entry = self.0.entry(path).or_insert_with(|| json!({}));
        for (method, operation) in made {
            entry[method] = operation;
        }
        let places = places.iter().map(|name| parameter(name, "string", "path"));
        entry["parameters"] = places.chain([parameter("pretty", "string", "query")]).collect();
    }
}

fn operation_value(operation: &Operation, target: &PathTarget<'_>) -> Value {
    let Operation(_, _, action, _, query, takes, gives) = operation;
    let name = |body: Body| match body {
        Body::Empty | Body::Object => target.definition.clone(),
        Body::List => format!("{}List", target.definition),
        Body::Patch => format!("{META}.Patch"),
        Body::DeleteOptions => format!("{META}.DeleteOptions"),
        Body::Status => format!("{META}.Status"),
    };
    let media: &[&str] = match takes {
        Body::Empty => &[],
        Body::Patch if target.strategic => &PATCHES,
        Body::Patch => &PATCHES[..3],
        _ => &["*/*"],
    };
    let content = json!({"application/json": {"schema": reference(&name(*gives))}});
    let mut value = json!({
        "operationId": operation.id(target),
        "x-kubernetes-action": action,
        GVK: target.gvk,
        "responses": {"200": {"description": "OK", "content": content}},
    });
    if !media.is_empty() {
        let schema = json!({"schema": reference(&name(*takes))});
        let content: Map<_, _> = media.iter().map(|media| ((*media).to_owned(), schema.clone())).collect();
        value["requestBody"] = json!({"content": content, "required": *takes != Body::DeleteOptions});
    }
    if !query.is_empty() {
        value["parameters"] = query.iter().map(|(name, kind)| parameter(name, kind, "query")).collect();
    }
    value
}

/// The media types of patches. Only built-in kinds support the last one.
const PATCHES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

fn parameter(name: &str, kind: &str, place: &str) -> Value {
    let mut value = json!({"name": name, "in": place, "schema": {"type": kind, "uniqueItems": true}});
    if place == "path" {
        value["required"] = true.into();
    }
    value
}

/// Returns the version part of an operation id: `AppsV1`, `RbacAuthorizationV1`, `ShopExampleComV1`.
fn id_of_version(resource: &ResourceType) -> String {
    let group = match &*resource.group {
        "" => "core",
        group => group.strip_suffix(".k8s.io").unwrap_or(group),
    };
    let words: String = group.split(['.', '-']).map(capital).collect();
    words + &capital(&resource.version)
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
