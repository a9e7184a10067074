//! An in-process client for the simulated controllers and the tests of this crate. The client uses the verbs of the
//! HTTP API, with defaulting, validation and managed fields, but without faults and audit.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    kinds::{Kinds, ResourceType},
    meta::{self, ObjectRef},
    request::options::{DeleteOptions, PropagationPolicy},
    server::Server,
    status::Status,
    store::{Key, ListOptions, ResourceName, Scope, StoredObject},
    verbs::{
        self, Call,
        call::WriteResult,
        object,
        patch::{Patch, PatchType},
    },
};

/// An in-process client that writes as one field manager.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    server: Arc<Server>,
    manager: Arc<str>,
}

impl Client {
    pub(crate) fn new(server: Arc<Server>, manager: &str) -> Self {
        Self { server, manager: manager.into() }
    }

    /// Returns the same client with another field manager.
    pub(crate) fn with_manager(&self, manager: &str) -> Self {
        Self::new(Arc::clone(&self.server), manager)
    }

    /// Returns the complete object in the preferred version of its kind: `None` if the object does not exist.
    pub(crate) fn get(&self, object: &ObjectRef) -> Option<Value> {
        let kinds = self.server.kinds();
        let resource = kinds.preferred(&object.group, &object.kind)?;
        let stored = self.server.store.get(&key(resource, &object.namespace, &object.name))?;
        Some(object::read(resource, &stored))
    }

    /// Returns a complete stored object in the preferred version of its kind: `None` if its resource is no longer
    /// served.
    pub(crate) fn read(&self, stored: &StoredObject) -> Option<Value> {
        let kinds = self.server.kinds();
        find(&kinds, &stored.key.resource).map(|resource| object::read(resource, stored))
    }

    /// Returns all objects of a kind in the preferred version, in one namespace or all. Empty if the kind is not
    /// served.
    pub(crate) fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Vec<Value> {
        let kinds = self.server.kinds();
        let Some(resource) = kinds.preferred(group, kind) else { return Vec::new() };
        let scope = Scope { resource: verbs::resource_name(resource), namespace: namespace.map(Arc::from) };
        // A list of the newest state cannot fail.
        let page = self.server.store.list(&scope, ListOptions::default());
        let items = page.map(|page| page.items).unwrap_or_default();
        items.iter().map(|stored| object::read(resource, stored)).collect()
    }

    /// The preferred `apiVersion` of a kind: `None` if the kind is not served.
    pub(crate) fn api_version(&self, group: &str, kind: &str) -> Option<String> {
        self.server.kinds().preferred(group, kind).map(|resource| resource.api_version())
    }

    /// Creates an object. `apiVersion` and `kind` of the object select the resource.
    pub(crate) async fn create(&self, object: Value) -> Result<Value, Status> {
        let kinds = self.server.kinds();
        let resource = resource_of(&kinds, &object)?;
        let namespace = meta::namespace(&object).to_owned();
        let mut call = self.call(kinds, resource);
        call.namespace = &namespace;
        Ok(verbs::create::create(&call, object).await?.into_value(&call))
    }

    /// Replaces an object; `resourceVersion`, if set, must be the newest.
    pub(crate) async fn update(&self, object: Value) -> Result<Value, Status> {
        self.update_subresource(object, "").await
    }

    pub(crate) async fn update_status(&self, object: Value) -> Result<Value, Status> {
        self.update_subresource(object, "status").await
    }

    /// Applies a configuration with server-side apply and takes over the fields of other managers.
    pub(crate) async fn apply(&self, configuration: Value) -> Result<Value, Status> {
        let kinds = self.server.kinds();
        let resource = resource_of(&kinds, &configuration)?;
        let patch = Patch::read(PatchType::Apply, configuration.to_string().as_bytes(), true)?;
        let mut call = self.call(kinds, resource);
        (call.namespace, call.name) = (meta::namespace(&configuration), meta::name(&configuration));
        let (written, _) = verbs::patch::patch(&call, &patch).await?;
        Ok(written.into_value(&call))
    }

    /// Deletes an object. Succeeds if the object does not exist.
    pub(crate) async fn delete(
        &self,
        object: &ObjectRef,
        propagation: PropagationPolicy,
    ) -> Result<(), Status> {
        self.delete_with(object, None, None, propagation).await
    }

    /// Deletes an object without a grace period, as a kubelet deletes a terminated Pod.
    pub(crate) async fn delete_now(&self, object: &ObjectRef) -> Result<(), Status> {
        self.delete_with(object, None, Some(0), PropagationPolicy::Background).await
    }

