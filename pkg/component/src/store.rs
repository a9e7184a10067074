//! The storage of Components on a cluster: objects of their kind, or Secrets if the cluster has no such kind.

mod records;

use std::{collections::BTreeSet, fmt};

use api::labels::FIELD_MANAGER;
use apply::{
    ApiError, ApiKind, ApplyRequest, ApplySet, ApplySetItem, ApplySetStore, Event, GroupKind, ListQuery,
    ObjectRevision, PatchTarget, Server, Written, key_of,
};
use futures::{FutureExt as _, future::BoxFuture, lock::Mutex};
use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;

use self::records::Records;
use crate::{
    Component, ComponentKey, ComponentStatus, GROUP, InventoryItem, KIND, RECONCILER, check_component,
};

/// The annotation with the time of a requested step, as Flux names it.
const STEP_REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";
/// The number of Components in one request for all.
const PAGE: usize = 250;
/// The size above which a record keeps digests of the applied fields instead of the fields.
const MAX_BYTES_WITH_FIELDS: usize = 512 * 1024;
/// The size of the data of a Secret that Kubernetes accepts.
const MAX_SECRET_BYTES: usize = 1024 * 1024;
/// The size of an object that etcd accepts, without 64 KiB for metadata.
const MAX_OBJECT_BYTES: usize = (1536 - 64) * 1024;

/// The fields of metadata that a server sets.
pub(crate) const SERVER_FIELDS: [&str; 6] =
    ["generation", "resourceVersion", "uid", "managedFields", "creationTimestamp", "deletionTimestamp"];

/// The Components of a cluster.
#[derive(Debug, Default)]
pub struct StoredComponents {
    /// The Components, sorted by namespace and name.
    pub components: Vec<Component>,
    /// The Components that this program cannot read.
    pub unreadable: Vec<UnreadableComponent>,
}

/// A Component of a cluster that this program cannot read, such as one with a field of another type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read Component `{component}`: {problem}")]
#[allow(missing_docs)]
pub struct UnreadableComponent {
    pub component: ComponentKey,
    pub problem: String,
}

/// An error of the storage of Components.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum StoreError {
    #[error("the cluster has Components that cannot be read")]
    Unreadable { components: Vec<UnreadableComponent> },
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl From<UnreadableComponent> for StoreError {
    fn from(component: UnreadableComponent) -> Self {
        Self::Unreadable { components: vec![component] }
    }
}

impl StoredComponents {
    /// Returns all Components, for decisions that need every Component.
    /// # Errors
    /// `Unreadable` if a Component cannot be read.
    pub fn readable(self) -> Result<Vec<Component>, StoreError> {
        if self.unreadable.is_empty() {
            return Ok(self.components);
        }
        Err(StoreError::Unreadable { components: self.unreadable })
    }

    fn add(&mut self, read: Result<Component, UnreadableComponent>) {
        match read {
            Ok(component) => self.components.push(component),
            Err(unreadable) => self.unreadable.push(unreadable),
        }
    }

    /// Returns the keys of all Components.
    pub fn keys(&self) -> BTreeSet<ComponentKey> {
        let unreadable = self.unreadable.iter().map(|one| one.component.clone());
        self.components.iter().map(ComponentKey::of).chain(unreadable).collect()
    }
}

/// The storage of the Components of a cluster.
#[derive(Clone)]
pub struct ComponentStore {
    server: Server,
    /// The kind Component. `None` if the cluster does not serve it; then Secrets record Components.
    kind: Option<ApiKind>,
    /// On a cluster that serves the kind, they are from the time before its definition.
    records: Records,
    namespaces: ApiKind,
}

impl fmt::Debug for ComponentStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentStore")
            .field("has_definition", &self.has_definition())
            .finish_non_exhaustive()
    }
}

impl ComponentStore {
    /// Looks for the kind Component on a cluster.
    pub async fn open(server: &Server) -> Result<Self, ApiError> {
        let kinds = server.kinds().await?;
        let kind = kinds.preferred(&GroupKind::new(GROUP, KIND)).cloned();
        Ok(Self {
            kind,
            records: Records::open(server).await?,
            namespaces: server.kind(&GroupKind::new("", "Namespace")).await?,
            server: server.clone(),
        })
    }

    /// Returns the storage for commands that only show Components. With the kind, they need no permission for Secrets.
    #[must_use]
    pub fn for_reading(self) -> Self {
        if self.has_definition() { Self { records: self.records.if_permitted(), ..self } } else { self }
    }

