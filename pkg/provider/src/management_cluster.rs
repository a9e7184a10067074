use api::ProviderId;
use futures::future::BoxFuture;

/// Read-only queries on a management cluster, as needed for rendering.
///
/// Rendering needs no management cluster if the command line is complete. The trait keeps Kubernetes clients out of
/// this crate and servers out of its tests.
pub trait ManagementCluster: Send + Sync {
    /// The providers in the inventory. Empty if no provider was ever installed.
    fn installed_providers(&self) -> BoxFuture<'_, Result<Vec<InstalledProvider>, ManagementClusterError>>;

    /// True if a ClusterClass with this name exists.
    fn has_cluster_class<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, ManagementClusterError>>;

    /// True if an object with this kind, namespace and name exists.
    fn has_object<'a>(
        &'a self,
        object: &'a manifest::Object,
    ) -> BoxFuture<'a, Result<bool, ManagementClusterError>>;

    /// The value of one key of a ConfigMap.
    fn config_map_key<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, ManagementClusterError>>;
}

/// An entry of the provider inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledProvider {
    /// The type and name.
    pub id: ProviderId,
    /// The installed version.
    pub version: String,
    /// The namespace of the controllers.
    pub namespace: String,
}

/// A failed query on the management cluster.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {question} from the management cluster")]
pub struct ManagementClusterError {
    /// The subject of the query, such as ``ConfigMap `ns/name` ``.
    pub question: String,
    /// The error of the query.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
    /// Next steps, from the error of the cluster.
    pub hints: Vec<String>,
}
