use api::ProviderId;
use futures::future::BoxFuture;

/// What rendering may ask of a management cluster, all of it by reading.
///
/// Rendering never needs one when everything is named on the command line; what it asks for, it asks through this
/// trait, so that the library has no Kubernetes client and tests need no server.
pub trait ManagementCluster: Send + Sync {
    /// The providers of the inventory; empty when none was ever installed.
    fn installed_providers(&self) -> BoxFuture<'_, Result<Vec<InstalledProvider>, ManagementClusterError>>;

    /// Whether a ClusterClass of this name is there.
    fn has_cluster_class<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, ManagementClusterError>>;

    /// Whether an object of this kind, namespace and name is there.
    fn has_object<'a>(
        &'a self,
        object: &'a manifest::Object,
    ) -> BoxFuture<'a, Result<bool, ManagementClusterError>>;

    /// One key of a ConfigMap.
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
    /// Type and name.
    pub id: ProviderId,
    /// Version as installed.
    pub version: String,
    /// Namespace its controllers run in.
    pub namespace: String,
}

/// A question to the management cluster that got no answer.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the management cluster for {question}")]
pub struct ManagementClusterError {
    /// What was asked, such as ``ConfigMap `ns/name` ``.
    pub question: String,
    /// Why there is no answer.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
