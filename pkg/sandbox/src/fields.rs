//! Who owns which field: `metadata.managedFields` and server-side apply.
//!
//! The rules are those of structured-merge-diff v6 as kube-apiserver 1.36 uses it.
//!
//! ```text
//! element ─► set ───► managed (the entries) ──┐
//!    shape ─► typed ─► compare ─► merge ──────┴─► ownership ─► here: what a request does
//! ```
//!
//! Absent on purpose: conversion between versions. An object says the same in all versions of its kind, so an entry of
//! another version is read by the schema of that version and the object as it is.

mod compare;
mod conflict;
mod element;
mod empty;
mod last_applied;
mod managed;
mod merge;
mod ownership;
mod set;
mod shape;
#[cfg(test)]
pub(crate) mod tests;
mod typed;

use serde_json::Value;

pub(crate) use self::empty::empty;
use self::{
    managed::{ManagerId, Managers, Operation, Owned},
    ownership::Versions,
    set::FieldSet,
};
use crate::{schema::Schema, status::Status};

/// Owns what an object held before its first apply, when nobody recorded who wrote it.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Who writes, and how that is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manager<'a> {
    /// `fieldManager`, or what stands before the first `/` of the user agent.
    pub name: &'a str,
    /// `status` or `scale`, or empty.
    pub subresource: &'a str,
    /// The API version of the request, such as `apps/v1`.
    pub api_version: &'a str,
    /// The time to record, as it is printed (RFC 3339, whole seconds).
    pub time: &'a str,
}

