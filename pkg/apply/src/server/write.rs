//! Writes, with retries if a repetition has the same effect.

use std::{borrow::Cow, collections::BTreeMap};

use http::Method;
use manifest::{Object, Value};
use serde::Serialize;
use serde_json::json;

use super::{
    ApplyPrecondition, ApplyRequest, DeletionOutcome, ObjectRevision, PatchTarget, Server, WriteMode,
    call::{self, ApiCall, JSON},
    write_check::matches_sent,
};
use crate::{ApiError, ApiKind, NetworkError, live::is_terminating};

const APPLY: &str = "application/apply-patch+yaml";
const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
/// A version that no existing object can have. The server refuses to apply it onto an existing object, and creates a
/// missing one.
/// Source: kube-apiserver 1.36, measured; `0` and a missing version match any version.
const NO_VERSION: &str = "1";

/// The maximum of retries after conflicts, for a write or a deletion without a version.
const CONFLICTS: u32 = 4;

/// A write of a whole object.
struct ObjectWrite<'a> {
    call: ApiCall,
    /// True if the write requires one version of the object, or no object.
    is_conditional: bool,
    kind: &'a ApiKind,
    object: &'a Object,
    manager: &'a str,
    is_persistent: bool,
}

impl Server {
    /// Applies an object by force with server-side apply, in the version of its manifest.
    /// # Errors
    /// A conflict if the live object does not match [`ApplyRequest::precondition`].
    pub async fn apply(
        &self,
        kind: &ApiKind,
        object: &Object,
        manager: &str,
        how: ApplyRequest,
    ) -> Result<Object, ApiError> {
        let call = object_call(Method::PATCH, "apply", kind, object)
            .with("fieldManager", manager)
            .with("force", "true")
            .in_mode(how.mode)
            .body(APPLY, bytes(&apply_body(object, &how.precondition)));
        let is_conditional = how.precondition != ApplyPrecondition::Any;
        let keeps = how.mode == WriteMode::Real;
        self.write(ObjectWrite { call, is_conditional, kind, object, manager, is_persistent: keeps }).await
    }

    /// Creates an object. After a lost answer, an object that exists as it was sent counts as created.
    pub async fn create(
        &self,
        kind: &ApiKind,
        object: &Object,
        manager: &str,
        mode: WriteMode,
    ) -> Result<Object, ApiError> {
        let mut call = object_call(Method::POST, "create", kind, object);
        call.path = call::path(kind, version_of(kind, object), object.namespace(), "");
        self.write_full(call, kind, object, manager, mode).await
    }

    /// Replaces an object. With a resourceVersion, only that version is replaced.
    pub async fn replace(
        &self,
        kind: &ApiKind,
        object: &Object,
        manager: &str,
        mode: WriteMode,
    ) -> Result<Object, ApiError> {
        let call = object_call(Method::PUT, "replace", kind, object);
        self.write_full(call, kind, object, manager, mode).await
    }

    /// Sends a whole object.
    async fn write_full(
        &self,
        call: ApiCall,
        kind: &ApiKind,
        object: &Object,
        manager: &str,
        mode: WriteMode,
    ) -> Result<Object, ApiError> {
        let call = call.with("fieldManager", manager).in_mode(mode).body(JSON, bytes(object.as_map()));
        let keeps = mode == WriteMode::Real;
        self.write(ObjectWrite { call, is_conditional: true, kind, object, manager, is_persistent: keeps })
            .await
    }

    /// Changes an object, or its status, by a merge patch (a mapping) or a JSON patch (a list).
    pub async fn patch(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
        patch: &Value,
        manager: &str,
        of: PatchTarget,
    ) -> Result<Object, ApiError> {
        let path = call::path(kind, &kind.version, namespace, name);
        let (verb, path) = match of {
            PatchTarget::Object => ("change", path),
            PatchTarget::Status => ("change the status of", path + "/status"),
        };
        let content_type = if patch.is_array() { JSON_PATCH } else { MERGE_PATCH };
        let call = ApiCall::new(Method::PATCH, call::action(verb, kind, namespace, name), path)
            .for_kind(kind)
            .with("fieldManager", manager)
            .body(content_type, bytes(patch));
        self.object(&call, &self.send(&call).await?)
    }