    /// Looks for records when one is first needed. Without any, the storage never looks again, because no new ones are written
    /// beside the kind.
    #[must_use]
    pub fn looking_once_for_records(self) -> Self {
        Self { records: self.records.looking_once(), ..self }
    }

    /// True if the cluster serves the kind Component.
    pub fn has_definition(&self) -> bool {
        self.kind.is_some()
    }

    /// Returns the size of a Component that the cluster accepts.
    pub(crate) fn max_bytes(&self) -> usize {
        if self.has_definition() { MAX_OBJECT_BYTES } else { MAX_SECRET_BYTES }
    }

    /// Returns all Components.
    pub async fn list(&self) -> Result<StoredComponents, ApiError> {
        self.list_in(None).await
    }

    /// Returns the Components of one namespace, or of all.
    pub async fn list_in(&self, namespace: Option<&str>) -> Result<StoredComponents, ApiError> {
        let all = ListQuery { namespace: namespace.map(str::to_owned), ..ListQuery::default() };
        let add = |stored: &mut StoredComponents, object| stored.add(Component::from_server(object));
        let mut stored = match &self.kind {
            // Objects are larger than Components, so they are not held all at once.
            Some(kind) => self.server.pages(kind, &all).with_size(PAGE).gather(add).await?,
            None => StoredComponents::default(),
        };
        // Components that were applied before the kind was installed.
        let known = stored.keys();
        for record in self.records.list(namespace).await? {
            let key = records::key_of(&record);
            if !known.contains(&key) {
                stored.add(records::read(&record));
            } else if let Some(new) = stored.components.iter_mut().find(|one| ComponentKey::of(one) == key) {
                stored.unreadable.extend(take_over(new, &record).err());
            }
        }
        stored.components.sort_by_key(ComponentKey::of);
        Ok(stored)
    }

    /// True if Secrets record Components, such as those that were applied before the kind was installed.
    pub(crate) async fn has_records(&self) -> Result<bool, ApiError> {
        self.records.exist().await
    }

    /// Returns one Component.
    /// # Errors
    /// `Unreadable`, or the failure of the server.
    pub async fn get(&self, key: &ComponentKey) -> Result<Option<Component>, StoreError> {
        if let Some(kind) = &self.kind
            && let Some(found) = self.server.get(kind, &key.namespace, &key.name).await?
        {
            let mut component = Component::from_server(found)?;
            self.take_over_record(&mut component).await?;
            return Ok(Some(component));
        }
        Ok(self.records.get(key).await?.as_ref().map(records::read).transpose()?)
    }

    /// Gives a new Component the status of its record, which is from before the kind was installed.
    /// # Errors
    /// `Unreadable` if the record cannot be read, or the failure of the server.
    pub(crate) async fn take_over_record(&self, component: &mut Component) -> Result<(), StoreError> {
        if is_new(component)
            && let Some(record) = self.records.get(&ComponentKey::of(component)).await?
        {
            take_over(component, &record)?;
        }
        Ok(())
    }

    /// Stores the desired state of a Component, and creates its namespace if it is missing. Returns the stored
    /// Component, with its generation and status.
    /// # Errors
    /// `Unreadable` if the stored Component cannot be read, or the failure of the server.
    pub async fn save(&self, object: &Object) -> Result<Component, StoreError> {
        let key = ComponentKey { namespace: object.namespace().to_owned(), name: object.name().to_owned() };
        let former = self.get(&key).await?;
        self.save_over(object, former.as_ref()).await
    }

    /// Stores the desired state of a Component like [`ComponentStore::save`]. `former` is the stored Component.
    /// # Errors
    /// Those of [`ComponentStore::save`].
    pub async fn save_over(
        &self,
        object: &Object,
        former: Option<&Component>,
    ) -> Result<Component, StoreError> {
        match self.store(object, former).await {
            Err(StoreError::Api(error)) if error.is_not_found() => {
                self.create_namespace(object.namespace()).await?;
                self.store(object, former).await
            }
            stored => stored,
        }
    }