impl Manager<'_> {
    /// Records the time. The real server keeps entries of scale under the object of another kind, and their times get
    /// lost on the way.
    fn stamp(self, owned: &mut Owned) {
        if self.subresource != "scale" {
            owned.time = Some(self.time.into());
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// The kind, such as `Deployment`.
    pub kind: &'a str,
    /// The shape of its objects in the version of the request.
    pub schema: Schema<'a>,
    /// The other API versions that are served. Entries of versions that are not are forgotten.
    pub others: &'a [OtherVersion<'a>],
    /// An object nobody wrote to: `apiVersion` and `kind` for custom resources, what [`empty`] makes for built-in kinds.
    pub empty: &'a Value,
    /// Fields that cannot be written through this address, such as `status`, or `spec` at the status subresource:
    /// nobody gets to own them there.
    pub reset: &'a [&'a [&'a str]],
}

/// Another API version of what is written to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherVersion<'a> {
    /// Such as `autoscaling/v1`.
    pub api_version: &'a str,
    /// The shape of objects in it.
    pub schema: Schema<'a>,
    /// See [`Target::reset`]. Built-in kinds have the same in all versions; custom resources have none here, so that a
    /// `status` that is sent in vain still costs its owner in another version the field, as on the real server.
    pub reset: &'a [&'a [&'a str]],
}

/// Records a write that is no apply: what differs between the two objects now belongs to the manager.
///
/// Shape: `live` is what is stored, or `None` at creation; `new` is what will be stored, with defaults, and with the
/// managed fields the client sent (an empty list, or a list of one empty entry, resets them; none, or such as cannot be
/// read, stand for those of `live`); its `metadata.managedFields` is set.
pub(crate) fn track_update(live: Option<&Value>, new: &mut Value, target: Target<'_>, manager: Manager<'_>) {
    let mut managers = live_or_new(live, new, manager);
    managed::clear(new);
    // An object nobody tracked stays so, until it is applied.
    if managers.is_empty() && live.is_some() {
        return;
    }
    if update(live.unwrap_or(target.empty), new, &mut managers, target, manager).is_ok() {
        managed::encode(new, &managers);
    }
}

/// The managed fields an update starts from.
fn live_or_new(live: Option<&Value>, new: &Value, manager: Manager<'_>) -> Managers {
    let of_live = || live.and_then(managed::entries).and_then(|entries| managed::decode(entries).ok());
    let sent = managed::entries(new).filter(|_| manager.subresource.is_empty());
    match sent {
        Some(entries) if managed::is_reset(entries) => Managers::new(),
        Some(entries) => managed::decode(entries).ok().or_else(of_live).unwrap_or_default(),
        None => of_live().unwrap_or_default(),
    }
}

/// Moves ownership for a write that is no apply.
fn update(
    live: &Value,
    new: &Value,
    managers: &mut Managers,
    target: Target<'_>,
    manager: Manager<'_>,
) -> Result<(), String> {
    let versions = Versions::new(target, manager.api_version);
    typed::check(new, versions.current(), true)?;
    typed::check(live, versions.current(), true)?;
    let fields = ownership::update(live, new, managers, versions).difference(&unowned());
    if !fields.is_empty() {
        let id = ManagerId::new(manager.name, Operation::Update, manager.api_version, manager.subresource);
        let owned = managers.entry(id).or_insert_with(|| Owned {
            fields: FieldSet::default(),
            api_version: manager.api_version.into(),
            time: None,
        });
        owned.fields.extend(&fields);
        manager.stamp(owned);
    }
    managed::cap_updaters(managers);
    Ok(())
}

fn unowned() -> FieldSet {
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
/// Shape: `live` is what is stored, or `None` at creation; out comes the merged object, before defaults, with its
/// `metadata.managedFields`.
/// Fails with 409 with a cause for each field another manager owns, unless `force`; 400 when the configuration is of
/// another kind or has managed fields; 500 (as the real server has it) when it does not fit the schema.
pub(crate) fn apply(
    live: Option<&Value>,
    configuration: &Value,
    target: Target<'_>,
    manager: Manager<'_>,
    force: bool,
) -> Result<Value, Status> {
    check_kind(configuration, target, manager)?;
    let live = live.unwrap_or(target.empty);
    let entries = managed::entries(live).map_or(&[][..], Vec::as_slice);
    let mut managers = managed::decode(entries)
        .map_err(|problem| internal(format!("failed to decode managed fields: {problem}")))?;
    if managers.is_empty() {
        let before = Manager { name: BEFORE_FIRST_APPLY, ..manager };
        update(target.empty, live, &mut managers, target, before).map_err(|problem| {
            internal(format!("failed to create manager for existing fields: {problem}"))
        })?;
    }
    check_configuration(live, configuration, target, manager)?;
    let mut object = apply_checked(live, configuration, &mut managers, target, manager, force)?;
    managed::clear(&mut object);
    if manager.name == "kubectl" {
        last_applied::update(&mut object, configuration);
    }
    managed::encode(&mut object, &managers);
    Ok(object)
}

fn apply_checked(
    live: &Value,
    configuration: &Value,
    managers: &mut Managers,
    target: Target<'_>,
    manager: Manager<'_>,
    force: bool,
) -> Result<Value, Status> {
    let versions = Versions::new(target, manager.api_version);
    let id = ManagerId::new(manager.name, Operation::Apply, manager.api_version, manager.subresource);
    let before = managers.clone();
    let object = match ownership::apply(live, configuration, managers, versions, &id, force) {
        Ok(object) => object,
        Err(mut conflicts) => {
            let allowed = (manager.name == "kubectl")
                .then(|| last_applied::fields(live, versions, manager.api_version))
                .flatten()
                .unwrap_or_default();
            conflicts.retain(|(_, path)| !allowed.contains(path));
            if !conflicts.is_empty() {
                return Err(conflict::status(&conflicts));
            }
            *managers = before;
            ownership::apply(live, configuration, managers, versions, &id, true)
                .map_err(|conflicts| conflict::status(&conflicts))?
        }
    };
    if let Some(owned) = managers.get_mut(&id) {
        owned.fields = owned.fields.difference(&unowned());
        if !element::same(live, &object) {
            manager.stamp(owned);
        }
        if owned.fields.is_empty() {
            managers.remove(&id);
        }
    }
    Ok(object)
}

fn check_kind(configuration: &Value, target: Target<'_>, manager: Manager<'_>) -> Result<(), Status> {
    let text = |name: &str| configuration.get(name).and_then(Value::as_str).unwrap_or_default();
    if (text("apiVersion"), text("kind")) == (manager.api_version, target.kind) {
        return Ok(());
    }
    Err(bad_request(format!("invalid object type: {}", shown_kind(text("apiVersion"), text("kind")))))
}

/// Whether the configuration may be applied, and both objects fit the schema.
fn check_configuration(
    live: &Value,
    configuration: &Value,
    target: Target<'_>,
    manager: Manager<'_>,
) -> Result<(), Status> {
    if managed::entries(configuration).is_some() {
        return Err(bad_request("metadata.managedFields must be nil".to_owned()));
    }
    let shape = Versions::new(target, manager.api_version).current();
    let misfit = |what: &str, object: &Value, problem: String| {
        let text = |name: &str| {
            object.get("metadata").and_then(|metadata| metadata.get(name)).and_then(Value::as_str)
        };
        internal(format!(
            "failed to create typed {what} object ({}/{}; {}): {problem}",
            text("namespace").unwrap_or_default(),
            text("name").unwrap_or_default(),
            shown_kind(manager.api_version, target.kind),
        ))
    };
    typed::check(configuration, shape, false).map_err(|problem| misfit("patch", configuration, problem))?;
    typed::check(live, shape, true).map_err(|problem| misfit("live", live, problem))
}

/// A kind as Go prints it: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`.
fn shown_kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

fn bad_request(message: String) -> Status {
    Status { code: 400, reason: "BadRequest", message, details: None }
}

fn internal(message: String) -> Status {
    Status { code: 500, reason: "", message, details: None }
}

/// Takes new times of managed fields back when nothing else changed, so that a write without effect stays one.
/// Shape: called last, just before `new` is stored in the place of `live`.
///
/// Source: kube-apiserver 1.36 `IgnoreManagedFieldsTimestampsTransformer`.
pub(crate) fn keep_times(live: &Value, new: &mut Value) {
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
