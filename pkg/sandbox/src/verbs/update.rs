//! The update verb, and the common path of all changes.

use serde_json::Value;

use super::{
    Call,
    admission::{self, Operation},
    call::WriteResult,
    create, decode, delete, kind, managed, object,
};
use crate::{
    fields, meta,
    status::{FieldError, Status},
    store::StoredObject,
};

/// Replaces the object that a call names with a decoded one.
pub(crate) async fn update(call: &Call<'_>, mut sent: Value) -> Result<(WriteResult, bool), Status> {
    decode::match_namespace(call, &mut sent)?;
    decode::match_name(call, &sent)?;
    kind::set_defaults(&call.resource, &mut sent);
    admission::remove_duplicate_owners(call, &mut sent);
    let may_create = kind::allows_create_on_update(&call.resource) && call.subresource.is_empty();
    change(call, may_create, |live| {
        let mut new = sent.clone();
        match live {
            Some(live) => check_uid(call, live, &new)?,
            None if meta::uid(&new).is_empty() => {}
            None => return Err(call.not_found()),
        }
        managed::track(call, live, &mut new);
        Ok(new)
    })
    .await
}

/// Fails if the object was sent with a uid other than the stored one.
/// Source: apiserver 1.36 `Preconditions.Check`.
fn check_uid(call: &Call<'_>, live: &Value, new: &Value) -> Result<(), Status> {
    let (sent, there) = (meta::uid(new), meta::uid(live));
    if sent.is_empty() || sent == there {
        return Ok(());
    }
    let group = &call.resource.group;
    let registry = if group.is_empty() || call.resource.custom.is_none() { "" } else { group };
    let place = [registry, &*call.resource.plural, call.namespace, call.name];
    let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
    Err(call.conflict(&format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {sent}, UID in object meta: {there}",
        place.join("/")
    )))
}

/// Changes the object that a call names. `make` maps the stored object to the new one, before admission. Restarts after
/// a concurrent write. With `may_create`, `make` also creates a missing object. Returns true if the object was created.
pub(crate) async fn change<F>(
    call: &Call<'_>,
    may_create: bool,
    mut make: F,
) -> Result<(WriteResult, bool), Status>
where
    F: FnMut(Option<&Value>) -> Result<Value, Status> + Send,
{
    loop {
        let Some(stored) = call.server.store.get(&call.object_key()) else {
            if !may_create {
                return Err(call.not_found());
            }
            match create::finish(call, make(None)?).await {
                // A concurrent request created the object, so this request becomes a change. (A webhook may refuse with
                // the same reason.)
                Err(status)
                    if status.reason == "AlreadyExists"
                        && !call.dry_run
                        && call.server.store.get(&call.object_key()).is_some() =>
                {
                    continue;
                }
                result => return result.map(|written| (written, true)),
            }
        };
        let live = object::read(&call.resource, &stored);
        let new = make(Some(&live))?;
        if let Some(written) = commit(call, &stored, &live, new).await? {
            let removed = matches!(written, WriteResult::DryRun(_)) && meta::is_deleting(&live);
            super::definitions::after_write(call, call.name, removed)?;
            return Ok((written, false));
        }
    }
}

/// Commits a change. `None` if the stored object changed since it was read.
async fn commit(
    call: &Call<'_>,
    stored: &StoredObject,
    live: &Value,
    mut new: Value,
) -> Result<Option<WriteResult>, Status> {
    let resource = &call.resource;
    new = admission::mutate(call, Operation::Update, Some(live), new).await?;
    admission::remove_duplicate_owners(call, &mut new);
    check_revision(call, stored, &mut new)?;
    let _addresses = create::assign_addresses(call, &mut new, Some(live)).await?;
    meta::copy(&mut new, live, "generation");
    kind::prepare_for_update(resource, call.subresource, live, &mut new);
    restore_identity(&mut new, live);
    let errors = kind::validate_update(resource, call.subresource, live, &new);
    if !errors.is_empty() {
        let sent_kind = new.get("kind").and_then(Value::as_str).unwrap_or(&resource.kind);
        let version = new.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let sent_group = version.split_once('/').map_or("", |(group, _)| group);
        return Err(Status::invalid(sent_group, sent_kind, meta::name(&new), &errors));
    }
    if call.subresource.is_empty() {
        call.warn_all(kind::warnings(resource, &new, Some(live)));
    }
    fields::restore_times(live, &mut new);
    admission::validate(call, Operation::Update, Some(live), &new).await?;
    if removes_last_finalizer(resource, live, &new) {
        // Watches receive the stored object without the last change. The response contains the object with its old
        // revision.
        let removed = delete::remove(call, stored, live.clone())?;
        return Ok(removed.map(|_| WriteResult::DryRun(new)));
    }
    if !call.dry_run && object::is_stored(resource, stored, live, &new) {
        // Nothing changes, so there is no write and no new revision.
        return Ok(unchanged(call, stored, new));
    }
    delete::replace(call, stored, new)
}

/// Returns the response to a write without effect, unless the object changed meanwhile.
fn unchanged(call: &Call<'_>, stored: &StoredObject, new: Value) -> Option<WriteResult> {
    let now = call.server.store.get(&stored.key)?;
    (now.revision == stored.revision).then_some(WriteResult::DryRun(new))
}

/// Checks the revision of an update. A missing revision means the newest one, if the kind allows that.
/// Source: apiserver 1.36 `Store.Update`.
fn check_revision(call: &Call<'_>, stored: &StoredObject, new: &mut Value) -> Result<(), Status> {
    match object::revision_of(new).map_err(Status::internal_without_details)? {
        Some(sent) if sent == stored.revision => Ok(()),
        Some(_) => Err(call.modified()),
        None if kind::allows_unconditional_update(&call.resource) => {
            meta::set(new, "resourceVersion", stored.revision.to_string());
            Ok(())
        }
        None => {
            let error = FieldError::invalid("metadata.resourceVersion", 0, "must be specified for an update");
            Err(Status::invalid(&call.resource.group, &call.resource.plural, call.name, &[error]))
        }
    }
}

/// Restores fields that only the server sets. Source: apiserver 1.36 `BeforeUpdate`.
fn restore_identity(new: &mut Value, live: &Value) {
    if meta::uid(new).is_empty() {
        meta::copy(new, live, "uid");
    }
    meta::copy(new, live, "creationTimestamp");
    if meta::is_deleting(live) {
        meta::copy(new, live, "deletionTimestamp");
    }
    if meta::field(new, "deletionGracePeriodSeconds").is_none() {
        meta::copy(new, live, "deletionGracePeriodSeconds");
    }
}

/// True if this change removes the last reason to keep a deleted object.
/// Source: apiserver 1.36 `ShouldDeleteDuringUpdate`, kubernetes 1.36 `ShouldDeleteNamespaceDuringUpdate`.
fn removes_last_finalizer(resource: &crate::kinds::ResourceType, live: &Value, new: &Value) -> bool {
    if !meta::is_deleting(live) || meta::finalizers(new).next().is_some() {
        return false;
    }
    if kind::is_core(resource, "namespaces") {
        return new["spec"]["finalizers"].as_array().is_none_or(Vec::is_empty);
    }
    let grace = meta::field(live, "deletionGracePeriodSeconds").and_then(Value::as_i64);
    grace.unwrap_or_default() == 0 && (meta::finalizers(live).next().is_some() || grace == Some(0))
}
