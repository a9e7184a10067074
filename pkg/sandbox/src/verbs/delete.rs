//! The delete and deletecollection verbs, and the grace periods of pods.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Call, admission, call::WriteResult, kind, object, read};
use crate::{
    clock::Clock,
    meta,
    request::options::{DeleteOptions, ListOptions, PropagationPolicy},
    server::CLEANUP,
    status::Status,
    store::{CommitError, Page, Precondition, StoredObject},
};

/// The result of a deletion.
#[derive(Debug)]
pub(crate) enum DeleteResult {
    /// The object is deleted (or would be); contains its last state.
    Removed(WriteResult),
    /// The object stays until its finalizers are removed; contains its current state.
    Pending(WriteResult),
}

/// Deletes the object that a call names.
pub(crate) async fn delete(call: &Call<'_>, options: &DeleteOptions) -> Result<DeleteResult, Status> {
    admission::delete(call).await?;
    if &*call.resource.group == "batch"
        && &*call.resource.plural == "jobs"
        && options.propagation_policy.is_none()
    {
        call.warn(
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove \
             them or set propagationPolicy=Orphan to suppress this warning",
        );
    }
    let deleted = delete_without_admission(call, options)?;
    super::definitions::after_write(call, call.name, matches!(deleted, DeleteResult::Removed(_)))?;
    Ok(deleted)
}

/// Deletes an object without admission and without follow-up.
pub(crate) fn delete_without_admission(
    call: &Call<'_>,
    options: &DeleteOptions,
) -> Result<DeleteResult, Status> {
    loop {
        let Some(stored) = call.server.store.get(&call.object_key()) else { return Err(call.not_found()) };
        let live = object::read(&call.resource, &stored);
        check_preconditions(call, options, &live)?;
        if let Some(deleted) = attempt(call, options, &stored, live)? {
            return Ok(deleted);
        }
    }
}

/// Makes one attempt. `None` after a concurrent write.
fn attempt(
    call: &Call<'_>,
    options: &DeleteOptions,
    stored: &StoredObject,
    live: Value,
) -> Result<Option<DeleteResult>, Status> {
    let mut last = live.clone();
    if kind::is_core(&call.resource, "namespaces") {
        return namespace(call, stored, &live);
    }
    meta::set_finalizers(&mut last, finalizers_after(call, options, &live));
    if kind::is_definition(&call.resource) {
        return definition(call, stored, &live, last);
    }
    let grace = if kind::is_core(&call.resource, "pods") {
        grace_period_change(&live, options.grace_period_seconds, call.server.clock.timestamp())
    } else {
        GracePeriodChange::None
    };
    match grace {
        GracePeriodChange::Unchanged => return Ok(Some(DeleteResult::Pending(WriteResult::DryRun(live)))),
        GracePeriodChange::None => {}
        GracePeriodChange::Start(seconds) => mark_as_deleting(call, &mut last, Some(seconds)),
        GracePeriodChange::Shorten { seconds, end } => {
            meta::set(&mut last, "deletionTimestamp", Clock::format(end));
            meta::set(&mut last, "deletionGracePeriodSeconds", seconds);
        }
    }
    if meta::finalizers(&last).next().is_some() || grace.seconds() > 0 {
        if grace == GracePeriodChange::None {
            mark_as_deleting(call, &mut last, Some(0));
        }
        return Ok(store_terminating(call, stored, &live, last)?.map(DeleteResult::Pending));
    }
    if grace != GracePeriodChange::None {
        // Like the real server, marks the object first and then removes it.
        let Some(written) = store_terminating(call, stored, &live, last)? else { return Ok(None) };
        let WriteResult::Stored(marked) = written else { return Ok(Some(DeleteResult::Removed(written))) };
        let last = object::read(&call.resource, &marked);
        return Ok(remove(call, &marked, last)?.map(DeleteResult::Removed));
    }
    Ok(remove(call, stored, live)?.map(DeleteResult::Removed))
}

