//! The lifecycle of custom resource definitions: acceptance, serving and cleanup.
//!
//! In the real server, controllers do this some milliseconds after a definition was written. Here it happens before the
//! response, in separate writes, so that the history is the same.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::{Call, admission, delete, kind, managed, object, resource_name as stored_name};
use crate::{
    crd,
    kinds::ResourceType,
    meta,
    request::options::DeleteOptions,
    server::{CLEANUP, DefinitionOrigin, ServedDefinition, Server},
    status::Status,
    store::{CommitError, Key, ListOptions, Precondition, ResourceName, Scope, StoredObject},
};

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";
fn resource_name() -> ResourceName {
    ResourceName { group: GROUP.into(), plural: PLURAL.into() }
}

fn key(name: &str) -> Key {
    Key { resource: resource_name(), namespace: "".into(), name: name.into() }
}

fn resource(server: &Server) -> Option<Arc<ResourceType>> {
    server.kinds().find(GROUP, "v1", PLURAL).cloned()
}

fn all(server: &Server) -> Vec<Arc<StoredObject>> {
    let scope = Scope { resource: resource_name(), namespace: None };
    server.store.list(&scope, ListOptions::default()).map(|page| page.items).unwrap_or_default()
}

/// Serves the stored definitions and completes the unfinished work of a killed process.
pub(crate) fn load(server: &Server) -> Result<(), Status> {
    let Some(resource) = resource(server) else { return Ok(()) };
    let definitions: Vec<Value> = all(server).iter().map(|stored| object::read(&resource, stored)).collect();
    for definition in definitions.iter().filter(|definition| meta::is_deleting(definition)) {
        server.definitions.set_terminating(meta::name(definition), true);
    }
    serve(server, &definitions, &[]);
    definitions.iter().try_for_each(|definition| process_definition(server, meta::name(definition)))
}

/// Serves these definitions and stops serving those with the names in `gone`. Unchanged definitions are left alone.
fn serve(server: &Server, definitions: &[Value], removed: &[&str]) {
    let custom = {
        let mut served = server.definitions.served.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = false;
        for name in removed {
            changed |= served.remove(*name).is_some();
        }
        for definition in definitions {
            let origin = DefinitionOrigin {
                uid: meta::uid(definition).to_owned(),
                generation: meta::generation(definition),
                accepted: definition["status"]["acceptedNames"].clone(),
            };
            let name = meta::name(definition);
            let established =
                has_condition(definition, "Established") || has_condition(definition, "NamesAccepted");
            if !established {
                changed |= served.remove(name).is_some();
            } else if served.get(name).is_none_or(|known| known.origin != origin) {
                served.insert(
                    name.to_owned(),
                    ServedDefinition { origin, resources: crd::resources(definition) },
                );
                changed = true;
            }
        }
        if !changed {
            return;
        }
        served.values().flat_map(|served| served.resources.iter().cloned()).collect()
    };
    server.serve_custom_resources(custom);
}

fn has_condition(definition: &Value, kind: &str) -> bool {
    let conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// Runs the follow-up of a write: registers webhooks, processes a definition, and completes a deletion after the last
/// object is gone.
pub(crate) fn after_write(call: &Call<'_>, name: &str, removed: bool) -> Result<(), Status> {
    if call.dry_run {
        return Ok(());
    }
    if admission::is_webhook_configuration(&call.resource) {
        admission::load_webhooks(call.server);
        return Ok(());
    }
    if kind::is_definition(&call.resource) {
        return process_definition(call.server, name);
    }
    match &call.resource.custom {
        Some(custom) if removed && call.server.definitions.is_terminating(&custom.definition) => {
            process_definition(call.server, &custom.definition)
        }
        _ => Ok(()),
    }
}

/// Brings a new definition, or one whose last object may be gone, into its final state.
pub(crate) fn process_definition(server: &Server, name: &str) -> Result<(), Status> {
    let Some(resource) = resource(server) else { return Ok(()) };
    let _turn = server.definitions.processing.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(stored) = server.store.get(&key(name)) else {
            server.definitions.set_terminating(name, false);
            serve(server, &[], &[name]);
            return Ok(());
        };
        let definition = object::read(&resource, &stored);
        let settled = if meta::is_deleting(&definition) {
            server.definitions.set_terminating(name, true);
            clean_up(server, &resource, &stored, definition)?
        } else {
            accept(server, &resource, &stored, definition)?
        };
        if settled {
            return Ok(());
        }
    }
}