    async fn store(&self, object: &Object, former: Option<&Component>) -> Result<Component, StoreError> {
        let Some(kind) = &self.kind else {
            let component = renewed(object, former);
            self.save_status(&component).await?;
            return Ok(component);
        };
        let mut desired = object.clone();
        desired.as_map_mut().remove("status");
        if let Some(Value::Object(metadata)) = desired.as_map_mut().get_mut("metadata") {
            metadata.retain(|field, _| !SERVER_FIELDS.contains(&field.as_str()));
            metadata.insert("finalizers".to_owned(), json!([RECONCILER]));
        }
        if former.is_some_and(Component::is_object) {
            self.replace_spec(kind, &desired).await?;
        }
        let stored = self.server.apply(kind, &desired, FIELD_MANAGER, ApplyRequest::default()).await?;
        let mut component = Component::from_server(stored)?;
        let has_status = !is_new(&component);
        self.take_over_record(&mut component).await?;
        if !has_status && !is_new(&component) {
            self.hand_record_over(&mut component).await?;
        }
        self.records.delete(&ComponentKey::of(&component)).await?;
        Ok(component)
    }

    /// Stores the status that a new Component has from its record, unless a controller has taken the record over.
    async fn hand_record_over(&self, component: &mut Component) -> Result<(), StoreError> {
        loop {
            match self.replace_status(component).await {
                Err(error) if error.is_conflict() => {}
                replaced => return Ok(replaced?),
            }
            let key = ComponentKey::of(component);
            let Some(kind) = self.kind_of(component) else { return Ok(()) };
            // The next try reports a Component that is gone.
            let Some(live) = self.server.get(kind, &key.namespace, &key.name).await? else { continue };
            let live = Component::from_server(live)?;
            if !is_new(&live) {
                *component = live;
                return Ok(());
            }
            component.metadata = live.metadata;
        }
    }

