//! Reads of one object, or of all objects of a kind.

use bytes::Bytes;
use manifest::{Map, Object, Value};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    ListQuery, Server, ServerVersion,
    call::{self, ApiCall},
    response::{self, RequestContext},
};
use crate::{ApiError, ApiKind};

const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

/// Objects, and the resource version of the list.
pub(super) struct Listed {
    pub(super) objects: Vec<Object>,
    pub(super) version: String,
}

impl Server {
    /// Returns the Kubernetes version. It tries once, because this is the first request to a server that may not exist.
    pub async fn version(&self) -> Result<ServerVersion, ApiError> {
        let call = ApiCall::get("read the version of the server", "/version");
        let Version { git_version } = self.parse(&call, &self.send_once(&call).await?)?;
        Ok(ServerVersion { git_version })
    }

    /// Reads one object. None if the object, or its kind, does not exist.
    pub async fn get(&self, kind: &ApiKind, namespace: &str, name: &str) -> Result<Option<Object>, ApiError> {
        let path = call::path(kind, &kind.version, namespace, name);
        let call = ApiCall::get(call::action("get", kind, namespace, name), path);
        match self.send(&call).await {
            Ok(bytes) => self.object(&call, &bytes).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads objects of a kind, page by page, and holds them all, unlike [`Server::pages`]. The objects have
    /// `apiVersion` and `kind`.
    pub async fn list(&self, kind: &ApiKind, list: &ListQuery) -> Result<Vec<Object>, ApiError> {
        Ok(self.list_with_version(kind, list).await?.objects)
    }

    pub(super) async fn list_with_version(
        &self,
        kind: &ApiKind,
        list: &ListQuery,
    ) -> Result<Listed, ApiError> {
        let mut pages = self.pages(kind, list);
        let objects = pages.gather(|objects: &mut Vec<Object>, object| objects.push(object)).await?;
        Ok(Listed { objects, version: pages.version })
    }

    pub(crate) fn object(&self, call: &ApiCall, bytes: &Bytes) -> Result<Object, ApiError> {
        response::object(self.request_context(call), bytes)
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self, call: &ApiCall, bytes: &Bytes) -> Result<T, ApiError> {
        response::json(self.request_context(call), bytes)
    }

    pub(super) fn request_context<'a>(&'a self, call: &'a ApiCall) -> RequestContext<'a> {
        RequestContext { action: &call.action, server: self.address() }
    }
}

/// Returns the request for a list, without parameters for pages.
pub(super) fn list_call(kind: &ApiKind, list: &ListQuery) -> ApiCall {
    let namespace = list.namespace.as_deref().unwrap_or_default();
    let path = call::path(kind, &kind.version, namespace, "");
    let of = crate::GroupKind::new(&*kind.group, &*kind.kind);
    let within = if namespace.is_empty() { String::new() } else { format!(" in namespace `{namespace}`") };
    let call = ApiCall::get(format!("list objects of kind `{of}`{within}"), path)
        .with("labelSelector", &list.labels)
        .with("fieldSelector", &list.fields);
    if list.metadata_only { call.accept(METADATA_LIST) } else { call }
}

/// Sets `apiVersion` and `kind`. Full objects of a list lack them, and metadata-only objects have others.
pub(super) fn with_kind(kind: &ApiKind, mut fields: Map<String, Value>) -> Object {
    fields.insert("apiVersion".to_owned(), kind.api_version().into());
    fields.insert("kind".to_owned(), (&*kind.kind).into());
    Object::from_map(fields)
}
