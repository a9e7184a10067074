//! Registration of admission webhooks.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::{object, resource_name};
use crate::{
    admission::Webhooks,
    kinds::ResourceType,
    server::Server,
    store::{ListOptions, Scope},
};

const GROUP: &str = "admissionregistration.k8s.io";
const MUTATING: &str = "mutatingwebhookconfigurations";
const VALIDATING: &str = "validatingwebhookconfigurations";

/// True if objects of this resource register webhooks.
pub(crate) fn is_configuration(resource: &ResourceType) -> bool {
    &*resource.group == GROUP && matches!(&*resource.plural, MUTATING | VALIDATING)
}

/// Loads all configurations. Call this function after each change of a configuration.
pub(crate) fn load(server: &Server) {
    // The lock covers the read, so that the last writer has the newest configurations.
    let mut current = server.webhooks.write().unwrap_or_else(PoisonError::into_inner);
    *current = Arc::new(Webhooks::of(&all(server, MUTATING), &all(server, VALIDATING)));
}

fn all(server: &Server, plural: &str) -> Vec<Value> {
    let kinds = server.kinds();
    let Some(resource) = kinds.find(GROUP, "v1", plural) else { return Vec::new() };
    let scope = Scope { resource: resource_name(resource), namespace: None };
    // The newest revision is always available.
    let items = server.store.list(&scope, ListOptions::default()).map(|page| page.items).unwrap_or_default();
    items.iter().map(|stored| object::read(resource, stored)).collect()
}
