//! What the server does with resources: a file a verb.
//!
//! ```text
//! HTTP ─► request ─┐                  ┌► read: get, list      continue_token
//!                  ├─► Call ─► answer ┼► watch
//! controllers ─► client ─┘            ├► create ─┐
//!                                     ├► update ─┼► admission ─► kind: defaults, checks ─► object ─► store
//!                                     ├► patch ──┘
//!                                     └► delete, collection; scale, pods, reviews, tokens
//! ```
//!
//! A write goes the way it goes in the real server: decode, defaults, managed fields, mutating admission, what the
//! server decides itself, checks, validating admission, commit. A write that lost a race begins again from what is
//! stored by then.

pub(crate) mod admission;
pub(crate) mod answer;
pub(crate) mod collection;
pub(crate) mod continue_token;
pub(crate) mod create;
pub(crate) mod decode;
pub(crate) mod delete;
pub(crate) mod dispatch;
pub(crate) mod kind;
pub(crate) mod managed;
pub(crate) mod object;
pub(crate) mod patch;
pub(crate) mod pods;
pub(crate) mod read;
pub(crate) mod reviews;
pub(crate) mod scale;
pub(crate) mod update;
pub(crate) mod watch;

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;

use crate::{
    builtin,
    kinds::{Kinds, ResourceType},
    request::options::FieldValidation,
    server::{Server, definitions, webhooks},
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
    /// Who writes.
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

/// What follows a write: webhooks are registered, a definition settles, and one that waits for its last object goes.
///
/// # Errors
/// When the store takes no writes.
fn settle(call: &Call<'_>, name: &str, removed: bool) -> Result<(), Status> {
    if call.dry_run {
        return Ok(());
    }
    if webhooks::is_configuration(&call.resource) {
        webhooks::load(call.server);
        return Ok(());
    }
    if kind::is_definition(&call.resource) {
        return definitions::settle(call.server, name);
    }
    match &call.resource.custom {
        Some(custom) if removed && call.server.definitions.is_going(&custom.definition) => {
            definitions::settle(call.server, &custom.definition)
        }
        _ => Ok(()),
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