/// Writes the status of a definition and serves the definition. Returns false after a concurrent write.
fn accept(
    server: &Server,
    resource: &Arc<ResourceType>,
    stored: &StoredObject,
    definition: Value,
) -> Result<bool, Status> {
    // The name of a definition ends with its group.
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let end = format!(".{group}");
    let mut others: Vec<Arc<StoredObject>> = all(server);
    others.retain(|other| other.key != stored.key && other.key.name.ends_with(&end));
    others.sort_by_key(|other| other.revision);
    // Definitions are large, and only their names matter here.
    let others: Vec<Value> = others.iter().map(|other| object::read_status(other)).collect();
    let status = crd::status(&definition, &others, &server.clock.now());
    if definition["status"] == status {
        serve(server, &[definition], &[]);
        return Ok(true);
    }
    let mut new = definition.clone();
    new["status"] = status;
    let call = status_call(server, resource, stored);
    managed::track(&call, Some(&definition), &mut new);
    if !commit(server, resource, stored, &new)? {
        return Ok(false);
    }
    serve(server, &[new], &[]);
    Ok(true)
}

fn status_call<'a>(server: &'a Server, resource: &Arc<ResourceType>, stored: &'a StoredObject) -> Call<'a> {
    let mut call = Call::new(server, server.kinds(), Arc::clone(resource));
    call.name = &stored.key.name;
    call.subresource = "status";
    call.manager = "apiserver";
    call
}

fn commit(
    server: &Server,
    resource: &ResourceType,
    stored: &StoredObject,
    new: &Value,
) -> Result<bool, Status> {
    let pending = object::EncodedObject::new(resource, new)?;
    is_committed(
        server
            .store
            .commit_with(&stored.key, Precondition::At(stored.revision), |at| pending.with_revision(at)),
    )
}

/// True if a commit succeeded; false after a concurrent write.
fn is_committed(commit: Result<Arc<StoredObject>, CommitError>) -> Result<bool, Status> {
    match commit {
        Ok(_) => Ok(true),
        Err(CommitError::Changed(_) | CommitError::Gone | CommitError::Exists(_)) => Ok(false),
        Err(CommitError::Journal(error)) => {
            Err(Status::internal(&format!("cannot write the change to the data directory: {error}")))
        }
    }
}

/// Deletes the objects of a definition that is being deleted, and removes the definition after the last one. Returns
/// false after a concurrent write.
fn clean_up(
    server: &Server,
    resource: &Arc<ResourceType>,
    stored: &StoredObject,
    definition: Value,
) -> Result<bool, Status> {
    if !meta::finalizers(&definition).any(|finalizer| finalizer == CLEANUP) {
        return Ok(true);
    }
    if delete_objects(server, &definition)? > 0 {
        return Ok(true);
    }
    let mut last = definition;
    let finalizers: Vec<String> =
        meta::finalizers(&last).filter(|finalizer| *finalizer != CLEANUP).map(str::to_owned).collect();
    let held = !finalizers.is_empty();
    meta::set_finalizers(&mut last, finalizers);
    if held {
        return commit(server, resource, stored, &last);
    }
    let pending = object::EncodedObject::new(resource, &last)?;
    if !is_committed(server.store.delete(&stored.key, stored.revision, |at| pending.with_revision(at)))? {
        return Ok(false);
    }
    server.definitions.set_terminating(&stored.key.name, false);
    serve(server, &[], &[&*stored.key.name]);
    Ok(true)
}

/// Deletes the objects of a definition. Returns the number of objects that finalizers keep.
fn delete_objects(server: &Server, definition: &Value) -> Result<usize, Status> {
    let text = |name: &str| definition["spec"][name].as_str().unwrap_or_default();
    let plural = definition["spec"]["names"]["plural"].as_str().unwrap_or_default();
    let kinds = server.kinds();
    let served = kinds.resources().iter().find(|r| &*r.group == text("group") && &*r.plural == plural);
    let Some(instances) = served.filter(|r| r.custom.is_some()) else { return Ok(0) };
    let scope = Scope { resource: stored_name(instances), namespace: None };
    let page = server.store.list(&scope, ListOptions::default());
    let mut left = 0;
    for item in page.map(|page| page.items).unwrap_or_default() {
        let mut call = Call::new(server, Arc::clone(&kinds), Arc::clone(instances));
        (call.namespace, call.name) = (&item.key.namespace, &item.key.name);
        match delete::delete_without_admission(&call, &DeleteOptions::default()) {
            Ok(delete::DeleteResult::Removed(_)) => {}
            Ok(delete::DeleteResult::Pending(_)) => left += 1,
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(status),
        }
    }
    Ok(left)
}