    /// Replaces the spec of an existing Component. Server-side apply alone keeps fields of other managers, such as kubectl.
    async fn replace_spec(&self, kind: &ApiKind, desired: &Object) -> Result<(), ApiError> {
        let patch = json!([{"op": "add", "path": "/spec", "value": desired.get(&["spec"])}]);
        let (namespace, name) = (desired.namespace(), desired.name());
        match self.server.patch(kind, namespace, name, &patch, FIELD_MANAGER, PatchTarget::Object).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    /// Stores the status of a Component.
    pub async fn save_status(&self, component: &Component) -> Result<(), ApiError> {
        let key = ComponentKey::of(component);
        if let Some(kind) = self.kind_of(component) {
            let patch = json!([{"op": "add", "path": "/status", "value": component.status}]);
            let (namespace, name) = (&key.namespace, &key.name);
            self.server.patch(kind, namespace, name, &patch, FIELD_MANAGER, PatchTarget::Status).await?;
            return Ok(());
        }
        self.records.save(component).await
    }

    /// Returns the kind of a Component. `None` if a Secret records the Component.
    fn kind_of(&self, component: &Component) -> Option<&ApiKind> {
        self.kind.as_ref().filter(|_| component.is_object())
    }

    /// Stores the status of a Component onto the revision that was read. Its metadata becomes that of the new revision.
    /// # Errors
    /// A conflict if the Component has changed since it was read.
    pub(crate) async fn replace_status(&self, component: &mut Component) -> Result<(), ApiError> {
        let Some(kind) = self.kind_of(component) else { return self.save_status(component).await };
        let patch = json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": component.resource_version()},
            {"op": "add", "path": "/status", "value": component.status},
        ]);
        self.patch(kind, component, &patch, PatchTarget::Status).await
    }

    /// Adds the finalizer to a Component, so that its objects are deleted before it.
    /// # Errors
    /// A conflict if the Component has changed since it was read.
    pub(crate) async fn add_finalizer(&self, component: &mut Component) -> Result<(), ApiError> {
        if component.finalizers().any(|finalizer| finalizer == RECONCILER) {
            return Ok(());
        }
        let finalizers = component.finalizers().chain([RECONCILER]).map(str::to_owned).collect();
        self.set_finalizers(component, finalizers).await
    }

    /// Removes the finalizer from a Component whose objects are gone, and its record.
    /// # Errors
    /// A conflict if the Component has changed since it was read.
    pub(crate) async fn remove_finalizer(&self, component: &mut Component) -> Result<(), ApiError> {
        self.drop_record(&ComponentKey::of(component)).await?;
        let others = component.finalizers().filter(|one| *one != RECONCILER).map(str::to_owned).collect();
        match self.set_finalizers(component, others).await {
            Err(error) if error.is_not_found() => Ok(()),
            removed => removed,
        }
    }

    async fn set_finalizers(
        &self,
        component: &mut Component,
        finalizers: Vec<String>,
    ) -> Result<(), ApiError> {
        let Some(kind) = &self.kind else { return Ok(()) };
        let version = component.resource_version();
        let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}});
        self.patch(kind, component, &patch, PatchTarget::Object).await
    }

    async fn patch(
        &self,
        kind: &ApiKind,
        component: &mut Component,
        patch: &Value,
        of: PatchTarget,
    ) -> Result<(), ApiError> {
        let (namespace, name) = (component.namespace(), component.name());
        let patched = self.server.patch(kind, namespace, name, patch, FIELD_MANAGER, of).await?;
        let mut patched = without_managed_fields(patched);
        if let Some(Value::Object(metadata)) = patched.as_map_mut().remove("metadata") {
            component.metadata = metadata;
        }
        Ok(())
    }

    /// Requests a step of the controller, whose result does not depend on a change of the Component.
    pub(crate) async fn request_step(&self, key: &ComponentKey) -> Result<(), ApiError> {
        let Some(kind) = &self.kind else { return Ok(()) };
        let patch = json!({"metadata": {"annotations": {STEP_REQUESTED_AT: Timestamp::now().to_string()}}});
        self.server
            .patch(kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object)
            .await?;
        Ok(())
    }

    /// Requests the deletion of a Component. Its finalizer keeps it until [`ComponentStore::remove`]. Returns the finalizers
    /// of other programs.
    pub async fn begin_deletion(&self, key: &ComponentKey) -> Result<Vec<String>, ApiError> {
        let Some(kind) = &self.kind else { return Ok(Vec::new()) };
        let (namespace, name) = (&key.namespace, &key.name);
        let Some(found) = self.server.get(kind, namespace, name).await? else { return Ok(Vec::new()) };
        let others = other_finalizers(&found);
        if found.get(&["metadata", "deletionTimestamp"]).is_some() {
            return Ok(others);
        }
        let finalizers = found.get(&["metadata", "finalizers"]).and_then(Value::as_array);
        let mut finalizers = finalizers.cloned().unwrap_or_default();
        if finalizers.iter().all(|one| *one != RECONCILER) {
            finalizers.push(RECONCILER.into());
            let version = found.get(&["metadata", "resourceVersion"]);
            let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}});
            self.server.patch(kind, namespace, name, &patch, FIELD_MANAGER, PatchTarget::Object).await?;
        }
        self.server.delete(kind, namespace, name, None).await?;
        Ok(others)
    }

    /// Removes a Component whose objects are gone, but not another one that has its name now. Returns the finalizers of other
    /// programs, which keep it.
    pub async fn remove(&self, component: &Component) -> Result<Vec<String>, ApiError> {
        let (key, uid) = (ComponentKey::of(component), component.uid());
        let is_same = |found: &Object| ObjectRevision::of(found).uid == uid;
        let mut others = Vec::new();
        if let Some(kind) = &self.kind
            && let Some(found) = self.server.get(kind, &key.namespace, &key.name).await?.filter(is_same)
        {
            self.server.delete(kind, &key.namespace, &key.name, None).await?;
            others = other_finalizers(&found);
            let patch = json!({"metadata": {"uid": uid, "finalizers": others}});
            let released = self
                .server
                .patch(kind, &key.namespace, &key.name, &patch, FIELD_MANAGER, PatchTarget::Object)
                .await;
            match released {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        self.records.delete(&key).await?;
        Ok(others)
    }

    /// Deletes the record of a Component that is an object, unless the user may not delete Secrets.
    pub async fn drop_record(&self, key: &ComponentKey) -> Result<(), ApiError> {
        match self.records.delete(key).await {
            Err(error) if error.is_forbidden() => Ok(()),
            deleted => deleted,
        }
    }

    async fn create_namespace(&self, name: &str) -> Result<(), ApiError> {
        if self.server.get(&self.namespaces, "", name).await?.is_some() {
            return Ok(());
        }
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let namespace = Object::try_from(namespace).unwrap_or_default();
        self.server.apply(&self.namespaces, &namespace, FIELD_MANAGER, ApplyRequest::default()).await?;
        let object = key_of(&namespace);
        self.server.events().send(&Event::Wrote { object, how: Written::Created });
        Ok(())
    }
}

/// An item of an inventory that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `status.inventory[{at}]` of Component `{component}`")]
#[allow(missing_docs)]
pub struct InventoryError {
    pub component: ComponentKey,
    pub at: usize,
    pub source: serde_json::Error,
}

/// Stores the inventory of a Component in its status while the engine works.
#[derive(Debug)]
pub struct InventoryStore<'a> {
    store: &'a ComponentStore,
    component: Mutex<Component>,
}