/// Keeps a namespace until its objects are gone and `spec.finalizers` is empty.
fn namespace(call: &Call<'_>, stored: &StoredObject, live: &Value) -> Result<Option<DeleteResult>, Status> {
    let mut last = live.clone();
    if !meta::is_deleting(live) {
        mark_as_deleting(call, &mut last, None);
        last["status"]["phase"] = "Terminating".into();
    }
    let held = last["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty());
    if held || meta::finalizers(&last).next().is_some() {
        return Ok(store_terminating(call, stored, live, last)?.map(DeleteResult::Pending));
    }
    Ok(remove(call, stored, last)?.map(DeleteResult::Removed))
}

/// Keeps a definition until its objects are gone, through a finalizer that the server adds.
/// Source: apiextensions-apiserver 1.36, registry of definitions, `Delete`.
fn definition(
    call: &Call<'_>,
    stored: &StoredObject,
    live: &Value,
    mut last: Value,
) -> Result<Option<DeleteResult>, Status> {
    if meta::is_deleting(live) {
        return Ok(store_terminating(call, stored, live, last)?.map(DeleteResult::Pending));
    }
    let mut finalizers: Vec<String> = meta::finalizers(&last).map(str::to_owned).collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
        finalizers.push(CLEANUP.to_owned());
    }
    meta::set_finalizers(&mut last, finalizers);
    mark_as_deleting(call, &mut last, None);
    let condition = json!({
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": call.server.clock.now(),
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    if let Some(conditions) = last["status"]["conditions"].as_array_mut() {
        conditions.push(condition);
    }
    Ok(store_terminating(call, stored, live, last)?.map(DeleteResult::Pending))
}

/// Checks the preconditions of a deletion.
/// Source: apiserver 1.36 `BeforeDelete`.
fn check_preconditions(call: &Call<'_>, options: &DeleteOptions, live: &Value) -> Result<(), Status> {
    let conflict =
        |why: String| Err(Status::conflict(&call.resource.group, &call.resource.kind, call.name, &why));
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != meta::uid(live)) {
        return conflict(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            meta::uid(live)
        ));
    }
    let revision = meta::text(live, "resourceVersion");
    if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != revision) {
        return conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({revision}). The object might have been modified"
        ));
    }
    Ok(())
}

/// Returns the finalizers with those that the options require and without those that they exclude.
/// Source: apiserver 1.36 `deletionFinalizersForGarbageCollection`.
fn finalizers_after(call: &Call<'_>, options: &DeleteOptions, live: &Value) -> Vec<String> {
    let has = |name: &str| meta::finalizers(live).any(|finalizer| finalizer == name);
    let dependents = options.propagation_policy.unwrap_or_else(|| {
        if has(meta::ORPHAN) {
            PropagationPolicy::Orphan
        } else if has(meta::FOREGROUND) {
            PropagationPolicy::Foreground
        } else if kind::orphans_by_default(&call.resource) {
            PropagationPolicy::Orphan
        } else {
            PropagationPolicy::Background
        }
    });
    let others = meta::finalizers(live)
        .filter(|finalizer| *finalizer != meta::ORPHAN && *finalizer != meta::FOREGROUND);
    let mut finalizers: Vec<String> = others.map(str::to_owned).collect();
    match dependents {
        PropagationPolicy::Orphan => finalizers.push(meta::ORPHAN.to_owned()),
        PropagationPolicy::Foreground => finalizers.push(meta::FOREGROUND.to_owned()),
        PropagationPolicy::Background => {}
    }
    let same = finalizers.len() == meta::finalizers(live).count() && finalizers.iter().all(|name| has(name));
    if same { meta::finalizers(live).map(str::to_owned).collect() } else { finalizers }
}

/// Sets the fields of an object that is being deleted.
/// Source: apiserver 1.36 `markAsDeleting`.
fn mark_as_deleting(call: &Call<'_>, object: &mut Value, grace_period_seconds: Option<i64>) {
    if !meta::is_deleting(object) {
        if meta::generation(object) > 0 {
            meta::set(object, "generation", meta::generation(object).saturating_add(1));
        }
        let grace = SignedDuration::from_secs(grace_period_seconds.unwrap_or_default());
        let now = call.server.clock.timestamp();
        meta::set(object, "deletionTimestamp", Clock::format(now.saturating_add(grace).unwrap_or(now)));
    }
    if let Some(seconds) = grace_period_seconds {
        meta::set(object, "deletionGracePeriodSeconds", seconds);
    }
}

fn store_terminating(
    call: &Call<'_>,
    stored: &StoredObject,
    live: &Value,
    last: Value,
) -> Result<Option<WriteResult>, Status> {
    if last == *live {
        return Ok(Some(WriteResult::DryRun(last)));
    }
    replace(call, stored, last)
}

