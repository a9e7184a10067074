//! The clusters that templates ask with `lookup` and similar functions.

use serde_json::Value;

/// Reads objects for templates.
pub trait ClusterReader: Send + Sync {
    /// Returns an object, or else `None`.
    ///
    /// # Errors
    /// The reason, as a fragment.
    fn get(&self, cluster: LookupCluster<'_>, object: &ObjectQuery<'_>) -> Result<Option<Value>, String>;

    /// Returns the objects of a kind that match a label selector. An empty namespace stands for all.
    ///
    /// # Errors
    /// The reason, as a fragment.
    fn list(&self, cluster: LookupCluster<'_>, objects: &ObjectQuery<'_>) -> Result<Vec<Value>, String>;
}

/// The cluster that a template asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LookupCluster<'a> {
    /// The cluster with the objects of the Component.
    Target,
    /// The cluster with the Component itself.
    Local,
    /// The cluster of a kubeconfig, given as text.
    KubeConfig(&'a str),
}

/// The objects that a template asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectQuery<'a> {
    /// The API version, such as `apps/v1`.
    pub api_version: &'a str,
    /// The kind, such as `Deployment`.
    pub kind: &'a str,
    /// The namespace; empty for objects without one.
    pub namespace: &'a str,
    /// The name; the label selector in a list.
    pub selector: &'a str,
}
