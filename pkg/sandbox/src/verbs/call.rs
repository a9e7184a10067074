//! Calls of verbs, and their results before formatting.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use indexmap::IndexSet;
use serde_json::Value;

use super::{object, watch::WatchStream};
use crate::{
    builtin,
    kinds::{Kinds, ResourceType},
    request::options::FieldValidation,
    server::Server,
    status::Status,
    store::{CommitError, Key, ResourceName, Scope, StoredObject},
};

/// One call of a verb: its target, its sender, and the warnings of the response.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    /// The served resources when the call arrived.
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) resource: Arc<ResourceType>,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    /// Empty for cluster-scoped objects and for all namespaces.
    pub(crate) namespace: &'a str,
    /// Empty for collections.
    pub(crate) name: &'a str,
    pub(crate) manager: &'a str,
    /// Does everything except the write.
    pub(crate) dry_run: bool,
    /// The handling of unknown fields.
    pub(crate) field_validation: FieldValidation,
    /// True if a change arrives as a patch.
    pub(crate) is_patch: bool,
    warnings: Mutex<IndexSet<String>>,
}

impl<'a> Call<'a> {
    /// Creates a call for a whole resource. Callers set further fields.
    pub(crate) fn new(server: &'a Server, kinds: Arc<Kinds>, resource: Arc<ResourceType>) -> Self {
        Self {
            server,
            kinds,
            resource,
            subresource: "",
            namespace: "",
            name: "",
            manager: "",
            dry_run: false,
            field_validation: FieldValidation::default(),
            is_patch: false,
            warnings: Mutex::default(),
        }
    }

    /// Adds a warning to the response, unless the response already has the same warning.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into());
    }

    /// Adds warnings to the response, without duplicates.
    pub(crate) fn warn_all(&self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.warn(text));
    }

    /// Removes and returns the warnings so far.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *warnings).into_iter().collect()
    }

    /// Returns the key of an object of this resource in this namespace.
    pub(crate) fn key(&self, name: &str) -> Key {
        Key { resource: resource_name(&self.resource), namespace: self.namespace.into(), name: name.into() }
    }

    pub(crate) fn object_key(&self) -> Key {
        self.key(self.name)
    }

    pub(crate) fn scope(&self) -> Scope {
        let namespace = (!self.namespace.is_empty()).then(|| self.namespace.into());
        Scope { resource: resource_name(&self.resource), namespace }
    }

    /// Returns status 404 for the object.
    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(&self.resource.group, &self.resource.plural, self.name)
    }

    /// Returns status 409 for the object.
    pub(crate) fn conflict(&self, why: &str) -> Status {
        Status::conflict(&self.resource.group, &self.resource.plural, self.name, why)
    }

    /// Returns status 409: the object was modified concurrently.
    pub(crate) fn modified(&self) -> Status {
        Status::modified(&self.resource.group, &self.resource.plural, self.name)
    }

    pub(crate) fn commit_failure(&self, error: CommitError, name: &str) -> Status {
        let (group, plural) = (&*self.resource.group, &*self.resource.plural);
        match error {
            CommitError::Exists(_) => Status::already_exists(group, plural, name),
            CommitError::Changed(_) => Status::modified(group, plural, name),
            CommitError::Gone => Status::not_found(group, plural, name),
            CommitError::Journal(error) => {
                Status::internal(&format!("cannot write the change to the data directory: {error}"))
            }
        }
    }
}

/// Returns the name under which a resource is stored.
pub(crate) fn resource_name(resource: &ResourceType) -> ResourceName {
    let group = match (&resource.custom, builtin::storage_group_version(resource)) {
        (None, (group, _)) if group != &*resource.group => group.into(),
        _ => Arc::clone(&resource.group),
    };
    ResourceName { group, plural: Arc::clone(&resource.plural) }
}

/// The result of a verb.
pub(crate) enum VerbResponse {
    /// A stored object of the resource.
    Stored(u16, Arc<StoredObject>),
    /// An object of the resource, or its scale.
    Object(u16, Value),
    /// An object of another kind, which has a single form: a `Status`, a review.
    OtherKind(u16, Value),
    /// A list of objects of the resource.
    List(Vec<Arc<StoredObject>>, BTreeMap<&'static str, Value>),
    /// A stream of changes.
    Watch(Box<WatchStream>),
    /// Plain text.
    Text(String),
}

impl VerbResponse {
    pub(crate) fn from_write(code: u16, written: WriteResult) -> Self {
        match written {
            WriteResult::Stored(stored) => Self::Stored(code, stored),
            WriteResult::DryRun(object) => Self::Object(code, object),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum WriteResult {
    Stored(Arc<StoredObject>),
    DryRun(Value),
}

impl WriteResult {
    /// Returns the object in the form that the resource serves.
    pub(crate) fn into_value(self, call: &Call<'_>) -> Value {
        match self {
            Self::Stored(stored) => object::read(&call.resource, &stored),
            Self::DryRun(object) => object,
        }
    }
}
