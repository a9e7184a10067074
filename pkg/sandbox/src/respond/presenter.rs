//! Objects and lists in the requested form.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use http::Response;
use serde_json::{Map, Value, json};

use super::{Accepted, Body, Representation, response, value};
use crate::{
    kinds::ResourceType,
    status::{FieldError, Status},
    store::{Revision, StoredObject},
    table::{self, IncludeObject},
    verbs::object,
};

/// Formats objects of one resource in one form.
#[derive(Clone, Debug)]
pub(crate) struct Presenter {
    resource: Arc<ResourceType>,
    accepted: Accepted,
    include: IncludeObject,
    /// The current time for ages, in seconds since 1970.
    now: i64,
    type_meta_prefix: Bytes,
}

impl Presenter {
    /// Creates a presenter of this resource; `include` is the `includeObject` parameter.
    /// Errors: 400 if `include` is invalid.
    pub(crate) fn new(
        resource: Arc<ResourceType>,
        accepted: Accepted,
        include: &str,
        now: i64,
    ) -> Result<Self, Status> {
        let include = match include {
            "Object" => IncludeObject::Object,
            "None" => IncludeObject::None,
            "" | "Metadata" => IncludeObject::Metadata,
            _ if !matches!(accepted.representation, Representation::Table(_)) => IncludeObject::Metadata,
            other => {
                let detail = "must be 'Metadata', 'Object', 'None', or empty";
                let error = FieldError::invalid("includeObject", other, detail);
                return Err(Status::bad_request(format!("Unable to convert to Table as requested: {error}")));
            }
        };
        let opening = object::type_meta_prefix(&resource);
        Ok(Self { resource, accepted, include, now, type_meta_prefix: opening })
    }

    /// Returns a response with one stored object. The stored text is sent unchanged if the client requested exactly
    /// that form.
    /// Errors: 406 if the client requested a list.
    pub(crate) fn stored(&self, code: u16, stored: &StoredObject) -> Result<Response<Body>, Status> {
        let plain = self.accepted.representation == Representation::Full
            && !self.accepted.yaml
            && !self.accepted.pretty;
        if plain && object::is_current(&self.resource, stored) {
            let newline = Bytes::from_static(b"\n");
            let pieces = VecDeque::from([self.type_meta_prefix.clone(), stored.body.slice(1..), newline]);
            return Ok(response(code, "application/json", Body::pieces(pieces)));
        }
        self.object(code, object::read(&self.resource, stored))
    }

    /// Returns a response with one whole object of the resource.
    /// Errors: 406 if the client requested a list.
    pub(crate) fn object(&self, code: u16, object: Value) -> Result<Response<Body>, Status> {
        Ok(value(&self.accepted, code, &self.represent(object)?))
    }

