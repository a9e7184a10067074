//! Calls of verbs.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;

use crate::{
    builtin,
    kinds::{Kinds, ResourceType},
    request::options::FieldValidation,
    server::Server,
    status::Status,
    store::{CommitError, Key, ResourceName, Scope},
};

/// One call of a verb: what it is about, who asks, and what the answer warns of.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    /// What was served when the call came.
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) resource: Arc<ResourceType>,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    /// Empty for objects of the cluster and for all namespaces.
    pub(crate) namespace: &'a str,
    /// Empty for collections.
    pub(crate) name: &'a str,
    pub(crate) manager: &'a str,
    /// Everything happens but the write.
    pub(crate) dry_run: bool,
    /// What becomes of fields nobody knows.
    pub(crate) field_validation: FieldValidation,
    /// A change comes as a patch.
    pub(crate) patches: bool,
    warnings: Mutex<IndexSet<String>>,
}

impl<'a> Call<'a> {
    /// A call about a resource as a whole; the fields say the rest.
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
            patches: false,
            warnings: Mutex::default(),
        }
    }

    /// Adds a warning to the answer, once.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into());
    }

    /// Adds warnings to the answer, each once.
    pub(crate) fn warn_all(&self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.warn(text));
    }

    /// The warnings so far; they are taken.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *warnings).into_iter().collect()
    }

    /// The place of an object of this resource in this namespace.
    pub(crate) fn key(&self, name: &str) -> Key {
        Key { resource: resource_name(&self.resource), namespace: self.namespace.into(), name: name.into() }
    }

    /// The place of the object the call names.
    pub(crate) fn own_key(&self) -> Key {
        self.key(self.name)
    }

    /// The part of the store the call names.
    pub(crate) fn scope(&self) -> Scope {
        let namespace = (!self.namespace.is_empty()).then(|| self.namespace.into());
        Scope { resource: resource_name(&self.resource), namespace }
    }

    /// 404 about the object.
    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(&self.resource.group, &self.resource.plural, self.name)
    }

    /// 409 about the object.
    pub(crate) fn conflict(&self, why: &str) -> Status {
        Status::conflict(&self.resource.group, &self.resource.plural, self.name, why)
    }

    /// 409: the object was changed by somebody else.
    pub(crate) fn modified(&self) -> Status {
        Status::modified(&self.resource.group, &self.resource.plural, self.name)
    }

    /// Why a commit did not take place, as an answer.
    pub(crate) fn refused(&self, error: CommitError, name: &str) -> Status {
        let (group, plural) = (&*self.resource.group, &*self.resource.plural);
        match error {
            CommitError::Exists(_) => Status::already_exists(group, plural, name),
            CommitError::Changed(_) => Status::modified(group, plural, name),
            CommitError::Gone => Status::not_found(group, plural, name),
            CommitError::Journal(error) => {
                Status::internal(&format!("the data directory did not take the change: {error}"))
            }
        }
    }
}

/// The name a resource is stored under.
pub(crate) fn resource_name(resource: &ResourceType) -> ResourceName {
    let group = match (&resource.custom, builtin::stored_as(resource)) {
        (None, (group, _)) if group != &*resource.group => group.into(),
        _ => Arc::clone(&resource.group),
    };
    ResourceName { group, plural: Arc::clone(&resource.plural) }
}