/// Replaces a stored object. `None` if the stored object changed since it was read.
pub(super) fn replace(
    call: &Call<'_>,
    stored: &StoredObject,
    new: Value,
) -> Result<Option<WriteResult>, Status> {
    if call.dry_run {
        return Ok(Some(WriteResult::DryRun(new)));
    }
    let pending = object::EncodedObject::new(&call.resource, &new)?;
    let expected = Precondition::At(stored.revision);
    none_on_conflict(
        call,
        call.server
            .store
            .commit_with(&stored.key, expected, |at| pending.with_revision(at))
            .map(WriteResult::Stored),
    )
}

/// Removes a stored object. `None` if the stored object changed since it was read.
pub(super) fn remove(
    call: &Call<'_>,
    stored: &StoredObject,
    last: Value,
) -> Result<Option<WriteResult>, Status> {
    if call.dry_run {
        return Ok(Some(WriteResult::DryRun(last)));
    }
    let pending = object::EncodedObject::new(&call.resource, &last)?;
    none_on_conflict(
        call,
        call.server
            .store
            .delete(&stored.key, stored.revision, |at| pending.with_revision(at))
            .map(WriteResult::Stored),
    )
}

fn none_on_conflict(
    call: &Call<'_>,
    result: Result<WriteResult, CommitError>,
) -> Result<Option<WriteResult>, Status> {
    match result {
        Ok(written) => Ok(Some(written)),
        Err(CommitError::Changed(_) | CommitError::Gone) => Ok(None),
        Err(error) => Err(call.commit_failure(error, call.name)),
    }
}

/// The effect of a deletion on the grace period of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GracePeriodChange {
    /// The pod ends now.
    None,
    /// A grace period of this many seconds starts now.
    Start(i64),
    /// The pod is already being deleted; the deletion shortens its grace period.
    Shorten {
        /// The total grace period, in seconds.
        seconds: i64,
        end: Timestamp,
    },
    /// The pod is already being deleted; its grace period stays unchanged.
    Unchanged,
}

impl GracePeriodChange {
    pub(crate) fn seconds(self) -> i64 {
        match self {
            Self::None | Self::Unchanged => 0,
            Self::Start(seconds) | Self::Shorten { seconds, .. } => seconds,
        }
    }
}

/// Returns the effect of a deletion on a pod; `asked` is the requested grace period, in seconds.
/// Source: apiserver 1.36 `BeforeDelete`, kubernetes 1.36 `podStrategy.CheckGracefulDelete`.
pub(crate) fn grace_period_change(pod: &Value, requested: Option<i64>, now: Timestamp) -> GracePeriodChange {
    let at_least_one = |seconds: i64| if seconds < 0 { 1 } else { seconds };
    if !meta::is_deleting(pod) {
        let runs = !pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty()
            && !matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
        let own = pod["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or_default();
        return GracePeriodChange::Start(if runs { at_least_one(requested.unwrap_or(own)) } else { 0 });
    }
    let given = meta::field(pod, "deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    let told_to_end = meta::text(pod, "deletionTimestamp").parse::<Timestamp>();
    match (requested.map(at_least_one), told_to_end) {
        _ if given == 0 => GracePeriodChange::None,
        (Some(requested), Ok(end)) if requested < given => {
            let end = end.saturating_sub(SignedDuration::from_secs(given - requested)).unwrap_or(now);
            let seconds = if end < now && requested != 0 { 1 } else { requested };
            GracePeriodChange::Shorten { seconds, end: end.max(now) }
        }
        _ => GracePeriodChange::Unchanged,
    }
}

/// Deletes the objects of a list. Returns the list before the deletion.
///
/// # Errors
/// Fails with the first status other than success and 404.
pub(crate) async fn delete_collection(
    call: &Call<'_>,
    list: &ListOptions,
    options: &DeleteOptions,
) -> Result<Page, Status> {
    let read::ListResult::Page(page) = read::list(call, list)? else {
        return Err(Status::expired("the list to delete is too old"));
    };
    for item in &page.items {
        delete_one(call, item, options).await?;
    }
    Ok(page)
}

async fn delete_one(
    call: &Call<'_>,
    item: &Arc<StoredObject>,
    options: &DeleteOptions,
) -> Result<(), Status> {
    let mut one = Call::new(call.server, Arc::clone(&call.kinds), Arc::clone(&call.resource));
    one.namespace = &item.key.namespace;
    one.name = &item.key.name;
    one.manager = call.manager;
    one.dry_run = call.dry_run;
    let result = delete(&one, options).await;
    call.warn_all(one.take_warnings());
    match result {
        Ok(_) => Ok(()),
        Err(status) if status.code == 404 => Ok(()),
        Err(status) => Err(status),
    }
}