    /// Deletes an object in the background. An object that does not exist, or was replaced by another object of the
    /// same name, counts as gone.
    ///
    /// Source: kube-apiserver 1.36, registry/generic (Store.Delete): the answer for a deleted object is a Status or its
    /// last state. If a finalizer delays the deletion, the answer is the object with a deletionTimestamp.
    /// # Errors
    /// A conflict if `only` is given and the object has changed since.
    pub async fn delete(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
        only: Option<&ObjectRevision>,
    ) -> Result<DeletionOutcome, ApiError> {
        let mut options =
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
        if let Some(ObjectRevision { uid, resource_version }) = only {
            options["preconditions"] = json!({"uid": uid, "resourceVersion": resource_version});
        }
        let path = call::path(kind, &kind.version, namespace, name);
        let call = ApiCall::new(Method::DELETE, call::action("delete", kind, namespace, name), path)
            .body(JSON, bytes(&options));
        let mut conflicts = 0;
        loop {
            match self.send(&call).await {
                // An answer that cannot be parsed proves nothing; the caller waits and checks.
                Ok(bytes) => {
                    return Ok(self
                        .object(&call, &bytes)
                        .map_or(DeletionOutcome::Terminating, |answer| deletion(&answer)));
                }
                Err(error) if error.is_not_found() || (only.is_some() && is_uid_conflict(&error)) => {
                    return Ok(DeletionOutcome::Gone);
                }
                Err(error) if only.is_none() && error.is_conflict() && conflicts < CONFLICTS => {
                    conflicts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends an object until it is written. A write whose answer was lost may have taken effect. After a conflict the
    /// live object is therefore compared, and a large object is read before it is sent again. A conflict without a
    /// required version means that others wrote at the same time.
    async fn write(&self, write: ObjectWrite<'_>) -> Result<Object, ApiError> {
        let (mut tries, mut lost, mut conflicts) = (self.retry_state(), false, 0);
        loop {
            let error = match self.send_once(&write.call).await {
                Ok(bytes) => return self.object(&write.call, &bytes),
                Err(error) => error,
            };
            lost |= write.is_persistent && error.may_have_succeeded();
            let conflict = error.code() == Some(409);
            let timed_out =
                matches!(&error, ApiError::Unreachable { source: NetworkError::TimedOut { .. }, .. });
            let look = lost && (conflict || (timed_out && write.call.is_large()));
            if look && let Some(written) = self.find_written(&write).await? {
                return Ok(written);
            }
            if conflict && !write.is_conditional && conflicts < CONFLICTS {
                conflicts += 1;
                continue;
            }
            self.pause(&mut tries, &write.call.action, error).await?;
        }
    }

    /// Returns the live object if it is as sent.
    async fn find_written(&self, write: &ObjectWrite<'_>) -> Result<Option<Object>, ApiError> {
        let ObjectWrite { kind, object, manager, .. } = write;
        let kind = ApiKind { version: version_of(kind, object).to_owned(), ..(*kind).clone() };
        let found = self.get(&kind, object.namespace(), object.name()).await?;
        Ok(found.filter(|found| matches_sent(found, object, manager)))
    }
}

fn deletion(answer: &Object) -> DeletionOutcome {
    if is_terminating(answer) { DeletionOutcome::Terminating } else { DeletionOutcome::Gone }
}

fn object_call(method: Method, verb: &str, kind: &ApiKind, object: &Object) -> ApiCall {
    let (namespace, name) = (object.namespace(), object.name());
    let path = call::path(kind, version_of(kind, object), namespace, name);
    ApiCall::new(method, call::action(verb, kind, namespace, name), path).for_kind(kind)
}

/// Returns the version of an object. The server's preferred version does not matter.
fn version_of<'a>(kind: &'a ApiKind, object: &'a Object) -> &'a str {
    if object.version().is_empty() { &kind.version } else { object.version() }
}

/// Returns an object that can be applied: without field managers, and with the revision that the live object must have.
/// Only metadata is copied.
fn apply_body<'o>(object: &'o Object, onto: &ApplyPrecondition) -> BTreeMap<&'o str, Cow<'o, Value>> {
    let fields = object.as_map().iter().map(|(key, value)| (key.as_str(), Cow::Borrowed(value)));
    let mut fields: BTreeMap<_, _> = fields.collect();
    if let Some(metadata) = fields.get_mut("metadata").and_then(|metadata| metadata.to_mut().as_object_mut())
    {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
        let mut require = |field: &str, value: &str| metadata.insert(field.to_owned(), value.into());
        match onto {
            ApplyPrecondition::Any => {}
            ApplyPrecondition::Absent => drop(require("resourceVersion", NO_VERSION)),
            ApplyPrecondition::Revision(ObjectRevision { uid, resource_version }) => {
                // With a resource version alone, the server would create a missing object.
                require("uid", uid);
                require("resourceVersion", resource_version);
            }
        }
    }
    fields
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("invariant: JSON trees have string keys and can be written")
}

/// True if a deletion was refused because the name belongs to another object.
/// Source: kube-apiserver 1.36, registry/rest (BeforeDelete) and storage.Preconditions.
fn is_uid_conflict(error: &ApiError) -> bool {
    let words = ["UID in the precondition", "UID in precondition"];
    matches!(error, ApiError::Status { code: 409, message, .. } if words.iter().any(|words| message.contains(words)))
}
