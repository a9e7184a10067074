//! Field ownership: `metadata.managedFields` and server-side apply.
//!
//! The rules are those of structured-merge-diff v6 as kube-apiserver 1.36 uses it.
//!
//! ```text
//! element ─► set ───► managed (the entries) ──┐
//!    shape ─► typed ─► compare ─► merge ──────┴─► ownership ─► this file: the effects of requests
//! ```
//!
//! Deliberately absent: conversion between versions. Objects are equal in all versions of their kind. An entry of
//! another version is therefore read with the schema of that version and the unchanged object.

mod compare;
mod managed;
mod merge;
mod ownership;
mod path_element;
mod set;
mod shape;
#[cfg(test)]
pub(crate) mod tests;
mod typed;

use serde_json::Value;

use self::{
    managed::{ManagerId, Managers, Operation, OwnedFields},
    ownership::VersionedShapes,
    set::FieldSet,
};
use crate::{schema::Schema, status::Status};

/// The owner of existing fields at the first apply of an object without managed fields.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The manager of a write, with the data to record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manager<'a> {
    /// The `fieldManager` parameter, or the user agent up to its first `/`.
    pub name: &'a str,
    /// `status` or `scale`, or empty.
    pub subresource: &'a str,
    /// The API version of the request, such as `apps/v1`.
    pub api_version: &'a str,
    /// The time to record, in its printed form (RFC 3339, whole seconds).
    pub time: &'a str,
}