    /// Deletes an object as `delete` does, but only if its uid matches.
    pub(crate) async fn delete_if(
        &self,
        object: &ObjectRef,
        uid: &str,
        propagation: PropagationPolicy,
    ) -> Result<(), Status> {
        self.delete_with(object, Some(uid.to_owned()), None, propagation).await
    }

    /// Replaces the part of an object that a subresource may write (`status`, `finalize`, `scale`, …).
    pub(crate) async fn update_subresource(&self, object: Value, subresource: &str) -> Result<Value, Status> {
        let kinds = self.server.kinds();
        let resource = resource_of(&kinds, &object)?;
        let (namespace, name) = (meta::namespace(&object).to_owned(), meta::name(&object).to_owned());
        let mut call = self.call(kinds, resource);
        (call.namespace, call.name, call.subresource) = (&namespace, &name, subresource);
        if subresource == "scale" {
            return verbs::scale::update(&call, |_| Ok(object.clone())).await;
        }
        let (written, _): (WriteResult, bool) = verbs::update::update(&call, object).await?;
        Ok(written.into_value(&call))
    }

    /// The reference to the object with a store key: `None` if its resource is no longer served.
    pub(crate) fn object_ref(&self, key: &Key) -> Option<ObjectRef> {
        let kinds = self.server.kinds();
        let resource = find(&kinds, &key.resource)?;
        Some(reference(resource, key))
    }

    /// True if a kind is namespaced: `None` if the kind is not served.
    pub(crate) fn is_namespaced(&self, group: &str, kind: &str) -> Option<bool> {
        self.server.kinds().preferred(group, kind).map(|resource| resource.namespaced)
    }

    /// Every object in a namespace, sorted by resource and name.
    pub(crate) fn list_namespace(&self, namespace: &str) -> Vec<ObjectRef> {
        let kinds = self.server.kinds();
        let mut found = Vec::new();
        for name in self.server.store.resources() {
            let Some(resource) = find(&kinds, &name) else { continue };
            let scope = Scope { resource: name, namespace: Some(namespace.into()) };
            let page = self.server.store.list(&scope, ListOptions::default());
            let items = page.map(|page| page.items).unwrap_or_default();
            found.extend(items.iter().map(|stored| reference(resource, &stored.key)));
        }
        found
    }

    /// `plural.group` of the kind of an object, for messages (`configmaps.` for core, as the real controllers print).
    pub(crate) fn resource_name(&self, object: &ObjectRef) -> String {
        let kinds = self.server.kinds();
        let plural = kinds.preferred(&object.group, &object.kind).map(|resource| &*resource.plural);
        format!("{}.{}", plural.unwrap_or_default(), object.group)
    }

    /// The current time in the format of object fields.
    pub(crate) fn now(&self) -> String {
        self.server.clock.now()
    }

    pub(crate) fn timestamp(&self) -> jiff::Timestamp {
        self.server.clock.timestamp()
    }

    async fn delete_with(
        &self,
        object: &ObjectRef,
        uid: Option<String>,
        grace_period_seconds: Option<i64>,
        propagation: PropagationPolicy,
    ) -> Result<(), Status> {
        let kinds = self.server.kinds();
        let Some(resource) = kinds.preferred(&object.group, &object.kind).cloned() else { return Ok(()) };
        let mut call = self.call(kinds, resource);
        (call.namespace, call.name) = (&object.namespace, &object.name);
        let options = DeleteOptions {
            propagation_policy: Some(propagation),
            uid,
            grace_period_seconds,
            ..DeleteOptions::default()
        };
        match verbs::delete::delete(&call, &options).await {
            Ok(_) => Ok(()),
            Err(status) if status.code == 404 => Ok(()),
            Err(status) => Err(status),
        }
    }

    fn call(&self, kinds: Arc<Kinds>, resource: Arc<ResourceType>) -> Call<'_> {
        let mut call = Call::new(&self.server, kinds, resource);
        call.manager = &self.manager;
        call
    }
}

fn resource_of(kinds: &Kinds, object: &Value) -> Result<Arc<ResourceType>, Status> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
    kinds.find_kind(group, version, text("kind")).cloned().ok_or_else(Status::no_such_resource)
}

fn key(resource: &ResourceType, namespace: &str, name: &str) -> Key {
    let namespace = if resource.namespaced { namespace } else { "" };
    Key { resource: verbs::resource_name(resource), namespace: namespace.into(), name: name.into() }
}

fn find<'a>(kinds: &'a Kinds, name: &ResourceName) -> Option<&'a Arc<ResourceType>> {
    kinds.resources().iter().find(|r| r.plural == name.plural && r.group == name.group)
}

fn reference(resource: &ResourceType, key: &Key) -> ObjectRef {
    ObjectRef {
        group: resource.group.to_string(),
        kind: resource.kind.to_string(),
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
    }
}
