//! The clusters that templates ask with `lookup` and similar functions.

use std::sync::Arc;

use chart::ObjectLookup;

/// Connects templates with clusters.
pub trait ClusterReader: Send + Sync {
    /// Returns a cluster.
    ///
    /// # Errors
    /// The reason, as a fragment.
    fn cluster(&self, cluster: LookupCluster<'_>) -> Result<Arc<dyn ObjectLookup>, String>;
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
