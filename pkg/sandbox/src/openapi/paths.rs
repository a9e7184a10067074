//! Paths: which operation there is on which address, and what it takes.

use serde_json::{Map, Value, json};

use super::{
    Dialect,
    definitions::{GVK, gvk, name_of},
};
use crate::{
    builtin,
    kinds::{ResourceType, Subresource},
};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// A parameter: its name and type.
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

/// One verb on an address.
struct Operation {
    /// The verb in discovery.
    verb: &'static str,
    method: &'static str,
    /// `x-kubernetes-action`.
    action: &'static str,
    /// The first word of the operation's id.
    word: &'static str,
    parameters: &'static [Parameter],
    takes: Takes,
    gives: Gives,
}

impl Operation {
    /// `deleteAppsV1CollectionNamespacedDeployment`.
    fn id(&self, target: &Target<'_>) -> String {
        let collection = if self.verb == "deletecollection" { "Collection" } else { "" };
        format!("{}{}{collection}{}", self.word, id_of_version(target.resource), target.id)
    }
}

/// The body of a request.
enum Takes {
    Nothing,
    Object,
    Patch,
    DeleteOptions,
}

/// The body of an answer.
enum Gives {
    Object,
    List,
    Status,
}

const COLLECTION: [Operation; 3] = [
    Operation {
        verb: "list",
        method: "get",
        action: "list",
        word: "list",
        parameters: LIST,
        takes: Takes::Nothing,
        gives: Gives::List,
    },
    Operation {
        verb: "create",
        method: "post",
        action: "post",
        word: "create",
        parameters: WRITE,
        takes: Takes::Object,
        gives: Gives::Object,
    },
    Operation {
        verb: "deletecollection",
        method: "delete",
        action: "deletecollection",
        word: "delete",
        parameters: DELETE,
        takes: Takes::DeleteOptions,
        gives: Gives::Status,
    },
];

const ITEM: [Operation; 4] = [
    Operation {
        verb: "get",
        method: "get",
        action: "get",
        word: "read",
        parameters: &[],
        takes: Takes::Nothing,
        gives: Gives::Object,
    },
    Operation {
        verb: "update",
        method: "put",
        action: "put",
        word: "replace",
        parameters: WRITE,
        takes: Takes::Object,
        gives: Gives::Object,
    },
    Operation {
        verb: "delete",
        method: "delete",
        action: "delete",
        word: "delete",
        parameters: DELETE,
        takes: Takes::DeleteOptions,
        gives: Gives::Status,
    },
    Operation {
        verb: "patch",
        method: "patch",
        action: "patch",
        word: "patch",
        parameters: PATCH,
        takes: Takes::Patch,
        gives: Gives::Object,
    },
];

/// What an address is about.
struct Target<'a> {
    resource: &'a ResourceType,
    /// The name of the definition that travels.
    definition: String,
    gvk: Value,
    /// The last words of the ids of its operations.
    id: String,
    /// A strategic merge patch is understood.
    strategic: bool,
}

/// The paths of a document.
pub(super) struct Paths {
    dialect: Dialect,
    values: Map<String, Value>,
}

