//! Conversion of objects between stored text and JSON values.

use std::{io::Write as _, sync::Arc};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::kind;
use crate::{
    depth,
    kinds::ResourceType,
    meta,
    status::Status,
    store::{Draft, Revision, StoredObject},
};

const INVARIANT: &str = "the store holds objects that were written as JSON here";

/// Returns the text before the stored text of a served object: `{"apiVersion":"v1","kind":"ConfigMap",`.
pub(crate) fn type_meta_prefix(resource: &ResourceType) -> Bytes {
    let mut text = Vec::with_capacity(64);
    text.extend_from_slice(b"{\"apiVersion\":");
    write_json(&mut text, &Value::String(resource.api_version()));
    text.extend_from_slice(b",\"kind\":");
    write_json(&mut text, &Value::String(resource.kind.to_string()));
    text.push(b',');
    text.into()
}

/// True if the stored text can be served unchanged for this resource. A custom resource of another version, or of an
/// older definition, must first be pruned and defaulted.
pub(crate) fn is_current(resource: &ResourceType, stored: &StoredObject) -> bool {
    resource.custom.as_ref().is_none_or(|custom| {
        stored.version == resource.version && stored.schema_generation == custom.generation
    })
}

/// Returns the object in the form that this resource serves.
pub(crate) fn read(resource: &ResourceType, stored: &StoredObject) -> Value {
    let mut object: Map<String, Value> = serde_json::from_slice(&stored.body).expect(INVARIANT);
    object.insert("apiVersion".to_owned(), resource.api_version().into());
    object.insert("kind".to_owned(), (&*resource.kind).into());
    let mut object = Value::Object(object);
    if !is_current(resource, stored) {
        kind::convert(resource, &stored.version, &mut object);
    }
    object
}

/// True if an object equals the stored one; `live` is the stored object in the form that this resource serves.
pub(crate) fn is_stored(
    resource: &ResourceType,
    stored: &StoredObject,
    live: &Value,
    object: &Value,
) -> bool {
    let Some(converted) = kind::storage_form(resource, object) else {
        return object == live && is_current(resource, stored);
    };
    let there: Map<String, Value> = serde_json::from_slice(&stored.body).expect(INVARIANT);
    let content = |name: &str| !matches!(name, "apiVersion" | "kind");
    let fields = converted.as_object().into_iter().flatten();
    stored.version == resource.storage_version
        && resource.custom.as_ref().is_none_or(|custom| stored.schema_generation == custom.generation)
        && fields.filter(|(name, _)| content(name)).eq(there.iter().filter(|(name, _)| content(name)))
}

pub(crate) fn read_metadata(stored: &StoredObject) -> Value {
    #[derive(serde::Deserialize)]
    struct Partial {
        metadata: Value,
    }
    serde_json::from_slice::<Partial>(&stored.body).expect(INVARIANT).metadata
}

/// Returns an object with only the stored status.
pub(crate) fn read_status(stored: &StoredObject) -> Value {
    #[derive(serde::Deserialize)]
    struct Partial {
        #[serde(default)]
        status: Value,
    }
    json!({"status": serde_json::from_slice::<Partial>(&stored.body).expect(INVARIANT).status})
}

/// Returns the revision in an object. `None` for an empty revision or 0.
pub(crate) fn revision_of(object: &Value) -> Result<Option<Revision>, String> {
    parse_revision(meta::text(object, "resourceVersion"))
}

/// Parses a revision. `None` for an empty text or 0.
pub(crate) fn parse_revision(text: &str) -> Result<Option<Revision>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse() {
        Ok(0) => Ok(None),
        Ok(number) => Ok(Some(Revision(number))),
        Err(_) => Err(format!("strconv.ParseUint: parsing {}: invalid syntax", crate::go::quoted(text))),
    }
}

/// The text of an object without its revision. The revision is inserted while other commits wait, so that step must be
/// cheap.
#[derive(Debug)]
pub(crate) struct EncodedObject {
    before: Vec<u8>,
    after: Vec<u8>,
    draft: Draft,
}

impl EncodedObject {
    /// Encodes an object in its stored form, without its revision.
    /// Errors: 400 if the object exceeds the maximum readable depth.
    pub(crate) fn new(resource: &ResourceType, object: &Value) -> Result<Self, Status> {
        let converted = kind::storage_form(resource, object);
        let (object, version) = match &converted {
            Some(converted) => (converted, &resource.storage_version),
            None => (object, &resource.version),
        };
        if !depth::fits(object, depth::MAX_DEPTH) {
            return Err(Status::bad_request("exceeded max depth"));
        }
        let mut after = Vec::with_capacity(512);
        after.push(b'"');
        let nothing = Map::new();
        let fields = object.as_object().unwrap_or(&nothing);
        let metadata = fields.get("metadata").and_then(Value::as_object).unwrap_or(&nothing);
        write_fields(&mut after, metadata, &["resourceVersion"]);
        after.push(b'}');
        write_fields(&mut after, fields, &["apiVersion", "kind", "metadata"]);
        after.push(b'}');
        Ok(Self {
            before: b"{\"metadata\":{\"resourceVersion\":\"".to_vec(),
            after,
            draft: Draft {
                version: Arc::clone(version),
                schema_generation: resource.custom.as_ref().map_or(0, |custom| custom.generation),
                body: Vec::new(),
                labels: meta::labels(object),
            },
        })
    }

    pub(crate) fn with_revision(mut self, revision: Revision) -> Draft {
        let mut body = self.before;
        // Writing to a vector cannot fail.
        let _ = write!(body, "{revision}");
        body.append(&mut self.after);
        Draft { body, ..self.draft }
    }
}

fn write_fields(out: &mut Vec<u8>, fields: &Map<String, Value>, without: &[&str]) {
    for (name, value) in fields.iter().filter(|(name, _)| !without.contains(&name.as_str())) {
        out.push(b',');
        write_json(out, &Value::String(name.clone()));
        out.push(b':');
        write_json(out, value);
    }
}

/// Appends a value as compact JSON.
pub(crate) fn write_json(out: &mut Vec<u8>, value: &Value) {
    serde_json::to_writer(out, value).expect("a JSON value can be written, and a vector takes all of it");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{ControllerSwitches, Options, Sandbox};

    #[tokio::test]
    async fn an_object_over_the_depth_limit_is_not_stored() {
        let options = Options { controllers: ControllerSwitches::none(), ..Options::default() };
        let sandbox = Sandbox::start(options).await.unwrap();
        let client = sandbox.client("test");
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.ex.dev"},
            "spec": {
                "group": "ex.dev", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                }],
            },
        });
        client.create(definition).await.unwrap();
        // The managed fields repeat the fields of an object at a greater depth.
        for (levels, stored) in [(100, true), (124, false), (300, false)] {
            let deep = (0..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
            let thing = json!({
                "apiVersion": "ex.dev/v1", "kind": "Thing", "metadata": {"name": format!("t{levels}")}, "a": deep,
            });
            let outcome = client.create(thing).await;
            assert_eq!(outcome.is_ok(), stored, "{levels}");
            assert!(outcome.is_ok_and(|thing| thing["a"] == deep) || !stored);
        }
        assert_eq!(client.list("ex.dev", "Thing", None).len(), 1);
    }
}