    /// Returns a response with one page of a list.
    /// Errors: 406 if the client requested a single object.
    pub(crate) fn list(
        &self,
        items: &[Arc<StoredObject>],
        mut metadata: BTreeMap<&'static str, Value>,
    ) -> Result<Response<Body>, Status> {
        if self.resource.custom.is_some() && self.accepted.representation == Representation::Full {
            // A list of custom resources has no type that omits empty fields.
            metadata.entry("continue").or_insert_with(|| "".into());
        }
        let objects =
            || -> Vec<Value> { items.iter().map(|item| object::read(&self.resource, item)).collect() };
        match self.accepted.representation {
            Representation::Full if !self.accepted.yaml && !self.accepted.pretty => {
                Ok(self.text_of_list(items, &metadata))
            }
            Representation::Full => {
                let mut objects = objects();
                if self.resource.custom.is_none() {
                    // The type of a built-in list determines the type of its items.
                    objects.iter_mut().filter_map(Value::as_object_mut).for_each(untyped);
                }
                let list = json!({
                    "kind": &*self.resource.list_kind,
                    "apiVersion": self.resource.api_version(),
                    "metadata": metadata,
                    "items": objects,
                });
                Ok(value(&self.accepted, 200, &list))
            }
            Representation::Table(version) => {
                Ok(value(&self.accepted, 200, &self.table(version, &objects(), metadata)))
            }
            Representation::PartialList(version) => {
                let items: Vec<Value> =
                    objects().into_iter().map(|object| partial(version, object)).collect();
                let list = json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": format!("meta.k8s.io/{version}"),
                    "metadata": metadata,
                    "items": items,
                });
                Ok(value(&self.accepted, 200, &list))
            }
            Representation::PartialObject(_) => Err(Status::new(
                406,
                "NotAcceptable",
                format!(
                    "you requested PartialObjectMetadata, but the requested object is a list ({})",
                    self.go_type(&self.resource.list_kind)
                ),
            )),
        }
    }

    /// Returns an object of the resource in the requested form.
    /// Errors: 406 if the client requested a list.
    pub(crate) fn represent(&self, object: Value) -> Result<Value, Status> {
        match self.accepted.representation {
            Representation::Full => Ok(object),
            Representation::PartialObject(version) => Ok(partial(version, object)),
            Representation::Table(version) => {
                let revision = crate::meta::field(&object, "resourceVersion").cloned().unwrap_or_default();
                Ok(self.table(version, &[object], BTreeMap::from([("resourceVersion", revision)])))
            }
            Representation::PartialList(_) if self.resource.custom.is_some() => {
                Err(Status::internal_without_details("content is not a list"))
            }
            Representation::PartialList(_) => Err(Status::new(
                406,
                "NotAcceptable",
                format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                    self.go_type(&self.resource.kind)
                ),
            )),
        }
    }

    /// Appends one stored object in the form of a watch event.
    pub(crate) fn append(&self, out: &mut Vec<u8>, stored: &StoredObject) -> Result<(), Status> {
        if self.accepted.representation == Representation::Full && object::is_current(&self.resource, stored)
        {
            out.extend_from_slice(&self.type_meta_prefix);
            out.extend_from_slice(&stored.body[1..]);
        } else {
            object::write_json(out, &self.represent(object::read(&self.resource, stored))?);
        }
        Ok(())
    }

    /// Sets the current time for ages.
    pub(crate) fn set_now(&mut self, now: i64) {
        self.now = now;
    }

    /// True if the form is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.accepted.representation, Representation::Table(_))
    }

    fn table(&self, version: &str, objects: &[Value], metadata: BTreeMap<&str, Value>) -> Value {
        let mut table = table::table(&self.resource, objects, metadata, self.include, self.now);
        if version != "v1" {
            table["apiVersion"] = format!("meta.k8s.io/{version}").into();
        }
        table
    }

    /// Returns the Go type of the resource for messages.
    fn go_type(&self, kind: &str) -> String {
        match self.resource.group.split('.').next() {
            _ if self.resource.custom.is_some() => "*unstructured.Unstructured".to_owned(),
            None | Some("") => format!("*core.{kind}"),
            Some(package) => format!("*{package}.{kind}"),
        }
    }

    fn text_of_list(
        &self,
        items: &[Arc<StoredObject>],
        metadata: &BTreeMap<&'static str, Value>,
    ) -> Response<Body> {
        let head = json!({
            "kind": &*self.resource.list_kind,
            "apiVersion": self.resource.api_version(),
            "metadata": metadata,
        });
        let mut head = head.to_string();
        head.pop();
        head.push_str(",\"items\":[");
        let typed = self.resource.custom.is_some();
        let mut pieces = VecDeque::with_capacity(items.len() * 3 + 2);
        pieces.push_back(Bytes::from(head));
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                pieces.push_back(Bytes::from_static(b","));
            }
            if !object::is_current(&self.resource, item) {
                pieces.push_back(Bytes::from(object::read(&self.resource, item).to_string()));
            } else if typed {
                pieces.push_back(self.type_meta_prefix.clone());
                pieces.push_back(item.body.slice(1..));
            } else {
                pieces.push_back(item.body.clone());
            }
        }
        pieces.push_back(Bytes::from_static(b"]}\n"));
        response(200, "application/json", Body::pieces(pieces))
    }
}

fn untyped(object: &mut Map<String, Value>) {
    object.remove("apiVersion");
    object.remove("kind");
}

fn partial(version: &str, mut object: Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": object.get_mut("metadata").map(Value::take).unwrap_or_default(),
    })
}

pub(crate) fn list_metadata(
    revision: Revision,
    continue_token: Option<String>,
    remaining: Option<u64>,
) -> BTreeMap<&'static str, Value> {
    let mut metadata = BTreeMap::from([("resourceVersion", Value::from(revision.to_string()))]);
    if let Some(token) = continue_token {
        metadata.insert("continue", token.into());
        if let Some(remaining) = remaining.filter(|remaining| *remaining > 0) {
            metadata.insert("remainingItemCount", remaining.into());
        }
    }
    metadata
}