impl Paths {
    /// None yet.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, values: Map::new() }
    }

    /// The paths by address.
    pub(super) fn into_value(self) -> Value {
        Value::Object(self.values)
    }

    /// Adds the addresses of a resource.
    pub(super) fn add(&mut self, resource: &ResourceType) {
        let prefix = if resource.group.is_empty() { "api" } else { "apis" };
        let base = format!("/{prefix}/{}", resource.api_version());
        let plural = &resource.plural;
        let scope = if resource.namespaced { "Namespaced" } else { "" };
        let id = format!("{scope}{}", resource.kind);
        let target = Target {
            resource,
            definition: name_of(resource),
            gvk: gvk(&resource.group, &resource.version, &resource.kind),
            strategic: resource.custom.is_none(),
            id,
        };
        let all = if resource.namespaced {
            let id = format!("{}ForAllNamespaces", resource.kind);
            let everywhere =
                Target { id, definition: target.definition.clone(), gvk: target.gvk.clone(), ..target };
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
            self.add_part(&item, &target, part, inner);
        }
    }

    fn add_part(&mut self, item: &str, owner: &Target<'_>, part: &Subresource, places: &[&str]) {
        let own = (&part.group, &part.version, &part.kind);
        let resource = owner.resource;
        let definition = if own == (&resource.group, &resource.version, &resource.kind) {
            owner.definition.clone()
        } else if let Some(shape) = builtin::shape_of(&part.group, &part.version, &part.kind) {
            builtin::shapes().get(shape).name.to_string()
        } else {
            return; // options of a connection, which is no operation on objects
        };
        // The operations of custom kinds are all about the custom kind.
        let gvk = if resource.custom.is_some() {
            owner.gvk.clone()
        } else {
            gvk(&part.group, &part.version, &part.kind)
        };
        let target =
            Target { resource, definition, gvk, id: owner.id.clone() + &capital(&part.name), ..*owner };
        let path = format!("{item}/{}", part.name);
        self.put(path.clone(), &target, &COLLECTION[1..2], &part.verbs, places);
        self.put(path, &target, &ITEM, &part.verbs, places);
    }

    /// Adds those of the operations that there are verbs for.
    fn put(
        &mut self,
        path: String,
        target: &Target<'_>,
        operations: &[Operation],
        verbs: &[std::sync::Arc<str>],
        places: &[&str],
    ) {
        let present =
            operations.iter().filter(|operation| verbs.iter().any(|verb| &**verb == operation.verb));
        let made: Vec<_> =
            present.map(|operation| (operation.method, self.operation(operation, target))).collect();
        if made.is_empty() {
            return;
        }
        let entry = self.values.entry(path).or_insert_with(|| json!({}));
        for (method, operation) in made {
            entry[method] = operation;
        }
        let places = places.iter().map(|name| self.dialect.parameter(name, "string", "path"));
        entry["parameters"] = places.chain([self.dialect.parameter("pretty", "string", "query")]).collect();
    }

    fn operation(&self, operation: &Operation, target: &Target<'_>) -> Value {
        let options = format!("{META}.DeleteOptions");
        let patch = format!("{META}.Patch");
        let (body, media): (Option<&str>, &[&str]) = match operation.takes {
            Takes::Nothing => (None, &[]),
            Takes::Object => (Some(&target.definition), &["*/*"]),
            Takes::DeleteOptions => (Some(&options), &["*/*"]),
            Takes::Patch if target.strategic => (Some(&patch), &PATCHES),
            Takes::Patch => (Some(&patch), &PATCHES[..3]),
        };
        let answer = match operation.gives {
            Gives::Object => target.definition.clone(),
            Gives::List => format!("{}List", target.definition),
            Gives::Status => format!("{META}.Status"),
        };
        let query = operation.parameters.iter();
        let mut parameters: Vec<_> =
            query.map(|(name, kind)| self.dialect.parameter(name, kind, "query")).collect();
        let mut value = json!({
            "operationId": operation.id(target),
            "x-kubernetes-action": operation.action,
            GVK: target.gvk,
        });
        let is_required = matches!(operation.takes, Takes::Object | Takes::Patch);
        if self.dialect == Dialect::V2 {
            if let Some(body) = body {
                let schema = self.dialect.reference(body);
                parameters
                    .push(json!({"name": "body", "in": "body", "required": is_required, "schema": schema}));
                value["consumes"] = media.into();
            }
            value["produces"] = json!(["application/json"]);
            value["responses"] =
                json!({"200": {"description": "OK", "schema": self.dialect.reference(&answer)}});
        } else {
            if let Some(body) = body {
                let schema = json!({"schema": self.dialect.reference(body)});
                let content: Map<_, _> =
                    media.iter().map(|media| ((*media).to_owned(), schema.clone())).collect();
                value["requestBody"] = json!({"content": content, "required": is_required});
            }
            let content = json!({"application/json": {"schema": self.dialect.reference(&answer)}});
            value["responses"] = json!({"200": {"description": "OK", "content": content}});
        }
        if !parameters.is_empty() {
            value["parameters"] = parameters.into();
        }
        value
    }
}

/// The forms of a patch; the last is understood for built-in kinds alone.
const PATCHES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

impl Dialect {
    fn parameter(self, name: &str, kind: &str, place: &str) -> Value {
        let mut value = match self {
            Self::V2 => json!({"name": name, "in": place, "type": kind, "uniqueItems": true}),
            Self::V3 => json!({"name": name, "in": place, "schema": {"type": kind, "uniqueItems": true}}),
        };
        if place == "path" {
            value["required"] = true.into();
        }
        value
    }
}

/// `AppsV1`, `RbacAuthorizationV1`, `ShopExampleComV1`.
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
