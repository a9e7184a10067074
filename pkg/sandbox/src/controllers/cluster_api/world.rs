//! The server as controllers read it, so that every decision is a function of a state.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use super::contract::Contract;
use crate::{client::Client, controllers::ObjectRef};

/// Contracts by group and kind: definitions are large, and asked for at every look.
pub(super) type Contracts = Mutex<HashMap<(String, String), Contract>>;

/// The state of the server, read while a decision is made, with the contracts remembered.
pub(super) struct World<'a> {
    pub(super) client: &'a Client,
    pub(super) contracts: &'a Contracts,
}

impl World<'_> {
    /// The object in the preferred version of its kind.
    pub(super) fn get(&self, object: &ObjectRef) -> Option<Value> {
        self.client.get(object)
    }

    /// All objects of a kind in a namespace, or in all of them; empty when the kind is not served.
    pub(super) fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Vec<Value> {
        self.client.list(group, kind, namespace)
    }

    /// The preferred `apiVersion` of a kind that is served.
    pub(super) fn api_version(&self, group: &str, kind: &str) -> Option<String> {
        self.client.api_version(group, kind)
    }

    /// The contract that a provider's kind follows.
    pub(super) fn contract(&self, group: &str, kind: &str) -> Contract {
        let mut contracts = self.contracts.lock().unwrap_or_else(PoisonError::into_inner);
        *contracts.entry((group.to_owned(), kind.to_owned())).or_insert_with(|| {
            let definition = self.client.resource_name(&ObjectRef::new(group, kind, "", ""));
            let definition =
                ObjectRef::new("apiextensions.k8s.io", "CustomResourceDefinition", "", &definition);
            let definition = self.get(&definition);
            definition.map_or(Contract::V1Beta2, |definition| Contract::of_definition(&definition))
        })
    }

    pub(super) fn now(&self) -> String {
        self.client.now()
    }
}

/// Everything of a kind in a namespace that belongs to a cluster, by name.
pub(super) fn of_cluster(world: &World<'_>, group: &str, kind: &str, cluster: &Value) -> Vec<Value> {
    let mut all = world.list(group, kind, Some(super::object::namespace(cluster)));
    let name = super::object::name(cluster);
    all.retain(|object| super::object::cluster_name(object) == Some(name));
    all.sort_by(|one, other| super::object::name(one).cmp(super::object::name(other)));
    all
}

/// The `apiVersion` for a new object of a core kind.
pub(super) fn core_version(world: &World<'_>, kind: &str, cluster: &Value) -> String {
    let version = world.api_version(super::object::CORE, kind);
    version.unwrap_or_else(|| super::object::text(cluster, "/apiVersion").to_owned())
}