impl Manager<'_> {
    /// Records the time. The real server stores entries of scale under the object of another kind and loses their
    /// times.
    fn record_time(self, owned: &mut OwnedFields) {
        if self.subresource != "scale" {
            owned.time = Some(self.time.into());
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackedKind<'a> {
    /// The kind, such as `Deployment`.
    pub kind: &'a str,
    /// The shape of the objects in the request's version.
    pub schema: Schema<'a>,
    /// The other served API versions. Entries of versions that are not served are dropped.
    pub other_versions: &'a [OtherVersion<'a>],
    /// An object without written fields: `apiVersion` and `kind` for custom resources, the result of
    /// [`crate::builtin::empty_object`] for built-in kinds.
    pub empty_object: &'a Value,
    /// Fields that cannot be written through this endpoint, such as `status`, or `spec` for the status subresource. No
    /// manager can own them through this endpoint.
    pub reset_fields: &'a [&'a [&'a str]],
}

/// Another API version of the same resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherVersion<'a> {
    /// The API version, such as `autoscaling/v1`.
    pub api_version: &'a str,
    /// The schema of objects in this version.
    pub schema: Schema<'a>,
    /// See [`TrackedKind::reset_fields`]. Built-in kinds have the same fields in all versions. For custom resources the list is
    /// empty. An ignored `status` therefore still costs its owner in another version the field, as on the real server.
    pub reset_fields: &'a [&'a [&'a str]],
}

/// Records a write other than an apply: fields that differ between the two objects now belong to the manager.
///
/// Shape: `live` is the stored object, or `None` at creation. `new` is the object to store, with defaults, and with the
/// managed fields that the client sent. An empty list or a list of one empty entry resets them. If they are missing or
/// unreadable, those of `live` apply. The function sets `metadata.managedFields` of `new`.
pub(crate) fn track_update(
    live: Option<&Value>,
    new: &mut Value,
    target: TrackedKind<'_>,
    manager: Manager<'_>,
) {
    let mut managers = current_managers(live, new, manager);
    managed::clear(new);
    // An untracked object stays untracked until its first apply.
    if managers.is_empty() && live.is_some() {
        return;
    }
    if update(live.unwrap_or(target.empty_object), new, &mut managers, target, manager).is_ok() {
        managed::encode(new, &managers);
    }
}

/// Returns the managed fields before an update.
fn current_managers(live: Option<&Value>, new: &Value, manager: Manager<'_>) -> Managers {
    let of_live = || live.and_then(managed::entries).and_then(|entries| managed::decode(entries).ok());
    let sent = managed::entries(new).filter(|_| manager.subresource.is_empty());
    match sent {
        Some(entries) if managed::is_reset(entries) => Managers::new(),
        Some(entries) => managed::decode(entries).ok().or_else(of_live).unwrap_or_default(),
        None => of_live().unwrap_or_default(),
    }
}

/// Moves ownership for a write other than an apply.
fn update(
    live: &Value,
    new: &Value,
    managers: &mut Managers,
    target: TrackedKind<'_>,
    manager: Manager<'_>,
) -> Result<(), String> {
    let versions = VersionedShapes::new(target, manager.api_version);
    typed::check(new, versions.current(), true)?;
    typed::check(live, versions.current(), true)?;
    let fields = ownership::update(live, new, managers, versions).difference(&unowned_fields());
    if !fields.is_empty() {
        let id = ManagerId::new(manager.name, Operation::Update, manager.api_version, manager.subresource);
        let owned = managers.entry(id).or_insert_with(|| OwnedFields {
            fields: FieldSet::default(),
            api_version: manager.api_version.into(),
            time: None,
        });
        owned.fields.extend(&fields);
        manager.record_time(owned);
    }
    managed::cap_updaters(managers);
    Ok(())
}

fn unowned_fields() -> FieldSet {
    FieldSet::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
}

/// Merges an applied configuration into the live object.
///
/// Shape: `live` is the stored object, or `None` at creation. Returns the merged object, before defaults, with its
/// `metadata.managedFields`.
///
/// Errors: 409 with one cause per field of another manager, unless `force`; 400 if the configuration has another kind
/// or has managed fields; 500 (as on the real server) if the configuration does not fit the schema.
pub(crate) fn apply(
    live: Option<&Value>,
    configuration: &Value,
    target: TrackedKind<'_>,
    manager: Manager<'_>,
    force: bool,
) -> Result<Value, Status> {
    check_kind(configuration, target, manager)?;
    let live = live.unwrap_or(target.empty_object);
    let entries = managed::entries(live).map_or(&[][..], Vec::as_slice);
    let mut managers = managed::decode(entries).map_err(|problem| {
        Status::internal_without_details(format!("failed to decode managed fields: {problem}"))
    })?;
    if managers.is_empty() {
        let before = Manager { name: BEFORE_FIRST_APPLY, ..manager };
        update(target.empty_object, live, &mut managers, target, before).map_err(|problem| {
            Status::internal_without_details(format!(
                "failed to create manager for existing fields: {problem}"
            ))
        })?;
    }
    check_configuration(live, configuration, target, manager)?;
    let mut object = apply_checked(live, configuration, &mut managers, target, manager, force)?;
    managed::clear(&mut object);
    if manager.name == "kubectl" {
        ownership::update_last_applied(&mut object, configuration);
    }
    managed::encode(&mut object, &managers);
    Ok(object)
}

fn apply_checked(
    live: &Value,
    configuration: &Value,
    managers: &mut Managers,
    target: TrackedKind<'_>,
    manager: Manager<'_>,
    force: bool,
) -> Result<Value, Status> {
    let versions = VersionedShapes::new(target, manager.api_version);
    let id = ManagerId::new(manager.name, Operation::Apply, manager.api_version, manager.subresource);
    let before = managers.clone();
    let object = match ownership::apply(live, configuration, managers, versions, &id, force) {
        Ok(object) => object,
        Err(mut conflicts) => {
            let allowed = (manager.name == "kubectl")
                .then(|| ownership::last_applied_fields(live, versions, manager.api_version))
                .flatten()
                .unwrap_or_default();
            conflicts.retain(|(_, path)| !allowed.contains(path));
            if !conflicts.is_empty() {
                return Err(ownership::conflict_status(&conflicts));
            }
            *managers = before;
            ownership::apply(live, configuration, managers, versions, &id, true)
                .map_err(|conflicts| ownership::conflict_status(&conflicts))?
        }
    };
    if let Some(owned) = managers.get_mut(&id) {
        owned.fields = owned.fields.difference(&unowned_fields());
        if !path_element::equals(live, &object) {
            manager.record_time(owned);
        }
        if owned.fields.is_empty() {
            managers.remove(&id);
        }
    }
    Ok(object)
}

fn check_kind(configuration: &Value, target: TrackedKind<'_>, manager: Manager<'_>) -> Result<(), Status> {
    let text = |name: &str| configuration.get(name).and_then(Value::as_str).unwrap_or_default();
    if (text("apiVersion"), text("kind")) == (manager.api_version, target.kind) {
        return Ok(());
    }
    Err(Status::bad_request(format!(
        "invalid object type: {}",
        format_kind(text("apiVersion"), text("kind"))
    )))
}

/// Fails unless the configuration may be applied and both objects fit the schema.
fn check_configuration(
    live: &Value,
    configuration: &Value,
    target: TrackedKind<'_>,
    manager: Manager<'_>,
) -> Result<(), Status> {
    if managed::entries(configuration).is_some() {
        return Err(Status::bad_request("metadata.managedFields must be nil".to_owned()));
    }
    let shape = VersionedShapes::new(target, manager.api_version).current();
    let misfit = |what: &str, object: &Value, problem: String| {
        let text = |name: &str| {
            object.get("metadata").and_then(|metadata| metadata.get(name)).and_then(Value::as_str)
        };
        Status::internal_without_details(format!(
            "failed to create typed {what} object ({}/{}; {}): {problem}",
            text("namespace").unwrap_or_default(),
            text("name").unwrap_or_default(),
            format_kind(manager.api_version, target.kind),
        ))
    };
    typed::check(configuration, shape, false).map_err(|problem| misfit("patch", configuration, problem))?;
    typed::check(live, shape, true).map_err(|problem| misfit("live", live, problem))
}

/// Formats a kind as Go prints it: `apps/v1, ShapeClass=Deployment`, `/v1, ShapeClass=Pod`.
pub(crate) fn format_kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

/// Restores the old times of managed fields if nothing else changed, so that a write without effect changes nothing.
/// Shape: call this function last, just before `new` replaces `live`.
///
/// Source: kube-apiserver 1.36 `IgnoreManagedFieldsTimestampsTransformer`.
pub(crate) fn restore_times(live: &Value, new: &mut Value) {
    let timeless = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
        entry
    };
    let (Some(before), Some(after)) = (managed::entries(live), managed::entries(new)) else { return };
    if before.len() != after.len() || before == after {
        return;
    }
    if !before.iter().zip(after).all(|(before, after)| timeless(before) == timeless(after)) {
        return;
    }
    let entries = Value::Array(before.clone());
    let mut candidate = new.clone();
    candidate["metadata"]["managedFields"] = entries;
    if candidate == *live {
        *new = candidate;
    }
}
