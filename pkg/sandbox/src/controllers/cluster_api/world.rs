//! What the controllers see of the server: only reading, so that every decision is a function of a state.

use serde_json::Value;

use super::contract::Contract;
use crate::{controllers::ObjectRef, meta};

/// The state of the server, read while a decision is made.
pub(super) trait World: Sync {
    /// The object in the preferred version of its kind.
    fn get(&self, object: &ObjectRef) -> Option<Value>;

    /// All objects of a kind in a namespace, or in all of them; empty when the kind is not served.
    fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Vec<Value>;

    /// The preferred `apiVersion` of a kind that is served.
    fn api_version(&self, group: &str, kind: &str) -> Option<String>;

    /// The contract that a provider's kind follows.
    fn contract(&self, group: &str, kind: &str) -> Contract;

    /// The time as objects record it.
    fn now(&self) -> String;

    /// Five letters that make a generated name unlike others.
    fn suffix(&self) -> String {
        meta::random_end()
    }
}

/// Everything of a kind in a namespace that belongs to a cluster, by name.
pub(super) fn of_cluster(world: &dyn World, group: &str, kind: &str, cluster: &Value) -> Vec<Value> {
    let mut all = world.list(group, kind, Some(super::object::namespace(cluster)));
    let name = super::object::name(cluster);
    all.retain(|object| super::cluster_name(object) == Some(name));
    all.sort_by(|one, other| super::object::name(one).cmp(super::object::name(other)));
    all
}

/// The `apiVersion` for a new object of a core kind.
pub(super) fn core_version(world: &dyn World, kind: &str, cluster: &Value) -> String {
    let version = world.api_version(super::object::CORE, kind);
    version.unwrap_or_else(|| super::object::text(cluster, "/apiVersion").to_owned())
}
