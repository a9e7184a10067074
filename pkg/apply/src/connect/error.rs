//! Errors of connections.

/// An error before the first request to the server.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ConnectError {
    /// The context cannot be used.
    #[error("cannot use context `{context}` of the kubeconfig")]
    Context {
        context: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A credential plugin failed.
    #[error("cannot get credentials from plugin `{command}` of context `{context}`")]
    Plugin {
        context: String,
        command: String,
        install_hint: Option<String>,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The user or group to act as has an invalid name.
    #[error("cannot impersonate `{name}`: it is not a valid header value")]
    Impersonation { name: String },
    /// The pod has no service account, or this process does not run in a pod.
    #[error("cannot connect with the service account of this pod")]
    InCluster(#[source] Box<dyn std::error::Error + Send + Sync>),
}