impl<'a> InventoryStore<'a> {
    /// Takes a Component whose other fields do not change while the engine works.
    pub fn new(store: &'a ComponentStore, component: Component) -> Self {
        Self { store, component: Mutex::new(component) }
    }

    /// Returns the Component with its last inventory.
    pub fn into_component(self) -> Component {
        self.component.into_inner()
    }
}

impl ApplySetStore for InventoryStore<'_> {
    fn save<'s>(&'s self, set: &'s ApplySet) -> BoxFuture<'s, Result<(), ApiError>> {
        async move {
            let mut component = self.component.lock().await;
            component.status.inventory = inventory(set);
            self.store.save_status(&component).await
        }
        .boxed()
    }
}

/// Removes the managed fields of an object, which nothing here reads. They are larger than the rest of a Component.
fn without_managed_fields(mut object: Object) -> Object {
    if let Some(Value::Object(metadata)) = object.as_map_mut().get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}

impl Component {
    /// Reads a Component that a server returned.
    /// # Errors
    /// A field has another type than this program knows.
    pub fn from_server(object: Object) -> Result<Self, UnreadableComponent> {
        // Server objects were checked by the schema of the cluster, which may be newer than ours.
        let component =
            ComponentKey { namespace: object.namespace().to_owned(), name: object.name().to_owned() };
        serde_json::from_value(without_managed_fields(object).into_value())
            .map_err(|error| UnreadableComponent { component, problem: error.to_string() })
    }

    /// Returns the size of the Component without its status.
    pub(crate) fn spec_bytes(&self) -> usize {
        let bytes = |text: serde_json::Result<String>| text.map_or(0, |text| text.len());
        bytes(serde_json::to_string(&self.metadata)) + bytes(serde_json::to_string(&self.spec))
    }

    /// Returns the applied objects.
    /// # Errors
    /// An item of the inventory cannot be read.
    pub fn applied(&self) -> Result<ApplySet, InventoryError> {
        let read = |(at, item): (usize, &InventoryItem)| {
            serde_json::from_str::<ApplySetItem>(item.as_json()).map_err(|source| InventoryError {
                component: ComponentKey::of(self),
                at,
                source,
            })
        };
        let items: Result<_, _> = self.status.inventory.iter().enumerate().map(read).collect();
        Ok(ApplySet { items: items? })
    }
}

/// Returns the set in its stored form.
pub(crate) fn inventory(set: &ApplySet) -> Vec<InventoryItem> {
    let items = |set: &ApplySet| -> Vec<InventoryItem> {
        set.items.iter().filter_map(|item| serde_json::to_value(item).ok()).map(InventoryItem::from).collect()
    };
    let whole = items(set);
    let bytes: usize = whole.iter().map(|item| item.as_json().len()).sum();
    if bytes > MAX_BYTES_WITH_FIELDS { items(&set.without_fields()) } else { whole }
}

/// True if no step or run of a Component has stored a status.
fn is_new(component: &Component) -> bool {
    component.is_object()
        && component.status.observed_generation <= 0
        && component.status.inventory.is_empty()
}

/// Gives a new Component the status of a record. Another Component keeps its own.
fn take_over(component: &mut Component, record: &Object) -> Result<(), UnreadableComponent> {
    if is_new(component) {
        // The generations of the record were those of another object.
        component.status = ComponentStatus { observed_generation: 0, ..records::read(record)?.status };
    }
    Ok(())
}

/// Returns the finalizers of a Component that other programs set.
fn other_finalizers(component: &Object) -> Vec<String> {
    let all = component.get(&["metadata", "finalizers"]).and_then(Value::as_array);
    let names = all.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| *name != RECONCILER).map(str::to_owned).collect()
}

/// Returns the Component of a file with the status of its record. A changed spec has a new generation.
fn renewed(object: &Object, former: Option<&Component>) -> Component {
    let mut component = check_component(object).map(|checked| checked.component).unwrap_or_default();
    component.metadata.retain(|field, _| !SERVER_FIELDS.contains(&field.as_str()));
    let generation = component.generation_after(former);
    if let Some(former) = former {
        component.status.clone_from(&former.status);
    }
    component.metadata.insert("generation".to_owned(), generation.into());
    component
}
