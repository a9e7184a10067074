//! The read access of the controllers to the server, so that each plan is a function of stored state.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use super::contract::Contract;
use crate::{client::Client, controllers::ObjectRef};

/// Cached contracts by group and kind, because definitions are large and every reconciliation needs contracts.
pub(super) type Contracts = Mutex<HashMap<(String, String), Contract>>;

/// The current state of the server, with cached contracts.
pub(super) struct ObjectReader<'a> {
    pub(super) client: &'a Client,
    pub(super) contracts: &'a Contracts,
}

impl ObjectReader<'_> {
    /// Returns an object in the preferred version of its kind.
    pub(super) fn get(&self, object: &ObjectRef) -> Option<Value> {
        self.client.get(object)
    }

    /// Returns all objects of a kind in one namespace or all. Empty if the kind is not served.
    pub(super) fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Vec<Value> {
        self.client.list(group, kind, namespace)
    }

    /// The preferred `apiVersion` of a kind: `None` if the kind is not served.
    pub(super) fn api_version(&self, group: &str, kind: &str) -> Option<String> {
        self.client.api_version(group, kind)
    }

    /// The contract of a provider kind.
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

/// Returns all objects of a kind that belong to a Cluster, in the namespace of the Cluster, sorted by name.
pub(super) fn objects_of_cluster(
    reader: &ObjectReader<'_>,
    group: &str,
    kind: &str,
    cluster: &Value,
) -> Vec<Value> {
    let mut all = reader.list(group, kind, Some(super::object::namespace(cluster)));
    let name = super::object::name(cluster);
    all.retain(|object| super::object::cluster_name(object) == Some(name));
    all.sort_by(|one, other| super::object::name(one).cmp(super::object::name(other)));
    all
}

/// The `apiVersion` of new objects of a core kind.
pub(super) fn core_api_version(reader: &ObjectReader<'_>, kind: &str, cluster: &Value) -> String {
    let version = reader.api_version(super::object::CORE, kind);
    version.unwrap_or_else(|| super::object::text(cluster, "/apiVersion").to_owned())
}
